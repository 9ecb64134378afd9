# SPDX-License-Identifier: Apache-2.0
"""A stream on a server, for asyncio: the twin of `plait.client.stream`.

async with await client.start_stream("SELECT * FROM STREAM t", nowhere=True) as stream:
    async for record in stream.progress():
        print(record.batch, record.rows_in)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import grpc

from plait._proto import plait_pb2
from plait.client import asked
from plait.client.closing import AsyncClosing
from plait.client.dialogue import PAUSES
from plait.client.failure import detail_of, from_rpc
from plait.client.stream import LAST
from plait.client.streams import StreamRecord, StreamStatus, progress_request
from plait.errors import RemoteError

if TYPE_CHECKING:
    from plait.client.aio import AsyncClient


class AsyncStream(AsyncClosing):
    """A stream by its name; any client of the same token may hold one."""

    def __init__(self, client: AsyncClient, name: str, table: str = "") -> None:
        """Hold the stream of that name; nothing is asked yet."""
        self._client = client
        self.name = name
        self.table = table

    async def status(self) -> StreamStatus:
        """Ask how it is, what it did last, and why it failed if it has."""
        request = plait_pb2.StreamProgressRequest(stream=self.name, kept_only=True, after=LAST)
        async for message in self._messages(request):
            if message.WhichOneof("content") == "stream":
                return StreamStatus.of(message.stream)
        raise AssertionError

    async def progress(
        self, *, after: int | StreamRecord = 0, follow: bool = True
    ) -> AsyncIterator[StreamRecord]:
        """Give the records after one, those that are kept, then each as it comes.

        ``after`` is a record, or the number of one: numbers begin anew where the stream is started
        again, which is seen by a record alone. It ends with the stream, and raises the error that
        the stream has failed with. Without ``follow`` it ends with what is kept.
        """
        request = progress_request(self.name, after, kept_only=not follow)
        async for message in self._messages(request):
            if message.WhichOneof("content") == "record":
                yield StreamRecord.of(message.record)
            elif follow and (error := StreamStatus.of(message.stream).error) is not None:
                raise error

    async def stop(self) -> StreamStatus:
        """End it; its checkpoint stays. One that has ended is forgotten by the server."""
        return await self._client._ask(asked.stop_stream(self.name))

    async def close(self) -> None:
        """Stop it, unless it is gone, or fills a table, which lives until it is dropped."""
        if self.table:
            return
        try:
            await self.stop()
        except RemoteError as failed:
            if failed.condition != "STREAM_NOT_FOUND":
                raise

    async def _messages(self, request: plait_pb2.StreamProgressRequest) -> AsyncIterator[Any]:
        pauses = iter(PAUSES)
        # Invariant: the records up to the number in the request have been given.
        while True:
            self._client._check_open()
            call = self._client._stub.StreamProgress(request, metadata=self._client._metadata)
            try:
                async for message in call:
                    pauses = iter(PAUSES)
                    if message.WhichOneof("content") == "record":
                        request.after = message.record.number
                        request.started = message.record.started
                    yield message
                return
            except grpc.RpcError as error:
                pause = next(pauses, None)
                if pause is None or error.code() != grpc.StatusCode.UNAVAILABLE or detail_of(error):
                    raise from_rpc(error, self._client.address) from None
                await asyncio.sleep(pause)
            finally:
                call.cancel()

    def __repr__(self) -> str:
        """Show the name."""
        return f"AsyncStream({self.name!r})"
