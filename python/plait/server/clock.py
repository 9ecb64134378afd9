# SPDX-License-Identifier: Apache-2.0
"""Ends calls that take longer than they may; one thread looks after all of them.

    call  --within 30 seconds-->  its request comes         the clock forgets it
                                  ... does not come         cancelled, at most TICK later

A thread for each call would cost as much as a short call does. The one that there is ends when no
call is looked after any more.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grpc

log = logging.getLogger("plait.server")

# Seconds between two looks.
TICK = 0.2


class Clock:
    """Which calls are looked after; all methods may be called from any thread."""

    def __init__(self) -> None:
        """Begin with none."""
        self._numbers = itertools.count()
        self._ends: dict[int, tuple[float, grpc.ServicerContext]] = {}
        self._lock = threading.Lock()
        self._is_watched = False

    @contextmanager
    def within(self, seconds: float, context: grpc.ServicerContext) -> Iterator[None]:
        """Have a call cancelled if what is done here takes longer."""
        number = next(self._numbers)
        with self._lock:
            self._ends[number] = (time.monotonic() + seconds, context)
            if not self._is_watched:
                threading.Thread(target=self._watch, name="plait-clock", daemon=True).start()
                self._is_watched = True  # not where there was no thread to be had
        try:
            yield
        finally:
            with self._lock:
                self._ends.pop(number, None)

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                if not self._ends:
                    self._is_watched = False
                    return
                now = time.monotonic()
                late = [number for number, (end, _) in self._ends.items() if now >= end]
                contexts = [self._ends.pop(number)[1] for number in late]
            for context in contexts:
                try:
                    context.cancel()
                except Exception:
                    log.exception("a call that took too long was not cancelled")
