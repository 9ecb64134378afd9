# SPDX-License-Identifier: Apache-2.0
"""The calls that run statements: Execute, Submit, Attach, Cancel, Status and List."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from plait._proto import plait_pb2
from plait.server import answers, messages, sentences
from plait.server.call import Call, Calls
from plait.server.engine import Statement
from plait.server.failure import Failure
from plait.server.failure import request as wrong
from plait.server.items import Batch
from plait.server.parameters import parameters

if TYPE_CHECKING:
    import grpc

    from plait.server.callers import Caller
    from plait.server.operation import Operation, Reading

log = logging.getLogger("plait.server")

Runnable = plait_pb2.ExecuteRequest | plait_pb2.SubmitRequest


class OperationCalls(Calls):
    """Statements that run."""

    def Execute(
        self, request: plait_pb2.ExecuteRequest, context: grpc.ServicerContext
    ) -> Iterator[plait_pb2.ExecuteResponse]:
        """Run a statement, and stream its result."""
        with self._call(context, "Execute") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            call.operation = messages.new_name("operation", request.operation)
            if request.server not in ("", self._registry.incarnation):
                raise sentences.other_server()
            statement = self._runnable(caller, call.operation, request)
            yield from self._execute(call, caller, session, statement, request.reattachable)

    def _execute(
        self,
        call: Call,
        caller: Caller,
        session: str,
        statement: Statement,
        reattachable: bool,
    ) -> Iterator[plait_pb2.ExecuteResponse]:
        spark, operation = self._registry.create(
            caller, session, statement.operation, call.deadline
        )
        reading = operation.read(cut=call.cut)
        call.when_gone(lambda: _let_go(operation, reading, reattachable))
        call.say_who(self._registry.note(caller, session, statement.sql))
        _log("execute", caller, session, operation)
        try:
            if self._registry.wait_for_place(operation):
                self._start(spark, statement, operation)
            yield from self._responses(reading, operation)
        finally:
            if not reattachable:
                operation.stop(sentences.cancelled())
                self._registry.forget(caller, session, operation)

    def Submit(
        self, request: plait_pb2.SubmitRequest, context: grpc.ServicerContext
    ) -> plait_pb2.SubmitResponse:
        """Start a statement that is read later."""
        with self._call(context, "Submit") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            call.operation = messages.new_name("operation", request.operation)
            statement = self._runnable(caller, call.operation, request)
            spark, operation = self._registry.submit(caller, session, call.operation)
            call.say_who(self._registry.note(caller, session, statement.sql))
            _log("submit", caller, session, operation)
            thread = threading.Thread(
                target=self._start_later,
                args=(spark, statement, operation),
                name=f"plait-submit-{operation.name}",
                daemon=True,
            )
            try:
                thread.start()
            except RuntimeError:
                failure = _not_started("The server has no thread left: try again later.")
                operation.stop(failure)
                self._registry.forget(caller, session, operation)
                raise failure from None
            return plait_pb2.SubmitResponse(operation=operation.name)

    def _start_later(self, spark: Any, statement: Statement, operation: Operation) -> None:
        try:
            if self._registry.wait_for_place(operation):
                self._start(spark, statement, operation)
        except Exception:
            log.exception("the operation %s did not start", operation.name)

    def _start(self, spark: Any, statement: Statement, operation: Operation) -> None:
        try:
            operation.start(self._engine.start(spark, statement))
        except Exception:
            if operation.state.is_end:  # its session has been closed meanwhile
                return
            operation.stop(_not_started("Spark did not take the statement."))
            raise

    def _runnable(self, caller: Caller, operation: str, request: Runnable) -> Statement:
        """Make a statement of a text, or of the name of a prepared one."""
        if not request.prepared:
            return self._statement(caller, operation, request)
        if request.sql:
            raise wrong("A statement is given by `sql` or by `prepared`, not both.")
        name = messages.name_of("prepared", request.prepared)
        named, positional = parameters(request)
        sql = self._registry.prepared(caller, messages.session_name(request.session), name)
        return Statement(
            operation, sql, named, positional, caller.scopes, request.stack, caller.key
        )

    def Attach(
        self, request: plait_pb2.AttachRequest, context: grpc.ServicerContext
    ) -> Iterator[plait_pb2.AttachResponse]:
        """Take up the stream of an operation again."""
        with self._call(context, "Attach") as call:
            operation = self._find(call, self._caller(context), request)
            reading = operation.read(request.next_offset, call.cut)
            call.when_gone(reading.close)
            call.say_who()
            for response in self._responses(reading, operation):
                yield plait_pb2.AttachResponse(response=response)

    def Cancel(
        self, request: plait_pb2.CancelRequest, context: grpc.ServicerContext
    ) -> plait_pb2.CancelResponse:
        """End an operation; one that has ended is forgotten."""
        with self._call(context, "Cancel") as call:
            caller = self._caller(context)
            operation = self._find(call, caller, request)
            if operation.state.is_end:
                self._registry.forget(caller, request.session, operation)
            else:
                operation.stop(sentences.cancelled())
            return plait_pb2.CancelResponse(state=answers.STATES[operation.state])

    def Status(
        self, request: plait_pb2.StatusRequest, context: grpc.ServicerContext
    ) -> plait_pb2.StatusResponse:
        """Tell where an operation is."""
        with self._call(context, "Status") as call:
            operation = self._find(call, self._caller(context), request)
            told = answers.operation(request.session, operation.status())
            return plait_pb2.StatusResponse(operation=told)

    def List(
        self, request: plait_pb2.ListRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ListResponse:
        """Tell of the caller's operations."""
        with self._call(context, "List"):
            caller = self._caller(context)
            session = messages.session_name(request.session) if request.session else ""
            most = messages.count("limit", request.limit, 100)
            found = self._registry.list_of(caller, session)
            told = [answers.listed(name, operation.snapshot()) for name, operation in found[:most]]
            return plait_pb2.ListResponse(operations=told, more=len(found) > most)

    def _find(
        self,
        call: Call,
        caller: Caller,
        request: plait_pb2.AttachRequest | plait_pb2.CancelRequest | plait_pb2.StatusRequest,
    ) -> Operation:
        session = messages.session_name(request.session)
        call.operation = messages.name_of("operation", request.operation)
        return self._registry.find(caller, session, call.operation)

    def _responses(
        self, reading: Reading, operation: Operation
    ) -> Iterator[plait_pb2.ExecuteResponse]:
        with closing(reading):
            for item in reading:
                yield answers.response(operation.name, item)
                if isinstance(item, Batch):
                    self._registry.tally.sent(item.rows, len(item.arrow))


def _log(what: str, caller: Caller, session: str, operation: Operation) -> None:
    log.info(what, extra={"caller": caller.name, "session": session, "operation": operation.name})


def _not_started(message: str) -> Failure:
    return Failure("internal", "NOT_STARTED", message)


def _let_go(operation: Operation, reading: Reading, reattachable: bool) -> None:
    reading.close()
    if not reattachable:
        operation.stop(sentences.cancelled())
