# SPDX-License-Identifier: Apache-2.0
"""Whether the engine lives: asked once a second, and told once when it does not.

It counts as dead when it was found so twice in a row: one question may fail on its way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

# Seconds between two questions.
PAUSE = 1.0


class Pulse:
    """Asks until `stop`, or until the engine is dead."""

    def __init__(self, is_alive: Callable[[], bool], when_dead: Callable[[], None]) -> None:
        """Begin; ``when_dead`` is called in a thread of its own."""
        self.is_dead = False
        self._is_alive = is_alive
        self._when_dead = when_dead
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="plait-pulse", daemon=True).start()

    def stop(self) -> None:
        """Ask no more."""
        self._over.set()

    def _watch(self) -> None:
        missed = 0
        while not self._over.wait(PAUSE):
            missed = 0 if self._is_alive() else missed + 1
            if missed == 2:
                self.is_dead = True
                self._when_dead()
                return
