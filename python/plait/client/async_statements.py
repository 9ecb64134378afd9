# SPDX-License-Identifier: Apache-2.0
"""For asyncio, statements that the server keeps or that run by themselves.

async with await client.prepare("SELECT * FROM t WHERE k = :k") as find:
    async for row in find(k="a"):
        ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait._proto import plait_pb2
from plait.client import asked
from plait.client.call import of_words
from plait.client.closing import AsyncClosing

if TYPE_CHECKING:
    from plait.client.async_cursor import AsyncCursor
    from plait.client.async_questions import AsyncQuestions
    from plait.client.statements import Validation
    from plait.client.status import OperationStatus


class AsyncPrepared(AsyncClosing):
    """A statement that the server keeps, to be called with values of its parameters."""

    def __init__(self, client: AsyncQuestions, name: str, validation: Validation) -> None:
        """Hold the statement of that name."""
        self._client = client
        self.name = name
        self.schema = validation.schema
        self.parameters = validation.parameters

    def __call__(self, *positional: object, **named: object) -> AsyncCursor:
        """Run it, as `AsyncClient.sql` runs a text."""
        return self._client._run_prepared(self.name, of_words(positional, named))

    async def submit(self, *positional: object, **named: object) -> AsyncSubmitted:
        """Start it, as `AsyncClient.submit` starts a text."""
        return await self._client._submit("", self.name, of_words(positional, named))

    async def close(self) -> None:
        """Let the server forget it."""
        await self._client._ask(asked.unprepare(self._client.session, self.name))


class AsyncSubmitted:
    """An operation by its id, in a session; any client of the same token may hold one.

    The server ends it when nobody has asked for its status or read it for `submitted_seconds`.
    """

    def __init__(self, client: AsyncQuestions, session: str, operation: str) -> None:
        """Hold the operation of that id; nothing is asked yet."""
        self._client = client
        self.session = session
        self.id = operation

    async def status(self) -> OperationStatus:
        """Ask where it is."""
        return await self._client._ask(asked.status(self.session, self.id))

    def attach(self, *, timeout: float | None = None) -> AsyncCursor:
        """Read its result, from the start, as `Submitted.attach` does."""
        request = plait_pb2.AttachRequest(session=self.session, operation=self.id)
        return self._client._cursor(request, timeout)

    async def cancel(self) -> None:
        """End it and its jobs; one that has ended is forgotten."""
        await self._client._ask(asked.cancel(self.session, self.id))

    def __repr__(self) -> str:
        """Show the id."""
        return f"AsyncSubmitted({self.id!r})"
