# SPDX-License-Identifier: Apache-2.0
"""What a client and a server say to each other about one statement; it sends and waits nowhere.

    Execute ->            <- schema, batch 0, batch 1       the connection breaks
    Attach, offset 2 ->   <- schema, batch 2, finished

1. A broken connection is taken up again where it broke, each row coming once: the statement is not
   run a second time. Only where the server never saw the first call is that sent again.
2. What the server itself says is final: nothing is tried again.
3. After each further attempt the pause is longer, and after the last the error stands; an answer
   begins the pauses anew.

4. A dialogue may begin with Attach, to read what was submitted: then no statement is ever sent.

`Cursor` and `AsyncCursor` send what it says, and hand it what comes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import grpc

from plait._proto import plait_pb2
from plait.arrow import batch_of, schema_of, values_of
from plait.client.failure import detail_of, from_rpc
from plait.client.row import Row
from plait.client.status import counted
from plait.errors import PlaitError, RemoteError

if TYPE_CHECKING:
    import pyarrow as pa

# Seconds of pause before each further attempt to take a result up; then the error is raised. Who
# has never been answered has perhaps the wrong address, and is told so sooner.
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
FIRST_PAUSES = PAUSES[:3]

Request = plait_pb2.ExecuteRequest | plait_pb2.AttachRequest


class Dialogue:
    """Where one statement is: what has come of its result, and what is to be sent next.

    ``schema`` and ``finished`` stay once they have come.
    """

    def __init__(self, request: Request, address: str, timeout: float | None) -> None:
        """Begin; ``request`` is to be sent first, the deadline is ``timeout`` seconds from now."""
        self.request = request
        self.schema: pa.Schema | None = None
        self.batch: pa.RecordBatch | None = None
        self.progress: plait_pb2.Progress | None = None
        self.finished: plait_pb2.Finished | None = None
        self._address = address
        self._end = None if timeout is None else time.monotonic() + timeout
        self._pauses = iter(FIRST_PAUSES)
        self._next = 0  # the offset of the first batch that has not come

    @property
    def id(self) -> str:
        """The operation's id."""
        return str(self.request.operation)

    @property
    def is_owner(self) -> bool:
        """Whether the operation ends with its reader: one that was submitted does not."""
        return isinstance(self.request, plait_pb2.ExecuteRequest)

    @property
    def seconds_left(self) -> float | None:
        """How long a call may take; None is for ever."""
        return None if self._end is None else max(0.001, self._end - time.monotonic())

    @property
    def farewell(self) -> plait_pb2.CancelRequest:
        """What tells the server that nothing more is asked for."""
        return plait_pb2.CancelRequest(session=self.request.session, operation=self.id)

    def take(self, message: plait_pb2.ExecuteResponse | plait_pb2.AttachResponse) -> None:
        """Take in what has come: ``batch`` and ``progress`` are those of this message, if any."""
        self._pauses = iter(PAUSES)
        self.batch = self.progress = None
        if isinstance(message, plait_pb2.AttachResponse):
            message = message.response
        match message.WhichOneof("content"):
            case "schema":
                self.schema = schema_of(message.schema.arrow)
            case "batch":
                self._next = message.batch.offset + 1
                self.batch = batch_of(message.batch.arrow, self.schema)
            case "progress":
                self.progress = message.progress
            case "finished":
                self.finished = message.finished

    def after(self, error: grpc.RpcError) -> tuple[float, Request]:
        """Say how many seconds to wait after a failed call, and what to send then.

        Raises ``RemoteError`` where the failure is final.
        """
        pause = next(self._pauses, None)
        if pause is None or not self._may_go_on(error):
            raise self._failure(error) from None
        if _is_unknown(error):
            return pause, self.request
        return pause, plait_pb2.AttachRequest(
            session=self.request.session, operation=self.id, next_offset=self._next
        )

    def counters(self) -> dict[str, Any]:
        """Tell what was counted; known at the end."""
        if self.finished is None:
            raise PlaitError("The result has not been read to its end; what is counted comes last.")
        return counted(self.finished)

    def _may_go_on(self, error: grpc.RpcError) -> bool:
        detail = detail_of(error)
        if detail is not None:
            is_new = self.is_owner and self.schema is None
            return is_new and detail.condition in ("OPERATION_NOT_FOUND", "OPERATION_EXISTS")
        return bool(error.code() == grpc.StatusCode.UNAVAILABLE)

    def _failure(self, error: grpc.RpcError) -> RemoteError:
        if self.schema is None or not _is_unknown(error):
            return from_rpc(error, self._address)
        return RemoteError(
            "The server has lost the operation in the middle of its result: it was restarted, "
            "or nobody was connected for longer than it waits. Run the statement again.",
            status=error.code().name,
            condition="OPERATION_NOT_FOUND",
            operation=self.id,
        )


def broken_off() -> PlaitError:
    """Make the error of a stream that has ended before the result."""
    return PlaitError("The server ended the stream before the result did.")


def no_columns() -> PlaitError:
    """Make the error of a cursor that is asked for columns and was closed before they came."""
    return PlaitError("The cursor was closed before the server sent the columns.")


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """Give the rows of a batch.

    >>> import pyarrow as pa
    >>> list(rows_of(pa.record_batch({"n": [1, 2]})))
    [Row(n=1), Row(n=2)]
    """
    names = tuple(batch.schema.names)
    return (Row.of(names, values) for values in values_of(batch))


def polars_of(table: pa.Table) -> Any:
    """Make a polars frame of a table."""
    try:
        import polars
    except ModuleNotFoundError:
        raise PlaitError("polars is missing: pip install polars.") from None
    return polars.from_arrow(table)


def _is_unknown(error: grpc.RpcError) -> bool:
    """Whether the server does not know the operation."""
    detail = detail_of(error)
    return detail is not None and detail.condition == "OPERATION_NOT_FOUND"
