# SPDX-License-Identifier: Apache-2.0
"""The result of one statement for asyncio; how a broken connection is mended says `Dialogue`.

A cursor that is closed, whose task is cancelled while it waits for rows, or that is left before its
end, cancels its operation, unless that was submitted: it can be attached to again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

import grpc
import pyarrow as pa

from plait.client.closing import AsyncClosing
from plait.client.dialogue import (
    Request,
    broken_off,
    no_columns,
    polars_of,
    rows_of,
)
from plait.client.reading import FAREWELL, Reading, Told
from plait.errors import RemoteError

if TYPE_CHECKING:
    import pandas as pd

    from plait.client.row import Row


class AsyncCursor(Reading, AsyncClosing):
    """A statement that runs, and its result: read it once, as rows or as Arrow."""

    def __init__(
        self, stub: Any, request: Request, *, farewells: set[Any], **told: Unpack[Told]
    ) -> None:
        """Send the statement; ``farewells`` keeps the calls that nobody waits for."""
        super().__init__(stub, request, **told)
        self._farewells = farewells
        self._loop = asyncio.get_running_loop()

    @property
    def schema(self) -> Coroutine[Any, Any, pa.Schema]:
        """The columns, to be awaited; waits until the server knows them."""
        return self._columns()

    async def batches(self) -> AsyncIterator[pa.RecordBatch]:
        """Give the rows as Arrow record batches, as they come."""
        await self._columns()
        while await self._read():
            if (batch := self._dialogue.batch) is not None:
                yield batch
        self._dialogue.check_whole()

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
        if not self._closed:
            self._leave()
            await self._release().code()

    async def close(self) -> None:
        """End the statement, unless its result has been read to the end, or it was submitted.

        The server knows it then.
        """
        if (call := self._let_go()) is not None:
            await call.code()

    def __del__(self) -> None:
        """Have a cursor closed that was left before its end, if its event loop runs still.

        Any thread may collect it, and anywhere: only the loop's own may call.
        """
        if not getattr(self, "_closed", True):
            with suppress(AttributeError, RuntimeError):  # there is no loop, or it is closed
                self._loop.call_soon_threadsafe(self._let_go)

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
            message = await anext(aiter(self._call))
            if not self._dialogue.is_known:
                self._dialogue.hear(await self._call.initial_metadata())
            self._take(message)
            return True
        except StopAsyncIteration:
            raise broken_off() from None
        except grpc.RpcError as error:
            if not self._closed:
                await self._go_on(error)
            return False

    def _take(self, message: Any) -> None:
        if self._show(message):
            self._let_go()

    async def _go_on(self, error: grpc.RpcError) -> None:
        try:
            pause, request = self._dialogue.after(error)
        except RemoteError:
            self._let_go()
            raise
        await asyncio.sleep(pause)
        self._send_again(request)

    def _let_go(self) -> Any:
        """Read no more; gives the call that tells the server so, None where there is none."""
        if self._closed:
            return None
        self._leave()
        return self._release() if self._dialogue.is_owner else None

    def _release(self) -> Any:
        """Tell the server that nothing more is asked for."""
        call = self._stub.Cancel(self._dialogue.farewell, metadata=self._metadata, timeout=FAREWELL)
        self._farewells.add(call)
        call.add_done_callback(self._farewells.discard)
        return call


def _is_cancelled() -> bool:
    """Whether the task that runs is to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
