# SPDX-License-Identifier: Apache-2.0
"""Examples: calls that are turned away by their headers, and those that are always answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.python.endpoint import Endpoint, Start, endpoints, until

from plait.client import RemoteError
from plait.server import gate
from plait.server.callers import digest
from plait.server.config import Token

ALICE = Token("alice", digest("alice's"), ("read",))
BEARER = (("authorization", "Bearer alice's"),)

# So many calls at a time: 1 * 2 + 1 + 1 + 16.
SMALL = {"running": 1, "queued": 1, "subscriptions": 1}
CALLS = 20

start = pytest.fixture(name="start")(endpoints)


@pytest.fixture
def over() -> Iterator[threading.Event]:
    """Set at the end: then those stop who send nothing."""
    over = threading.Event()
    yield over
    over.set()


def silence(over: threading.Event) -> Iterator[Any]:
    """Send nothing for long."""
    over.wait(30)
    yield from ()


def connected(endpoint: Endpoint) -> grpc.Channel:
    return grpc.insecure_channel(f"localhost:{endpoint.port}")


def health(channel: grpc.Channel) -> int:
    request = health_pb2.HealthCheckRequest(service="plait.v1.PlaitService")
    return int(health_pb2_grpc.HealthStub(channel).Check(request, timeout=5).status)


def services(channel: grpc.Channel, metadata: Any = ()) -> set[str]:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    answers = stub.ServerReflectionInfo(iter([request]), metadata=metadata, timeout=5)
    return {found.name for answer in answers for found in answer.list_services_response.service}


def reflect(channel: grpc.Channel, over: threading.Event) -> Any:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    return stub.ServerReflectionInfo(silence(over))


@pytest.mark.parametrize("method", ["Validate", "Execute", "NoSuchCall"])
def test_of_a_call_without_a_known_token_the_body_is_not_awaited(
    start: Start, over: threading.Event, method: str
) -> None:
    endpoint = start(tokens=(ALICE,))
    with connected(endpoint) as channel:
        call = channel.stream_unary(f"/plait.v1.PlaitService/{method}")
        with pytest.raises(grpc.RpcError) as caught:
            call(silence(over), timeout=5)
        assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_readers_of_reflection_take_none_of_the_places_of_calls(
    start: Start, over: threading.Event
) -> None:
    endpoint = start(**SMALL)
    with ExitStack() as channels:
        channel = channels.enter_context(connected(endpoint))
        held = [reflect(channel, over) for _ in range(2 * CALLS)]
        assert until(lambda: sum(not call.is_active() for call in held) > CALLS)
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING
        assert endpoint.client(timeout=5).info().version == "0.1"
        refused = [call.code() for call in held if not call.is_active()]
        assert set(refused) == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert sum(call.is_active() for call in held) == gate.REFLECTIONS


def test_a_reader_of_reflection_who_says_nothing_is_cut_off(
    start: Start, over: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "REFLECTION_SECONDS", 0.3)
    with connected(start()) as channel:
        call = reflect(channel, over)
        assert until(lambda: not call.is_active(), 3.0)
        assert "plait.v1.PlaitService" in services(channel)


def test_reflection_asks_for_a_token_where_there_are_any_unless_it_is_open(start: Start) -> None:
    with connected(start(tokens=(ALICE,))) as channel:
        with pytest.raises(grpc.RpcError, match="no token"):
            services(channel)
        assert "plait.v1.PlaitService" in services(channel, BEARER)
    with connected(start(tokens=(ALICE,), open_reflection=True)) as channel:
        assert "plait.v1.PlaitService" in services(channel)


def test_health_is_answered_where_all_places_are_taken(start: Start) -> None:
    endpoint = start(**SMALL, queue_seconds=30)
    client = endpoint.client(timeout=20)
    refused: list[RemoteError] = []

    def look() -> None:
        try:
            client.validate("stay")
        except RemoteError as error:
            refused.append(error)

    looking = [threading.Thread(target=look) for _ in range(CALLS + 5)]
    for thread in looking:
        thread.start()
    assert until(lambda: len(refused) == 5)
    assert {error.condition for error in refused} == {"TOO_MANY_CALLS"}
    with connected(endpoint) as channel:
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING
    endpoint.engine.go.set()
    for thread in looking:
        thread.join()
    assert len(refused) == 5


def test_health_is_answered_where_others_ask_and_say_not_for_what(
    start: Start, over: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "CHECK_SECONDS", 0.3)
    with connected(start()) as channel:
        asking = [
            channel.stream_stream("/grpc.health.v1.Health/Check")(silence(over))
            for _ in range(2 * gate.CHECKS)
        ]
        assert until(lambda: not any(call.is_active() for call in asking), 3.0)
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING


def test_those_who_watch_health_have_an_end(start: Start, over: threading.Event) -> None:
    with connected(start()) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        watching = [stub.Watch(health_pb2.HealthCheckRequest()) for _ in range(gate.WATCHERS + 3)]
        assert until(lambda: sum(not call.is_active() for call in watching) == 3)
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING
        assert next(watching[0]).status == health_pb2.HealthCheckResponse.SERVING
        for call in watching:
            call.cancel()


SILENT = ["List", "Watch", "Check"]


@pytest.mark.parametrize("method", SILENT)
def test_who_asks_for_health_and_sends_headers_only_takes_no_place_of_others(
    start: Start, over: threading.Event, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(gate, "CHECK_SECONDS", 0.3)
    endpoint = start(**SMALL)
    with connected(endpoint) as channel:
        ask = channel.stream_stream(f"/grpc.health.v1.Health/{method}")
        asking = [ask(silence(over)) for _ in range(CALLS + gate.WATCHERS)]
        assert until(lambda: not any(call.is_active() for call in asking), 3.0)
        assert endpoint.client(timeout=5).info().version == "0.1"
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING
        watching = health_pb2_grpc.HealthStub(channel).Watch(
            health_pb2.HealthCheckRequest(), timeout=5
        )
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        watching.cancel()


@pytest.mark.parametrize("method", ["ServerInfo", "Execute"])
def test_who_sends_headers_only_keeps_the_places_of_calls_for_a_short_time(
    start: Start, over: threading.Event, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    monkeypatch.setattr(gate, "REQUEST_SECONDS", 0.3)
    endpoint = start(tokens=(ALICE,), **SMALL)
    client = endpoint.client(token="alice's", timeout=5)
    with connected(endpoint) as channel:
        call = channel.stream_stream(f"/plait.v1.PlaitService/{method}")
        held = [call(silence(over), metadata=BEARER) for _ in range(CALLS)]
        assert until(lambda: not any(call.is_active() for call in held), 3.0)
        assert {call.code() for call in held} == {grpc.StatusCode.CANCELLED}
        assert client.info().version == "0.1"
        assert client.sql("rows 2").arrow().num_rows == 6


@pytest.mark.parametrize(
    "method",
    [
        "plait.v1.PlaitService/ServerInfo",
        "plait.v1.PlaitService/Execute",
        "grpc.health.v1.Health/Check",
        "grpc.health.v1.Health/Watch",
    ],
)
def test_a_call_without_a_message_is_told_so(start: Start, method: str) -> None:
    with connected(start()) as channel:
        with pytest.raises(grpc.RpcError, match="no message") as caught:
            channel.stream_unary(f"/{method}")(iter(()), timeout=5)
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_call_whose_message_has_come_may_take_its_time(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "REQUEST_SECONDS", 0.1)
    endpoint = start()
    client = endpoint.client()
    threading.Timer(0.8, endpoint.engine.go.set).start()
    assert client.validate("stay").kind == "query"


@pytest.mark.parametrize(
    "method",
    [
        "grpc.health.v1.Health/List",
        "grpc.health.v1.Health/NoSuchCall",
        "grpc.health.v1.Health/x/Check",
        "grpc.reflection.v1alpha.ServerReflection/NoSuchCall",
        "plait.v1.PlaitService/NoSuchCall",
        "no.such.Service/Call",
    ],
)
def test_a_call_that_there_is_not_is_unimplemented_and_its_body_not_awaited(
    start: Start, over: threading.Event, method: str
) -> None:
    with connected(start()) as channel, pytest.raises(grpc.RpcError) as caught:
        channel.stream_unary(f"/{method}")(silence(over), timeout=5)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_watchers_that_come_and_go_do_not_stop_the_server(start: Start) -> None:
    with connected(start()) as channel:
        stub = health_pb2_grpc.HealthStub(channel)

        def come_and_go() -> None:
            for _ in range(200):
                call = stub.Watch(health_pb2.HealthCheckRequest(), timeout=5)
                with suppress(grpc.RpcError):
                    next(call)
                call.cancel()

        coming = [threading.Thread(target=come_and_go) for _ in range(8)]
        for thread in coming:
            thread.start()
        for thread in coming:
            thread.join()
        assert health(channel) == health_pb2.HealthCheckResponse.SERVING
