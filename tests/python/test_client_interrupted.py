# SPDX-License-Identifier: Apache-2.0
"""Examples and a law: whatever Ctrl-C interrupts, the client goes on to answer."""

from __future__ import annotations

import contextvars
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from tests.python import interrupted
from tests.python.endpoint import until

from plait.client.aside import aside


def test_what_is_asked_after_an_interrupt_is_answered_whenever_that_came() -> None:
    command = [sys.executable, "-m", interrupted.__name__]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == [str(interrupted.ROUNDS)] * 3, run.stderr


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Python's own handler, as in a process without Spark."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Call:
    """Something to be let go of, which says in which thread that was."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def __del__(self) -> None:
        self.said.append(threading.current_thread().name)


def press() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_an_interrupt_is_told_of_at_once_and_the_call_goes_on_to_its_end() -> None:
    go, done = threading.Event(), threading.Event()

    def act() -> None:
        press()
        go.wait(30)
        done.set()

    with pytest.raises(KeyboardInterrupt):
        aside(act)
    assert not done.is_set()
    go.set()
    assert done.wait(10)


def test_what_nobody_waits_for_is_let_go_of_where_it_was_made() -> None:
    go = threading.Event()
    said: list[str] = []

    def act() -> Call:
        press()
        go.wait(30)
        return Call(said)

    with pytest.raises(KeyboardInterrupt):
        aside(act)
    go.set()
    assert until(lambda: bool(said))
    assert said == ["plait-calls"]


def test_a_thread_whose_call_was_interrupted_ends() -> None:
    threads: list[weakref.ref[threading.Thread]] = []

    def act() -> None:
        threads.append(weakref.ref(threading.current_thread()))
        press()
        time.sleep(0.1)

    with pytest.raises(KeyboardInterrupt):
        aside(act)
    ended = threads[0]()
    assert ended is not None
    ended.join(10)
    assert not ended.is_alive()
    assert aside(lambda: 1) == 1


def test_calls_share_a_thread_and_hold_nothing_of_those_before() -> None:
    names = {aside(lambda: threading.current_thread().ident) for _ in range(20)}
    assert len(names) == 1
    said: list[str] = []
    held = aside(lambda: Call(said))
    del held
    assert said == ["MainThread"]


def test_in_another_thread_a_call_is_made_there() -> None:
    seen: list[bool] = []

    def ask() -> None:
        here = threading.current_thread()
        seen.append(aside(lambda: threading.current_thread() is here))

    asking = threading.Thread(target=ask)
    asking.start()
    asking.join()
    assert seen == [True]


def test_errors_and_the_end_of_an_iterator_pass_through() -> None:
    with pytest.raises(StopIteration):
        aside(iter(()).__next__)
    with pytest.raises(KeyError, match="no"):
        aside(lambda: {}["no"])


def test_a_call_sees_the_context_variables_of_who_asks() -> None:
    span = contextvars.ContextVar("span", default="none")
    span.set("mine")
    assert aside(span.get) == "mine"
