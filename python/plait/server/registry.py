# SPDX-License-Identifier: Apache-2.0
"""The operations and the sessions of all callers, and the limits that they share.

1. At most ``running`` operations run; others wait in the order in which they came, at most
   ``queued`` of them and each at most ``queue_seconds``.
2. An operation that nobody reads ends after ``reattach_seconds``; what has ended is forgotten
   then, earlier where more than KEPT_BYTES of ended results are held.
3. A session that has had no operation for ``session_seconds`` ends.
4. A caller finds only operations and sessions of their own; names of two callers may be the same.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from plait.server.failure import Failure, missing
from plait.server.operation import Operation, Room

if TYPE_CHECKING:
    from plait.server.callers import Caller
    from plait.server.config import Server

# Of results that have ended and may still be attached to.
KEPT_BYTES = 64 << 20

# Seconds between two looks for what is over its time.
TICK = 0.2

S = TypeVar("S")

CANCELLED = Failure("cancelled", "OPERATION_CANCELED", "The operation was cancelled.")


@dataclass
class Session(Generic[S]):
    """A caller's session: Spark's, and when it was last used."""

    spark: S
    used: float
    operations: dict[str, Operation] = field(default_factory=dict)


class Registry(Generic[S]):
    """Who runs what; see the conventions above. All methods may be called from any thread."""

    def __init__(self, limits: Server, open_session: Callable[[], S]) -> None:
        """Begin with nothing; ``open_session`` makes what statements run in."""
        self._limits = limits
        self._open = open_session
        self._changed = threading.Condition()
        self._sessions: dict[tuple[str, str], Session[S]] = {}
        self._queue: deque[Operation] = deque()
        self._running: set[Operation] = set()
        self._closing = False
        self._clock = threading.Thread(target=self._watch, name="plait-registry", daemon=True)
        self._clock.start()

    def create(
        self, caller: Caller, session: str, operation: str, deadline: float | None
    ) -> tuple[S, Operation]:
        """Open the session if it is new, and put a new operation into the queue."""
        with self._changed:
            self._refuse_if_closing()
            found = self._session(caller, session)
            if operation in found.operations:
                raise Failure(
                    "exists",
                    "OPERATION_EXISTS",
                    f"There is an operation {operation!r} in this session already: attach to it, "
                    "or take another id.",
                )
            self._refuse_if_full()
            limits = self._limits
            room = Room(max(limits.batch_bytes * 4, 1 << 20), limits.replay_bytes)
            made = Operation(operation, room, deadline, self._notify)
            found.operations[operation] = made
            found.used = time.monotonic()
            self._queue.append(made)
            self._changed.notify_all()
            return found.spark, made

    def wait_for_place(self, operation: Operation) -> bool:
        """Wait until the operation may start; False where it was stopped before that."""
        end = time.monotonic() + self._limits.queue_seconds
        with self._changed:
            # Invariant: those before it in the queue came before it.
            while not self._may_start(operation):
                if operation.state.is_end:
                    self._leave_queue(operation)
                    return False
                if (left := end - time.monotonic()) <= 0:
                    self._leave_queue(operation)
                    break
                self._changed.wait(left)
            else:
                self._queue.popleft()
                self._running.add(operation)
                self._changed.notify_all()
                return True
        operation.stop(_waited_too_long(self._limits))
        return False

    def find(self, caller: Caller, session: str, operation: str) -> Operation:
        """Give an operation of this caller's."""
        with self._changed:
            found = self._sessions.get((caller.key, session))
            if found is None or operation not in found.operations:
                raise missing(operation)
            found.used = time.monotonic()
            return found.operations[operation]

    def forget(self, caller: Caller, session: str, operation: Operation) -> None:
        """Drop an operation that has ended."""
        with self._changed:
            found = self._sessions.get((caller.key, session))
            if found is not None and found.operations.get(operation.name) is operation:
                del found.operations[operation.name]
        operation.forget()

    def operations(self) -> list[Operation]:
        """Give all operations of all callers."""
        with self._changed:
            return self._all()

    def counts(self) -> dict[str, int]:
        """Count sessions and operations, running and queued."""
        with self._changed:
            self._let_go()
            return {
                "sessions": len(self._sessions),
                "running": len(self._running),
                "queued": len(self._queue),
                "operations": sum(len(s.operations) for s in self._sessions.values()),
                "kept_bytes": sum(operation.kept_bytes for operation in self._all()),
            }

    def close(self, seconds: float) -> None:
        """Take nothing new, let what runs end for so many seconds, then cancel it."""
        end = time.monotonic() + seconds
        with self._changed:
            self._closing = True
            while self._live() and time.monotonic() < end:
                self._changed.wait(TICK)
            live = self._live()
        ending = Failure("ending", "SERVER_STOPS", "The server is shutting down.")
        for operation in live:
            operation.stop(ending)

    def _notify(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _session(self, caller: Caller, name: str) -> Session[S]:
        key = (caller.key, name)
        if key not in self._sessions:
            if len(self._sessions) >= self._limits.sessions:
                raise Failure(
                    "limit",
                    "TOO_MANY_SESSIONS",
                    f"The server has {self._limits.sessions} sessions open, its limit: use one "
                    "again, or wait until an idle one has ended.",
                )
            self._sessions[key] = Session(self._open(), time.monotonic())
        return self._sessions[key]

    def _refuse_if_closing(self) -> None:
        if self._closing:
            raise Failure("ending", "SERVER_STOPS", "The server is shutting down.")

    def _refuse_if_full(self) -> None:
        self._let_go()
        waiting = len(self._queue)
        if waiting >= self._limits.queued and len(self._running) >= self._limits.running:
            raise Failure(
                "limit",
                "QUEUE_FULL",
                f"{len(self._running)} operations run and {waiting} wait, the server's limits: "
                "try again later.",
            )

    def _may_start(self, operation: Operation) -> bool:
        self._let_go()
        return (
            not operation.state.is_end
            and bool(self._queue)
            and self._queue[0] is operation
            and len(self._running) < self._limits.running
        )

    def _leave_queue(self, operation: Operation) -> None:
        if operation in self._queue:
            self._queue.remove(operation)
            self._changed.notify_all()

    def _let_go(self) -> None:
        ended = {operation for operation in self._running if operation.state.is_end}
        if ended:
            self._running -= ended
            self._changed.notify_all()

    def _all(self) -> list[Operation]:
        return [o for session in self._sessions.values() for o in session.operations.values()]

    def _live(self) -> list[Operation]:
        return [operation for operation in self._all() if not operation.state.is_end]

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._changed:
                self._let_go()
                late = self._over_time()
                self._drop_ended()
                self._drop_idle()
                if self._closing and not self._live():
                    return
            for operation, failure in late:
                operation.stop(failure)

    def _over_time(self) -> list[tuple[Operation, Failure]]:
        now = time.monotonic()
        late = []
        for operation in self._live():
            since = operation.detached_since
            if operation.deadline is not None and now >= operation.deadline:
                late.append((operation, _past_deadline()))
            elif since is not None and now - since >= self._limits.reattach_seconds:
                late.append((operation, _left_alone(self._limits)))
        return late

    def _drop_ended(self) -> None:
        now = time.monotonic()
        ended = []
        for session in self._sessions.values():
            for operation in list(session.operations.values()):
                since = operation.detached_since
                if not operation.state.is_end or since is None:
                    continue
                if now - since >= self._limits.reattach_seconds:
                    del session.operations[operation.name]
                    operation.forget()
                else:
                    ended.append((since, operation))
        kept = sum(operation.kept_bytes for _, operation in ended)
        for _, operation in sorted(ended, key=lambda entry: entry[0]):
            if kept <= KEPT_BYTES:
                break
            kept -= operation.kept_bytes
            operation.forget()

    def _drop_idle(self) -> None:
        now = time.monotonic()
        for key, session in list(self._sessions.items()):
            if session.operations:
                session.used = now
            elif now - session.used >= self._limits.session_seconds:
                del self._sessions[key]


def _waited_too_long(limits: Server) -> Failure:
    return Failure(
        "limit",
        "QUEUE_TIMEOUT",
        f"The operation waited {limits.queue_seconds:g} seconds and no place became free: "
        f"{limits.running} operations run at a time. Try again later.",
    )


def _past_deadline() -> Failure:
    return Failure("deadline", "DEADLINE_EXCEEDED", "The deadline of the call has passed.")


def _left_alone(limits: Server) -> Failure:
    return Failure(
        "cancelled",
        "CLIENT_GONE",
        f"The operation was cancelled: its client went, and nobody attached for "
        f"{limits.reattach_seconds:g} seconds.",
    )
