# SPDX-License-Identifier: Apache-2.0
"""Examples and a law: whatever Ctrl-C interrupts, the client goes on to answer."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType, FunctionType
from typing import Any

import pytest
from tests.python import interrupted

from plait.client.unbroken import unbroken


def test_what_is_asked_after_an_interrupt_is_answered_whenever_that_came() -> None:
    command = [sys.executable, "-m", interrupted.__name__]
    run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=100)
    assert run.stdout.split() == [str(interrupted.ROUNDS)] * 2, run.stderr


def press() -> None:
    signal.raise_signal(signal.SIGINT)


def inside(module: str, act: Callable[..., None]) -> Callable[..., None]:
    """Make the function one of a module of that name."""
    made = FunctionType(act.__code__, {**act.__globals__, "__name__": module})
    made.__kwdefaults__ = act.__kwdefaults__
    return made


def holding(done: list[str]) -> None:
    condition = threading.Condition()
    with condition:
        press()
        done.append("gave back")


def waiting(done: list[str]) -> None:
    condition = threading.Condition()
    with condition:
        threading.Timer(0.05, press_main).start()
        condition.wait(30)
        done.append("waited")


def press_main() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def until_interrupted(act: Callable[[], Any]) -> None:
    with pytest.raises(KeyboardInterrupt):
        act()
        time.sleep(5)


@pytest.fixture(autouse=True)
def handler() -> Iterator[Any]:
    """Python's own handler, as in a process without Spark."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("module", ["grpc", "grpc._channel"])
def test_what_grpc_began_is_done_before_an_interrupt_is_told_of(module: str) -> None:
    done: list[str] = []
    until_interrupted(lambda: unbroken(lambda: inside(module, holding)(done)))
    assert done == ["gave back"]


def test_outside_of_grpc_an_interrupt_is_told_of_at_once() -> None:
    done: list[str] = []
    until_interrupted(lambda: unbroken(lambda: holding(done)))
    assert done == []


def test_where_grpc_waits_an_interrupt_is_told_of_at_once() -> None:
    done: list[str] = []
    began = time.monotonic()
    until_interrupted(lambda: unbroken(lambda: inside("grpc._common", waiting)(done)))
    assert done == []
    assert time.monotonic() - began < 5


def test_a_handler_that_raises_nothing_is_called_once_and_the_call_goes_on(handler: Any) -> None:
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        came.append(number)

    signal.signal(signal.SIGINT, note)
    done: list[str] = []
    unbroken(lambda: inside("grpc", holding)(done))
    assert signal.getsignal(signal.SIGINT) is note
    time.sleep(0.2)
    signal.signal(signal.SIGINT, handler)
    assert (came, done) == ([signal.SIGINT], ["gave back"])


def test_in_another_thread_no_handler_is_changed(handler: Any) -> None:
    seen: list[Any] = []
    asked = threading.Thread(
        target=lambda: unbroken(lambda: seen.append(signal.getsignal(signal.SIGINT)))
    )
    asked.start()
    asked.join()
    assert seen == [handler]


def test_the_end_of_an_iterator_and_an_error_pass_through() -> None:
    with pytest.raises(StopIteration):
        unbroken(iter(()).__next__)
    with pytest.raises(KeyError):
        unbroken(lambda: {}["no"])
