# SPDX-License-Identifier: Apache-2.0
"""What the server counts of its work, whether anybody asks or not: numbers, and no names.

>>> tally = Tally()
>>> tally.sent(3, 240)
>>> tally.failed("request")
>>> counts = tally.counts()
>>> counts.rows, counts.bytes, dict(counts.calls_failed)
(3, 240, {'request': 1})
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plait.server.failure import Failure

if TYPE_CHECKING:
    from plait.server.items import Snapshot, State

# Upper ends of the classes of seconds that operations took.
SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3600.0, float("inf"))


@dataclass(frozen=True)
class Counts:
    """Sums since the server began; ``seconds`` are operations by the end of their class."""

    rows: int = 0
    bytes: int = 0
    ended: Counter[State] = field(default_factory=Counter)
    operations_failed: Counter[str] = field(default_factory=Counter)  # by kind, as in Failure
    calls_failed: Counter[str] = field(default_factory=Counter)
    seconds: Counter[float] = field(default_factory=Counter)
    seconds_sum: float = 0.0


class Tally:
    """Counts; all methods may be called from any thread."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counts = Counts()
        self._turn = threading.Lock()

    def sent(self, rows: int, size: int) -> None:
        """Count a batch that goes to a client."""
        with self._turn:
            told = self._counts
            self._counts = replace(told, rows=told.rows + rows, bytes=told.bytes + size)

    def failed(self, kind: str) -> None:
        """Count a call that ended with an error."""
        with self._turn:
            self._counts.calls_failed[kind] += 1

    def ended(self, operation: Snapshot, seconds: float) -> None:
        """Count an operation that has ended."""
        with self._turn:
            told = self._counts
            told.ended[operation.state] += 1
            if isinstance(operation.end, Failure):
                told.operations_failed[operation.end.kind] += 1
            told.seconds[next(end for end in SECONDS if seconds <= end)] += 1
            self._counts = replace(told, seconds_sum=told.seconds_sum + seconds)

    def counts(self) -> Counts:
        """Give the sums as they are."""
        with self._turn:
            told = self._counts
            return replace(
                told,
                ended=told.ended.copy(),
                operations_failed=told.operations_failed.copy(),
                calls_failed=told.calls_failed.copy(),
                seconds=told.seconds.copy(),
            )
