# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that comes inside of gRPC is handled where gRPC holds nothing.

    main thread:   next(call)   [ holds its channel's lock ]   [ waits for a message ]
    Ctrl-C:                         ^ said again in 1 ms            ^ KeyboardInterrupt

Python runs the handler of a signal in the main thread between any two steps of its code. One that
raises as `Condition.__exit__` begins leaves the lock taken: the channel's thread waits for it, and
whatever is asked next has no end. `locked` has no such place, nor has C; grpc's code has many.

Of a signal that C has not told Python of yet nothing is known here, and calls that wait in C (those
with one answer) are not run by this.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

# Seconds until a signal is said again: gRPC holds a lock for some microseconds.
PAUSE = 0.001


def unbroken(act: Callable[[], T]) -> T:
    """Call gRPC; what SIGINT raises is raised where it waits or, if it does not wait, after it.

    Handlers that are not Python's are left alone, and so is every thread but the main one.
    """
    told = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(told):
        return act()

    def handle(number: int, frame: FrameType | None) -> None:
        if is_busy(frame):
            # Not a Thread, which takes locks of Python's: the main thread may hold these as well.
            _thread.start_new_thread(_say_again, (number,))
            return
        # First back as it was, for it may raise, and where what follows is too late to say so.
        signal.signal(signal.SIGINT, told)
        told(number, frame)
        signal.signal(signal.SIGINT, handle)

    try:
        signal.signal(signal.SIGINT, handle)
        return act()
    finally:
        signal.signal(signal.SIGINT, told)


def is_busy(frame: FrameType | None) -> bool:
    """Whether code of gRPC's runs, itself or what it called, but to wait for a message."""
    waits = frame is not None and frame.f_code is threading.Condition.wait.__code__
    # Whether a thread has started is waited for as well, and with a lock.
    if waits and _module(frame and frame.f_back) == "grpc._common":
        return False
    # Invariant: between `frame` and the one that was interrupted there is none of gRPC's.
    while frame is not None and frame.f_code is not unbroken.__code__:
        if _module(frame).partition(".")[0] == "grpc":
            return True
        frame = frame.f_back
    return False


def _module(frame: FrameType | None) -> str:
    return "" if frame is None else str(frame.f_globals.get("__name__"))


def _say_again(number: int) -> None:
    time.sleep(PAUSE)
    if hasattr(signal, "pthread_kill"):
        # To the thread that may wait, which hears of it at once.
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
