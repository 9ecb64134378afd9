# SPDX-License-Identifier: Apache-2.0
"""The places where statements are looked at without being run.

    call  --waits-->  a desk, of ``running``  --the engine answers-->  free again

1. A call waits for a desk until its deadline, at most ``queue_seconds``, and no longer than its
   client does.
2. What the engine does for a call whose deadline has passed or whose client has gone is cancelled
   within TICK seconds. It is told so until it gives up: it may not have begun when it hears it
   first. The desk is free when it has given up, and not before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plait.server import sentences
from plait.server.lookout import TICK, Lookout

if TYPE_CHECKING:
    from plait.server.call import Call
    from plait.server.config import Server


class Desks:
    """Who has a desk; all methods may be called from any thread."""

    def __init__(self, limits: Server, cancel: Callable[[str], None]) -> None:
        """Begin with all of them free; ``cancel`` ends what the engine does for a number."""
        self._limits = limits
        self._cancel = cancel
        self._free = threading.BoundedSemaphore(limits.running)
        self._taken: Lookout[tuple[str, Call]] = Lookout("plait-desks", self._look)

    @contextmanager
    def sit(self, call: Call, number: str) -> Iterator[None]:
        """Have a desk, where the engine works under ``number``."""
        self._wait(call)
        try:
            with self._taken.over((number, call)):
                yield
        finally:
            self._free.release()

    def _wait(self, call: Call) -> None:
        end = time.monotonic() + self._limits.queue_seconds
        # Invariant: somebody waits for the call, and no desk was free so far.
        while not self._free.acquire(timeout=max(0, min(TICK, end - time.monotonic()))):
            call.refuse_if_over()
            if time.monotonic() >= end:
                raise sentences.no_desk(self._limits)
        if call.is_over:
            self._free.release()
            call.refuse_if_over()

    def _look(self, taken: tuple[str, Call]) -> None:
        number, call = taken
        if call.is_over:
            self._cancel(number)
