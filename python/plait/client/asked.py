# SPDX-License-Identifier: Apache-2.0
"""What a client asks without waiting for rows: a request, and how its answer is read.

>>> question = status("s", "op")
>>> question.method, question.request.operation
('Status', 'op')

`Client` and `AsyncClient` send it, and wait each in its own way. Nothing here calls anybody.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Unpack

from plait._proto import plait_pb2
from plait.client import streams
from plait.client.call import Parameters, fill, statement
from plait.client.statements import RemoteExplanation, Validation
from plait.client.status import OperationStatus
from plait.client.streams import StreamSettings, StreamStatus
from plait.client.tables import Table

T = TypeVar("T")


@dataclass(frozen=True)
class Question(Generic[T]):
    """A call that has one answer: its method, its request, and how the answer is read."""

    method: str
    request: Any
    read: Callable[[Any], T]


def info() -> Question[plait_pb2.ServerInfoResponse]:
    """Ask for the server's versions and limits."""
    return Question("ServerInfo", plait_pb2.ServerInfoRequest(), lambda told: told)


def validate(session: str, text: str, parameters: Parameters) -> Question[Validation]:
    """Ask what a statement is."""
    request = plait_pb2.ValidateRequest(session=session, sql=statement(text))
    fill(request, parameters)
    return Question("Validate", request, Validation.of)


def explain(session: str, text: str, parameters: Parameters) -> Question[RemoteExplanation]:
    """Ask how a statement would run."""
    request = plait_pb2.ExplainRequest(session=session, sql=statement(text))
    fill(request, parameters)
    return Question("Explain", request, RemoteExplanation.of)


def prepare(session: str, text: str, parameters: Parameters) -> Question[tuple[str, Validation]]:
    """Let the server keep a statement: its name there, and what it is."""
    request = plait_pb2.PrepareRequest(session=session, sql=statement(text))
    fill(request, parameters)
    return Question("Prepare", request, lambda told: (told.prepared, Validation.of(told.statement)))


def unprepare(session: str, prepared: str) -> Question[None]:
    """Let the server forget a prepared statement."""
    request = plait_pb2.UnprepareRequest(session=session, prepared=prepared)
    return Question("Unprepare", request, _nothing)


def close_session(session: str) -> Question[None]:
    """End a session."""
    request = plait_pb2.CloseSessionRequest(session=session)
    return Question("CloseSession", request, _nothing)


def submit(
    session: str, parameters: Parameters, *, text: str = "", prepared: str = ""
) -> Question[str]:
    """Start a text, or a prepared statement, that runs on by itself: the operation's id."""
    request = plait_pb2.SubmitRequest(
        session=session, sql=statement(text), prepared=prepared, operation=str(uuid.uuid4())
    )
    fill(request, parameters)
    return Question("Submit", request, lambda told: str(told.operation))


def status(session: str, operation: str) -> Question[OperationStatus]:
    """Ask where an operation is."""
    request = plait_pb2.StatusRequest(session=session, operation=operation)
    return Question("Status", request, lambda told: OperationStatus.of(told.operation))


def cancel(session: str, operation: str) -> Question[None]:
    """End an operation."""
    request = plait_pb2.CancelRequest(session=session, operation=operation)
    return Question("Cancel", request, _nothing)


def operations(session: str, limit: int) -> Question[list[OperationStatus]]:
    """Ask for the caller's operations, in a session or in all."""
    request = plait_pb2.ListRequest(session=session, limit=limit)
    return Question("List", request, lambda told: [*map(OperationStatus.of, told.operations)])


def catalog(
    session: str, pattern: str, database: str, catalog: str, page: str
) -> Question[tuple[list[Table], str]]:
    """Ask for tables from a page on: them, and the next page, "" where that was the last."""
    request = plait_pb2.CatalogRequest(
        session=session, catalog=catalog, database=database, pattern=pattern, page_token=page
    )
    return Question(
        "Catalog", request, lambda told: ([*map(Table.of, told.tables)], told.next_page_token)
    )


def start_stream(
    session: str, text: str, parameters: Parameters, **settings: Unpack[StreamSettings]
) -> Question[tuple[str, str]]:
    """Start a stream: its name, and the table that it fills as a continuous table."""
    request = streams.request(session, text, parameters, **settings)
    return Question("StartStream", request, lambda told: (told.stream.stream, told.stream.table))


def stop_stream(stream: str) -> Question[StreamStatus]:
    """End a stream."""
    request = plait_pb2.StopStreamRequest(stream=stream)
    return Question("StopStream", request, lambda told: StreamStatus.of(told.stream))


def list_streams(limit: int) -> Question[list[StreamStatus]]:
    """Ask for the caller's streams."""
    request = plait_pb2.ListStreamsRequest(limit=limit)
    return Question("ListStreams", request, lambda told: [*map(StreamStatus.of, told.streams)])


def _nothing(_: object) -> None:
    """Read an answer that says nothing."""
