# SPDX-License-Identifier: Apache-2.0
"""The calls that run nothing: Validate, Explain, Prepare, Unprepare and Catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

from plait._proto import plait_pb2
from plait.server import answers, messages
from plait.server.analysis import Validated, Wanted
from plait.server.call import Call, Calls

if TYPE_CHECKING:
    import grpc

    from plait.server.callers import Caller

# Characters of a name of the catalog, of a pattern and of a page's token.
DATABASE = 255
CATALOG = PATTERN = 128
TOKEN = 4096


class StatementCalls(Calls):
    """Statements and tables that are told of."""

    def Validate(
        self, request: plait_pb2.ValidateRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ValidateResponse:
        """Tell what a statement is."""
        with self._call(context, "Validate") as call:
            return answers.validated(self._validated(call, self._caller(context), request))

    def Explain(
        self, request: plait_pb2.ExplainRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ExplainResponse:
        """Tell how a statement would run."""
        with self._call(context, "Explain") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            statement = self._statement(caller, uuid4().hex, request)
            with (
                self._desks.sit(call, statement.operation),
                self._registry.using(caller, session) as spark,
            ):
                return answers.explained(self._engine.explain(spark, statement))

    def Prepare(
        self, request: plait_pb2.PrepareRequest, context: grpc.ServicerContext
    ) -> plait_pb2.PrepareResponse:
        """Keep a statement."""
        with self._call(context, "Prepare") as call:
            caller = self._caller(context)
            name = messages.new_name("prepared", request.prepared)
            told = self._validated(call, caller, request)
            self._registry.prepare(caller, request.session, name, request.sql)
            return plait_pb2.PrepareResponse(prepared=name, statement=answers.validated(told))

    def Unprepare(
        self, request: plait_pb2.UnprepareRequest, context: grpc.ServicerContext
    ) -> plait_pb2.UnprepareResponse:
        """Forget a statement."""
        with self._call(context, "Unprepare"):
            caller = self._caller(context)
            session = messages.session_name(request.session)
            name = messages.name_of("prepared", request.prepared)
            self._registry.unprepare(caller, session, name)
            return plait_pb2.UnprepareResponse()

    def Catalog(
        self, request: plait_pb2.CatalogRequest, context: grpc.ServicerContext
    ) -> plait_pb2.CatalogResponse:
        """Tell of tables."""
        with self._call(context, "Catalog") as call:
            caller = self._caller(context)
            session = messages.session_name(request.session)
            wanted = _wanted(request, caller)
            with (
                self._desks.sit(call, wanted.operation),
                self._registry.using(caller, session) as spark,
            ):
                return answers.page(self._engine.catalog(spark, wanted))

    def _validated(
        self,
        call: Call,
        caller: Caller,
        request: plait_pb2.ValidateRequest | plait_pb2.PrepareRequest,
    ) -> Validated:
        session = messages.session_name(request.session)
        statement = self._statement(caller, uuid4().hex, request)
        with (
            self._desks.sit(call, statement.operation),
            self._registry.using(caller, session) as spark,
        ):
            return self._engine.validate(spark, statement)


def _wanted(request: plait_pb2.CatalogRequest, caller: Caller) -> Wanted:
    return Wanted(
        messages.text("catalog", request.catalog, CATALOG),
        messages.text("database", request.database, DATABASE),
        messages.text("pattern", request.pattern, PATTERN),
        messages.text("page_token", request.page_token, TOKEN),
        messages.count("page_size", request.page_size, 100),
        caller.scopes,
        uuid4().hex,
    )
