# SPDX-License-Identifier: Apache-2.0
"""The result of one statement, as it comes.

1. A broken connection is taken up again where it broke, each row coming once: the statement is not
   run a second time. Only where the server never saw the first call is that sent again.
2. What the server itself says is final: nothing is tried again.
3. A cursor that is closed, or left before its end, cancels its operation.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

import grpc
import pyarrow as pa

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client.failure import detail_of, from_rpc
from plait.client.progress import ProgressLine, Show
from plait.client.row import Row
from plait.errors import PlaitError, RemoteError

if TYPE_CHECKING:
    import pandas as pd

# Seconds of pause before each further attempt to take a result up; then the error is raised. Who
# has never been answered has perhaps the wrong address, and is told so sooner.
PAUSES = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
FIRST_PAUSES = PAUSES[:3]

Metadata = tuple[tuple[str, str], ...]

_END = object()

# Calls on their way to the server.
_farewells: set[Any] = set()


class Cursor:
    """A statement that runs, and its result: read it once, as rows or as Arrow."""

    def __init__(  # noqa: PLR0913 - made by the client alone
        self,
        stub: plait_pb2_grpc.PlaitServiceStub,
        request: plait_pb2.ExecuteRequest,
        *,
        metadata: Metadata,
        address: str,
        timeout: float | None,
        progress: Show,
    ) -> None:
        """Send the statement."""
        self._stub = stub
        self._request = request
        self._metadata = metadata
        self._address = address
        self._end = None if timeout is None else time.monotonic() + timeout
        self._line = ProgressLine(progress)
        self._call: Any = None
        self._closed = False
        self._finished: plait_pb2.Finished | None = None
        self._schema: pa.Schema | None = None
        self._next = 0
        self._execute()
        self._stream = self._read()

    @property
    def id(self) -> str:
        """The operation's id."""
        return str(self._request.operation)

    @property
    def schema(self) -> pa.Schema:
        """The columns; waits until the server knows them."""
        # Invariant: the schema comes before any batch, so no batch is lost here.
        while self._schema is None:
            if next(self._stream, _END) is _END:
                raise PlaitError("The cursor was closed before the server sent the columns.")
        return self._schema

    @property
    def counters(self) -> dict[str, Any]:
        """What was counted: rows, batches, bytes, milliseconds, joins; known at the end."""
        if self._finished is None:
            raise PlaitError("The result has not been read to its end; what is counted comes last.")
        told = self._finished
        return {
            "rows": told.rows,
            "batches": told.batches,
            "bytes": told.bytes,
            "milliseconds": told.milliseconds,
            "joins": [{"join": j.join, "metrics": dict(j.metrics)} for j in told.joins],
        }

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows as Arrow record batches, as they come."""
        schema = self.schema
        for batch in self._stream:
            if batch is not None:
                yield pa.ipc.read_record_batch(pa.py_buffer(batch.arrow), schema)

    def __iter__(self) -> Iterator[Row]:
        """Give the rows, as they come."""
        names = tuple(self.schema.names)
        for batch in self.batches():
            columns = [column.to_pylist() for column in batch.columns]
            rows = zip(*columns, strict=True) if columns else [()] * batch.num_rows
            yield from (Row.of(names, row) for row in rows)

    def arrow(self) -> pa.Table:
        """Give the rest of the result as one Arrow table."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def pandas(self) -> pd.DataFrame:
        """Give the rest of the result as one pandas frame."""
        frame: pd.DataFrame = self.arrow().to_pandas()
        return frame

    def polars(self) -> Any:
        """Give the rest of the result as one polars frame."""
        try:
            import polars
        except ModuleNotFoundError:
            raise PlaitError("polars is missing: pip install polars.") from None
        return polars.from_arrow(self.arrow())

    def cancel(self) -> None:
        """End the statement and its jobs; the rest of the result is gone."""
        self.close()

    def close(self) -> None:
        """End the statement, unless its result has been read to the end."""
        if self._closed:
            return
        self._closed = True
        self._line.clear()
        if self._call is not None:
            self._call.cancel()
        self._release()

    def __enter__(self) -> Cursor:
        """Give the cursor."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """Close a cursor that was left before its end."""
        if not getattr(self, "_closed", True):
            self.close()

    def _read(self) -> Iterator[plait_pb2.Batch | None]:
        """Give the batches, and None for a message without rows."""
        pauses = iter(FIRST_PAUSES)
        # Invariant: the batches below _next have been given, each once.
        while True:
            try:
                for message in self._call:
                    pauses = iter(PAUSES)
                    response = getattr(message, "response", message)
                    yield self._take(response)
                    if self._finished is not None:
                        self.close()
                        return
                raise PlaitError("The server ended the stream before the result did.")
            except grpc.RpcError as error:
                if self._closed:
                    return
                pause = next(pauses, None)
                if pause is None or not self._may_go_on(error):
                    raise self._failed(error) from None
                time.sleep(pause)
                self._again(error)

    def _take(self, response: plait_pb2.ExecuteResponse) -> plait_pb2.Batch | None:
        match response.WhichOneof("content"):
            case "schema":
                self._schema = pa.ipc.read_schema(pa.py_buffer(response.schema.arrow))
            case "batch":
                self._next = response.batch.offset + 1
                return response.batch
            case "progress":
                self._line.show(response.progress)
            case "finished":
                self._finished = response.finished
        return None

    def _may_go_on(self, error: grpc.RpcError) -> bool:
        detail = detail_of(error)
        if detail is not None:
            return detail.condition in ("OPERATION_NOT_FOUND", "OPERATION_EXISTS") and (
                self._schema is None
            )
        return bool(error.code() == grpc.StatusCode.UNAVAILABLE)

    def _again(self, error: grpc.RpcError) -> None:
        """Attach; the server that has never heard of the operation gets the statement again."""
        detail = detail_of(error)
        if detail is not None and detail.condition == "OPERATION_NOT_FOUND":
            self._execute()
        else:
            request = plait_pb2.AttachRequest(
                session=self._request.session, operation=self.id, next_offset=self._next
            )
            self._call = self._stub.Attach(
                request, metadata=self._metadata, timeout=self._seconds_left()
            )

    def _execute(self) -> None:
        self._call = self._stub.Execute(
            self._request, metadata=self._metadata, timeout=self._seconds_left()
        )

    def _seconds_left(self) -> float | None:
        return None if self._end is None else max(0.001, self._end - time.monotonic())

    def _failed(self, error: grpc.RpcError) -> RemoteError:
        self._line.clear()
        self._closed = True
        detail = detail_of(error)
        if detail is not None and detail.condition == "OPERATION_NOT_FOUND":
            return RemoteError(
                "The server has lost the operation in the middle of its result: it was restarted, "
                "or nobody was connected for longer than it waits. Run the statement again.",
                status=error.code().name,
                condition=detail.condition,
                operation=self.id,
            )
        self._release()
        return from_rpc(error, self._address)

    def _release(self) -> None:
        """Tell the server that nothing more is asked for; nobody waits for its answer."""
        request = plait_pb2.CancelRequest(session=self._request.session, operation=self.id)
        try:
            call = self._stub.Cancel.future(request, metadata=self._metadata, timeout=5.0)
        except ValueError:
            return  # the channel is closed: the server finds out by itself
        # gRPC cancels a call that nobody refers to.
        _farewells.add(call)
        call.add_done_callback(_farewells.discard)
