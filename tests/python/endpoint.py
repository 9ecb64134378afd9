# SPDX-License-Identifier: Apache-2.0
"""What the tests of the endpoint share: a real server over an engine without Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.python.fake_engine import FakeEngine, FakeSource

from plait.client import Client
from plait.server.app import Served, serve
from plait.server.config import Config, Server, Tls, Token

if TYPE_CHECKING:
    from plait.server.operation import Operation


@dataclass
class Endpoint:
    """A server that listens, and its engine."""

    served: Served
    engine: FakeEngine
    clients: list[Client] = field(default_factory=list)

    @classmethod
    def start(
        cls, *, tls: Tls | None = None, tokens: tuple[Token, ...] = (), **limits: Any
    ) -> Endpoint:
        server = Server(**{"port": 0, "drain_seconds": 0.2, **limits})
        engine = FakeEngine(server.stream_records)
        return cls(serve(Config(server, tls, tokens), engine), engine)

    @property
    def port(self) -> int:
        return self.served.port

    def client(self, **settings: Any) -> Client:
        port = settings.pop("port", self.port)
        self.clients.append(Client(f"localhost:{port}", **settings))
        return self.clients[-1]

    @property
    def operations(self) -> list[Operation]:
        return self.served.registry.operations()

    def operation(self, name: str) -> Operation | None:
        return next((found for found in self.operations if found.name == name), None)

    @property
    def source(self) -> FakeSource:
        """Of the newest operation."""
        assert until(lambda: bool(self.engine.sources))
        return self.engine.sources[-1]

    def counts(self, name: str) -> int:
        return self.served.registry.counts()[name]

    def stop(self) -> None:
        for client in self.clients:
            client.close()
        self.served.stop()


Start = Callable[..., Endpoint]


def endpoints() -> Iterator[Start]:
    """Start endpoints, and stop them when a test is over: a fixture once it is made one."""
    started: list[Endpoint] = []

    def start(**settings: Any) -> Endpoint:
        started.append(Endpoint.start(**settings))
        return started[-1]

    yield start
    for endpoint in started:
        endpoint.stop()


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Wait until it holds; whether it did."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()
