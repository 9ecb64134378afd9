# SPDX-License-Identifier: Apache-2.0
"""Looks at what is under way, every TICK seconds, by one thread for all of it.

    with lookout.over(call):        look(call) every TICK seconds, until the block is left

A thread for each call would cost as much as a short call does. The one that there is ends when
nothing is under way any more, and another begins with what comes next.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

log = logging.getLogger("plait.server")

T = TypeVar("T")

# Seconds between two looks.
TICK = 0.2


class Lookout(Generic[T]):
    """What is looked at; all methods may be called from any thread."""

    def __init__(self, name: str, look: Callable[[T], None]) -> None:
        """Begin with nothing; the thread is called ``name``, and errors of ``look`` are logged."""
        self._name = name
        self._look = look
        self._numbers = itertools.count()
        self._things: dict[int, T] = {}
        self._lock = threading.Lock()
        self._is_watched = False

    @contextmanager
    def over(self, thing: T) -> Iterator[None]:
        """Have something looked at while the block runs."""
        number = next(self._numbers)
        try:
            with self._lock:
                self._things[number] = thing
                if not self._is_watched:
                    threading.Thread(target=self._watch, name=self._name, daemon=True).start()
                    self._is_watched = True  # not where there was no thread to be had
            yield
        finally:
            with self._lock:
                self._things.pop(number, None)

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                if not self._things:
                    self._is_watched = False
                    return
                things = [*self._things.values()]
            for thing in things:
                try:
                    self._look(thing)
                except Exception:
                    log.exception("%s: what is over was not cancelled", self._name)
