# SPDX-License-Identifier: Apache-2.0
"""The result of one statement for asyncio; how a broken connection is mended says `Dialogue`.

A cursor that is closed, whose task is cancelled while it waits for rows, or that is left before its
end, cancels its operation.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any

import grpc
import pyarrow as pa

from plait._proto import plait_pb2
from plait.client.cursor import FAREWELL, Metadata
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


class AsyncCursor:
    """A statement that runs, and its result: read it once, as rows or as Arrow."""

    def __init__(  # noqa: PLR0913 - made by the client alone
        self,
        stub: Any,
        request: plait_pb2.ExecuteRequest,
        *,
        metadata: Metadata,
        address: str,
        timeout: float | None,
        progress: Show,
        farewells: set[Any],
    ) -> None:
        """Send the statement; ``farewells`` keeps the calls that nobody waits for."""
        self._stub = stub
        self._metadata = metadata
        self._dialogue = Dialogue(request, address, timeout)
        self._line = ProgressLine(progress)
        self._farewells = farewells
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._call = self._send(request)

    @property
    def id(self) -> str:
        """The operation's id."""
        return self._dialogue.id

    @property
    def schema(self) -> Coroutine[Any, Any, pa.Schema]:
        """The columns, to be awaited; waits until the server knows them."""
        return self._columns()

    @property
    def counters(self) -> dict[str, Any]:
        """What was counted: rows, batches, bytes, milliseconds, joins; known at the end."""
        return self._dialogue.counters()

    async def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Give the rows as Arrow record batches, as they come."""
        await self._columns()
        while await self._read():
            if (batch := self._dialogue.batch) is not None:
                yield batch

    async def __aiter__(self) -> AsyncIterator[Row]:
        """Give the rows, as they come."""
        async for batch in self.batches():
            for row in rows_of(batch):
                yield row

    async def arrow(self) -> pa.Table:
        """Give the rest of the result as one Arrow table."""
        batches = [batch async for batch in self.batches()]
        return pa.Table.from_batches(batches, self._dialogue.schema)

    async def pandas(self) -> pd.DataFrame:
        """Give the rest of the result as one pandas frame."""
        frame: pd.DataFrame = (await self.arrow()).to_pandas()
        return frame

    async def polars(self) -> Any:
        """Give the rest of the result as one polars frame."""
        return polars_of(await self.arrow())

    async def cancel(self) -> None:
        """End the statement and its jobs; the rest of the result is gone."""
        await self.close()

    async def close(self) -> None:
        """End the statement, unless its result has been read to the end; the server knows it."""
        if (call := self._let_go()) is not None:
            await call.code()

    async def __aenter__(self) -> AsyncCursor:
        """Give the cursor."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        await self.close()

    def __del__(self) -> None:
        """Close a cursor that was left before its end, if its event loop runs still."""
        if not getattr(self, "_closed", True) and self._loop.is_running():
            self._let_go()

    async def _columns(self) -> pa.Schema:
        # Invariant: the schema comes before any batch, so no batch is lost here.
        while self._dialogue.schema is None:
            if not await self._read():
                raise no_columns()
        return self._dialogue.schema

    async def _read(self) -> bool:
        """Take in the next message; False where none comes."""
        try:
            # Invariant: what has come has been given, each batch once.
            while not self._closed:
                if await self._has_read():
                    return True
        except asyncio.CancelledError:
            # Of the call alone, where another task has closed the cursor.
            if not self._closed or _is_cancelled():
                self._let_go()
                raise
        return False

    async def _has_read(self) -> bool:
        try:
            self._take(await anext(aiter(self._call)))
            return True
        except StopAsyncIteration:
            raise broken_off() from None
        except grpc.RpcError as error:
            if not self._closed:
                await self._go_on(error)
            return False

    def _take(self, message: Any) -> None:
        self._dialogue.take(message)
        if self._dialogue.progress is not None:
            self._line.show(self._dialogue.progress)
        else:
            self._line.clear()  # rows may go to the same terminal
        if self._dialogue.finished is not None:
            self._let_go()

    async def _go_on(self, error: grpc.RpcError) -> None:
        try:
            pause, request = self._dialogue.after(error)
        except RemoteError:
            self._let_go()
            raise
        await asyncio.sleep(pause)
        self._call = self._send(request)

    def _send(self, request: Request) -> Any:
        is_new = isinstance(request, plait_pb2.ExecuteRequest)
        call = self._stub.Execute if is_new else self._stub.Attach
        return call(request, metadata=self._metadata, timeout=self._dialogue.seconds_left)

    def _let_go(self) -> Any:
        """Tell the server that nothing more is asked for; gives the call, None if it was told."""
        if self._closed:
            return None
        self._closed = True
        self._line.clear()
        self._call.cancel()
        call = self._stub.Cancel(self._dialogue.farewell, metadata=self._metadata, timeout=FAREWELL)
        self._farewells.add(call)
        call.add_done_callback(self._farewells.discard)
        return call


def _is_cancelled() -> bool:
    """Whether the task that runs is to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
