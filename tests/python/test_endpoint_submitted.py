# SPDX-License-Identifier: Apache-2.0
"""Examples: operations that run without their client, over an engine without Spark."""

from __future__ import annotations

import threading
import time

import grpc
import pytest
from tests.python.endpoint import Start, endpoints, until

from plait._proto import plait_pb2
from plait.client import RemoteError, Submitted
from plait.server import sentences
from plait.server.callers import Caller, digest
from plait.server.config import Token

ALICE = Token("alice", digest("alice's"), ("read",))
BOB = Token("bob", digest("bob's"), ("read",))

start = pytest.fixture(name="start")(endpoints)


def ended(handle: Submitted) -> bool:
    return until(lambda: handle.status().is_end)


def test_a_submitted_operation_runs_without_a_reader_and_is_read_later(start: Start) -> None:
    client = start().client()
    handle = client.submit("rows 5")
    assert ended(handle)
    assert handle.attach().arrow().num_rows == 15
    assert handle.attach().arrow().num_rows == 15  # a short result is kept as a whole
    assert client.operation(handle.id).attach().arrow().num_rows == 15


def test_a_reader_may_come_while_it_runs(start: Start) -> None:
    endpoint = start()
    handle = endpoint.client().submit("rows 2; hang")
    assert next(handle.attach().batches()).num_rows == 3
    assert handle.status().state == "running"
    handle.cancel()
    assert endpoint.source.cancelled.wait(1.0)


def test_it_waits_while_its_buffer_is_full_and_goes_on_when_it_is_read(start: Start) -> None:
    endpoint = start(batch_bytes=1 << 10)
    handle = endpoint.client().submit("rows 15000")
    assert until(lambda: endpoint.counts("kept_bytes") >= 1 << 20)
    time.sleep(0.3)
    assert endpoint.source.made < 10_000
    assert handle.status().state == "running"
    assert handle.attach().arrow().num_rows == 45_000


def test_who_waits_for_a_reader_takes_nobodys_place(start: Start) -> None:
    endpoint = start(running=1, batch_bytes=1 << 10)
    client = endpoint.client()
    waiting = client.submit("rows 15000")
    assert until(lambda: endpoint.counts("kept_bytes") >= 1 << 20)
    assert client.sql("rows 1").arrow().num_rows == 3
    assert waiting.attach().arrow().num_rows == 45_000


def test_leaving_the_reader_leaves_the_operation(start: Start) -> None:
    endpoint = start()
    handle = endpoint.client().submit("rows 3; hang")
    with handle.attach() as cursor:
        next(cursor.batches())
    time.sleep(0.3)
    assert not endpoint.source.cancelled.is_set()
    cursor = handle.attach()
    next(cursor.batches())
    cursor.cancel()
    assert endpoint.source.cancelled.wait(1.0)


def test_cancelling_what_has_ended_frees_the_server_of_it(start: Start) -> None:
    endpoint = start()
    client = endpoint.client()
    handle = client.submit("rows 5")
    assert ended(handle)
    assert endpoint.counts("kept_bytes") > 0
    request = plait_pb2.CancelRequest(session=client.session, operation=handle.id)
    assert client._stub.Cancel(request).state == plait_pb2.OPERATION_STATE_FINISHED
    assert (endpoint.counts("kept_bytes"), endpoint.operations) == (0, [])
    with pytest.raises(grpc.RpcError) as caught:
        client._stub.Cancel(request)
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


