# SPDX-License-Identifier: Apache-2.0
"""A line on the terminal that tells how far a statement is; it goes when the statement ends.

[=========>                     ] 61 of 208 tasks, 1 of 3 stages, 4 s
"""

from __future__ import annotations

import sys
import time
from enum import Enum
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from plait._proto import plait_pb2

WIDTH = 30

# Seconds that a statement takes before the line appears.
PATIENCE = 1.0


class Show(Enum):
    """When the line is shown."""

    ON_TERMINAL = "where the standard error is a terminal"
    NEVER = "never"


def line(progress: plait_pb2.Progress, seconds: float) -> str:
    """Write the line.

    >>> from plait._proto import plait_pb2
    >>> line(plait_pb2.Progress(tasks=4, tasks_done=1, stages=2), 3.2)
    '[=======>                      ] 1 of 4 tasks, 0 of 2 stages, 3 s'
    """
    done = WIDTH * progress.tasks_done // max(1, progress.tasks)
    bar = ("=" * done + ">")[:WIDTH].ljust(WIDTH)
    return (
        f"[{bar}] {progress.tasks_done} of {progress.tasks} tasks, "
        f"{progress.stages_done} of {progress.stages} stages, {int(seconds)} s"
    )


class ProgressLine:
    """The line of one statement."""

    def __init__(self, show: Show, stream: TextIO | None = None) -> None:
        """Show it on ``stream``, the standard error if None."""
        self._stream = stream or sys.stderr
        self._shown = show is Show.ON_TERMINAL and self._stream.isatty()
        self._began = time.monotonic()
        self._length = 0

    def show(self, progress: plait_pb2.Progress) -> None:
        """Tell how far it is."""
        seconds = time.monotonic() - self._began
        if self._shown and seconds >= PATIENCE:
            self._write(line(progress, seconds))

    def clear(self) -> None:
        """Take the line away."""
        if self._length:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()
            self._length = 0

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)
