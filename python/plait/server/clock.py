# SPDX-License-Identifier: Apache-2.0
"""Ends calls that take longer than they may.

call  --within 30 seconds-->  its request comes         the clock forgets it
                              ... does not come         cancelled, at most TICK later

A call is cancelled again until it has left; that changes nothing.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from plait.server.lookout import Lookout

if TYPE_CHECKING:
    import grpc


class Clock:
    """Which calls are looked after; all methods may be called from any thread."""

    def __init__(self) -> None:
        """Begin with none."""
        self._calls: Lookout[tuple[float, grpc.ServicerContext]] = Lookout("plait-clock", _look)

    def within(self, seconds: float, context: grpc.ServicerContext) -> AbstractContextManager[None]:
        """Have a call cancelled if what is done in the block takes longer."""
        return self._calls.over((time.monotonic() + seconds, context))


def _look(call: tuple[float, grpc.ServicerContext]) -> None:
    end, context = call
    if time.monotonic() >= end:
        context.cancel()
