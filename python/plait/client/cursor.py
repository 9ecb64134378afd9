# SPDX-License-Identifier: Apache-2.0
"""The result of one statement, as it comes; how a broken connection is mended says `Dialogue`.

A cursor that is closed, or left before its end, cancels its operation, unless that was submitted:
it can be attached to again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
import pyarrow as pa

from plait.client.aside import aside
from plait.client.closing import Closing
from plait.client.dialogue import (
    broken_off,
    no_columns,
    polars_of,
    rows_of,
)
from plait.client.farewell import CLOSER
from plait.client.reading import FAREWELL, Reading
from plait.errors import RemoteError

if TYPE_CHECKING:
    import pandas as pd

    from plait._proto import plait_pb2_grpc
    from plait.client.row import Row

T = TypeVar("T")

# Calls on their way to the server, and the stubs that sent them.
_farewells: dict[Any, plait_pb2_grpc.PlaitServiceStub] = {}


class Cursor(Reading, Closing):
    """A statement that runs, and its result: read it once, as rows or as Arrow."""

    @property
    def schema(self) -> pa.Schema:
        """The columns; waits until the server knows them."""
        # Invariant: the schema comes before any batch, so no batch is lost here.
        while self._dialogue.schema is None:
            if not self._read():
                raise no_columns()
        return self._dialogue.schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows as Arrow record batches, as they come."""
        _ = self.schema
        while self._read():
            if (batch := self._dialogue.batch) is not None:
                yield batch
        self._dialogue.check_whole()

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
        """Have a cursor closed that was left before its end, and its call let go of."""
        if hasattr(self, "_call"):
            CLOSER.drop(self)

    def _calling(self, act: Callable[[], T]) -> T:
        return aside(act)

    def _next(self) -> tuple[Any, Any]:
        """Give the next message; and what was told before the first, as long as it is not known."""
        message = next(self._call)
        return message, None if self._dialogue.is_known else self._call.initial_metadata()

    def _read(self) -> bool:
        """Take in the next message; False where none comes."""
        # Invariant: what has come has been given, each batch once.
        while not self._closed:
            try:
                message, told = self._calling(self._next)
            except StopIteration:
                raise broken_off() from None
            except grpc.RpcError as error:
                if not self._closed:
                    self._go_on(error)
                continue
            except BaseException:
                # Somebody waits for the next message already: it cannot be asked for again.
                self.close()
                raise
            if told is not None:
                self._dialogue.hear(told)
            self._take(message)
            return True
        return False

    def _take(self, message: Any) -> None:
        if self._show(message):
            self.close()

    def _go_on(self, error: grpc.RpcError) -> None:
        try:
            pause, request = self._dialogue.after(error)
        except RemoteError:
            self.close()
            raise
        time.sleep(pause)
        self._send_again(request)

    def _release(self) -> None:
        """Tell the server that nothing more is asked for; nobody waits for its answer."""
        request = self._dialogue.farewell

        def send() -> None:
            try:
                call = self._stub.Cancel.future(request, metadata=self._metadata, timeout=FAREWELL)
            except ValueError:
                return  # the channel is closed: the server finds out by itself
            # gRPC cancels a call that nobody refers to.
            _farewells[call] = self._stub
            call.add_done_callback(lambda done: _farewells.pop(done, None))

        self._calling(send)


def await_farewells(stub: plait_pb2_grpc.PlaitServiceStub) -> None:
    """Wait until the cursors of a stub have told the server that they are closed."""
    CLOSER.wait(FAREWELL)
    for call in [call for call, sender in _farewells.copy().items() if sender is stub]:
        with suppress(grpc.RpcError, grpc.FutureTimeoutError, grpc.FutureCancelledError):
            aside(partial(call.result, FAREWELL))
