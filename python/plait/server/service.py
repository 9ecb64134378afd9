# SPDX-License-Identifier: Apache-2.0
"""The servicer: each call is checked, converted, and handed to the registry and the engine."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from grpc_status import rpc_status

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.server import messages
from plait.server.callers import Caller, identify
from plait.server.engine import Engine, Statement
from plait.server.failure import Failure
from plait.server.registry import CANCELLED, Registry

if TYPE_CHECKING:
    import grpc

    from plait.server.config import Config
    from plait.server.operation import Operation, Reading

log = logging.getLogger("plait.server")

T = TypeVar("T")

# What a call may not take longer than, if its client set no deadline: none. gRPC gives such a
# deadline as many years.
FAR_AWAY = 10 * 365 * 24 * 3600.0


class PlaitService(plait_pb2_grpc.PlaitServiceServicer):
    """The calls of proto/plait/v1, over an engine."""

    def __init__(self, config: Config, engine: Engine, registry: Registry[Any]) -> None:
        """Serve ``engine`` to those whom ``config`` knows."""
        self._config = config
        self._engine = engine
        self._registry = registry

    def Execute(
        self, request: plait_pb2.ExecuteRequest, context: grpc.ServicerContext
    ) -> Iterator[plait_pb2.ExecuteResponse]:
        """Run a statement, and stream its result."""
        with _Call(context, "Execute") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            call.operation = messages.new_operation_name(request.operation)
            named, positional = messages.parameters(request)
            statement = Statement(
                call.operation,
                messages.statement_text(request.sql),
                named,
                positional,
                caller.scopes,
                request.stack,
            )
            yield from self._execute(call, caller, session, statement, request.reattachable)

    def _execute(
        self,
        call: _Call,
        caller: Caller,
        session: str,
        statement: Statement,
        reattachable: bool,
    ) -> Iterator[plait_pb2.ExecuteResponse]:
        spark, operation = self._registry.create(
            caller, session, statement.operation, call.deadline
        )
        reading = operation.read()
        call.when_gone(lambda: _let_go(operation, reading, reattachable))
        log.info(
            "execute",
            extra={"caller": caller.name, "session": session, "operation": operation.name},
        )
        try:
            if self._registry.wait_for_place(operation):
                self._start(spark, statement, operation)
            yield from _responses(reading, operation)
        finally:
            if not reattachable:
                operation.stop(CANCELLED)
                self._registry.forget(caller, session, operation)

    def _start(self, spark: Any, statement: Statement, operation: Operation) -> None:
        try:
            operation.start(self._engine.start(spark, statement))
        except Exception:
            operation.stop(Failure("internal", "NOT_STARTED", "Spark did not take the statement."))
            raise

    def Attach(
        self, request: plait_pb2.AttachRequest, context: grpc.ServicerContext
    ) -> Iterator[plait_pb2.AttachResponse]:
        """Take up the stream of an operation again."""
        with _Call(context, "Attach") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            call.operation = messages.operation_name(request.operation)
            operation = self._registry.find(caller, session, call.operation)
            reading = operation.read(request.next_offset)
            call.when_gone(reading.close)
            for response in _responses(reading, operation):
                yield plait_pb2.AttachResponse(response=response)

    def Cancel(
        self, request: plait_pb2.CancelRequest, context: grpc.ServicerContext
    ) -> plait_pb2.CancelResponse:
        """End an operation; one that has ended is forgotten."""
        with _Call(context, "Cancel") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            call.operation = messages.operation_name(request.operation)
            operation = self._registry.find(caller, session, call.operation)
            if operation.state.is_end:
                self._registry.forget(caller, session, operation)
            else:
                operation.stop(CANCELLED)
            return plait_pb2.CancelResponse(state=messages.STATES[operation.state])

    def ServerInfo(
        self, request: plait_pb2.ServerInfoRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ServerInfoResponse:
        """Tell versions, scopes and limits."""
        del request
        with _Call(context, "ServerInfo"):
            caller = self._caller(context)
            version, spark_version = self._engine.versions()
            return plait_pb2.ServerInfoResponse(
                version=version,
                spark_version=spark_version,
                scopes=caller.scopes,
                limits=messages.limits(self._config.server),
            )

    def _caller(self, context: grpc.ServicerContext) -> Caller:
        metadata = {name: str(value) for name, value in context.invocation_metadata()}
        nobody = _by_certificate(context, self._config.server.scopes)
        return identify(metadata.get("authorization"), self._config.tokens, nobody)


class _Call:
    """One call: its failures become gRPC statuses, in this place alone."""

    def __init__(self, context: grpc.ServicerContext, name: str) -> None:
        self.operation = ""
        self._context = context
        self._name = name
        left = context.time_remaining()
        self.deadline = time.monotonic() + left if left is not None and left < FAR_AWAY else None

    def when_gone(self, react: Callable[[], None]) -> None:
        """React when the call has ended, however; at once if it has."""
        if not self._context.add_callback(react):
            react()

    def __enter__(self) -> _Call:
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
        told = messages.status(failure, self.operation)
        self._context.abort_with_status(rpc_status.to_status(told))
        raise AssertionError


def _is_abort(error: Exception) -> bool:
    """Whether gRPC itself has ended the call; it raises a bare Exception."""
    return type(error) is Exception


def _responses(reading: Reading, operation: Operation) -> Iterator[plait_pb2.ExecuteResponse]:
    with closing(reading):
        for item in reading:
            yield messages.response(operation.name, item)


def _let_go(operation: Operation, reading: Reading, reattachable: bool) -> None:
    reading.close()
    if not reattachable:
        operation.stop(CANCELLED)


def _by_certificate(context: grpc.ServicerContext, scopes: tuple[str, ...]) -> Caller:
    """Tell callers without tokens apart by their certificates, where they have any."""
    names = context.peer_identities() or ()
    key = b"|".join(names).decode("utf-8", "replace")
    return Caller(f"certificate:{key}" if key else "", key or "anonymous", scopes)
