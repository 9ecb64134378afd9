# SPDX-License-Identifier: Apache-2.0
"""Between the messages of proto/plait/v1 and what the server works with; functions of values alone.

A parameter goes to the JVM as its type and a text:

>>> parameter(plait_pb2.Value(interval_microseconds=1_500_000))
{'type': 'interval', 'value': 'PT1.500000S'}
>>> parameter(plait_pb2.Value()) is None
True
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, status_pb2

from plait._proto import plait_pb2
from plait.server.failure import Failure, request
from plait.server.frames import Columns, Progressed
from plait.server.operation import Batch, Finished, Item, State

if TYPE_CHECKING:
    from plait.server.config import Server
    from plait.server.engine import Parameter

NAME = re.compile(r"[A-Za-z0-9._-]{1,128}")

STATUS = {
    "statement": grpc.StatusCode.INVALID_ARGUMENT,
    "refused": grpc.StatusCode.PERMISSION_DENIED,
    "limit": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "cancelled": grpc.StatusCode.CANCELLED,
    "deadline": grpc.StatusCode.DEADLINE_EXCEEDED,
    "request": grpc.StatusCode.INVALID_ARGUMENT,
    "unauthenticated": grpc.StatusCode.UNAUTHENTICATED,
    "missing": grpc.StatusCode.NOT_FOUND,
    "exists": grpc.StatusCode.ALREADY_EXISTS,
    "behind": grpc.StatusCode.OUT_OF_RANGE,
    "displaced": grpc.StatusCode.ABORTED,
    "ending": grpc.StatusCode.UNAVAILABLE,
    "internal": grpc.StatusCode.INTERNAL,
}

STATES = {
    State.QUEUED: plait_pb2.OPERATION_STATE_QUEUED,
    State.RUNNING: plait_pb2.OPERATION_STATE_RUNNING,
    State.FINISHED: plait_pb2.OPERATION_STATE_FINISHED,
    State.FAILED: plait_pb2.OPERATION_STATE_FAILED,
    State.CANCELLED: plait_pb2.OPERATION_STATE_CANCELLED,
}

# How Java writes the doubles that are no numbers.
JAVA = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}

# gRPC sends errors as headers, and a peer may refuse more than 8 kB of those, encoded. So much of
# an error is told, in characters:
MESSAGE = 1200
PARAMETERS = 800  # all of them
FRAGMENT = 300
STACK = 1500


def session_name(name: str) -> str:
    """Check the name of a session."""
    if not NAME.fullmatch(name):
        raise request(
            "`session` must be 1 to 128 characters of A-Z a-z 0-9 . _ -, a UUID for example, not "
            f"{name[:140]!r}."
        )
    return name


def operation_name(name: str) -> str:
    """Check the id of an operation."""
    if not NAME.fullmatch(name):
        raise request(
            f"`operation` must be 1 to 128 characters of A-Z a-z 0-9 . _ -, not {name[:140]!r}."
        )
    return name


def new_operation_name(name: str) -> str:
    """Check the id that a client has chosen, or make one."""
    return operation_name(name) if name else str(uuid.uuid4())


def statement_text(sql: str) -> str:
    """Check that there is a statement."""
    if not sql.strip():
        raise request("`sql` is empty: send one SQL statement.")
    return sql


def parameters(
    message: plait_pb2.ExecuteRequest,
) -> tuple[dict[str, Parameter], list[Parameter]]:
    """Check and convert the parameters of a request, named and positional."""
    if message.named and message.positional:
        raise request("A statement takes `named` or `positional` parameters, not both.")
    named = {name: _parameter(f":{name}", value) for name, value in message.named.items()}
    positional = [
        _parameter(f"parameter {place}", value)
        for place, value in enumerate(message.positional, start=1)
    ]
    return named, positional


def parameter(value: plait_pb2.Value) -> Parameter:  # noqa: PLR0911 - one a type
    """Convert a value; raises ``ValueError`` if its text is none of its type."""
    kind = value.WhichOneof("kind")
    match kind:
        case None:
            return None
        case "boolean":
            return {"type": kind, "value": "true" if value.boolean else "false"}
        case "long" | "string":
            return {"type": kind, "value": str(getattr(value, kind))}
        case "double":
            return {"type": kind, "value": JAVA.get(repr(value.double), repr(value.double))}
        case "binary":
            return {"type": kind, "value": value.binary.hex()}
        case "decimal":
            return {"type": kind, "value": _decimal(value.decimal)}
        case "date":
            return {"type": kind, "value": date.fromisoformat(value.date).isoformat()}
        case "timestamp":
            return {"type": kind, "value": _instant(value.timestamp)}
        case "timestamp_ntz":
            return {"type": kind, "value": _local(value.timestamp_ntz)}
        case "interval_microseconds":
            sign = "-" if value.interval_microseconds < 0 else ""
            seconds, micros = divmod(abs(value.interval_microseconds), 1_000_000)
            return {"type": "interval", "value": f"PT{sign}{seconds}.{micros:06d}S"}
    raise ValueError(f"a kind that this server does not know, {kind}")


def _parameter(name: str, value: plait_pb2.Value) -> Parameter:
    try:
        return parameter(value)
    except (ValueError, OverflowError, InvalidOperation) as error:
        kind = value.WhichOneof("kind")
        raise request(f"{name} is no {kind}: {error}.") from None


def _decimal(text: str) -> str:
    number = Decimal(text)
    if not number.is_finite():
        raise ValueError(f"{text!r} is not finite")
    digits, exponent = number.as_tuple().digits, int(number.as_tuple().exponent)
    if max(len(digits), -exponent, len(digits) + exponent) > 38:
        raise ValueError(f"{text[:60]!r} has more than 38 digits")
    return f"{number:f}"


def _instant(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no zone; end it with Z, or send a timestamp_ntz")
    from datetime import UTC

    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def _local(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(f"{text!r} has a zone; send a timestamp")
    return moment.isoformat(timespec="microseconds")


def response(operation: str, item: Item) -> plait_pb2.ExecuteResponse:
    """Convert one item of a result."""
    match item:
        case Columns(arrow):
            schema = plait_pb2.Schema(arrow=arrow)
            return plait_pb2.ExecuteResponse(operation=operation, schema=schema)
        case Batch(offset, rows, arrow):
            batch = plait_pb2.Batch(offset=offset, rows=rows, arrow=arrow)
            return plait_pb2.ExecuteResponse(operation=operation, batch=batch)
        case Progressed(counts):
            progress = plait_pb2.Progress(
                stages=counts["stages"],
                stages_done=counts["stagesDone"],
                tasks=counts["tasks"],
                tasks_done=counts["tasksDone"],
                tasks_failed=counts["tasksFailed"],
            )
            return plait_pb2.ExecuteResponse(operation=operation, progress=progress)
        case Finished():
            return plait_pb2.ExecuteResponse(operation=operation, finished=_finished(item))


def _finished(item: Finished) -> plait_pb2.Finished:
    counts = item.counts
    return plait_pb2.Finished(
        rows=counts["rows"],
        batches=item.batches,
        bytes=counts["bytes"],
        milliseconds=round(item.seconds * 1000),
        joins=[
            plait_pb2.JoinCounters(join=join["join"], metrics=join["metrics"])
            for join in counts["joins"]
        ],
    )


def limits(server: Server) -> plait_pb2.Limits:
    """Tell the limits of the server."""
    return plait_pb2.Limits(
        rows=server.rows,
        bytes=server.bytes,
        running=server.running,
        queued=server.queued,
        queue_seconds=server.queue_seconds,
        reattach_seconds=server.reattach_seconds,
        session_seconds=server.session_seconds,
        message_bytes=server.message_bytes,
    )


def status(failure: Failure, operation: str) -> status_pb2.Status:
    """Convert a failure into the status that a call ends with."""
    detail = plait_pb2.ErrorDetail(
        condition=failure.condition,
        sql_state=failure.sql_state,
        parameters=_some(failure.parameters),
        operation=operation,
        stack=_short(failure.stack, STACK),
    )
    if failure.place is not None:
        place = failure.place
        detail.position.line, detail.position.column = place.line, place.column
        detail.position.start, detail.position.stop = place.start, place.stop
        detail.position.fragment = _short(place.fragment, FRAGMENT)
    packed = any_pb2.Any()
    packed.Pack(detail)
    code = code_pb2.Code.Value(STATUS[failure.kind].name)
    return status_pb2.Status(code=code, message=_short(failure.message, MESSAGE), details=[packed])


def _some(parameters: Mapping[str, str]) -> dict[str, str]:
    """Keep as many as there is room for, the first ones."""
    told: dict[str, str] = {}
    left = PARAMETERS
    for name, value in parameters.items():
        left -= len(name)
        if left <= 0:
            break
        told[name] = _short(value, left)
        left -= len(told[name])
    return told


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]} ..."
