# SPDX-License-Identifier: Apache-2.0
"""Examples: what Prometheus reads of the server."""

from __future__ import annotations

import socket
import urllib.request
from collections.abc import Iterator

import pytest
from tests.python.endpoint import Endpoint, until

from plait.client import PlaitError, RemoteError
from plait.server.callers import digest
from plait.server.config import Server, Token

TOKEN = Token("dashboard", digest("secret"), ("read",))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def endpoint(port: int) -> Iterator[Endpoint]:
    endpoint = Endpoint.start(metrics_port=port, tokens=(TOKEN,), running=2)
    yield endpoint
    endpoint.stop()


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read().decode())


def metrics(port: int) -> dict[str, float]:
    lines = [line for line in scrape(port).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_what_runs_waits_and_is_held_is_told(endpoint: Endpoint, port: int) -> None:
    client = endpoint.client(token="secret")
    handles = [client.submit("rows 2; hang") for _ in range(3)]
    assert until(lambda: metrics(port)["plait_running"] == 2)
    assert until(lambda: metrics(port)["plait_kept_bytes"] > 0)
    told = metrics(port)
    assert (told["plait_queued"], told["plait_sessions"]) == (1, 1)
    assert told['plait_operations{state="running"}'] == 2
    assert told['plait_operations{state="queued"}'] == 1
    assert told["plait_threads"] == 3  # two take results, one waits for its place
    for handle in handles:
        handle.cancel()
    assert until(lambda: metrics(port)["plait_threads"] == 0)
    assert until(lambda: metrics(port)['plait_operations{state="cancelled"}'] == 3)


def test_streams_that_run_are_counted_of_all_callers(port: int) -> None:
    other = Token("other", digest("other's"), ("stream",))
    streaming = Token("one", digest("one's"), ("stream",))
    endpoint = Endpoint.start(metrics_port=port, tokens=(streaming, other))
    streams = [
        endpoint.client(token=token).start_stream("rows 1; wait", nowhere=True)
        for token in ("one's", "other's")
    ]
    endpoint.client(token="one's").start_stream("rows 1", nowhere=True)  # has ended
    assert metrics(port)["plait_streams"] == 2
    streams[0].stop()
    assert metrics(port)["plait_streams"] == 1
    endpoint.stop()


def test_what_was_sent_and_how_operations_ended_is_counted(endpoint: Endpoint, port: int) -> None:
    client = endpoint.client(token="secret")
    list(client.sql("rows 4"))
    with pytest.raises(RemoteError):
        list(client.sql("fail"))
    with pytest.raises(RemoteError):
        endpoint.client(token="nobody's").info()
    told = metrics(port)
    assert told["plait_sent_rows_total"] == 12
    assert told["plait_sent_bytes_total"] > 12 * 8
    assert told['plait_operations_ended_total{state="finished"}'] == 1
    assert told['plait_operations_ended_total{state="failed"}'] == 1
    assert told['plait_operation_failures_total{kind="statement"}'] == 1
    assert told['plait_call_failures_total{kind="statement"}'] == 1
    assert told['plait_call_failures_total{kind="unauthenticated"}'] == 1


def test_seconds_are_a_histogram(endpoint: Endpoint, port: int) -> None:
    client = endpoint.client(token="secret")
    for _ in range(3):
        list(client.sql("rows 1"))
    told = metrics(port)
    buckets = [value for name, value in told.items() if "seconds_bucket" in name]
    assert buckets == sorted(buckets)
    assert told['plait_operation_seconds_bucket{le="+Inf"}'] == 3
    assert told["plait_operation_seconds_count"] == 3
    assert 0 < told["plait_operation_seconds_sum"] < 10


def test_no_statement_no_session_and_no_token_is_told(endpoint: Endpoint, port: int) -> None:
    client = endpoint.client(token="secret", session="confidential")
    list(client.sql("rows 1; rows 1"))
    with pytest.raises(RemoteError):
        list(client.sql("rows 1; fail"))
    text = scrape(port)
    for word in ("rows 1", "confidential", "secret", TOKEN.sha256, "column x"):
        assert word not in text


def test_a_taken_port_is_told_and_nothing_listens(port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(PlaitError, match=f"cannot be served on 127.0.0.1:{port}"),
    ):
        Endpoint.start(metrics_port=port)


def test_they_are_off_unless_asked_for_and_on_loopback_unless_told_otherwise() -> None:
    assert (Server().metrics_port, Server().metrics_host) == (0, "127.0.0.1")


def test_the_port_closes_with_the_server(port: int) -> None:
    endpoint = Endpoint.start(metrics_port=port)
    assert "plait_running" in scrape(port)
    endpoint.stop()
    with pytest.raises(OSError):
        scrape(port)
