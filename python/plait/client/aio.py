# SPDX-License-Identifier: Apache-2.0
"""The client for asyncio: what `plait.client` does, without a thread that waits.

async with AsyncClient("db.example:15110", token="plait_...", tls=True) as client:
    async for row in client.sql("SELECT :a + 1 AS b", a=1):
        print(row.b)

A task that is cancelled while it reads a cursor cancels the cursor's operation.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack
from weakref import WeakSet

import grpc
from grpc import aio

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client import asked
from plait.client.async_cursor import AsyncCursor
from plait.client.async_questions import AsyncQuestions
from plait.client.async_statements import AsyncPrepared, AsyncSubmitted
from plait.client.async_stream import AsyncStream
from plait.client.call import GOODBYE, Parameters, of_words, options, request
from plait.client.closing import AsyncClosing
from plait.client.connection import Connection
from plait.client.progress import Show
from plait.client.tls import Tls
from plait.errors import PlaitError, RemoteError

if TYPE_CHECKING:
    from plait.client.asked import Question, T
    from plait.client.dialogue import Request
    from plait.client.streams import StreamSettings, StreamStatus

__all__ = [
    "AsyncClient",
    "AsyncCursor",
    "AsyncPrepared",
    "AsyncStream",
    "AsyncSubmitted",
    "PlaitError",
    "RemoteError",
    "Show",
    "Tls",
]


class AsyncClient(Connection, AsyncQuestions, AsyncClosing):
    """Runs SQL on a Plait server, in one event loop; its tasks may share it.

    Temporary views, variables and settings live in the client's session, on the server. One that
    has no name ends with the client, one with a name when it has been idle for the server's
    time-out. To be closed, or used in an `async with`.
    """

    def __init__(  # noqa: PLR0913 - a client's settings, by name
        self,
        address: str,
        *,
        token: str | None = None,
        tls: bool | Tls = False,
        session: str | None = None,
        timeout: float | None = None,
        progress: Show = Show.NEVER,
        message_bytes: int = 64 << 20,
    ) -> None:
        """Make a client of the server at ``address``, "host:port"; it connects at its first call.

        The words are those of `plait.client.Client`, but that ``progress`` shows nothing unless
        asked: several statements would write over one another. To be called in an event loop.
        """
        super().__init__(
            address, token=token, tls=tls, session=session, timeout=timeout, progress=progress
        )
        self._channel = _channel(address, Tls() if tls is True else tls or None, message_bytes)
        self._stub: Any = plait_pb2_grpc.PlaitServiceStub(self._channel)
        self._cursors: WeakSet[AsyncCursor] = WeakSet()
        self._farewells: set[Any] = set()

    def sql(self, text: str, /, *positional: object, **named: object) -> AsyncCursor:
        """Run a statement with the values of its `?` or `:name` parameters.

        The statement begins at once; the cursor gives its rows while they come.
        """
        return self.execute(text, of_words(positional, named))

    def execute(
        self,
        text: str,
        parameters: Parameters = (),
        *,
        timeout: float | None = None,
        stack: bool = False,
    ) -> AsyncCursor:
        """Run a statement, as `sql` does.

        ``timeout`` is in seconds; with ``stack`` errors carry the JVM's, if the server gives it.
        """
        return self._cursor(request(self.session, text, parameters, stack=stack), timeout)

    async def start_stream(
        self, text: str, parameters: Parameters = (), **settings: Unpack[StreamSettings]
    ) -> AsyncStream:
        """Start a query over streams, as `plait.client.Client.start_stream` does."""
        question = asked.start_stream(self.session, text, parameters, **settings)
        return AsyncStream(self, *await self._ask(question))

    def stream(self, name: str) -> AsyncStream:
        """Come back to a stream by its name."""
        return AsyncStream(self, name)

    async def streams(self, *, limit: int = 100) -> list[StreamStatus]:
        """Tell of the caller's streams, the newest first."""
        return await self._ask(asked.list_streams(limit))

    async def info(self) -> plait_pb2.ServerInfoResponse:
        """Ask for the server's versions, limits, and what the token allows."""
        return await self._ask(asked.info())

    def _cursor(self, request: Request, timeout: float | None) -> AsyncCursor:
        cursor = AsyncCursor(self._stub, request, farewells=self._farewells, **self._told(timeout))
        self._cursors.add(cursor)
        return cursor

    async def _ask(self, question: Question[T]) -> T:
        self._calls()
        metadata = (*self._metadata, *self._met.metadata)
        call = getattr(self._stub, question.method)(
            question.request, metadata=metadata, timeout=self._patience
        )
        try:
            answer = await call
            self._met.hear(await call.initial_metadata())
        except grpc.RpcError as error:
            raise self._failed(error) from None
        return question.read(answer)

    async def close(self) -> None:
        """Close the connection, and cancel statements that still run.

        The session ends too, unless it has a name. What was submitted, and streams, go on.
        """
        if self._closed:
            return
        self._closed = True
        for cursor in list(self._cursors):
            cursor._let_go()
        await asyncio.sleep(0)  # so that those are let go of that were dropped in other threads
        await asyncio.gather(*(call.code() for call in self._farewells))
        if self._owes_farewell:
            goodbye = asked.close_session(self.session).request
            with suppress(grpc.RpcError):  # the server finds out by itself
                await self._stub.CloseSession(goodbye, metadata=self._metadata, timeout=GOODBYE)
        await self._channel.close()


def _channel(address: str, tls: Tls | None, message_bytes: int) -> aio.Channel:
    settings = options(tls, message_bytes)
    if tls is None:
        return aio.insecure_channel(address, settings)
    return aio.secure_channel(address, tls.credentials(), settings)
