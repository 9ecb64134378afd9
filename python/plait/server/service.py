# SPDX-License-Identifier: Apache-2.0
"""The servicer: each call is checked, converted, and handed to the registry and the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.server import messages
from plait.server.operation_calls import OperationCalls
from plait.server.statement_calls import StatementCalls
from plait.server.stream_calls import StreamCalls

if TYPE_CHECKING:
    import grpc


class PlaitService(
    OperationCalls, StatementCalls, StreamCalls, plait_pb2_grpc.PlaitServiceServicer
):
    """The calls of proto/plait/v1, over an engine."""

    def CloseSession(
        self, request: plait_pb2.CloseSessionRequest, context: grpc.ServicerContext
    ) -> plait_pb2.CloseSessionResponse:
        """End a session."""
        with self._call(context, "CloseSession"):
            caller = self._caller(context)
            self._registry.close_session(caller, messages.session_name(request.session))
            return plait_pb2.CloseSessionResponse()

    def ServerInfo(
        self, request: plait_pb2.ServerInfoRequest, context: grpc.ServicerContext
    ) -> plait_pb2.ServerInfoResponse:
        """Tell versions, scopes and limits."""
        del request
        with self._call(context, "ServerInfo"):
            caller = self._caller(context)
            version, spark_version = self._engine.versions()
            return plait_pb2.ServerInfoResponse(
                version=version,
                spark_version=spark_version,
                scopes=caller.scopes,
                limits=messages.limits(self._config.server),
                server=self._registry.incarnation,
            )
