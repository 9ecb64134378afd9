# SPDX-License-Identifier: Apache-2.0
"""What all calls have in common: who calls, until when, and how a failure becomes a status."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
from grpc_status import rpc_status

from plait.server import messages, sentences
from plait.server.callers import Caller, identify
from plait.server.desks import Desks
from plait.server.engine import Engine, Statement
from plait.server.failure import Failure
from plait.server.parameters import WithStatement, parameters

if TYPE_CHECKING:
    from plait.server.config import Config
    from plait.server.registry import Registry
    from plait.server.tally import Tally

log = logging.getLogger("plait.server")

# What a call may not take longer than, if its client set no deadline: none. gRPC gives such a
# deadline as many years.
FAR_AWAY = 10 * 365 * 24 * 3600.0

# The initial metadata by which a server tells its incarnation.
SERVER = "plait-server"

# The metadata by which it tells which session the statement runs in, if that may have settings or
# views to lose; and by which a client says which one it counts on.
SESSION = "plait-session"


class Call:
    """One call: its failures become gRPC statuses, in this place alone."""

    def __init__(
        self, context: grpc.ServicerContext, name: str, tally: Tally, incarnation: str
    ) -> None:
        """Take up the call of that name, at the server of that incarnation."""
        self.operation = ""
        self._incarnation = incarnation
        self._context = context
        self._name = name
        self._tally = tally
        left = context.time_remaining()
        self.deadline = time.monotonic() + left if left is not None and left < FAR_AWAY else None

    def when_gone(self, react: Callable[[], None]) -> None:
        """React when the call has ended, however; at once if it has."""
        if not self._context.add_callback(react):
            react()

    def cut(self) -> None:
        """End it from another thread than its own, without a word."""
        self._context.cancel()

    def say_who(self, session: str = "") -> None:
        """Tell the client at once which server has taken the call up, and in which session."""
        told = ((SERVER, self._incarnation), *(((SESSION, session),) if session else ()))
        with suppress(grpc.RpcError):  # the client has gone
            self._context.send_initial_metadata(told)

    @property
    def is_over(self) -> bool:
        """Whether nobody waits for its answer any more."""
        return self._is_late or not self._context.is_active()

    def refuse_if_over(self) -> None:
        """Raise what has ended it."""
        if self._is_late:
            raise sentences.past_deadline()
        if self.is_over:
            raise sentences.cancelled()

    @property
    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def __enter__(self) -> Call:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Failure):
            self._abort(error)
        if isinstance(error, Exception) and not _is_abort(error):
            log.exception("the call %s failed", self._name, exc_info=error)
            self._abort(
                Failure(
                    "internal",
                    "SERVER_ERROR",
                    "The server failed; its log tells why. Please report it.",
                )
            )

    def _abort(self, failure: Failure) -> NoReturn:
        self._tally.failed(failure.kind)
        told = messages.status(failure, self.operation, self._incarnation)
        self._context.abort_with_status(rpc_status.to_status(told))
        raise AssertionError


class Calls:
    """What the calls of every subject work with."""

    def __init__(self, config: Config, engine: Engine, registry: Registry[Any]) -> None:
        """Serve ``engine`` to those whom ``config`` knows."""
        self._config = config
        self._engine = engine
        self._registry = registry
        self._desks = Desks(config.server, engine.cancel_inquiry)

    def _call(self, context: grpc.ServicerContext, name: str) -> Call:
        return Call(context, name, self._registry.tally, self._registry.incarnation)

    def _caller(self, context: grpc.ServicerContext) -> Caller:
        metadata = {name: str(value) for name, value in context.invocation_metadata()}
        nobody = _by_certificate(context, self._config.server.scopes)
        caller = identify(metadata.get("authorization"), self._config.tokens, nobody)
        return replace(caller, counts_on=metadata.get(SESSION, ""))

    def _statement(self, caller: Caller, operation: str, request: WithStatement) -> Statement:
        named, positional = parameters(request)
        sql = messages.statement_text(request.sql, self._config.server.statement_characters)
        return Statement(
            operation, sql, named, positional, caller.scopes, request.stack, caller.key
        )


def _is_abort(error: Exception) -> bool:
    """Whether gRPC itself has ended the call; it raises a bare Exception."""
    return type(error) is Exception


def _by_certificate(context: grpc.ServicerContext, scopes: tuple[str, ...]) -> Caller:
    """Tell callers without tokens apart by their certificates, where they have any."""
    names = context.peer_identities() or ()
    key = b"|".join(names).decode("utf-8", "replace")
    return Caller(f"certificate:{key}" if key else "", key or "anonymous", scopes)
