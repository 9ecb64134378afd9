# SPDX-License-Identifier: Apache-2.0
"""Examples: a result on its way through a real server, made by an engine without Spark."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.python.endpoint import Endpoint, until
from tests.python.fake_engine import SCHEMA, batch
from tests.python.wire import Wire

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client import Cursor, PlaitError, RemoteError


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


def test_the_rows_of_all_batches_come_in_order(endpoint: Endpoint) -> None:
    rows = list(endpoint.client().sql("rows 100"))
    assert [row.n for row in rows] == list(range(300))
    assert rows[4] == (4, "row 4")


def test_a_result_comes_as_batches_as_a_table_and_as_a_frame(endpoint: Endpoint) -> None:
    client = endpoint.client()
    assert list(client.sql("rows 2").batches()) == [batch(0), batch(1)]
    assert client.sql("rows 2").arrow().num_rows == 6
    assert client.sql("rows 2").pandas()["n"].tolist() == list(range(6))


def test_a_result_comes_as_a_polars_frame(endpoint: Endpoint) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = endpoint.client().sql("rows 2").polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame["n"].to_list() == list(range(6))


def test_without_polars_it_is_said_what_is_missing(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(PlaitError, match="polars is missing: pip install polars"):
        endpoint.client().sql("rows 2").polars()


def test_an_empty_result_has_its_columns(endpoint: Endpoint) -> None:
    table = endpoint.client().sql("rows 0").arrow()
    assert (table.num_rows, table.schema) == (0, SCHEMA)


def test_counters_are_known_at_the_end_and_not_before(endpoint: Endpoint) -> None:
    cursor = endpoint.client().sql("rows 2")
    with pytest.raises(PlaitError, match="has not been read to its end"):
        _ = cursor.counters
    list(cursor)
    assert (cursor.counters["rows"], cursor.counters["batches"]) == (6, 2)


def test_a_reader_who_stands_still_holds_the_source_back(endpoint: Endpoint) -> None:
    cursor = endpoint.client().sql("rows 1000000")
    next(cursor.batches())
    operation = endpoint.operation(cursor.id)
    source = endpoint.source

    def stands() -> bool:
        before = source.made
        time.sleep(0.3)
        return source.made == before

    assert until(stands)
    assert source.made < 100_000
    assert operation is not None
    assert operation.kept_bytes < 6 << 20
    cursor.close()


def test_a_failure_after_some_rows_comes_after_them(endpoint: Endpoint) -> None:
    seen = []
    with pytest.raises(RemoteError) as caught:
        for row in endpoint.client().sql("rows 2; fail"):
            seen.append(row)
    assert len(seen) == 6
    assert (caught.value.status, caught.value.sql_state) == ("INVALID_ARGUMENT", "42703")


def test_an_error_carries_its_name_its_state_its_parameters_and_its_place(
    endpoint: Endpoint,
) -> None:
    with pytest.raises(RemoteError, match=r"There is no column x\.") as caught:
        list(endpoint.client().sql("fail"))
    error = caught.value
    assert (error.condition, error.sql_state) == ("UNRESOLVED_COLUMN", "42703")
    assert error.parameters == {"objectName": "`x`"}
    assert error.position == {"line": 1, "column": 8, "start": 7, "stop": 7, "fragment": "x"}
    assert error.stack == ""


def test_a_row_that_fits_into_no_message_is_an_error_of_ours_after_the_rows_before_it() -> None:
    endpoint = Endpoint.start(batch_bytes=1 << 10, message_bytes=1 << 14)
    seen = []
    with pytest.raises(RemoteError, match="makes a message of 16384 bytes") as caught:
        for row in endpoint.client().sql("rows 2; wide 16384; hang"):
            seen.append(row)
    assert len(seen) == 6
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "RESULT_TOO_LARGE",
    )
    assert endpoint.source.cancelled.wait(1.0)
    endpoint.stop()


def test_a_fault_in_reading_a_result_ends_the_operation_and_not_in_silence(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    client = endpoint.client()
    cursor = client.execute("rows 1; burst", timeout=10)
    with pytest.raises(RemoteError, match="log tells why") as caught:
        list(cursor)
    assert (caught.value.status, caught.value.condition) == ("INTERNAL", "RESULT_BROKEN")
    told = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert [repr(error) for error in told] == ["KeyError('stages')"]
    assert endpoint.source.closed.is_set()
    assert endpoint.counts("running") == 0


def test_a_result_that_the_jvm_breaks_off_is_an_internal_error(endpoint: Endpoint) -> None:
    with pytest.raises(RemoteError, match="The result broke off: The JVM is gone") as caught:
        list(endpoint.client().sql("rows 1; break"))
    assert (caught.value.status, caught.value.condition) == ("INTERNAL", "RESULT_BROKEN")


def test_an_engine_that_raises_is_an_internal_error_without_its_words(endpoint: Endpoint) -> None:
    with pytest.raises(RemoteError, match="its log tells why") as caught:
        list(endpoint.client().sql("never"))
    assert caught.value.status == "INTERNAL"
    assert "broken" not in str(caught.value)


def test_a_cut_wire_costs_no_row_and_doubles_none(endpoint: Endpoint, wire: Wire) -> None:
    seen = []
    for row in endpoint.client(port=wire.port).sql("rows 30000"):
        seen.append(row.n)
        if len(seen) in (1, 20_000, 60_000):
            wire.cut()
    assert seen == list(range(90_000))
    assert wire.cuts == 3


def test_a_wire_that_is_cut_before_the_first_answer_costs_nothing(
    endpoint: Endpoint, wire: Wire
) -> None:
    cursor = endpoint.client(port=wire.port).sql("hang; rows 5")
    assert until(lambda: endpoint.source.statement.sql == "hang; rows 5")
    wire.cut()
    waiting = threading.Timer(0.5, endpoint.source.cancelled.set)
    waiting.start()
    # What hangs breaks off when it is released: the failure is that of the same operation.
    with pytest.raises(RemoteError) as caught:
        list(cursor)
    assert caught.value.condition == "RESULT_BROKEN"
    assert caught.value.operation == cursor.id


def test_a_server_that_is_restarted_in_the_middle_of_a_result_is_told_of() -> None:
    before = Endpoint.start()
    wire = Wire(before.port)
    with before.client(port=wire.port) as client:
        cursor = client.sql("SELECT; rows 2; hang")
        rows = iter(cursor)
        assert [next(rows).n for _ in range(6)] == list(range(6))
        after = Endpoint.start()
        wire.target = after.port  # as the same port would be
        wire.cut()
        with pytest.raises(
            RemoteError, match=r"it was restarted.*Run the statement again"
        ) as caught:
            next(rows)
        assert (caught.value.status, caught.value.condition) == (
            "NOT_FOUND",
            "OPERATION_NOT_FOUND",
        )
        assert client.sql("SELECT; rows 2").arrow().num_rows == 6
    assert after.engine.sources[0].statement.sql == "SELECT; rows 2"  # the first was not run again
    wire.close()
    for endpoint in (before, after):
        endpoint.stop()


def test_a_batch_that_is_not_kept_any_more_is_out_of_range(endpoint: Endpoint) -> None:
    client = endpoint.client()
    cursor = client.sql("rows 30000; hang")
    batches = cursor.batches()
    for _ in range(30_000):
        next(batches)
    request = plait_pb2.AttachRequest(session=client.session, operation=cursor.id, next_offset=0)
    with pytest.raises(Exception, match=r"Batch 0 .* is not kept: it can be taken up at batch"):
        list(client._stub.Attach(request))
    cursor.close()


def test_a_second_reader_displaces_the_first(endpoint: Endpoint) -> None:
    client = endpoint.client()
    first = client.sql("rows 2; hang")
    assert first.schema == SCHEMA  # the batches come behind it
    assert until(lambda: endpoint.operation(first.id).snapshot().batches == 2)  # type: ignore[union-attr]
    request = plait_pb2.AttachRequest(session=client.session, operation=first.id, next_offset=1)
    second = client._stub.Attach(request)
    offsets = [
        message.response.batch.offset
        for message in (next(second), next(second))
        if message.response.HasField("batch")
    ]
    assert offsets == [1]
    with pytest.raises(RemoteError, match="Another call reads the operation") as caught:
        list(first)
    assert caught.value.status == "ABORTED"


def test_an_ended_operation_that_its_client_has_read_is_forgotten(endpoint: Endpoint) -> None:
    client = endpoint.client()
    cursor = client.sql("rows 1000")
    list(cursor)
    assert until(lambda: endpoint.operation(cursor.id) is None)


def test_a_call_that_is_not_reattachable_ends_its_operation(endpoint: Endpoint) -> None:
    stub: plait_pb2_grpc.PlaitServiceStub = endpoint.client()._stub
    call = stub.Execute(plait_pb2.ExecuteRequest(session="s", sql="hang", operation="mine"))
    next(call)
    source = endpoint.source
    call.cancel()
    assert source.cancelled.wait(1.0)
    assert until(lambda: endpoint.operation("mine") is None)


def test_progress_comes_while_nothing_else_does(endpoint: Endpoint) -> None:
    stub: plait_pb2_grpc.PlaitServiceStub = endpoint.client()._stub
    call = stub.Execute(plait_pb2.ExecuteRequest(session="s", sql="hang"))
    contents = [next(call).WhichOneof("content"), next(call).WhichOneof("content")]
    assert contents == ["schema", "progress"]
    call.cancel()


def test_a_statement_that_is_interrupted_while_it_is_sent_is_cancelled(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Cursor._send

    def interrupted(cursor: Cursor, request: Any) -> None:
        call = send(cursor, request)
        assert call is not None  # gRPC ends a call that nobody refers to
        assert until(lambda: endpoint.source.statement.sql == "hang; rows 7")
        raise KeyboardInterrupt

    monkeypatch.setattr(Cursor, "_send", interrupted)
    with pytest.raises(KeyboardInterrupt):
        endpoint.client().sql("hang; rows 7")
    gc.collect()
    assert endpoint.source.cancelled.wait(2.0)
