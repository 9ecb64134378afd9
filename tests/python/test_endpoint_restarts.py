# SPDX-License-Identifier: Apache-2.0
"""Examples: what a client does where the server that took its statement is another one now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import grpc
import pytest
from tests.python.endpoint import Endpoint, until
from tests.python.wire import Wire

from plait._proto import plait_pb2
from plait.client import Client, RemoteError
from plait.client.aio import AsyncClient


@pytest.fixture
def two() -> Iterator[tuple[Endpoint, Endpoint]]:
    """Two servers: the second is the first one started again."""
    both = Endpoint.start(), Endpoint.start()
    yield both
    for endpoint in both:
        endpoint.stop()


@pytest.fixture
def wire(two: tuple[Endpoint, Endpoint]) -> Iterator[Wire]:
    wire = Wire(two[0].port)
    yield wire
    wire.close()


def restart(two: tuple[Endpoint, Endpoint], wire: Wire) -> None:
    """Let the statement begin and tell of its progress, and put the other server in its place."""
    assert until(lambda: bool(two[0].engine.sources))
    time.sleep(0.3)  # until the progress has come
    wire.target = two[1].port
    wire.cut()


def test_a_command_that_a_restarted_server_has_lost_is_not_run_again(
    two: tuple[Endpoint, Endpoint], wire: Wire
) -> None:
    with Client(f"localhost:{wire.port}") as client:
        cursor = client.sql("do; hang")
        restart(two, wire)
        with pytest.raises(RemoteError, match="It may have run, or not") as caught:
            list(cursor)
        assert (caught.value.condition, caught.value.operation) == (
            "OPERATION_NOT_FOUND",
            cursor.id,
        )
        assert two[1].engine.sources == []
        with pytest.raises(RemoteError, match="settings, temporary views"):
            list(client.sql("rows 2"))
        assert client.sql("rows 2").arrow().num_rows == 6


def test_the_client_for_asyncio_runs_it_once_too(
    two: tuple[Endpoint, Endpoint], wire: Wire
) -> None:
    async def program() -> None:
        async with AsyncClient(f"localhost:{wire.port}") as client:
            await client.sql("rows 1").arrow()
            cursor = client.sql("do; hang")
            assert await asyncio.to_thread(until, lambda: len(two[0].engine.sources) == 2)
            restart(two, wire)
            with pytest.raises(RemoteError, match="It may have run, or not"):
                await cursor.arrow()
            with pytest.raises(RemoteError, match="settings, temporary views"):
                await client.sql("rows 2").arrow()
            assert (await client.sql("rows 2").arrow()).num_rows == 6

    asyncio.run(program())
    assert [source.statement.sql for source in two[1].engine.sources] == ["rows 2"]


def test_a_statement_that_was_lost_on_its_way_is_sent_again(
    two: tuple[Endpoint, Endpoint], wire: Wire
) -> None:
    with Client(f"localhost:{wire.port}") as client:
        list(client.sql("rows 1"))
        wire.swallows = True
        cursor = client.sql("rows 2")
        time.sleep(0.2)
        wire.swallows = False
        assert len(two[0].engine.sources) == 1
        wire.cut()
        assert cursor.arrow().num_rows == 6
    assert [source.statement.sql for source in two[0].engine.sources] == ["rows 1", "rows 2"]


def cancel(client: Client, operation: str) -> None:
    request = plait_pb2.CancelRequest(session=client.session, operation=operation)
    client._stub.Cancel(request)


@pytest.mark.parametrize(
    "forget",
    [lambda client, _: client.close_session(), cancel],
    ids=["its session was closed", "it was cancelled"],
)
def test_a_command_that_has_run_and_was_forgotten_since_is_not_sent_again(
    two: tuple[Endpoint, Endpoint], wire: Wire, forget: Callable[[Client, str], None]
) -> None:
    with Client(f"localhost:{wire.port}", session="same") as client:
        list(client.sql("rows 1"))
        wire.mutes = True
        cursor = client.sql("do; rows 1")
        operation = cursor.id
        assert until(lambda: len(two[0].engine.sources) == 2)
        assert until(lambda: two[0].operation(operation).state.is_end)  # type: ignore[union-attr]
        forget(two[0].client(session="same"), operation)
        assert two[0].operation(operation) is None
        wire.mutes = False
        wire.cut()
        with pytest.raises(RemoteError, match="has begun here") as caught:
            list(cursor)
        assert (caught.value.status, caught.value.condition) == ("NOT_FOUND", "OPERATION_FORGOTTEN")
        again = client._stub.Execute(
            plait_pb2.ExecuteRequest(session="same", sql="do; rows 1", operation=operation)
        )
        with pytest.raises(grpc.RpcError, match="has begun here"):
            list(again)
    assert len(two[0].engine.sources) == 2


def test_a_statement_for_the_server_that_was_goes_to_the_one_that_is(
    two: tuple[Endpoint, Endpoint], wire: Wire
) -> None:
    with Client(f"localhost:{wire.port}") as client:
        list(client.sql("SELECT; rows 1"))
        wire.target = two[1].port
        wire.cut()
        time.sleep(0.2)  # until the client knows: what was sent before may have come
        assert client.sql("SELECT; rows 2").arrow().num_rows == 6
    assert [source.statement.sql for source in two[1].engine.sources] == ["SELECT; rows 2"]


def test_a_server_that_was_restarted_says_that_the_settings_of_the_session_are_gone(
    two: tuple[Endpoint, Endpoint], wire: Wire
) -> None:
    with Client(f"localhost:{wire.port}", session="mine") as client:
        list(client.sql("SET zone = UTC; rows 1"))
        list(client.sql("SELECT; rows 1"))
        wire.target = two[1].port
        wire.cut()
        time.sleep(0.2)  # until the client knows: what was sent before may have come
        with pytest.raises(RemoteError, match="The session 'mine' has ended") as caught:
            list(client.sql("SELECT; rows 2"))
        assert (caught.value.status, caught.value.condition) == (
            "FAILED_PRECONDITION",
            "SESSION_ENDED",
        )
        assert two[1].engine.sources == []
        assert client.sql("SELECT; rows 2").arrow().num_rows == 6
