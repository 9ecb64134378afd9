# SPDX-License-Identifier: Apache-2.0
"""Examples: what the server does when its Spark has ended, or does not obey."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.python.endless import ENDLESS
from tests.python.endpoint import Endpoint, Start, endpoints, until
from tests.python.fake_engine import FakeEngine
from tests.python.footprint import jvm_of
from tests.python.server_process import ServerProcess

from plait.client import RemoteError
from plait.server import app, pulse

ROOT = Path(__file__).parents[2]

# A server of which the engine dies as soon as it listens.
DYING = """
import sys
import plait
from plait import cli
from plait.server import app
from tests.python.fake_engine import FakeEngine

plait.session = lambda **conf: None
app.SparkEngine = lambda spark, limits: FakeEngine(alive=False)
sys.exit(cli.main(["serve", "--port", "0"]))
"""

# A server that takes a minute to stop.
DEAF = """
import sys, time
import plait
from plait import cli
from plait.server import app
from tests.python.fake_engine import FakeEngine

plait.session = lambda **conf: None
app.SparkEngine = lambda spark, limits: FakeEngine()
FakeEngine.close_streams = lambda _: time.sleep(60)
sys.exit(cli.main(["serve", "--port", "0"]))
"""

# A server of which the JVM has gone when it is to be stopped.
GONE = """
import sys
import plait
from plait import cli
from plait.server import app
from tests.python.fake_engine import FakeEngine

class Spark:
    def stop(self):
        raise ConnectionRefusedError(111, "Connection refused")

