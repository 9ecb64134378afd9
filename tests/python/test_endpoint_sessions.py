# SPDX-License-Identifier: Apache-2.0
"""Examples: whose session gives way to a new one, and how a session ends."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.python.endpoint import Endpoint, Start, endpoints, until
from tests.python.fake_engine import FakeEngine

from plait.client import Client, RemoteError
from plait.client.aio import AsyncClient
from plait.server.callers import digest
from plait.server.config import Token
from plait.server.lasting import may_last

ALICE = Token("alice", digest("alice's"), ("read",))
BOB = Token("bob", digest("bob's"), ("read",))

start = pytest.fixture(name="start")(endpoints)


def use(endpoint: Endpoint, *names: str, token: str | None = None) -> None:
    """Run a statement in each of the sessions; the engine numbers them as they are opened."""
    for name in names:
        cursor = endpoint.client(session=name, token=token).sql("rows 1")
        list(cursor)
        assert until(lambda cursor=cursor: endpoint.operation(cursor.id) is None)


def test_the_session_of_a_client_ends_with_the_client_unless_it_has_a_name(start: Start) -> None:
    endpoint = start()
    for session in (None, "named"):
        with Client(f"localhost:{endpoint.port}", session=session) as client:
            list(client.sql("rows 1"))
    assert endpoint.engine.closed == [1]
    assert endpoint.counts("sessions") == 1
    with Client(f"localhost:{endpoint.port}", session="named") as client:
        client.close_session()
    assert endpoint.engine.closed == [1, 2]


def test_the_session_of_a_client_for_asyncio_ends_with_it(start: Start) -> None:
    endpoint = start()

    async def program() -> None:
        for session in (None, "named"):
            async with AsyncClient(f"localhost:{endpoint.port}", session=session) as client:
                await client.sql("rows 1").arrow()

    asyncio.run(program())
    assert endpoint.engine.closed == [1]
    assert endpoint.counts("sessions") == 1


def test_a_client_that_has_asked_nothing_tells_the_server_nothing() -> None:
    began = time.monotonic()
    Client("localhost:1").close()
    Client("192.0.2.1:1").close()
    assert time.monotonic() - began < 1.0


def test_a_client_whose_server_has_gone_does_not_wait_for_it() -> None:
    endpoint = Endpoint.start()
    client = Client(f"localhost:{endpoint.port}")
    list(client.sql("rows 1"))
    endpoint.stop()
    began = time.monotonic()
    client.close()
    assert time.monotonic() - began < 3.0


def test_closing_a_session_cancels_what_runs_in_it(start: Start) -> None:
    endpoint = start()
    one, other = (endpoint.client(session="s") for _ in range(2))
    cursor = one.sql("hang")
    source = endpoint.source
    other.close_session()
    assert source.cancelled.wait(1.0)
    with pytest.raises(RemoteError, match="was cancelled"):
        list(cursor)
    assert until(lambda: endpoint.counts("sessions") == 0)


def test_what_was_submitted_outlives_its_client_and_the_session_waits_for_it(start: Start) -> None:
    endpoint = start()
    with Client(f"localhost:{endpoint.port}") as client:
        handle = client.submit("rows 2")
    heir = endpoint.client(session=handle.session).operation(handle.id)
    assert heir.attach().arrow().num_rows == 6
    assert endpoint.engine.closed == []
    heir.cancel()  # forgets it
    assert until(lambda: endpoint.engine.closed == [1])


def test_the_session_that_has_been_idle_longest_gives_way_to_a_new_one(start: Start) -> None:
    endpoint = start(sessions=3)
    use(endpoint, "a", "b", "c", "a", "d")
    assert endpoint.engine.closed == [2]


def test_the_session_of_another_caller_gives_way_only_where_there_is_none_of_ones_own(
    start: Start,
) -> None:
    endpoint = start(sessions=2, tokens=(ALICE, BOB))
    use(endpoint, "a", token="alice's")
    use(endpoint, "b", token="bob's")
    use(endpoint, "c", token="bob's")
    assert endpoint.engine.closed == [2]
    use(endpoint, "d", token="alice's")
    assert endpoint.engine.closed == [2, 1]
    held = endpoint.client(session="d", token="alice's").sql("hang")
    assert until(lambda: endpoint.counts("running") == 1)
    use(endpoint, "e", token="alice's")
    assert endpoint.engine.closed == [2, 1, 3]
    held.cancel()


def test_a_session_in_which_something_happens_does_not_give_way(start: Start) -> None:
    endpoint = start(sessions=2)
    held = endpoint.client(session="a").sql("hang")
    assert until(lambda: endpoint.counts("running") == 1)
    looking = threading.Thread(target=endpoint.client(session="b").validate, args=("stay",))
    looking.start()
    assert until(lambda: bool(endpoint.engine.looked_at))
    with pytest.raises(RemoteError, match="2 sessions of all callers are open") as caught:
        list(endpoint.client(session="c").sql("rows 1"))
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "TOO_MANY_SESSIONS",
    )
    endpoint.engine.go.set()
    looking.join()
    use(endpoint, "c")
    assert endpoint.engine.closed == [2]
    held.cancel()


def test_a_caller_has_so_many_sessions_whatever_others_have(start: Start) -> None:
    endpoint = start(caller_sessions=2, tokens=(ALICE, BOB))
    use(endpoint, "a", "b", "c", token="alice's")
    assert endpoint.engine.closed == [1]
    held = [endpoint.client(session=name, token="alice's").sql("hang") for name in ("b", "c")]
    assert until(lambda: endpoint.counts("running") == 2)
    with pytest.raises(RemoteError, match="2 sessions of this caller are open"):
        list(endpoint.client(session="d", token="alice's").sql("rows 1"))
    use(endpoint, "a", "b", token="bob's")
    for cursor in held:
        cursor.cancel()


def test_a_session_keeps_so_many_bytes_of_prepared_statements(start: Start) -> None:
    client = start(prepared_bytes=20).client()
    first = client.prepare("rows 1")
    client.prepare("rows 2 ; ü")
    with pytest.raises(RemoteError, match="have 20 bytes together") as caught:
        client.prepare("rows 3")
    assert caught.value.condition == "TOO_MANY_PREPARED"
    first.close()
    client.prepare("rows 3")


@pytest.mark.parametrize("asked", ["open_session", "close_session"])
def test_while_the_engine_does_not_answer_for_one_session_others_are_served(
    start: Start, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    plain = getattr(FakeEngine, asked)
    is_asked, go = threading.Event(), threading.Event()

    def wait(engine: FakeEngine, *told: int) -> Any:
        if asked == "close_session" or engine.sessions == 1:
            is_asked.set()
            assert go.wait(10)
        return plain(engine, *told)

    monkeypatch.setattr(FakeEngine, asked, wait)
    endpoint = start()
    use(endpoint, "a")
    if asked == "close_session":
        use(endpoint, "b")
        waiting = threading.Thread(target=endpoint.client(session="b").close_session)
    else:
        waiting = threading.Thread(target=use, args=(endpoint, "b"))
    waiting.start()
    assert is_asked.wait(5)
    try:
        with endpoint.client(session="a", timeout=3) as client:
            assert client.sql("rows 1").arrow().num_rows == 3
    finally:
        go.set()
        waiting.join()
    assert until(lambda: endpoint.counts("sessions") == (2 if asked == "open_session" else 1))


def test_calls_that_open_a_session_at_once_have_the_same_one(start: Start) -> None:
    endpoint = start()
    clients = [endpoint.client(session="same") for _ in range(8)]
    opening = [threading.Thread(target=client.validate, args=("rows 1",)) for client in clients]
    for thread in opening:
        thread.start()
    for thread in opening:
        thread.join()
    assert endpoint.counts("sessions") == 1
    assert until(lambda: len(endpoint.engine.closed) == endpoint.engine.sessions - 1)


def ends(endpoint: Endpoint) -> bool:
    """Wait until no session is open."""
    return until(lambda: endpoint.counts("sessions") == 0)


# What may come next in a session that has ended under its client.
CALLS: dict[str, Callable[[Client], object]] = {
    "sql": lambda client: list(client.sql("SELECT; rows 1")),
    "submit": lambda client: client.submit("SELECT; rows 1"),
    "validate": lambda client: client.validate("SELECT"),
    "explain": lambda client: client.explain("SELECT"),
    "prepare": lambda client: client.prepare("SELECT"),
    "catalog": lambda client: client.catalog("t001"),
    "start_stream": lambda client: client.start_stream("rows 1", nowhere=True),
}


@pytest.mark.parametrize("call", CALLS)
def test_who_has_set_something_is_told_once_that_the_session_has_ended(
    start: Start, call: str
) -> None:
    endpoint = start(session_seconds=0.3, reattach_seconds=0.2, scopes=("read", "stream"))
    client = endpoint.client(session="mine")
    list(client.sql("SET zone = UTC; rows 1"))
    assert ends(endpoint)
    with pytest.raises(RemoteError, match="The session 'mine' has ended") as caught:
        CALLS[call](client)
    assert (caught.value.status, caught.value.condition) == (
        "FAILED_PRECONDITION",
        "SESSION_ENDED",
    )
    assert endpoint.engine.sessions == 1
    CALLS[call](client)
    assert endpoint.engine.sessions == 2


def test_the_client_for_asyncio_is_told_so_too(start: Start) -> None:
    endpoint = start(session_seconds=0.3)

    async def program() -> None:
        async with AsyncClient(f"localhost:{endpoint.port}") as client:
            submitted = await client.submit("SET zone = UTC; rows 1")
            await submitted.attach().arrow()
            await submitted.cancel()  # forgets it
            assert await asyncio.to_thread(ends, endpoint)
            with pytest.raises(RemoteError, match="has ended"):
                await client.validate("SELECT")
            await client.validate("SELECT")
            await client.sql("SET zone = UTC; rows 1").arrow()
            assert await asyncio.to_thread(ends, endpoint)
            with pytest.raises(RemoteError, match="has ended"):
                await client.sql("SELECT; rows 1").arrow()
            assert (await client.sql("SELECT; rows 1").arrow()).num_rows == 3

    asyncio.run(program())


def test_who_has_run_queries_alone_does_not_notice_that_the_session_is_a_new_one(
    start: Start,
) -> None:
    endpoint = start(session_seconds=0.3)
    client = endpoint.client()
    for number in range(2):
        list(client.sql("/* a query */ select; rows 1"))
        assert endpoint.engine.sessions == number + 1
        assert ends(endpoint)


def test_who_ends_the_session_counts_on_nothing_in_it(start: Start) -> None:
    endpoint = start()
    client = endpoint.client(session="mine")
    list(client.sql("SET zone = UTC; rows 1"))
    client.close_session()
    assert client.sql("SELECT; rows 1").arrow().num_rows == 3


def test_a_session_that_another_client_has_opened_anew_is_not_the_one_that_was(
    start: Start,
) -> None:
    endpoint = start()
    mine, other = (endpoint.client(session="shared") for _ in range(2))
    list(mine.sql("SET zone = UTC; rows 1"))
    other.close_session()
    list(other.sql("SELECT; rows 1"))
    with pytest.raises(RemoteError, match="has ended"):
        list(mine.sql("SELECT; rows 1"))


@pytest.mark.parametrize(
    ("sql", "lasts"),
    [
        ("SELECT 1", False),
        ("  \n(with a AS (SELECT 1) SELECT * FROM a)", False),
        ("/*+ a */ -- b\n INSERT INTO t VALUES (1)", False),
        ("create or replace\n table t AS SELECT 1", False),
        ("CREATE STREAMING TABLE t AS SELECT * FROM STREAM s", False),
        ("MERGE INTO t USING s ON t.k = s.k WHEN MATCHED THEN DELETE", False),
        ("CREATE OR REPLACE TEMPORARY VIEW v AS SELECT 1", True),
        ("CREATE /* a */ TABLE t (a INT)", True),
        ("SET a = 1", True),
        ("CREATE TEMP VIEW v AS SELECT 1", True),
        ("SELECTED", True),
        ("-- a\rSET a = 1", True),
        ("-- a \\\nSELECT 1\nSET a = 1", True),
        ("/* a /* b */ SELECT */ SET a = 1", True),
        ("/* SELECT", True),
        ("", True),
    ],
)
def test_what_is_not_known_to_be_fleeting_may_last(sql: str, lasts: bool) -> None:
    assert may_last(sql) is lasts
