# SPDX-License-Identifier: Apache-2.0
"""Examples: streams that run on a server, over an engine without Spark."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.python.endpoint import Start, endpoints, until
from tests.python.wire import Wire

import plait
from plait._proto import plait_pb2
from plait.client import PlaitError, RemoteError, Stream
from plait.client.aio import AsyncClient
from plait.client.streams import millis
from plait.server.callers import digest
from plait.server.config import Token

ALICE = Token("alice", digest("alice's"), ("stream",))
BOB = Token("bob", digest("bob's"), ("stream",))

start = pytest.fixture(name="start")(endpoints)


def test_what_a_client_says_of_a_stream_comes_to_the_engine(start: Start) -> None:
    endpoint = start()
    client = endpoint.client()
    client.start_stream(
        "rows 1; wait",
        {"x": 3},
        name="mine",
        path="/data/out",
        format="json",
        options={"header": True},
        checkpoint="/data/c",
        trigger="1.5 seconds",
        mode="update",
    )
    order = endpoint.engine.started["", "mine"].order
    assert order.sink == {
        "kind": "files",
        "format": "json",
        "path": "/data/out",
        "options": {"header": "true"},
    }
    assert (order.checkpoint, order.every, order.mode) == ("/data/c", 1500, "update")
    assert order.statement.named == {"x": {"type": "long", "value": "3"}}
    client.start_stream("wait", name="two", table="t", trigger="available now")
    order = endpoint.engine.started["", "two"].order
    assert (order.sink, order.every) == ({"kind": "table", "table": "t"}, None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"trigger": "once"}, "There is no trigger 'once'.*say trigger=\"available now\""),
        ({"trigger": "soon"}, "say an interval as '5 seconds', or 'available now'"),
        ({"mode": "retract"}, "modes are append, update, complete"),
        ({"table": "t", "nowhere": True}, "to a table, to a path, or nowhere: say one"),
        ({"file": "x"}, "A stream has no file; it takes name, table, path"),
        ({"path": "/p", "options": {str(i): "" for i in range(65)}}, "65 entries, and may have 64"),
        ({"path": "p" * 4097}, "`path` has 4097 characters"),
        ({"name": "a b"}, "`stream` must be 1 to 128 characters"),
        ({"trigger": timedelta(days=400)}, "a year"),
    ],
)
def test_what_is_wrong_with_a_stream_is_said(
    start: Start, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(PlaitError, match=message):
        start().client().start_stream("wait", **settings)


def test_intervals_are_read_as_spark_writes_them() -> None:
    assert [millis(text) for text in ("0 seconds", "250 milliseconds", "1 minute", "2 hours")] == [
        0,
        250,
        60_000,
        7_200_000,
    ]


def test_progress_comes_record_by_record_and_ends_with_the_stream(start: Start) -> None:
    endpoint = start()
    stream = endpoint.client().start_stream("rows 5; rows 7; wait", nowhere=True, name="s")
    news = stream.progress()
    first, second = next(news), next(news)
    assert [(r.number, r.batch, r.rows_in) for r in (first, second)] == [(1, 0, 5), (2, 1, 7)]
    assert first.duration == timedelta(milliseconds=12)
    fake = endpoint.engine.started["", "s"]
    fake.add(9)
    assert next(news).rows_in == 9
    fake.end("finished")
    assert list(news) == []
    assert news.status is not None
    assert (news.status.state, news.status.is_end) == ("finished", True)


def test_a_record_has_both_sides_of_each_join_and_sparks_progress(start: Start) -> None:
    stream = start().client().start_stream("rows 5", nowhere=True)
    [record] = stream.progress()
    left, right = record.sides
    assert (left.side, left.rows_in, left.rows_late, left.rows_stored) == ("left", 0, 1, 2)
    assert (left.rows_pruned, left.pairs, left.frontier, left.state_bytes) == (3, 8, 77, 320)
    assert (right.side, right.pairs, right.frontier) == ("right", 9, None)
    assert (left.bound, left.bytes_stored, right.bound) == (55, 1000, None)
    report = plait.stream_report([record.progress])
    assert [(side.side, side.rows_stored) for side in report] == [("left", 2), ("right", 2)]


def test_progress_goes_on_behind_the_record_that_was_seen(start: Start) -> None:
    stream = start().client().start_stream("rows 1; rows 2; rows 3", nowhere=True)
    assert [record.rows_in for record in stream.progress(after=2)] == [3]
    assert [record.rows_in for record in stream.progress(after=9)] == []


def test_without_following_progress_ends_with_what_is_kept(start: Start) -> None:
    stream = start().client().start_stream("rows 1; rows 2; wait", nowhere=True)
    assert [record.rows_in for record in stream.progress(follow=False)] == [1, 2]
    status = stream.status()
    assert (status.state, status.ended) == ("running", None)
    assert status.last is not None
    assert (status.last.rows_in, status.last.progress) == (2, {})


def test_a_reader_who_is_slow_misses_the_oldest_and_the_server_keeps_no_more(start: Start) -> None:
    endpoint = start(stream_records=3)
    stream = endpoint.client().start_stream("rows 1; wait", nowhere=True, name="s")
    news = stream.progress()
    assert next(news).number == 1
    fake = endpoint.engine.started["", "s"]
    # More than the buffers of a connection hold, so that the server stands before it sends.
    rounds = 20_000
    for _ in range(rounds):
        fake.add(1)
    assert len(fake.records) == 3
    fake.end("finished")
    numbers = [record.number for record in news]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == rounds + 1
    assert len(numbers) < rounds


def test_a_reader_who_leaves_lets_the_stream_go_on_and_frees_its_place(start: Start) -> None:
    endpoint = start(subscriptions=1)
    client = endpoint.client()
    stream = client.start_stream("rows 1; wait", nowhere=True)
    for _ in range(3):
        with stream.progress() as news:
            next(news)
            with pytest.raises(RemoteError, match="1 calls of StreamProgress wait") as caught:
                next(stream.progress())
            assert caught.value.condition == "TOO_MANY_SUBSCRIPTIONS"
        asked = endpoint.engine.asked
        assert until(lambda: _is_free(stream))
        assert endpoint.engine.asked < asked + 50
    assert stream.status().state == "running"


def _is_free(stream: Stream) -> bool:
    try:
        return bool(list(stream.progress(follow=False)))
    except RemoteError:
        return False


def test_a_number_that_no_record_can_have_is_refused_by_the_client(start: Start) -> None:
    stream = start(scopes=("read", "stream")).client().stream("any")
    with pytest.raises(PlaitError, match="0 for all that are kept: not -5"):
        stream.progress(after=-5)


def test_a_column_that_a_row_has_not_is_told_with_those_that_it_has(start: Start) -> None:
    row = next(iter(start().client().sql("rows 1")))
    with pytest.raises(PlaitError, match=r"no column 'nosuch'; there are n, text"):
        _ = row.nosuch
    assert getattr(row, "nosuch", None) is None


def test_a_cut_wire_costs_no_record_and_doubles_none(start: Start) -> None:
    endpoint = start()
    wire = Wire(endpoint.port)
    client = endpoint.client(port=wire.port)
    stream = client.start_stream("rows 1; wait", nowhere=True, name="s")
    fake = endpoint.engine.started["", "s"]
    news = stream.progress()
    seen = [next(news).number]
    for _ in range(3):
        wire.cut()
        fake.add(1)
        seen.append(next(news).number)
    wire.close()
    assert seen == [1, 2, 3, 4]


def test_the_records_of_a_stream_that_was_started_again_come_from_the_first(start: Start) -> None:
    one, two = start(), start()
    wire = Wire(one.port)
    stream = one.client(port=wire.port).start_stream("rows 1; rows 2; rows 3; wait", name="s")
    news = stream.progress()
    assert [next(news).number for _ in range(3)] == [1, 2, 3]
    two.client().start_stream("rows 7; rows 8; wait", name="s")
    wire.target = two.port
    wire.cut()
    seen = [next(news) for _ in range(2)]
    assert [(record.number, record.rows_in) for record in seen] == [(1, 7), (2, 8)]
    fake = two.engine.started["", "s"]
    # As soon as that, by the server that the call is at.
    two.client().start_stream("wait", name="other")
    two.engine.started["", "s"] = two.engine.started["", "other"]
    two.engine.started["", "other"].add(9)
    assert next(news).rows_in == 9
    fake.end("stopped")
    wire.close()


def test_who_names_a_record_gets_those_behind_it_or_all_of_a_stream_that_was_started_again(
    start: Start,
) -> None:
    client = start().client()
    stream = client.start_stream("rows 1; rows 2; rows 3", name="s")
    last = list(stream.progress())[1]
    assert [record.rows_in for record in stream.progress(after=last)] == [3]
    client.start_stream("rows 4; rows 5", name="s")
    assert [record.rows_in for record in stream.progress(after=last)] == [4, 5]
    assert [record.rows_in for record in stream.progress(after=2)] == []


def test_the_client_for_asyncio_sees_a_stream_that_was_started_again_too(start: Start) -> None:
    one, two = start(), start()
    wire = Wire(one.port)
    one.client().start_stream("rows 1; rows 2; wait", name="s")
    two.client().start_stream("rows 7; wait", name="s")

    async def program() -> list[int]:
        seen: list[int] = []
        async with AsyncClient(f"localhost:{wire.port}") as client:
            async for record in client.stream("s").progress():
                seen.append(record.rows_in)
                if len(seen) == 2:
                    wire.target = two.port
                    wire.cut()
                if len(seen) == 3:
                    break
        return seen

    assert asyncio.run(asyncio.wait_for(program(), 10)) == [1, 2, 7]
    wire.close()


def test_a_stream_that_fails_raises_its_error_behind_its_records(start: Start) -> None:
    client = start().client()
    stream = client.start_stream("rows 4; fail", nowhere=True)
    seen = []
    with pytest.raises(RemoteError, match="There is no column x") as caught:
        for record in stream.progress():
            seen.append(record.rows_in)
    assert seen == [4]
    assert (caught.value.status, caught.value.sql_state) == ("INVALID_ARGUMENT", "42703")
    status = stream.status()
    assert (status.state, status.error and status.error.condition) == (
        "failed",
        "UNRESOLVED_COLUMN",
    )
    assert [found.state for found in client.streams()] == ["failed"]


def test_leaving_a_with_stops_the_stream_and_without_it_it_lives_on(start: Start) -> None:
    endpoint = start()
    with endpoint.client() as client:
        with client.start_stream("wait", nowhere=True, name="one"):
            client.start_stream("wait", nowhere=True, name="two")
        with client.start_stream("rows 1", nowhere=True, name="ended") as ended:
            ended.stop()  # forgets it: there is nothing left to stop
    states = {found.name: found.state for found in endpoint.client().streams()}
    assert states == {"one": "stopped", "two": "running"}


def test_a_stream_outlives_the_session_that_started_it(start: Start) -> None:
    endpoint = start(session_seconds=0.3)
    stream = endpoint.client(session="first").start_stream("rows 1; wait", nowhere=True)
    assert until(lambda: endpoint.counts("sessions") == 0)
    assert endpoint.client(session="other").stream(stream.name).status().state == "running"


def test_one_caller_neither_sees_nor_stops_the_streams_of_another(start: Start) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    alice, bob = endpoint.client(token="alice's"), endpoint.client(token="bob's")
    alice.start_stream("rows 1; wait", nowhere=True, name="s")
    theirs = bob.stream("s")
    assert bob.streams() == []
    for call in (theirs.status, theirs.stop, lambda: next(theirs.progress())):
        with pytest.raises(RemoteError, match="There is no stream 's'") as caught:
            call()
        assert (caught.value.status, caught.value.condition) == ("NOT_FOUND", "STREAM_NOT_FOUND")
    bob.start_stream("rows 2; wait", nowhere=True, name="s").stop()
    assert [found.state for found in alice.streams()] == ["running"]


def test_streams_are_listed_newest_first_and_no_more_than_asked(start: Start) -> None:
    client = start().client()
    for name in ("a", "b", "c"):
        client.start_stream("wait", nowhere=True, name=name)
    assert [found.name for found in client.streams()] == ["c", "b", "a"]
    answer = client._stub.ListStreams(plait_pb2.ListStreamsRequest(limit=2))
    assert ([found.stream for found in answer.streams], answer.more) == (["c", "b"], True)


def test_a_stopping_server_stops_its_streams_and_takes_no_more(start: Start) -> None:
    endpoint = start()
    client = endpoint.client()
    news = client.start_stream("rows 1; wait", nowhere=True).progress()
    next(news)
    endpoint.served.stop()
    assert list(news) == []
    assert news.status is not None
    assert news.status.state == "stopped"
    with pytest.raises(RemoteError):
        client.start_stream("wait", nowhere=True)


def test_the_client_for_asyncio_does_the_same(start: Start) -> None:
    endpoint = start()

    async def program() -> list[Any]:
        async with AsyncClient(f"localhost:{endpoint.port}") as client:
            async with await client.start_stream("rows 1; wait", nowhere=True, name="a") as one:
                endpoint.engine.started["", "a"].add(2)
                rows = []
                async for record in one.progress():
                    rows.append(record.rows_in)
                    if len(rows) == 2:
                        break
                before = (await one.status()).state
            failing = await client.start_stream("rows 3; fail", nowhere=True, name="b")
            with pytest.raises(RemoteError, match="no column x"):
                rows += [record.rows_in async for record in failing.progress()]
            with pytest.raises(RemoteError, match="There is no stream 'none'"):
                await client.stream("none").stop()
            states = [(found.name, found.state) for found in await client.streams()]
            return [rows, before, states]

    assert asyncio.run(program()) == [
        [1, 2],
        "running",
        [("b", "failed"), ("a", "stopped")],
    ]
