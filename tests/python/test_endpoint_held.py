# SPDX-License-Identifier: Apache-2.0
"""Examples: what the server holds for clients that are not there, and when it lets go of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from tests.python.endpoint import Endpoint, Start, endpoints, until

from plait._proto import plait_pb2

if TYPE_CHECKING:
    from plait.client import Client

start = pytest.fixture(name="start")(endpoints)


def attach(client: Client, operation: str, next_offset: int) -> grpc.StatusCode:
    """Attach, and tell how the call ended."""
    request = plait_pb2.AttachRequest(
        session=client.session, operation=operation, next_offset=next_offset
    )
    with pytest.raises(grpc.RpcError) as caught:
        list(client._stub.Attach(request))
    code: grpc.StatusCode = caught.value.code()
    return code


def execute(client: Client, sql: str, name: str) -> grpc.Call:
    """Run a statement that outlives its call."""
    request = plait_pb2.ExecuteRequest(
        session=client.session, sql=sql, operation=name, reattachable=True
    )
    call: grpc.Call = client._stub.Execute(request)
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


def test_who_attaches_at_a_batch_that_there_is_not_displaces_nobody(start: Start) -> None:
    endpoint = start()
    client = endpoint.client()
    call = execute(client, "rows 1; hang", "mine")
    contents = [next(call).WhichOneof("content") for _ in range(2)]
    assert contents == ["schema", "batch"]
    assert attach(client, "mine", 10**9) == grpc.StatusCode.OUT_OF_RANGE
    assert next(call).WhichOneof("content") == "progress"
    call.cancel()
