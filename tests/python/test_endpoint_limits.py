# SPDX-License-Identifier: Apache-2.0
"""Examples: what the server lets run, wait and live, and what it ends."""

from __future__ import annotations

import time

import pytest
from tests.python.endpoint import Start, endpoints, until
from tests.python.wire import Wire

from plait.client import RemoteError

start = pytest.fixture(name="start")(endpoints)


def test_operations_beyond_the_running_ones_wait_in_the_order_in_which_they_came(
    start: Start,
) -> None:
    endpoint = start(running=1, queued=5)
    client = endpoint.client()
    first = client.sql("hang")
    assert until(lambda: endpoint.counts("running") == 1)
    others = []
    for number in range(3):
        others.append(client.sql(f"rows {number + 1}"))
        assert until(lambda number=number: endpoint.counts("queued") == number + 1)
    assert len(endpoint.engine.sources) == 1
    first.cancel()
    assert [cursor.arrow().num_rows for cursor in others] == [3, 6, 9]
    ran = [source.statement.sql for source in endpoint.engine.sources]
    assert ran == ["hang", "rows 1", "rows 2", "rows 3"]


def test_a_full_queue_is_refused_at_once(start: Start) -> None:
    endpoint = start(running=1, queued=1)
    client = endpoint.client()
    kept = [client.sql("hang"), client.sql("hang")]  # either of them runs
    assert until(lambda: endpoint.counts("queued") == 1)
    with pytest.raises(RemoteError, match="1 operations run and 1 wait") as caught:
        list(client.sql("rows 1"))
    assert (caught.value.status, caught.value.condition) == ("RESOURCE_EXHAUSTED", "QUEUE_FULL")
    del kept


def test_who_waits_too_long_is_told_so(start: Start) -> None:
    endpoint = start(running=1, queue_seconds=0.3)
    client = endpoint.client()
    running = client.sql("hang")
    assert until(lambda: endpoint.counts("running") == 1)
    with pytest.raises(RemoteError, match=r"waited 0\.3 seconds") as caught:
        list(client.sql("rows 1"))
    assert caught.value.condition == "QUEUE_TIMEOUT"
    assert endpoint.counts("queued") == 0
    running.cancel()


def test_an_operation_that_is_cancelled_in_the_queue_never_starts(start: Start) -> None:
    endpoint = start(running=1)
    client = endpoint.client()
    running = client.sql("hang")
    assert until(lambda: endpoint.counts("running") == 1)
    waiting = client.sql("rows 1")
    assert until(lambda: endpoint.counts("queued") == 1)
    waiting.cancel()
    assert until(lambda: endpoint.counts("queued") == 0)
    running.cancel()
    assert until(lambda: endpoint.counts("running") == 0)
    assert [source.statement.sql for source in endpoint.engine.sources] == ["hang"]


def test_a_deadline_ends_the_operation_within_a_second(start: Start) -> None:
    endpoint = start()
    began = time.monotonic()
    with pytest.raises(RemoteError, match="deadline") as caught:
        list(endpoint.client().execute("hang", timeout=0.5))
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert endpoint.source.cancelled.wait(1.0)
    assert time.monotonic() - began < 2.0


def test_a_cancelled_operation_ends_its_jobs_within_a_second(start: Start) -> None:
    endpoint = start()
    cursor = endpoint.client().sql("hang")
    source = endpoint.source
    cursor.cancel()
    assert source.cancelled.wait(1.0)
    assert source.closed.wait(1.0)


def test_an_operation_whose_client_has_gone_ends_after_the_time_of_grace(start: Start) -> None:
    endpoint = start(reattach_seconds=0.5)
    wire = Wire(endpoint.port)
    cursor = endpoint.client(port=wire.port).sql("rows 1; hang")
    next(cursor.batches())
    source = endpoint.source
    wire.close()
    assert not source.cancelled.wait(0.2)
    assert source.cancelled.wait(2.0)
    assert until(lambda: not endpoint.operations)


def test_a_session_lives_while_it_is_used_and_ends_when_it_is_idle(start: Start) -> None:
    endpoint = start(session_seconds=0.5)
    client = endpoint.client()
    for _ in range(4):
        list(client.sql("SELECT; rows 1"))
        time.sleep(0.2)
    assert endpoint.engine.sessions == 1
    assert until(lambda: endpoint.counts("sessions") == 0)
    assert endpoint.engine.closed == [1]
    list(client.sql("SELECT; rows 1"))
    assert endpoint.engine.sessions == 2


def test_a_stopping_server_lets_operations_end_and_cancels_those_that_do_not(
    start: Start,
) -> None:
    endpoint = start(drain_seconds=0.5)
    client = endpoint.client()
    cursor = client.sql("rows 1; hang")
    next(cursor.batches())
    source = endpoint.source
    began = time.monotonic()
    endpoint.served.stop()
    assert time.monotonic() - began >= 0.4
    assert source.cancelled.is_set()
    with pytest.raises(RemoteError, match=r"shutting down|No Plait server answers"):
        list(cursor)


def test_the_server_tells_its_limits_and_what_the_caller_may_do(start: Start) -> None:
    endpoint = start(running=3, rows=1000, scopes=("read", "stream"))
    info = endpoint.client().info()
    assert (info.limits.running, info.limits.rows) == (3, 1000)
    assert (info.limits.unread_seconds, info.limits.session_seconds) == (1800.0, 1800.0)
    assert list(info.scopes) == ["read", "stream"]
    assert (info.version, info.spark_version) == ("0.1", "4.3.0")
