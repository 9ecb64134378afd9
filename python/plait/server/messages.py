# SPDX-License-Identifier: Apache-2.0
"""Checks of what requests hold, and the statuses that calls end with; functions of values alone.

>>> count("limit", 0, 100)
100
>>> session_name("a b")
Traceback (most recent call last):
    ...
plait.server.failure.Failure: `session` must be 1 to 128 characters of A-Z a-z 0-9 . _ -, a UUID ...
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, status_pb2

from plait._proto import plait_pb2
from plait.server.failure import STATES, Failure, Place, request

if TYPE_CHECKING:
    from plait.server.config import Server

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
    "other": grpc.StatusCode.FAILED_PRECONDITION,
    "behind": grpc.StatusCode.OUT_OF_RANGE,
    "displaced": grpc.StatusCode.ABORTED,
    "ending": grpc.StatusCode.UNAVAILABLE,
    "internal": grpc.StatusCode.INTERNAL,
}


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


def name_of(field: str, name: str) -> str:
    """Check the id of an operation, or of a prepared statement."""
    if not NAME.fullmatch(name):
        raise request(
            f"`{field}` must be 1 to 128 characters of A-Z a-z 0-9 . _ -, not {name[:140]!r}."
        )
    return name


def new_name(field: str, name: str) -> str:
    """Check the name that a client has chosen, or make one."""
    return name_of(field, name) if name else str(uuid.uuid4())


def text(field: str, given: str, longest: int) -> str:
    """Check a text that may be empty."""
    if len(given) > longest:
        raise request(f"`{field}` has {len(given)} characters, and may have {longest}.")
    return given


def count(field: str, given: int, otherwise: int, most: int = 1000) -> int:
    """Check how many of something are asked for; 0 is ``otherwise``."""
    if given > most:
        raise request(f"`{field}` is {given}, and may be {most} at most.")
    return given or otherwise


def statement_text(sql: str, longest: int) -> str:
    """Check that there is a statement, of so many characters at most.

    Spark takes a thousand times the memory of a text to read it.
    """
    if not sql.strip():
        raise request("`sql` is empty: send one SQL statement.")
    return text("sql", sql, longest)


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
        submitted_seconds=server.submitted_seconds,
        submitted=server.submitted,
        prepared=server.prepared,
        streams=server.streams,
        stream_records=server.stream_records,
        subscriptions=server.subscriptions,
        continuous_tables=bool(server.state),
        unread_seconds=server.unread_seconds,
        request_bytes=server.request_bytes,
        statement_characters=server.statement_characters,
    )


def status(failure: Failure, operation: str, server: str = "") -> status_pb2.Status:
    """Convert a failure into the status that a call to the server of that incarnation ends with."""
    packed = any_pb2.Any()
    packed.Pack(detail(failure, operation, server))
    code = code_pb2.Code.Value(STATUS[failure.kind].name)
    return status_pb2.Status(code=code, message=sentence(failure), details=[packed])


def sentence(failure: Failure) -> str:
    """Tell as much of the message as there is room for."""
    return _short(failure.message, MESSAGE)


def detail(failure: Failure, operation: str, server: str = "") -> plait_pb2.ErrorDetail:
    """Tell what the message leaves out, as much as there is room for."""
    told = plait_pb2.ErrorDetail(
        condition=failure.condition,
        sql_state=failure.sql_state or STATES[failure.kind],
        parameters=_some(failure.parameters),
        operation=operation,
        server=server,
        stack=_short(failure.stack, STACK),
    )
    if failure.place is not None:
        told.position.CopyFrom(position(failure.place))
    return told


def position(place: Place) -> plait_pb2.Position:
    """Convert a place in a statement."""
    return plait_pb2.Position(
        line=place.line,
        column=place.column,
        start=place.start,
        stop=place.stop,
        fragment=_short(place.fragment, FRAGMENT),
    )


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
