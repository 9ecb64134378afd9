# SPDX-License-Identifier: Apache-2.0
"""Cursors and readers that nobody refers to any more, and the thread that closes them.

    del cursor   ->   __del__   ->   [ dropped ]   ->   cursor.close() in a thread of its own

Python may collect anywhere, in a thread too that is inside gRPC and holds a lock of it: there
nothing may be called, so `Closer.drop` only puts things down. One thread of the process picks them
up.
"""

from __future__ import annotations

import logging
import threading
from queue import SimpleQueue
from typing import Protocol

log = logging.getLogger("plait.client")


class Left(Protocol):
    """Something that a server keeps a place for."""

    def close(self) -> None:
        """Let go of it; does not wait."""
        ...


class Closer:
    """A thread, and what it is to close, in the order in which that was dropped."""

    def __init__(self) -> None:
        """Begin with nothing, and no thread."""
        # An event among them is set when all before it are closed.
        self._dropped: SimpleQueue[Left | threading.Event] = SimpleQueue()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def is_there(self) -> bool:
        """Whether the thread runs; a process that was forked has none."""
        return self._thread is not None and self._thread.is_alive()

    def expect(self) -> None:
        """Have the thread run from now on."""
        if not self.is_there:
            with self._turn:
                if not self.is_there:
                    self._thread = threading.Thread(
                        target=self._close, name="plait-farewells", daemon=True
                    )
                    self._thread.start()

    def drop(self, left: Left) -> None:
        """Have something closed soon; may be called anywhere."""
        self._dropped.put(left)

    def wait(self, seconds: float) -> None:
        """Wait until all that was dropped before is closed, and no longer than that."""
        if self.is_there:
            closed = threading.Event()
            self._dropped.put(closed)
            closed.wait(seconds)

    def _close(self) -> None:
        while True:
            left = self._dropped.get()
            if isinstance(left, threading.Event):
                left.set()
                continue
            try:
                left.close()
            except Exception:
                log.warning("what was left could not be closed", exc_info=True)
            del left


CLOSER = Closer()
