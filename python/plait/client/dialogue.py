# SPDX-License-Identifier: Apache-2.0
"""What a client and a server say to each other about one statement; it sends and waits nowhere.

    Execute ->            <- schema, batch 0, batch 1       the connection breaks
    Attach, offset 2 ->   <- schema, batch 2, finished

1. A broken connection is taken up again where it broke, each row coming once: the statement is not
   run a second time. The first call is sent again only if it never came to a server, and that is
   known in three cases: nobody could be connected to; a server says that the call was meant for
   another one, and refuses it; or the one that it was meant for does not know the operation, and
   would, had the call come since it was sent: even of one that it was told to forget it says so,
   which is final. Otherwise the error says that it may have run.
2. What else the server itself says is final: nothing is tried again, but for an Attach for which
   there was no place. The calls that broke may have them still, until the server knows.
3. After each further attempt the pause is longer, and after the last the error stands; an answer
   begins the pauses anew.

4. A dialogue may begin with Attach, to read what was submitted: then no statement is ever sent.

`Cursor` and `AsyncCursor` send what it says, and hand it what comes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import grpc

from plait._proto import plait_pb2
from plait.arrow import batch_of, schema_of, values_of
from plait.client.failure import CANCELLED, detail_of, from_rpc
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

# What is said where a statement was sent, and nobody can tell what became of it.
UNKNOWN = (
    "It may have run, or not, or in part: a query can be run again, of a command look first what "
    "it has done."
)

# How a call ends that broke on its way: the second where a server, or what stands between, has cut
# it off. (A call that the client itself cancels is read no more.)
CUT = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)

# The initial metadata by which a server that knows an operation tells its incarnation.
SERVER = "plait-server"

# The metadata by which it tells of a session that has settings or views, and by which the client
# says that it counts on them.
SESSION = "plait-session"

# How gRPC begins to tell that no connection was made, so that the call is still here.
NOT_CONNECTED = (
    "failed to connect to all addresses",
    "DNS resolution failed",
    "errors resolving",
    "empty address list",
)


@dataclass
class Met:
    """Who has answered a client last: the server and its session, by their incarnations.

    "" for none. ``session`` is told by a server where the session has something to lose.
    """

    server: str = ""
    session: str = ""

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What is sent with each call, so that none runs in another session without a word."""
        return ((SESSION, self.session),) if self.session else ()

    def hear(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> bool:
        """Take in the initial metadata of an answer; whether a server has told of itself."""
        has_told = False
        for name, value in metadata or ():  # what grpc.aio gives has keys, and is no mapping
            if name == SERVER:
                self.server, has_told = str(value), True
            elif name == SESSION:
                self.session = str(value)
        return has_told

    def fail(self, error: RemoteError) -> None:
        """Take in an error: who knows that a session has ended may begin another."""
        if error.condition == "SESSION_ENDED":
            self.session = ""


class Dialogue:
    """Where one statement is: what has come of its result, and what is to be sent next.

    ``schema`` and ``finished`` stay once they have come.
    """

    def __init__(
        self, request: Request, address: str, timeout: float | None, met: Met | None = None
    ) -> None:
        """Begin; ``request`` is to be sent first, the deadline is ``timeout`` seconds from now.

        ``met`` is read and kept up to date; it is that of all statements of a client.
        """
        self.request = request
        self._sent_last = request
        self.is_known = False  # to a server, as an operation
        self.schema: pa.Schema | None = None
        self.batch: pa.RecordBatch | None = None
        self.progress: plait_pb2.Progress | None = None
        self.finished: plait_pb2.Finished | None = None
        self._address = address
        self._end = None if timeout is None else time.monotonic() + timeout
        self._pauses = iter(FIRST_PAUSES)
        self._next = 0  # the offset of the first batch that has not come
        self._met = met or Met()
        self._may_have_come = False  # to a server
        self._mean_who_was_met()

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
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What is sent with a request, beside who sends it."""
        return self._met.metadata

    @property
    def farewell(self) -> plait_pb2.CancelRequest:
        """What tells the server that nothing more is asked for."""
        return plait_pb2.CancelRequest(session=self.request.session, operation=self.id)

    def hear(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> None:
        """Take in the initial metadata of an answer: a server that tells of itself knows it."""
        if self._met.hear(metadata):
            self.is_known = True

    def take(self, message: plait_pb2.ExecuteResponse | plait_pb2.AttachResponse) -> None:
        """Take in what has come: ``batch`` and ``progress`` are those of this message, if any."""
        self._pauses = iter(PAUSES)
        self.is_known = True
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
        self.hear(cast("grpc.Call", error).initial_metadata())
        pause = next(self._pauses, None)
        request = None if pause is None else self._next_request(error)
        if pause is None or request is None:
            raise self._failure(error) from None
        self._sent_last = request
        return pause, request

    def check_whole(self) -> None:
        """Raise ``RemoteError`` unless the result has come to its end: the cursor was closed."""
        if self.finished is None:
            raise RemoteError(
                "The cursor was cancelled or closed before its result had come to the end.",
                status="CANCELLED",
                condition="OPERATION_CANCELED",
                sql_state=CANCELLED,
                operation=self.id,
            )

    def counters(self) -> dict[str, Any]:
        """Tell what was counted; known at the end."""
        if self.finished is None:
            raise PlaitError("The result has not been read to its end; what is counted comes last.")
        return counted(self.finished)

    def _next_request(self, error: grpc.RpcError) -> Request | None:
        """Say what to send after an error; None where that is final."""
        if (detail := detail_of(error)) is not None:
            is_attach = isinstance(self._sent_last, plait_pb2.AttachRequest)
            if is_attach and detail.condition == "TOO_MANY_CALLS":
                return self._sent_last
            return self._after_words(detail) if self._is_new else None
        if error.code() not in CUT:
            return None
        if self._is_new and not self._may_have_come and _is_not_connected(error):
            return self.request
        self._may_have_come = True
        return self._attaching

    def _after_words(self, detail: plait_pb2.ErrorDetail) -> Request | None:
        """Say what to send after a server has spoken of a statement that none is known to have."""
        match detail.condition:
            case "OPERATION_EXISTS":
                self.is_known = True
                return self._attaching
            case "OPERATION_NOT_FOUND":
                return self.request if self._has_never_come(detail) else None
            case "OTHER_SERVER":
                self._met.server = detail.server
                self._mean_who_was_met()
                return self.request
        return None

    @property
    def _is_new(self) -> bool:
        """Whether no server is known to have the statement."""
        return self.is_owner and not self.is_known

    @property
    def _attaching(self) -> plait_pb2.AttachRequest:
        return plait_pb2.AttachRequest(
            session=self.request.session, operation=self.id, next_offset=self._next
        )

    def _mean_who_was_met(self) -> None:
        # Invariant: no server but the one that is meant has taken the statement.
        if isinstance(self.request, plait_pb2.ExecuteRequest):
            self.request.server = self._met.server
            self._sent = time.monotonic()

    def _has_never_come(self, detail: plait_pb2.ErrorDetail) -> bool:
        """Whether a server that does not know the operation proves that none has taken it."""
        if not isinstance(self.request, plait_pb2.ExecuteRequest):
            return False
        is_meant = bool(detail.server) and detail.server == self.request.server
        remembered = float(detail.parameters.get("remembered_seconds", "0"))
        return is_meant and time.monotonic() - self._sent < remembered

    def _failure(self, error: grpc.RpcError) -> RemoteError:
        made = from_rpc(error, self._address)
        self._met.fail(made)
        if not self.is_owner:
            return made
        if made.condition == "OPERATION_NOT_FOUND" and self.schema is not None:
            return self._lost(
                made,
                "The server has lost the operation in the middle of its result: it was restarted, "
                "or nobody was connected for longer than it waits. Run the statement again if it "
                "was a query; a command has run.",
            )
        if made.condition == "OPERATION_NOT_FOUND" and (self.is_known or self._may_have_come):
            return self._lost(
                made,
                "The connection broke, and the server that answers now does not know the "
                "operation: it was restarted, or is another one, or nobody was connected for "
                f"longer than it waits. {UNKNOWN}",
            )
        if made.status == "UNAVAILABLE" and not made.condition and self._may_have_come:
            return self._lost(made, f"{made} The statement had been sent. {UNKNOWN}")
        if made.status == "UNAVAILABLE" and _is_not_connected(error) and self._is_new:
            return self._lost(made, f"{made} Nothing was sent.")
        return made

    def _lost(self, error: RemoteError, message: str) -> RemoteError:
        return RemoteError(
            message, status=error.status, condition=error.condition, operation=self.id
        )


def broken_off() -> PlaitError:
    """Make the error of a stream that has ended before the result."""
    return PlaitError("The server ended the stream before the result did.")


def no_columns() -> RemoteError:
    """Make the error of a cursor that is asked for columns and was closed before they came."""
    return RemoteError(
        "The cursor was closed before the server sent the columns.",
        status="CANCELLED",
        condition="OPERATION_CANCELED",
        sql_state=CANCELLED,
    )


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


def _is_not_connected(error: grpc.RpcError) -> bool:
    """Whether no connection was made, so that nothing was sent."""
    return (error.details() or "").startswith(NOT_CONNECTED)
