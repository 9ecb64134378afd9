# SPDX-License-Identifier: Apache-2.0
"""Examples: the client for asyncio, with a real server over an engine without Spark."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.python.endpoint import Endpoint, until
from tests.python.fake_engine import SCHEMA, batch
from tests.python.wire import Wire

from plait.client import Client, Cursor, PlaitError, Prepared, RemoteError, Stream, Submitted
from plait.client.aio import (
    AsyncClient,
    AsyncCursor,
    AsyncPrepared,
    AsyncStream,
    AsyncSubmitted,
)

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start(batch_bytes=1 << 10, replay_bytes=1 << 22)
    yield endpoint
    endpoint.stop()


@pytest.fixture
def wire(endpoint: Endpoint) -> Iterator[Wire]:
    wire = Wire(endpoint.port)
    yield wire
    wire.close()


@pytest.fixture
def run(endpoint: Endpoint) -> Run:
    """Run a program with a client of its own, in an event loop of its own."""

    def run(program: Callable[[AsyncClient], Awaitable[Any]], **settings: Any) -> Any:
        port = settings.pop("port", endpoint.port)

        async def whole() -> Any:
            async with AsyncClient(f"localhost:{port}", **settings) as client:
                return await program(client)

        return asyncio.run(whole())

    return run


def test_the_rows_of_all_batches_come_in_order(run: Run) -> None:
    async def program(client: AsyncClient) -> list[Any]:
        return [row async for row in client.sql("rows 100")]

    rows = run(program)
    assert [row.n for row in rows] == list(range(300))
    assert rows[4] == (4, "row 4")


def test_a_result_comes_as_batches_as_a_table_and_as_a_frame(run: Run) -> None:
    async def program(client: AsyncClient) -> None:
        assert [b async for b in client.sql("rows 2").batches()] == [batch(0), batch(1)]
        assert (await client.sql("rows 2").arrow()).num_rows == 6
        assert (await client.sql("rows 2").pandas())["n"].tolist() == list(range(6))
        assert (await client.sql("rows 0").arrow()).schema == SCHEMA

    run(program)


def test_columns_are_awaited_and_counters_known_at_the_end(run: Run) -> None:
    async def program(client: AsyncClient) -> None:
        cursor = client.sql("rows 2")
        assert await cursor.schema == SCHEMA
        with pytest.raises(PlaitError, match="has not been read to its end"):
            _ = cursor.counters
        assert len([row async for row in cursor]) == 6
        assert (cursor.counters["rows"], cursor.counters["batches"]) == (6, 2)

    run(program)


def test_statements_of_one_client_run_side_by_side(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> list[int]:
        async with client.sql("hang") as hanging:
            await hanging.schema
            tables = await asyncio.gather(*(client.sql(f"rows {n}").arrow() for n in range(1, 6)))
        return [table.num_rows for table in tables]

    assert run(program) == [3, 6, 9, 12, 15]


def test_parameters_are_named_or_in_order(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> None:
        await client.sql("rows 0 ?", 1).arrow()
        assert endpoint.source.statement.positional == [{"type": "long", "value": "1"}]
        await client.sql("rows 0", a="x").arrow()
        assert endpoint.source.statement.named == {"a": {"type": "string", "value": "x"}}
        with pytest.raises(PlaitError, match="not both"):
            client.sql("rows 0", 1, a=2)
        with pytest.raises(PlaitError, match="A statement is a text in SQL, and 42 is of type int"):
            client.sql(42)  # type: ignore[arg-type]
        for ask in (client.explain, client.validate, client.submit, client.start_stream):
            with pytest.raises(PlaitError, match="A statement is a text in SQL, and None is of"):
                await ask(None)  # type: ignore[arg-type]

    run(program)


def test_a_failure_after_some_rows_comes_after_them_with_its_place(run: Run) -> None:
    async def program(client: AsyncClient) -> None:
        seen = []
        with pytest.raises(RemoteError, match=r"There is no column x\.") as caught:
            async for row in client.sql("rows 2; fail"):
                seen.append(row)
        assert len(seen) == 6
        assert (caught.value.condition, caught.value.sql_state) == ("UNRESOLVED_COLUMN", "42703")
        assert caught.value.position is not None
        assert caught.value.position["column"] == 8

    run(program)


def test_a_cut_wire_costs_no_row_and_doubles_none(run: Run, wire: Wire) -> None:
    async def program(client: AsyncClient) -> list[int]:
        seen: list[int] = []
        async for row in client.sql("rows 20000"):
            seen.append(row.n)
            if len(seen) in (1, 10_000, 40_000):
                wire.cut()
        return seen

    assert run(program, port=wire.port) == list(range(60_000))
    assert wire.cuts == 3


def test_a_server_that_is_not_there_is_told_by_its_address(run: Run) -> None:
    async def program(client: AsyncClient) -> None:
        with pytest.raises(RemoteError, match="No Plait server answers at localhost:1") as caught:
            await client.sql("rows 1").arrow()
        assert caught.value.status == "UNAVAILABLE"

    run(program, port=1)


def test_a_deadline_that_passes_ends_the_operation(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> None:
        with pytest.raises(RemoteError) as caught:
            await client.execute("hang", timeout=0.3).arrow()
        assert caught.value.status == "DEADLINE_EXCEEDED"

    run(program)
    assert endpoint.source.cancelled.wait(2.0)


def test_a_cancelled_task_cancels_the_operation(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> None:
        cursor = client.sql("rows 1; hang")
        reading = asyncio.create_task(cursor.arrow())
        await asyncio.sleep(0.3)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    run(program)
    assert endpoint.source.cancelled.wait(2.0)


def test_a_time_out_of_asyncio_cancels_the_operation(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await client.sql("hang").arrow()
        assert await asyncio.to_thread(endpoint.source.cancelled.wait, 2.0)

    run(program)


def test_cancel_by_another_task_ends_the_result_with_an_error(run: Run, endpoint: Endpoint) -> None:
    seen = []

    async def program(client: AsyncClient) -> None:
        cursor = client.sql("rows 2; hang")

        async def rows() -> None:
            async for row in cursor:
                seen.append(row)

        reading = asyncio.create_task(rows())
        assert await asyncio.to_thread(until, lambda: len(seen) == 6)
        await cursor.cancel()
        assert endpoint.source.cancelled.is_set(), "cancel waits for the server's answer"
        with pytest.raises(RemoteError, match="cancelled or closed"):
            await reading

    run(program)
    assert len(seen) == 6


def test_a_cursor_that_is_left_before_its_end_cancels_its_operation(
    run: Run, endpoint: Endpoint
) -> None:
    async def program(client: AsyncClient) -> None:
        async for _ in client.sql("rows 1; hang"):
            break
        await asyncio.sleep(0)
        gc.collect()
        assert await asyncio.to_thread(endpoint.source.cancelled.wait, 2.0)

    run(program)


def test_a_client_that_closes_has_told_the_server_of_its_cursors(
    run: Run, endpoint: Endpoint
) -> None:
    async def program(client: AsyncClient) -> str:
        async with client.sql("rows 1") as cursor:
            await cursor.arrow()
        return cursor.id

    name = run(program)
    assert until(lambda: endpoint.operation(name) is None, 1.0)


def test_the_server_tells_its_versions(run: Run) -> None:
    async def program(client: AsyncClient) -> str:
        return str((await client.info()).spark_version)

    assert run(program) == "4.3.0"


TWINS = [
    (Client, AsyncClient),
    (Cursor, AsyncCursor),
    (Prepared, AsyncPrepared),
    (Submitted, AsyncSubmitted),
    (Stream, AsyncStream),
]


@pytest.mark.parametrize(("plain", "awaiting"), TWINS)
def test_what_a_client_has_its_twin_has_with_the_same_words(plain: type, awaiting: type) -> None:
    def calls(of: type) -> dict[str, list[str]]:
        public = {name: getattr(of, name) for name in dir(of) if not name.startswith("_")}
        return {
            name: list(inspect.signature(value).parameters) if callable(value) else []
            for name, value in public.items()
        }

    assert calls(plain) == calls(awaiting)


def test_a_statement_is_told_of_and_explained(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> None:
        told = await client.validate("rows 1 :a :b", a=1)
        assert (told.kind, told.schema) == ("query", SCHEMA)
        assert [parameter.name for parameter in told.parameters] == ["a", "b"]
        explanation = await client.explain("rows 1 ?", 2)
        assert (str(explanation), explanation.plan) == ("Join on a < b ...", "== Physical Plan ==")
        for call in (client.validate, client.explain, client.prepare):
            with pytest.raises(RemoteError, match=r"There is no column x\."):
                await call("fail")

    run(program)


def test_a_prepared_statement_is_called_with_values_until_it_is_closed(
    run: Run, endpoint: Endpoint
) -> None:
    async def program(client: AsyncClient) -> None:
        async with await client.prepare("rows 2; :n") as prepared:
            assert ([p.name for p in prepared.parameters], prepared.schema) == (["n"], SCHEMA)
            assert len([row async for row in prepared(n=5)]) == 6
            assert endpoint.source.statement.named == {"n": {"type": "long", "value": "5"}}
            submitted = await prepared.submit(n=6)
            assert (await submitted.attach().arrow()).num_rows == 6
        with pytest.raises(RemoteError, match="There is no prepared statement"):
            await prepared(n=5).arrow()

    run(program)


def test_a_submitted_operation_outlives_its_readers_and_is_listed(
    run: Run, endpoint: Endpoint
) -> None:
    async def program(client: AsyncClient) -> None:
        handle = await client.submit("rows 3; hang")
        async with handle.attach() as cursor:
            assert (await anext(cursor.batches())).num_rows == 3
        source = endpoint.source
        again = client.operation(handle.id)
        assert (await again.status()).state == "running"
        assert not source.cancelled.is_set()
        listed = await client.operations(session=client.session)
        assert [(found.id, found.state) for found in listed] == [(handle.id, "running")]
        await again.cancel()
        assert await asyncio.to_thread(source.cancelled.wait, 2.0)
        # A reader that is cancelled, and not only left, takes the operation with it.
        other = (await client.submit("rows 1; hang")).attach()
        await anext(other.batches())
        await other.cancel()
        assert await asyncio.to_thread(endpoint.source.cancelled.wait, 2.0)

    run(program)


def test_the_tables_of_all_pages_are_listed(run: Run, endpoint: Endpoint) -> None:
    async def program(client: AsyncClient) -> list[str]:
        return [table.name for table in await client.catalog("t%", database="d")]

    assert len(set(run(program))) == 250
    assert endpoint.engine.looked_at[-1].pattern == "t%"  # type: ignore[union-attr]


def test_a_result_comes_as_a_polars_frame(run: Run) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")

    async def program(client: AsyncClient) -> Any:
        return await client.sql("rows 2").polars()

    frame = run(program)
    assert isinstance(frame, polars.DataFrame)
    assert frame["n"].to_list() == list(range(6))
