# SPDX-License-Identifier: Apache-2.0
"""The sessions of all callers, and what they hold; whoever asks holds the registry's lock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar
from uuid import uuid4

from plait.server import sentences
from plait.server.lasting import may_last

if TYPE_CHECKING:
    from plait.server.callers import Caller
    from plait.server.config import Server
    from plait.server.operation import Operation

S = TypeVar("S")


@dataclass
class Session(Generic[S]):
    """A caller's session: Spark's, when it was last used, and what it holds, by name.

    ``calls`` counts those that look at statements in it now. One that is ``leaving`` ends as soon
    as it is idle. ``incarnation`` tells it from others of its name, ``lasts`` whether it may have
    settings, views or variables.
    """

    spark: S
    used: float
    operations: dict[str, Operation] = field(default_factory=dict)
    prepared: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    leaving: bool = False
    lasts: bool = False
    incarnation: str = field(default_factory=lambda: uuid4().hex)

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens in it, and no result of it is kept."""
        return not self.operations and not self.calls


class Sessions(Generic[S]):
    """Sessions by caller and name."""

    def __init__(self, limits: Server) -> None:
        """Begin with none."""
        self._limits = limits
        self._sessions: dict[tuple[str, str], Session[S]] = {}
        self._dropped: list[S] = []

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session[S]]:
        return iter(self._sessions.values())

    def open(self, caller: Caller, name: str, spark: S | None) -> Session[S] | None:
        """Give a session that is used now; a new one is of ``spark``, None where that is missing.

        Where it is one too many, the one that has been idle longest goes: of this caller if there
        is any, else of all. Refused is a caller who counts on another one than there is.
        """
        key = (caller.key, name)
        there = self._sessions.get(key)
        if caller.counts_on and (there is None or there.incarnation != caller.counts_on):
            raise sentences.session_ended(name)
        if key not in self._sessions:
            self._make_room(caller)
            if spark is None:
                return None
            self._sessions[key] = Session(spark, time.monotonic())
        found = self._sessions[key]
        found.used, found.leaving = time.monotonic(), False
        return found

    def _make_room(self, caller: Caller) -> None:
        mine = [key for key in self._sessions if key[0] == caller.key]
        if len(mine) >= self._limits.caller_sessions:
            if not self._has_dropped_one(mine):
                raise sentences.too_many_sessions(self._limits.caller_sessions, "of this caller")
        elif len(self) >= self._limits.sessions and not (
            self._has_dropped_one(mine) or self._has_dropped_one([*self._sessions])
        ):
            raise sentences.too_many_sessions(self._limits.sessions, "of all callers")

    def _has_dropped_one(self, keys: list[tuple[str, str]]) -> bool:
        """Drop that of the sessions which has been idle longest; False where none is idle."""
        idle = [key for key in keys if self._sessions[key].is_idle]
        if idle:
            self._drop(min(idle, key=lambda key: self._sessions[key].used))
        return bool(idle)

    def _drop(self, key: tuple[str, str]) -> None:
        self._dropped.append(self._sessions.pop(key).spark)

    def take_dropped(self) -> list[S]:
        """Give what sessions were of that have ended, each once: to be closed without the lock."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def leave(self, caller: Caller, name: str) -> None:
        """End a session as soon as nothing happens in it."""
        found = self.find(caller, name)
        if found is not None:
            found.leaving = True
            if found.is_idle:
                self._drop((caller.key, name))

    def find(self, caller: Caller, name: str) -> Session[S] | None:
        """Give a session, if it is open."""
        return self._sessions.get((caller.key, name))

    def note(self, caller: Caller, name: str, sql: str) -> str:
        """Keep in mind what a statement may leave; gives what the caller may count on, or ""."""
        found = self.find(caller, name)
        if found is None:
            return ""
        found.lasts = found.lasts or may_last(sql)
        return found.incarnation if found.lasts else ""

    def operations(self) -> list[Operation]:
        """Give all operations of all callers."""
        return [o for session in self for o in session.operations.values()]

    def by_caller(self) -> Iterator[tuple[str, Operation]]:
        """Give all operations, each with what tells its caller from others."""
        for (key, _), session in self._sessions.items():
            for operation in session.operations.values():
                yield key, operation

    def operations_of(self, caller: Caller) -> list[tuple[str, Operation]]:
        """Give a caller's operations, each with the name of its session."""
        return [
            (name, operation)
            for (key, name), session in self._sessions.items()
            if key == caller.key
            for operation in session.operations.values()
        ]

    def prepare(self, caller: Caller, session: str, name: str, sql: str) -> None:
        """Keep a statement in an open session, in the place of one of the same name."""
        prepared = self._sessions[caller.key, session].prepared
        others = [text for other, text in prepared.items() if other != name]
        if len(others) >= self._limits.prepared:
            raise sentences.too_many_prepared(self._limits)
        if sum(len(text.encode()) for text in (*others, sql)) > self._limits.prepared_bytes:
            raise sentences.too_long_prepared(self._limits)
        prepared[name] = sql

    def prepared(self, caller: Caller, session: str, name: str) -> str:
        """Give the text of a statement that a session keeps."""
        found = self.find(caller, session)
        if found is None or name not in found.prepared:
            raise sentences.not_prepared(name)
        found.used = time.monotonic()
        return found.prepared[name]

    def unprepare(self, caller: Caller, session: str, name: str) -> None:
        """Forget a statement, if there is one."""
        found = self.find(caller, session)
        if found is not None:
            found.prepared.pop(name, None)

    def drop_idle(self) -> None:
        """Let go of sessions that have had nothing to do for their time."""
        now = time.monotonic()
        for key, session in list(self._sessions.items()):
            if not session.is_idle:
                session.used = now
            elif session.leaving or now - session.used >= self._limits.session_seconds:
                self._drop(key)
