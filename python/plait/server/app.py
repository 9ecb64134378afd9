# SPDX-License-Identifier: Apache-2.0
"""The server put together: port, credentials, health, reflection, and an orderly end."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.errors import PlaitError
from plait.server.credentials import CertificateFiles
from plait.server.engine import Engine, SparkEngine, StreamTold
from plait.server.gate import BESIDE, Gate, Places
from plait.server.pulse import Pulse
from plait.server.registry import Registry
from plait.server.service import PlaitService

if TYPE_CHECKING:
    from plait.server.config import Config
    from plait.server.metrics import MetricsPort

log = logging.getLogger("plait.server")

SERVICE = plait_pb2.DESCRIPTOR.services_by_name["PlaitService"].full_name

# Threads for calls that do not stream.
SHORT_CALLS = 16

# Seconds for which calls may end by themselves after their operations have.
GRACE = 2.0

# Seconds for which cancelled operations and stopped streams may go on: not all of Spark hears that.
LAST_WORDS = 20.0

# Seconds after which the main thread looks up: a signal that another thread has taken does not wake
# it, and it alone can answer one.
TICK = 0.5

# Where tasks run in the driver's JVM, one that asks for more memory than there is fails, and does
# not end the JVM with all that others do there.
LOCAL = {"spark.executor.killOnFatalError.depth": "0"}

# A master that is no other process.
LOCAL_MASTER = re.compile(r"local(\[|$)")

# What Spark's pages and its line of progress show is every caller's, and they ask nobody who it is.
SILENT = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}

# Where nobody else takes part in Spark, nobody else need reach the ports that it opens.
NEAR = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}

# A connection without a sign of life for so long is closed; milliseconds.
KEEPALIVE = 30_000


@dataclass
class Served:
    """A server that listens."""

    port: int
    registry: Registry[Any]
    _engine: Engine
    _server: grpc.Server
    _health: health.HealthServicer
    _drain_seconds: float
    _places: Places
    _metrics: MetricsPort | None = None
    _pulse: Pulse | None = None

    # Whether the engine had to be killed because it did not obey.
    was_killed: bool = False

    @property
    def is_dead(self) -> bool:
        """Whether the engine has ended by itself."""
        return self._pulse is not None and self._pulse.is_dead

    def watch(self, when_dead: Callable[[], None]) -> None:
        """Ask from now on whether the engine lives; if not, health says so, and ``when_dead``."""

        def tell() -> None:
            log.error("Spark has ended: nothing can be run any more")
            for name in ("", SERVICE):
                self._health.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)
            when_dead()

        self._pulse = Pulse(self._engine.is_alive, tell)

    def stop(self) -> None:
        """Take nothing new, let operations end for a while, cancel the rest, close the port.

        Streams are stopped when the operations have ended. Nothing is waited for where the engine
        has ended by itself; it is killed then, and where it does not obey: threads that wait for
        its answers would keep this process.
        """
        self._health.enter_graceful_shutdown()
        if self._pulse is not None:
            self._pulse.stop()
        # An engine that is dead may be one that never answers.
        ending = threading.Thread(target=self._end_work, name="plait-ending", daemon=True)
        ending.start()
        ending.join(GRACE if self.is_dead else self._drain_seconds + LAST_WORDS)
        if self.is_dead:
            self._engine.kill()
        stopped = self._server.stop(GRACE)
        if not self.is_dead and (ending.is_alive() or not self._places.are_free(LAST_WORDS)):
            log.error("Spark does not end what it was told to end: it is killed")
            self.was_killed = True
            self._engine.kill()
        stopped.wait()
        if self._metrics is not None:
            self._metrics.close()

    def _end_work(self) -> None:
        self.registry.close(0.0 if self.is_dead else self._drain_seconds)
        try:
            self._engine.close_streams()
        except Exception:
            log.exception("the streams could not be stopped")


def serve(config: Config, engine: Engine) -> Served:
    """Open the port; returns when calls are taken."""
    limits = config.server
    registry: Registry[Any] = Registry(limits, engine.open_session, engine.close_session)
    # A streaming call holds a thread while its client reads, and one that waits does too.
    threads = limits.running * 2 + limits.queued + limits.subscriptions + SHORT_CALLS
    places = Places(threads, "call")
    server = grpc.server(
        places,
        interceptors=[Gate(config, registry, places)],
        maximum_concurrent_rpcs=threads + BESIDE,
        options=[
            ("grpc.max_send_message_length", limits.message_bytes),
            ("grpc.max_receive_message_length", limits.request_bytes),
            ("grpc.keepalive_time_ms", KEEPALIVE),
            ("grpc.keepalive_timeout_ms", KEEPALIVE),
            ("grpc.http2.min_ping_interval_without_data_ms", KEEPALIVE // 3),
            ("grpc.so_reuseport", 0),
        ],
    )
    plait_pb2_grpc.add_PlaitServiceServicer_to_server(
        PlaitService(config, engine, registry), server
    )
    healthy = health.HealthServicer(experimental_non_blocking=False)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    names = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    port = _listen(server, config)
    metrics = _metrics(config, registry, engine)
    for told in engine.open_streams():
        _log_taken_up(told)
    server.start()
    for name in ("", SERVICE):
        healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    drain = limits.drain_seconds
    return Served(port, registry, engine, server, healthy, drain, places, metrics)


def _log_taken_up(told: StreamTold) -> None:
    where = {"table": told["table"], "stream": told["name"]}
    if "failure" in told:
        log.error("not taken up: %s", told["failure"]["message"], extra=where)
    else:
        log.info("taken up", extra=where)


def _metrics(config: Config, registry: Registry[Any], engine: Engine) -> MetricsPort | None:
    limits = config.server
    if not limits.metrics_port:
        return None
    from plait.server.metrics import MetricsPort

    return MetricsPort(registry, engine, limits.metrics_host, limits.metrics_port)


def _listen(server: grpc.Server, config: Config) -> int:
    address = f"{_bracketed(config.server.host)}:{config.server.port}"
    try:
        if config.tls is None:
            return int(server.add_insecure_port(address))
        return int(server.add_secure_port(address, CertificateFiles(config.tls).credentials()))
    except RuntimeError:
        _check_free(config.server.host, config.server.port, _taken(address))
        raise PlaitError(
            f"The server cannot listen on {address}: its log tells why, and it may be what stands "
            "in the files of [tls]."
        ) from None


def check_start(config: Config) -> None:
    """Refuse what would be refused when Spark has started."""
    server = config.server
    if config.tls is not None:
        CertificateFiles(config.tls)
    address = f"{_bracketed(server.host)}:{server.port}"
    _check_free(server.host, server.port, _taken(address))
    if server.metrics_port:
        address = f"{_bracketed(server.metrics_host)}:{server.metrics_port}"
        _check_free(
            server.metrics_host,
            server.metrics_port,
            f"The metrics cannot be served on {address}: the port is taken, or the address is none "
            "of this machine's. Take another metrics_port; 0 turns them off.",
        )


def _taken(address: str) -> str:
    return (
        f"The server cannot listen on {address}: the port is taken, or the address is none of "
        "this machine's. Port 0 takes a free one."
    )


def _check_free(host: str, port: int, sentence: str) -> None:
    with suppress(OSError):
        for family, *_, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            with suppress(OSError), socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                return
    raise PlaitError(sentence)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def run(config: Config) -> None:
    """Start Spark, serve until SIGTERM or SIGINT, and stop in order; at once when a second comes.

    Prints `listening on HOST:PORT` when calls are taken. Raises ``PlaitError`` where Spark has
    ended by itself, or had to be killed.
    """
    import plait
    from plait import _jvm

    check_start(config)
    with _jvm.apart():
        spark = plait.session(**_settings(config))
    engine = SparkEngine(spark, config.server)
    stop = threading.Event()
    asked: list[int] = []

    def end() -> None:
        log.error("stopping at once")
        engine.kill()
        os._exit(1)

    def ask(number: int, _: object) -> None:
        # A handler interrupts the main thread anywhere, also where it writes to the log or holds
        # the lock of the event: what needs either is done by another thread.
        asked.append(number)
        threading.Thread(target=end if len(asked) > 1 else stop.set, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    served = serve(config, engine)
    served.watch(stop.set)
    print(f"listening on {_bracketed(config.server.host)}:{served.port}", flush=True)
    while not stop.wait(TICK):
        pass
    log.info("stopping")
    ending = threading.Thread(target=served.stop, name="plait-stopping")
    ending.start()
    while ending.is_alive():
        ending.join(TICK)
    if served.is_dead:
        raise PlaitError(
            "Spark has ended by itself, and the server with it: the log above, and that of Spark's "
            "driver, tell why."
        )
    if served.was_killed:
        raise PlaitError(
            "Spark was killed: a statement or a stream went on though it had been cancelled, as in "
            "parts of Spark's planning that hear no interrupt."
        )
    try:
        spark.stop()
    except Exception as error:  # py4j's, or the connection's
        log.error("Spark does not answer: %s", error)
        raise PlaitError(
            "Spark had ended before the server could stop it, perhaps by the same signal: what "
            "still ran then was broken off."
        ) from None
    log.info("stopped")


def _settings(config: Config) -> dict[str, str]:
    """Give what Spark starts with: what somebody has set, wherever, stays as it is."""
    from plait.session import default

    given = dict(config.spark)
    submit = os.environ.get("PYSPARK_SUBMIT_ARGS", "")

    def is_free(key: str) -> bool:
        return key not in given and key not in submit and not default(key)

    settings = {key: value for key, value in SILENT.items() if is_free(key)}
    master = given.get("spark.master") or os.environ.get("MASTER") or default("spark.master")
    may_be_elsewhere = "master" in submit and "spark.master" not in given
    if not may_be_elsewhere and LOCAL_MASTER.match(master or "local"):
        settings |= {key: value for key, value in LOCAL.items() if is_free(key)}
        if all(map(is_free, NEAR)) and "SPARK_LOCAL_IP" not in os.environ:
            settings |= NEAR
    return settings | given
