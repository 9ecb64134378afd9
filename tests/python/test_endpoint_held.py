# SPDX-License-Identifier: Apache-2.0
"""Examples: what the server holds for clients that are not there, and when it lets go of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from tests.python.endpoint import Endpoint, Start, endpoints, until

from plait._proto import plait_pb2
from plait.client import RemoteError
from plait.server import operation as operations
from plait.server.callers import digest
from plait.server.config import Token

if TYPE_CHECKING:
    from plait.client import Client, Cursor

start = pytest.fixture(name="start")(endpoints)


def attach(client: Client, operation: str, next_offset: int) -> grpc.StatusCode:
    """Attach, and tell how the call ended."""
    request = plait_pb2.AttachRequest(
        session=client.session, operation=operation, next_offset=next_offset
    )
    with pytest.raises(grpc.RpcError) as caught:
        list(client._stub.Attach(request, metadata=client._metadata))
    code: grpc.StatusCode = caught.value.code()
    return code


def execute(client: Client, sql: str, name: str) -> grpc.Call:
    """Run a statement that outlives its call."""
    request = plait_pb2.ExecuteRequest(
        session=client.session, sql=sql, operation=name, reattachable=True
    )
    call: grpc.Call = client._stub.Execute(request, metadata=client._metadata)
    return call


def leave(endpoint: Endpoint, call: grpc.Call, name: str) -> None:
    """Go away from an operation, and wait until the server has seen it."""
    call.cancel()

    def is_alone() -> bool:
        operation = endpoint.operation(name)
        return operation is not None and operation.detached_since is not None

    assert until(is_alone)


def test_who_attaches_at_a_batch_that_there_is_not_lets_the_time_of_grace_run_on(
    start: Start,
) -> None:
    endpoint = start(reattach_seconds=0.5, session_seconds=0.5)
    client = endpoint.client()
    call = execute(client, "rows 1; hang", "lost")
    next(call)
    source = endpoint.source
    leave(endpoint, call, "lost")
    assert attach(client, "lost", 10**9) == grpc.StatusCode.OUT_OF_RANGE
    assert source.cancelled.wait(2.0)
    assert until(lambda: not endpoint.operations, 2.0)
    assert endpoint.counts("running") == 0
    assert until(lambda: endpoint.counts("sessions") == 0, 2.0)


def test_an_operation_that_has_ended_is_forgotten_after_a_wrong_attach_too(start: Start) -> None:
    endpoint = start(reattach_seconds=0.5)
    client = endpoint.client()
    call = execute(client, "rows 1", "ended")
    list(call)
    assert attach(client, "ended", 10**9) == grpc.StatusCode.OUT_OF_RANGE
    assert until(lambda: not endpoint.operations, 2.0)


def park(endpoint: Endpoint, client: Client, *names: str) -> None:
    """Begin large results one after the other, and go away from each when it stands."""
    for name in names:
        call = execute(client, "rows 1000000", name)
        next(call)
        leave(endpoint, call, name)

        def is_parked(name: str = name) -> bool:
            operation = endpoint.operation(name)
            return operation is not None and (operation.is_parked or operation.state.is_end)

        assert until(is_parked)


def live(endpoint: Endpoint) -> list[str]:
    """Give the operations that have not ended, by their names."""
    return [operation.name for operation in endpoint.operations if not operation.state.is_end]


def test_of_results_that_wait_for_clients_that_have_gone_the_oldest_are_given_up(
    start: Start,
) -> None:
    endpoint = start(parked=2, running=1, batch_bytes=1 << 10)
    client = endpoint.client()
    park(endpoint, client, "a", "b", "c")
    assert until(lambda: live(endpoint) == ["b", "c"], 2.0)
    assert attach(client, "a", 0) == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert client.sql("rows 1").arrow().num_rows == 3


def test_one_caller_has_fewer_such_results_than_all_have(start: Start) -> None:
    tokens = tuple(Token(name, digest(name), ("read",)) for name in ("alice", "bob"))
    endpoint = start(caller_parked=1, tokens=tokens, batch_bytes=1 << 10)
    alice, bob = (endpoint.client(token=token.name) for token in tokens)
    park(endpoint, bob, "bobs")
    park(endpoint, alice, "a", "b")
    assert until(lambda: live(endpoint) == ["bobs", "b"], 2.0)


def test_what_was_submitted_is_not_given_up_for_it(start: Start) -> None:
    endpoint = start(parked=1, caller_parked=1, batch_bytes=1 << 10)
    client = endpoint.client()
    handles = [client.submit("rows 1000000") for _ in range(3)]
    assert until(lambda: len(endpoint.operations) == 3)
    assert until(lambda: all(operation.is_parked for operation in endpoint.operations))
    park(endpoint, client, "left")
    assert not until(lambda: len(live(endpoint)) < 4, 0.6)
    for handle in handles:
        handle.cancel()


def test_who_attaches_at_a_batch_that_there_is_not_displaces_nobody(start: Start) -> None:
    endpoint = start()
    client = endpoint.client()
    call = execute(client, "rows 1; hang", "mine")
    contents = [next(call).WhichOneof("content") for _ in range(2)]
    assert contents == ["schema", "batch"]
    assert attach(client, "mine", 10**9) == grpc.StatusCode.OUT_OF_RANGE
    assert next(call).WhichOneof("content") == "progress"
    call.cancel()


def hold(endpoint: Endpoint, client: Client, sql: str = "large 10000") -> Cursor:
    """Begin a large result, and read no more of it than its first batch."""
    cursor = client.sql(sql)
    next(cursor.batches())
    found = endpoint.operation(cursor.id)
    assert found is not None
    assert until(lambda: found.unread_seconds > 0.2)
    return cursor


def test_readers_who_do_not_read_take_nobodys_place_and_go_on_when_they_like(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "STILL", 0.5)
    endpoint = start(running=2, queue_seconds=5)
    client = endpoint.client()
    held = [hold(endpoint, client, "large 200") for _ in range(2)]
    assert client.sql("rows 1").arrow().num_rows == 3
    assert [sum(1 for _ in cursor) for cursor in held] == [199] * 2


def test_readers_who_do_not_read_and_are_too_many_keep_their_places(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "STILL", 0.5)
    endpoint = start(running=1, parked=1, queue_seconds=1.5)
    client = endpoint.client()
    held = [hold(endpoint, client) for _ in range(2)]
    with pytest.raises(RemoteError) as caught:
        list(client.sql("rows 1"))
    assert caught.value.condition == "QUEUE_TIMEOUT"
    assert len(live(endpoint)) == 2
    held[0].close()
    assert client.sql("rows 1").arrow().num_rows == 3


def test_who_takes_nothing_of_what_waits_is_told_that_the_operation_was_ended(
    start: Start,
) -> None:
    endpoint = start(unread_seconds=1.0)
    cursor = hold(endpoint, endpoint.client())
    assert until(lambda: not live(endpoint), 3.0)
    assert endpoint.source.closed.is_set()
    with pytest.raises(RemoteError, match="took none for 1 seconds") as caught:
        list(cursor)
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "RESULT_NOT_READ",
    )


def test_who_waits_for_rows_is_not_taken_for_one_who_does_not_read(start: Start) -> None:
    endpoint = start(unread_seconds=0.3)
    client = endpoint.client()
    waiting = execute(client, "rows 1; hang", "waiting")
    assert [next(waiting).WhichOneof("content") for _ in range(3)][-1] == "progress"
    assert not until(lambda: not live(endpoint), 1.0)
    waiting.cancel()


def test_a_call_that_does_not_take_the_rest_of_what_has_ended_gives_its_thread_back(
    start: Start,
) -> None:
    endpoint = start(unread_seconds=0.4, reattach_seconds=0.6)
    client = endpoint.client()
    call = execute(client, "large 10000", "unread")
    next(call)
    assert until(lambda: not live(endpoint), 5.0)
    assert until(lambda: not endpoint.operations, 5.0)
    with pytest.raises(grpc.RpcError) as caught:
        list(call)
    assert caught.value.code() == grpc.StatusCode.CANCELLED
