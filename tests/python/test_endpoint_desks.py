# SPDX-License-Identifier: Apache-2.0
"""Examples: statements that are looked at for long, and calls that nobody waits for any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.python.endpoint import Endpoint, Start, endpoints, until

from plait.client import Client, RemoteError
from plait.server.config import Server
from plait.server.desks import Desks

start = pytest.fixture(endpoints)

ASK: dict[str, Callable[[Client], Any]] = {
    "Validate": lambda client: client.validate("hang"),
    "Explain": lambda client: client.explain("hang"),
    "Prepare": lambda client: client.prepare("hang"),
    "StartStream": lambda client: client.start_stream("hang", nowhere=True),
}


def is_free(endpoint: Endpoint) -> bool:
    """Whether a desk is free, where there is one."""
    return bool(endpoint.client(timeout=2.0).validate("rows 1"))


@pytest.mark.parametrize("call", ASK)
def test_a_deadline_ends_what_the_engine_does_within_a_second(start: Start, call: str) -> None:
    endpoint = start(running=1)
    began = time.monotonic()
    with pytest.raises(RemoteError, match="deadline") as caught:
        ASK[call](endpoint.client(timeout=0.5))
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert until(lambda: bool(endpoint.engine.cancelled))
    assert time.monotonic() - began < 1.5
    assert set(endpoint.engine.cancelled) == set(endpoint.engine.hanging)
    assert is_free(endpoint)


@pytest.mark.parametrize("call", ASK)
def test_so_does_a_client_that_goes(start: Start, call: str) -> None:
    endpoint = start(running=1)
    client = endpoint.client()
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(ASK[call], client)
        assert until(lambda: bool(endpoint.engine.hanging))
        client.close()
        began = time.monotonic()
        assert until(lambda: bool(endpoint.engine.cancelled))
        assert time.monotonic() - began < 1.0
        assert asked.exception(5.0) is not None
    assert is_free(endpoint)


def test_a_call_waits_for_a_desk_until_its_deadline(start: Start) -> None:
    endpoint = start(running=1, queue_seconds=60)
    with ThreadPoolExecutor() as pool:
        client = endpoint.client()
        first = pool.submit(client.validate, "hang")
        assert until(lambda: bool(endpoint.engine.hanging))
        with pytest.raises(RemoteError, match="deadline"):
            endpoint.client(timeout=0.5).validate("rows 1")
        later = endpoint.client()
        waiting = pool.submit(later.validate, "rows 1")
        time.sleep(0.3)
        later.close()  # it gives its turn away
        third = pool.submit(endpoint.client().validate, "rows 3")
        client.close()
        assert third.result(5.0)
        assert first.exception(5.0) is not None
        assert waiting.exception(5.0) is not None
    seen = [found.sql for found in endpoint.engine.looked_at]
    assert seen == ["rows 3"]


def test_who_waits_too_long_for_a_desk_is_told_so(start: Start) -> None:
    endpoint = start(running=1, queue_seconds=0.3)
    client = endpoint.client()
    with ThreadPoolExecutor() as pool:
        pool.submit(client.validate, "hang")
        assert until(lambda: bool(endpoint.engine.hanging))
        with pytest.raises(RemoteError, match=r"waited 0\.3 seconds") as caught:
            endpoint.client().validate("rows 1")
        assert caught.value.condition == "QUEUE_TIMEOUT"
        client.close()


class Over:
    """A call that nobody waits for any more, since it has its desk."""

    is_over = False

    def refuse_if_over(self) -> None:
        assert not self.is_over


def test_where_no_thread_could_be_started_once_calls_are_cancelled_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cancelled: list[str] = []
    desks = Desks(Server(running=1), cancelled.append)
    call: Any = Over()

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        with pytest.raises(RuntimeError, match="new thread"), desks.sit(call, "1"):
            pass
    with desks.sit(call, "2"):
        call.is_over = True
        assert until(lambda: "2" in cancelled, 3.0)
