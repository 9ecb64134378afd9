# SPDX-License-Identifier: Apache-2.0
"""gRPC is called in another thread for the main one, so that no signal breaks it.

    main thread:   aside(act)   [ waits; here Ctrl-C may come ]   the value
    a caller:                   [ act(), which holds gRPC's locks for moments ]

Python runs the handlers of signals in the main thread, between any two steps of its code. One that
raises where `Condition.__exit__` begins leaves the lock taken; of gRPC's channel it is one that its
own thread waits for, and then whatever is asked next has no end.

A call of which nobody waits for the end goes on to it; its value is let go of where it was made.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds after which the main thread looks up: on Windows no signal wakes who waits for a lock.
TICK = 0.2


class _Asked:
    """A call, and how it ended."""

    def __init__(self, act: Callable[[], Any]) -> None:
        # With the context variables of who asks, which interceptors may read.
        self._act = act
        self._context = copy_context()
        self.value: Any = None
        self.error: BaseException | None = None
        self.is_done = False
        # A lock of C's: no signal leaves it half taken.
        self.done = threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        try:
            self.value = self._context.run(self._act)
        except BaseException as error:
            self.error = error
        self.is_done = True
        self.done.release()


class _Caller(threading.Thread):
    """Calls what it is asked to, until a call comes back that nobody waits for."""

    def __init__(self) -> None:
        super().__init__(name="plait-calls", daemon=True)
        self.asked: SimpleQueue[_Asked] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while not (asked := self.asked.get()).is_done:
            asked.run()
            # It holds what came, and this thread may wait long for the next.
            del asked


# Those who wait to be asked; only the main thread has to do with them.
_idle: list[_Caller] = []


def aside(act: Callable[[], T]) -> T:
    """Give what `act` gives, or raise what it raises; a signal may be handled meanwhile."""
    if threading.current_thread() is not threading.main_thread():
        return act()
    caller = _idle.pop() if _idle and _idle[-1].is_alive() else _Caller()
    asked = _Asked(act)
    caller.asked.put(asked)
    try:
        while not asked.done.acquire(timeout=TICK):
            pass
    except BaseException:
        caller.asked.put(asked)
        # What is raised holds this frame, and the last to let go of a call of gRPC's calls it.
        del asked, act
        raise
    _idle.append(caller)
    try:
        if asked.error is not None:
            raise asked.error
        value: T = asked.value
        return value
    finally:
        del asked
