# SPDX-License-Identifier: Apache-2.0
"""Examples: cursors that are cancelled, closed or dropped, and what the server hears of it."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from tests.python.endpoint import Endpoint, until

from plait.client import Client, PlaitError, RemoteError, dbapi
from plait.client.aio import AsyncClient
from plait.client.cursor import Cursor


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start()
    yield endpoint
    endpoint.stop()


@pytest.mark.parametrize("session", [None, "named"])
def test_closing_a_client_cancels_what_its_cursors_run(
    endpoint: Endpoint, session: str | None
) -> None:
    with Client(f"localhost:{endpoint.port}", session=session) as client:
        cursors = [client.sql("rows 1; hang") for _ in range(2)]
        assert until(lambda: len(endpoint.engine.sources) == 2)
    for source in endpoint.engine.sources:
        assert source.cancelled.wait(1.0)
    for cursor in cursors:
        with pytest.raises(RemoteError, match="closed before"):
            list(cursor)


@pytest.mark.parametrize("session", [None, "named"])
def test_closing_a_client_for_asyncio_does_so_too(endpoint: Endpoint, session: str | None) -> None:
    async def program() -> None:
        async with AsyncClient(f"localhost:{endpoint.port}", session=session) as client:
            held = client.sql("rows 1; hang")
            await held.schema
        with pytest.raises(RemoteError, match="cancelled or closed"):
            await held.arrow()

    asyncio.run(program())
    assert endpoint.source.cancelled.wait(1.0)


def test_a_client_that_is_closed_says_so(endpoint: Endpoint) -> None:
    client = endpoint.client()
    client.close()
    calls: list[Callable[[], object]] = [
        lambda: client.sql("rows 1"),
        client.info,
        lambda: client.stream("s").progress(),
    ]
    for call in calls:
        with pytest.raises(PlaitError, match="The client is closed: make another one"):
            call()

    async def program() -> None:
        client = AsyncClient(f"localhost:{endpoint.port}")
        await client.close()
        with pytest.raises(PlaitError, match="The client is closed"):
            await client.info()
        with pytest.raises(PlaitError, match="The client is closed"):
            await client.sql("rows 1").arrow()

    asyncio.run(program())


def test_a_result_that_another_thread_cancels_is_an_error_and_not_a_short_table(
    endpoint: Endpoint,
) -> None:
    cursor = endpoint.client().sql("rows 2; hang")
    rows = iter(cursor)
    next(rows)
    source = endpoint.source
    assert until(lambda: source.made == 2)
    threading.Timer(0.2, cursor.cancel).start()
    with pytest.raises(RemoteError) as caught:
        cursor.arrow()
    assert (caught.value.status, caught.value.condition) == ("CANCELLED", "OPERATION_CANCELED")
    assert caught.value.operation == cursor.id


def test_a_result_that_another_task_cancels_is_an_error_too(endpoint: Endpoint) -> None:
    async def program() -> None:
        async with AsyncClient(f"localhost:{endpoint.port}") as client:
            cursor = client.sql("rows 2; hang")
            await cursor.schema
            reading = asyncio.create_task(cursor.arrow())
            await asyncio.sleep(0.2)
            await cursor.cancel()
            with pytest.raises(RemoteError, match="cancelled or closed"):
                await reading

    asyncio.run(program())


def test_a_database_cursor_that_is_closed_meanwhile_raises_an_error_of_its_own(
    endpoint: Endpoint,
) -> None:
    with dbapi.connect(f"localhost:{endpoint.port}") as connection:
        cursor = connection.cursor()
        cursor.execute("rows 2; hang")
        threading.Timer(0.2, cursor.close).start()
        with pytest.raises(dbapi.OperationalError, match="cancelled or closed"):
            cursor.fetchall()


def test_a_result_that_was_read_to_its_end_can_be_asked_again_and_is_empty(
    endpoint: Endpoint,
) -> None:
    cursor = endpoint.client().sql("rows 1")
    assert len(list(cursor)) == 3
    cursor.close()
    assert list(cursor) == []


def test_dropping_a_cursor_calls_nothing_where_it_is_collected(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By cursor: those of other tests may be collected here too.
    closed_in: dict[int, str] = {}
    close = Cursor.close

    def watched(cursor: Cursor) -> None:
        closed_in[id(cursor)] = threading.current_thread().name
        close(cursor)

    cursor = endpoint.client().sql("hang")
    dropped = id(cursor)
    source = endpoint.source
    monkeypatch.setattr(Cursor, "close", watched)
    del cursor
    gc.collect()
    assert source.cancelled.wait(2.0)
    assert closed_in[dropped] == "plait-farewells"


def test_a_cursor_for_asyncio_that_another_thread_collects_is_closed_in_its_loop(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    from plait.client.async_cursor import AsyncCursor

    closed_in: dict[int, threading.Thread] = {}
    let_go = AsyncCursor._let_go

    def watched(cursor: AsyncCursor) -> object:
        closed_in[id(cursor)] = threading.current_thread()
        return let_go(cursor)

    monkeypatch.setattr(AsyncCursor, "_let_go", watched)

    async def program() -> int:
        async with AsyncClient(f"localhost:{endpoint.port}") as client:
            held = [client.sql("hang")]
            dropped = id(held[0])
            await held[0].schema
            await asyncio.to_thread(held.clear)
            await asyncio.to_thread(gc.collect)
            assert await asyncio.to_thread(endpoint.source.cancelled.wait, 2.0)
        return dropped

    assert closed_in[asyncio.run(program())] is threading.main_thread()


def leave_in_the_pause(monkeypatch: pytest.MonkeyPatch, leave: Callable[[], None]) -> None:
    monkeypatch.setattr("plait.client.cursor.time", SimpleNamespace(sleep=lambda _: leave()))


def test_a_cursor_that_is_cancelled_while_it_waits_to_try_again_sends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[Any] = []
    with Client("localhost:1") as client:
        cursor = client.sql("do")
        monkeypatch.setattr(cursor, "_send", sent.append)
        leave_in_the_pause(monkeypatch, cursor.cancel)
        with pytest.raises(RemoteError, match=r"cancelled|closed") as caught:
            list(cursor)
    assert (caught.value.status, caught.value.condition) == ("CANCELLED", "OPERATION_CANCELED")
    assert sent == []


def test_so_does_one_for_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.client.dialogue.FIRST_PAUSES", (0.5,))
    sent: list[Any] = []

    async def program() -> None:
        async with AsyncClient("localhost:1") as client:
            cursor = client.sql("do")
            monkeypatch.setattr(cursor, "_send", sent.append)
            reading = asyncio.create_task(cursor.arrow())
            await asyncio.sleep(0.3)
            await cursor.cancel()
            with pytest.raises(RemoteError, match=r"cancelled|closed") as caught:
                await reading
            assert caught.value.status == "CANCELLED"

    asyncio.run(program())
    assert sent == []


def test_a_client_that_is_closed_while_a_cursor_waits_to_try_again_cancels_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client("localhost:1")
    cursor = client.sql("do")
    leave_in_the_pause(monkeypatch, client.close)
    with pytest.raises(RemoteError) as caught:
        list(cursor)
    assert (caught.value.status, caught.value.condition) == ("CANCELLED", "OPERATION_CANCELED")


def test_so_does_a_client_for_asyncio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.client.dialogue.FIRST_PAUSES", (0.5,))

    async def program() -> None:
        client = AsyncClient("localhost:1")
        reading = asyncio.create_task(client.sql("do").arrow())
        await asyncio.sleep(0.3)
        await client.close()
        with pytest.raises(RemoteError) as caught:
            await reading
        assert caught.value.status == "CANCELLED"

    asyncio.run(program())