def test_a_statement_that_gets_no_thread_is_refused_and_stands_in_nobodys_way(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = threading.Thread.start

    def begin(thread: threading.Thread) -> None:
        if thread.name.startswith("plait-submit-"):
            raise RuntimeError("can't start new thread")
        plain(thread)

    monkeypatch.setattr(threading.Thread, "start", begin)
    endpoint = start(running=1)
    client = endpoint.client(timeout=10)
    with pytest.raises(RemoteError, match="has no thread left") as caught:
        client.submit("rows 1")
    assert (caught.value.status, caught.value.condition) == ("INTERNAL", "NOT_STARTED")
    assert (endpoint.counts("queued"), endpoint.operations) == (0, [])
    assert client.sql("rows 1").arrow().num_rows == 3


def test_what_ends_in_the_queue_leaves_it_though_nobody_waits_for_its_place(start: Start) -> None:
    endpoint = start(running=1)
    left = endpoint.served.registry.submit(Caller("", "", ()), "s", "left")[1]
    assert endpoint.counts("queued") == 1
    left.stop(sentences.cancelled())
    assert endpoint.client(timeout=10).sql("rows 1").arrow().num_rows == 3


def test_nobody_attaches_and_nobody_asks_so_it_is_cancelled_and_forgotten(start: Start) -> None:
    endpoint = start(submitted_seconds=0.5, reattach_seconds=0.1)
    client = endpoint.client()
    handle = client.submit("hang")
    source = endpoint.source
    for _ in range(4):  # who asks for the status keeps it alive
        time.sleep(0.25)
        assert handle.status().state == "running"
    assert not source.cancelled.is_set()
    assert [found.id for found in client.operations()] == [handle.id]  # a list does not
    assert source.cancelled.wait(2.0)
    assert until(lambda: endpoint.operations == [])
    with pytest.raises(RemoteError, match="There is no operation") as caught:
        handle.status()
    assert caught.value.status == "NOT_FOUND"


def test_the_reason_of_a_cancelled_one_is_told(start: Start) -> None:
    endpoint = start(submitted_seconds=0.4)
    client = endpoint.client()
    handle = client.submit("hang")
    assert until(lambda: client.operations()[0].is_end)
    status = handle.status()
    assert status.state == "cancelled"
    assert status.error is not None
    assert (status.error.status, status.error.condition) == ("CANCELLED", "CLIENT_GONE")
    assert "nobody attached to it or asked for its status for 0.4 seconds" in str(status.error)


def test_a_status_tells_state_times_progress_and_what_was_counted(start: Start) -> None:
    endpoint = start(running=1)
    client = endpoint.client()
    first = client.submit("hang")
    assert until(lambda: bool(first.status().progress))
    second = client.submit("rows 2")
    queued, running = second.status(), first.status()
    assert (queued.state, queued.started, queued.ended) == ("queued", None, None)
    assert running.progress == {
        "stages": 1,
        "stages_done": 0,
        "tasks": 2,
        "tasks_done": 1,
        "tasks_failed": 0,
    }
    first.cancel()
    assert ended(second)
    told = second.status()
    assert (told.state, told.batches, told.error) == ("finished", 2, None)
    assert told.counters is not None
    assert (told.counters["rows"], told.counters["bytes"]) == (6, 48)
    assert told.created is not None
    assert told.started is not None
    assert told.ended is not None
    assert told.created <= told.started <= told.ended


def test_a_failure_is_told_as_a_reader_would_be_told(start: Start) -> None:
    client = start().client()
    handle = client.submit("rows 1; fail")
    assert ended(handle)
    error = handle.status().error
    assert error is not None
    cursor = handle.attach()
    with pytest.raises(RemoteError) as caught:
        list(cursor)
    for found in (error, caught.value):
        assert (found.status, found.condition) == ("INVALID_ARGUMENT", "UNRESOLVED_COLUMN")
        assert (found.operation, str(found)) == (handle.id, "There is no column x.")
        assert found.position is not None
        assert found.position["column"] == 8


def test_an_engine_that_raises_ends_the_operation(start: Start) -> None:
    handle = start().client().submit("never")
    assert ended(handle)
    error = handle.status().error
    assert error is not None
    assert (error.status, error.condition) == ("INTERNAL", "NOT_STARTED")


def test_operations_are_listed_newest_first_of_one_session_or_of_all(start: Start) -> None:
    endpoint = start()
    one, two = endpoint.client(session="one"), endpoint.client(session="two")
    handles = [client.submit("hang") for client in (one, two, one)]
    assert [found.id for found in one.operations()] == [h.id for h in reversed(handles)]
    assert [found.session for found in two.operations(session="one")] == ["one", "one"]
    assert [found.id for found in one.operations(limit=1)] == [handles[2].id]
    answer = one._stub.List(plait_pb2.ListRequest(limit=2))
    assert (len(answer.operations), answer.more) == (2, True)
    assert one.operations(session="three") == []
    assert endpoint.counts("sessions") == 2
    with pytest.raises(RemoteError, match="`limit` is 1001, and may be 1000 at most"):
        one.operations(limit=1001)


def test_one_caller_sees_nothing_of_another(start: Start) -> None:
    endpoint = start(tokens=(ALICE, BOB))
    alice = endpoint.client(token="alice's", session="s")
    bob = endpoint.client(token="bob's", session="s")
    theirs = alice.submit("hang")
    bobs = bob.operation(theirs.id)
    assert bob.operations() == bob.operations(session="s") == []
    for call in (bobs.status, bobs.cancel, lambda: list(bobs.attach())):
        with pytest.raises(RemoteError, match="There is no operation"):
            call()
    assert theirs.status().state == "running"
    alice.prepare("rows 1")
    request = plait_pb2.PrepareRequest(session="s", prepared="p", sql="rows 1")
    alice._stub.Prepare(request, metadata=alice._metadata)
    for call, wanted in (
        (bob._stub.Execute, plait_pb2.ExecuteRequest(session="s", prepared="p")),
        (bob._stub.Submit, plait_pb2.SubmitRequest(session="s", prepared="p")),
    ):
        with pytest.raises(grpc.RpcError, match="There is no prepared statement 'p'"):
            list(call(wanted, metadata=bob._metadata))


def test_a_caller_has_so_many_submitted_operations_that_have_not_ended(start: Start) -> None:
    endpoint = start(submitted=2, tokens=(ALICE, BOB))
    alice, bob = endpoint.client(token="alice's"), endpoint.client(token="bob's")
    first, _ = alice.submit("hang"), alice.submit("hang")
    with pytest.raises(RemoteError, match="2 submitted operations of this caller") as caught:
        endpoint.client(token="alice's").submit("hang")
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "TOO_MANY_SUBMITTED",
    )
    bob.submit("hang")
    first.cancel()
    assert ended(first)
    alice.submit("hang")


def test_of_ended_ones_the_newest_are_kept(start: Start) -> None:
    client = start(submitted=2).client()
    handles = []
    for _ in range(4):
        handles.append(client.submit("rows 1"))
        assert ended(handles[-1])
    kept = {found.id for found in client.operations()}
    assert kept == {handles[2].id, handles[3].id}


def test_a_taken_id_is_refused_and_an_empty_one_is_made(start: Start) -> None:
    client = start().client()
    request = plait_pb2.SubmitRequest(session="s", sql="rows 1", operation="mine")
    assert client._stub.Submit(request).operation == "mine"
    with pytest.raises(grpc.RpcError) as caught:
        client._stub.Submit(request)
    assert caught.value.code() == grpc.StatusCode.ALREADY_EXISTS
    request.ClearField("operation")
    assert len(client._stub.Submit(request).operation) == 36


def test_a_stopping_server_takes_nothing_and_ends_what_was_submitted(start: Start) -> None:
    endpoint = start(drain_seconds=0.3)
    client = endpoint.client()
    client.submit("hang")
    source = endpoint.source
    endpoint.served.stop()
    assert source.cancelled.is_set()
    with pytest.raises(RemoteError):
        client.submit("rows 1")
