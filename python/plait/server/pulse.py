# SPDX-License-Identifier: Apache-2.0
"""Whether the engine lives: asked once a second, and told once when it does not.

It counts as dead when it was found so twice in a row: one question may fail on its way. No answer
for LATE seconds is found so too; that is long, for a collection of garbage may stop a whole JVM.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

# Seconds between two questions, and from one to an answer that comes late.
PAUSE = 1.0
LATE = 30.0


class Pulse:
    """Asks until `stop`, or until the engine is dead."""

    def __init__(self, is_alive: Callable[[], bool], when_dead: Callable[[], None]) -> None:
        """Begin; ``when_dead`` is called in a thread of its own."""
        self.is_dead = False
        self._is_alive = is_alive
        self._when_dead = when_dead
        self._over = threading.Event()
        self._answers: SimpleQueue[bool] = SimpleQueue()
        # Who asks may wait for ever.
        for run, name in ((self._ask, "plait-question"), (self._watch, "plait-pulse")):
            threading.Thread(target=run, name=name, daemon=True).start()

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()
        self._answers.put(True)  # nobody waits for one

    def _ask(self) -> None:
        while not self._over.wait(PAUSE):
            self._answers.put(self._is_alive())

    def _watch(self) -> None:
        missed = 0
        while not self._over.is_set():
            try:
                is_alive = self._answers.get(timeout=PAUSE + LATE)
            except Empty:
                is_alive = False
            missed = 0 if is_alive else missed + 1
            if missed == 2 and not self._over.is_set():
                self.is_dead = True
                self._over.set()
                self._when_dead()
