# SPDX-License-Identifier: Apache-2.0
"""The result of one statement, as it comes; how a broken connection is mended says `Dialogue`.

A cursor that is closed, or left before its end, cancels its operation, unless that was submitted:
it can be attached to again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import grpc
import pyarrow as pa

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client.closing import Closing
from plait.client.dialogue import (
    Dialogue,
    Request,
    broken_off,
    no_columns,
    polars_of,
    rows_of,
)
from plait.client.progress import ProgressLine, Show
from plait.errors import RemoteError

if TYPE_CHECKING:
    import pandas as pd

    from plait.client.row import Row

Metadata = tuple[tuple[str, str], ...]

# Calls on their way to the server, and the stubs that sent them.
_farewells: dict[Any, plait_pb2_grpc.PlaitServiceStub] = {}

# Seconds that a farewell may take.
FAREWELL = 5.0


class Cursor(Closing):
    """A statement that runs, and its result: read it once, as rows or as Arrow."""

    def __init__(  # noqa: PLR0913 - made by the client alone
        self,
        stub: plait_pb2_grpc.PlaitServiceStub,
        request: Request,
        *,
        metadata: Metadata,
        address: str,
        timeout: float | None,
        progress: Show,
    ) -> None:
        """Send the statement, or attach to the operation of the request."""
        self._stub = stub
        self._metadata = metadata
        self._dialogue = Dialogue(request, address, timeout)
        self._line = ProgressLine(progress)
        self._closed = False
        self._call: Any = None  # should Ctrl-C come while it is sent, it is cancelled all the same
        self._call = self._send(request)

    @property
    def id(self) -> str:
        """The operation's id."""
        return self._dialogue.id

    @property
    def schema(self) -> pa.Schema:
        """The columns; waits until the server knows them."""
        # Invariant: the schema comes before any batch, so no batch is lost here.
        while self._dialogue.schema is None:
            if not self._read():
                raise no_columns()
        return self._dialogue.schema

    @property
    def counters(self) -> dict[str, Any]:
        """What was counted: rows, batches, bytes, milliseconds, joins; known at the end."""
        return self._dialogue.counters()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows as Arrow record batches, as they come."""
        _ = self.schema
        while self._read():
            if (batch := self._dialogue.batch) is not None:
                yield batch

    def __iter__(self) -> Iterator[Row]:
        """Give the rows, as they come."""
        for batch in self.batches():
            yield from rows_of(batch)

    def arrow(self) -> pa.Table:
        """Give the rest of the result as one Arrow table."""
        return pa.Table.from_batches(list(self.batches()), self.schema)

    def pandas(self) -> pd.DataFrame:
        """Give the rest of the result as one pandas frame."""
        frame: pd.DataFrame = self.arrow().to_pandas()
        return frame

    def polars(self) -> Any:
        """Give the rest of the result as one polars frame."""
        return polars_of(self.arrow())

    def cancel(self) -> None:
        """End the statement and its jobs; the rest of the result is gone."""
        if not self._closed:
            self._leave()
            self._release()

    def close(self) -> None:
        """End the statement, unless its result has been read to the end, or it was submitted."""
        if not self._closed:
            self._leave()
            if self._dialogue.is_owner:
                self._release()

    def __del__(self) -> None:
        """Close a cursor that was left before its end."""
        if not getattr(self, "_closed", True):
            self.close()

    def _read(self) -> bool:
        """Take in the next message; False where none comes."""
        # Invariant: what has come has been given, each batch once.
        while not self._closed:
            try:
                self._take(next(self._call))
                return True
            except StopIteration:
                raise broken_off() from None
            except grpc.RpcError as error:
                if not self._closed:
                    self._go_on(error)
        return False

    def _take(self, message: Any) -> None:
        self._dialogue.take(message)
        if self._dialogue.progress is not None:
            self._line.show(self._dialogue.progress)
        else:
            self._line.clear()  # rows may go to the same terminal
        if self._dialogue.finished is not None:
            self.close()

    def _go_on(self, error: grpc.RpcError) -> None:
        try:
            pause, request = self._dialogue.after(error)
        except RemoteError:
            self.close()
            raise
        time.sleep(pause)
        self._call = self._send(request)

    def _send(self, request: Request) -> Any:
        is_new = isinstance(request, plait_pb2.ExecuteRequest)
        call: Any = self._stub.Execute if is_new else self._stub.Attach
        return call(request, metadata=self._metadata, timeout=self._dialogue.seconds_left)

    def _leave(self) -> None:
        self._closed = True
        self._line.clear()
        if self._call is not None:
            self._call.cancel()

    def _release(self) -> None:
        """Tell the server that nothing more is asked for; nobody waits for its answer."""
        request = self._dialogue.farewell
        try:
            call = self._stub.Cancel.future(request, metadata=self._metadata, timeout=FAREWELL)
        except ValueError:
            return  # the channel is closed: the server finds out by itself
        # gRPC cancels a call that nobody refers to.
        _farewells[call] = self._stub
        call.add_done_callback(lambda done: _farewells.pop(done, None))


def await_farewells(stub: plait_pb2_grpc.PlaitServiceStub) -> None:
    """Wait until the cursors of a stub have told the server that they are closed."""
    for call in [call for call, sender in _farewells.copy().items() if sender is stub]:
        with suppress(grpc.RpcError, grpc.FutureTimeoutError, grpc.FutureCancelledError):
            call.result(FAREWELL)
