# SPDX-License-Identifier: Apache-2.0
"""Examples: `plait health`, asked of servers that serve, stop, speak TLS, or are none."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health, health_pb2_grpc
from tests.python.authority import Authority
from tests.python.endpoint import Endpoint, until

from plait.cli import main
from plait.server import config

Output = pytest.CaptureFixture[str]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start(drain_seconds=30.0)
    yield endpoint
    endpoint.stop()


def asked(output: Output, *arguments: str | Path) -> tuple[int, str, str]:
    code = main(["health", *map(str, arguments)])
    told = output.readouterr()
    return code, told.out.strip(), told.err.strip()


def test_a_server_that_takes_calls_is_serving(endpoint: Endpoint, capsys: Output) -> None:
    assert asked(capsys, f"localhost:{endpoint.port}") == (0, "SERVING", "")


def test_a_server_that_stops_is_not_serving_while_what_runs_comes_to_its_end(
    endpoint: Endpoint, capsys: Output
) -> None:
    cursor = endpoint.client().sql("hang")
    assert endpoint.source
    stopping = threading.Thread(target=endpoint.served.stop)
    stopping.start()
    address = f"localhost:{endpoint.port}"
    assert until(lambda: asked(capsys, address) == (1, "NOT_SERVING", ""))
    cursor.cancel()
    stopping.join(20)
    assert asked(capsys, address)[:2] == (1, "")


def test_where_nobody_answers_the_error_says_where(capsys: Output) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, out, err = asked(capsys, address)
    assert (code, out) == (1, "")
    assert err.startswith(f"plait: No Plait server answers at {address}")


def test_who_takes_the_connection_and_says_nothing_is_waited_for_no_longer_than_told(
    capsys: Output,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        code, _, err = asked(capsys, address, "--timeout", "0.3")
    assert (code, err) == (1, f"plait: {address} has not answered within 0.3 s.")


@pytest.mark.parametrize("services", [(), (health.HealthServicer(),)], ids=["bare", "another's"])
def test_another_server_is_no_plait_server(
    services: tuple[health.HealthServicer, ...], capsys: Output
) -> None:
    server = grpc.server(ThreadPoolExecutor(1))
    for service in services:
        health_pb2_grpc.add_HealthServicer_to_server(service, server)
    address = f"localhost:{server.add_insecure_port('localhost:0')}"
    server.start()
    code, _, err = asked(capsys, address)
    server.stop(None)
    assert (code, err) == (1, f"plait: {address} answers, and is no Plait server.")


def test_over_tls_the_authority_must_be_known(authority: Authority, capsys: Output) -> None:
    endpoint = Endpoint.start(tls=config.Tls(*authority.issue("server", "localhost")))
    address = f"localhost:{endpoint.port}"
    assert asked(capsys, address, "--ca", authority.file) == (0, "SERVING", "")
    for told in ((), ("--tls",)):
        assert asked(capsys, address, *told)[0] == 1
    endpoint.stop()


def test_a_certificate_for_another_name_needs_that_name(
    authority: Authority, capsys: Output
) -> None:
    endpoint = Endpoint.start(tls=config.Tls(*authority.issue("server", "db.example")))
    told = (f"localhost:{endpoint.port}", "--ca", authority.file)
    assert asked(capsys, *told)[0] == 1
    assert asked(capsys, *told, "--server-name", "db.example") == (0, "SERVING", "")
    endpoint.stop()


def test_a_server_that_asks_for_a_clients_certificate_gets_it(
    authority: Authority, capsys: Output
) -> None:
    tls = config.Tls(*authority.issue("server", "localhost"), client_ca=authority.file)
    endpoint = Endpoint.start(tls=tls)
    told = (f"localhost:{endpoint.port}", "--ca", authority.file)
    certificate, key = authority.issue("watch", "watch.example")
    assert asked(capsys, *told)[0] == 1
    assert asked(capsys, *told, "--certificate", certificate, "--key", key)[:2] == (0, "SERVING")
    code, _, err = asked(capsys, *told, "--key", key)
    assert (code, "come together" in err) == (1, True)
    endpoint.stop()


def test_a_call_without_an_address_is_wrong(capsys: Output) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["health"])
    assert "HOST:PORT" in capsys.readouterr().err
    for timeout in ("-1", "0", "nan", "inf", "x"):
        with pytest.raises(SystemExit, match="2"):
            main(["health", "localhost:1", "--timeout", timeout])
        assert "argument --timeout" in capsys.readouterr().err
    code, _, err = asked(capsys, "localhost")
    assert (code, "has no port" in err) == (1, True)
