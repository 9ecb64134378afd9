# SPDX-License-Identifier: Apache-2.0
"""The one place where gRPC's errors become Plait's."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from grpc_status import rpc_status

from plait._proto import plait_pb2
from plait.errors import RemoteError

if TYPE_CHECKING:
    import grpc


# The sql_state of what was cancelled, or came too late.
CANCELLED = "57014"


def detail_of(error: grpc.RpcError) -> plait_pb2.ErrorDetail | None:
    """Give what the server said itself; None where the connection failed on the way."""
    try:
        status = rpc_status.from_call(cast("grpc.Call", error))
    except ValueError:  # the status and its details do not agree
        return None
    for packed in () if status is None else status.details:
        detail = plait_pb2.ErrorDetail()
        if packed.Unpack(detail):
            return detail
    return None


def from_rpc(error: grpc.RpcError, address: str) -> RemoteError:
    """Make an error of a call that failed."""
    code = error.code().name
    detail = detail_of(error)
    if detail is None:
        message = _connection(code, error.details() or "", address)
        if code == "DEADLINE_EXCEEDED":
            return RemoteError(message, status=code, condition=code, sql_state=CANCELLED)
        return RemoteError(message, status=code)
    return from_detail(detail, error.details() or code, code)


def from_detail(detail: plait_pb2.ErrorDetail, message: str, status: str) -> RemoteError:
    """Make an error of what the server told of it."""
    return RemoteError(
        message,
        status=status,
        condition=detail.condition,
        sql_state=detail.sql_state,
        parameters=dict(detail.parameters),
        position=place(detail.position) if detail.HasField("position") else None,
        operation=detail.operation,
        stack=detail.stack,
    )


def place(position: plait_pb2.Position) -> dict[str, int | str]:
    """Give a place in a statement as the fields of its message, by name."""
    return {
        "line": position.line,
        "column": position.column,
        "start": position.start,
        "stop": position.stop,
        "fragment": position.fragment,
    }


OTHER_NAME = (
    "its certificate is for another name. Say which: --server-name NAME, or "
    "tls=Tls(server_name=...)."
)

# What gRPC says where a connection cannot be made, and what to do then.
HINTS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is of no authority that is trusted here. Name "
    "the file of the one that has signed it: --ca FILE, or tls=Tls(ca=...).",
    "Hostname Verification": OTHER_NAME,
    "is not in peer certificate": OTHER_NAME,
    "WRONG_VERSION_NUMBER": "what answers there speaks no TLS, and this client does.",
    "Socket closed": "is it running? What answers there closes the connection: it may want TLS "
    "(--tls, or tls=True), or a client's certificate (--certificate and --key, or those of Tls).",
}


def _hint(details: str) -> str:
    for said, hint in HINTS.items():
        if said in details and details.startswith("failed to connect"):
            return hint
    speaks = "TLS" if "SSL" in details or "andshake" in details else "what you speak"
    return f"is it running, and does it speak {speaks}?"


def _connection(code: str, details: str, address: str) -> str:
    match code:
        case "UNAVAILABLE":
            return f"No Plait server answers at {address}: {_hint(details)} ({details})"
        case "DEADLINE_EXCEEDED":
            return "The deadline has passed, and the operation was cancelled."
        case "UNIMPLEMENTED":
            return f"The server at {address} is no Plait server, or an older one. ({details})"
    return f"The call to {address} failed with {code}: {details}"