plait.session = lambda **conf: Spark()
app.SparkEngine = lambda spark, limits: FakeEngine()
sys.exit(cli.main(["serve", "--port", "0"]))
"""

start = pytest.fixture(name="start")(endpoints)


def is_serving(endpoint: Endpoint) -> bool:
    request = health_pb2.HealthCheckRequest(service="plait.v1.PlaitService")
    with grpc.insecure_channel(f"localhost:{endpoint.port}") as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(request)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def test_a_server_whose_spark_has_ended_says_that_it_does_not_serve(start: Start) -> None:
    endpoint = start()
    told: list[bool] = []
    endpoint.served.watch(lambda: told.append(True))
    assert is_serving(endpoint)
    assert not endpoint.served.is_dead
    endpoint.engine.alive = False
    assert until(lambda: not is_serving(endpoint), 5.0)
    assert until(lambda: told == [True])
    assert endpoint.served.is_dead


def test_a_server_whose_spark_does_not_answer_says_so_too_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pulse, "LATE", 0.3, raising=False)
    monkeypatch.setattr(pulse, "PAUSE", 0.1)
    answers = threading.Event()
    monkeypatch.setattr(FakeEngine, "is_alive", lambda _: answers.wait(60))
    monkeypatch.setattr(FakeEngine, "close_streams", lambda _: answers.wait(60))
    endpoint = Endpoint.start()
    told: list[bool] = []
    endpoint.served.watch(lambda: told.append(True))
    assert until(lambda: not is_serving(endpoint), 5.0)
    assert until(lambda: told == [True], 1.0)
    began = time.monotonic()
    endpoint.stop()
    assert time.monotonic() - began < 10.0
    answers.set()


def waits(_: FakeEngine, *__: object) -> None:
    time.sleep(8)


@pytest.mark.parametrize("deaf", ["close_streams", "validate"])
def test_a_spark_that_does_not_end_what_it_is_told_to_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, deaf: str
) -> None:
    monkeypatch.setattr(app, "LAST_WORDS", 0.5)
    monkeypatch.setattr(FakeEngine, deaf, waits)
    endpoint = Endpoint.start()
    with ThreadPoolExecutor() as asking:
        asked = asking.submit(endpoint.client().validate, "SELECT 1")
        time.sleep(0.3)
        began = time.monotonic()
        endpoint.stop()
        assert time.monotonic() - began < 7.0
        del asked
    assert endpoint.served.was_killed
    assert not endpoint.engine.alive


def test_a_second_signal_ends_a_server_at_once() -> None:
    stopping = subprocess.Popen(
        [sys.executable, "-c", DEAF],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'python'}:{ROOT}"},
    )
    assert stopping.stdout is not None
    assert stopping.stderr is not None
    assert stopping.stdout.readline().startswith("listening on ")
    stopping.terminate()
    assert any('"message": "stopping"' in line for line in stopping.stderr)
    began = time.monotonic()
    stopping.terminate()
    assert stopping.wait(10) == 1
    assert time.monotonic() - began < 5.0
    assert "stopping at once" in stopping.stderr.read()


def test_a_spark_that_answers_late_is_not_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "LATE", 2.0)
    monkeypatch.setattr(pulse, "PAUSE", 0.01)
    asked: list[bool] = []

    def answer() -> bool:
        time.sleep(0.3)
        asked.append(True)
        return True

    watched = pulse.Pulse(answer, lambda: None)
    assert until(lambda: len(asked) == 3)
    assert not watched.is_dead
    watched.stop()


def test_a_server_whose_spark_has_ended_ends_with_an_error_and_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DYING],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
        env={"PYTHONPATH": f"{ROOT / 'python'}:{ROOT}"},
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("listening on ")
    assert "plait: Spark has ended by itself" in done.stderr.splitlines()[-1]


def test_a_server_whose_spark_ended_first_says_so_and_no_more() -> None:
    stopping = subprocess.Popen(
        [sys.executable, "-c", GONE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'python'}:{ROOT}"},
    )
    assert stopping.stdout is not None
    assert stopping.stdout.readline().startswith("listening on ")
    stopping.terminate()
    _, err = stopping.communicate(timeout=30)
    assert stopping.returncode == 1
    assert err.splitlines()[-1].startswith("plait: Spark had ended before the server could stop it")
    assert "Traceback" not in err


class Grouped(ServerProcess):
    """A server that leads a process group."""

    program = (
        "-c",
        "import os, sys; from plait import cli\nos.setpgid(0, 0)\nsys.exit(cli.main())",
    )


@pytest.mark.spark
def test_a_signal_to_the_servers_whole_group_ends_it_in_order(tmp_path: Path) -> None:
    server = Grouped(tmp_path, drain_seconds=3)
    with server.client() as client:
        cursor = client.sql(ENDLESS)
        assert until(lambda: [o.state for o in client.operations()] == ["running"])
        os.killpg(server.process.pid, signal.SIGTERM)
        assert server.process.wait(60) == 0
    del cursor
    assert '"message": "stopped"' in server.logs.splitlines()[-1]


class Impatient(ServerProcess):
    """A server that finds in seconds that its Spark does not answer."""

    program = (
        "-c",
        "import sys; from plait import cli; from plait.server import pulse\n"
        "pulse.PAUSE, pulse.LATE = 0.2, 1.5\n"
        "sys.exit(cli.main())",
    )


@pytest.mark.spark
def test_a_server_whose_spark_is_frozen_ends_though_calls_wait_for_it(tmp_path: Path) -> None:
    server = Impatient(tmp_path)
    jvm = jvm_of(server.process.pid)
    with server.client() as client:
        assert list(client.sql("SELECT 1 AS x")) == [(1,)]
        cursor = client.sql("SELECT count(*) FROM range(0, 1000000000000, 1, 8) WHERE id % 7 > 8")
        os.kill(jvm, signal.SIGSTOP)
        try:
            with ThreadPoolExecutor() as waiting:
                asked = [waiting.submit(client.validate, "SELECT 2") for _ in range(3)]
                assert server.process.wait(30) == 1
                assert all(answer.exception() is not None for answer in asked)
        finally:
            server.process.kill()
            with suppress(ProcessLookupError):  # which is as it should be
                os.kill(jvm, signal.SIGKILL)
        with pytest.raises(RemoteError):
            list(cursor)
    assert "Spark has ended by itself" in server.logs.splitlines()[-1]


def test_an_operation_that_cannot_be_cancelled_is_let_go_of_and_the_clock_goes_on(
    start: Start,
) -> None:
    endpoint = start(reattach_seconds=0.5, session_seconds=0.5)
    client = endpoint.client(session="s")
    held = [client.execute("hang", timeout=0.5) for _ in range(2)]
    assert until(lambda: len(endpoint.engine.sources) == 2)
    deaf = endpoint.engine.sources
    for source in deaf:
        source.is_deaf = True
    for source in deaf:
        assert source.closed.wait(3.0)
    assert endpoint.counts("running") == 0
    endpoint.engine.alive = False  # closing a session raises, once each time
    assert until(lambda: endpoint.counts("sessions") == 0, 3.0)
    endpoint.engine.alive = True
    assert list(client.sql("rows 1")) != []
    assert until(lambda: endpoint.engine.closed == [2], 3.0)
    del held
    for source in deaf:
        source.cancelled.set()  # whose threads are of this process
    pumps = [thread for thread in threading.enumerate() if "-pump-" in thread.name]
    for pump in pumps:
        pump.join(5.0)
        assert not pump.is_alive()
