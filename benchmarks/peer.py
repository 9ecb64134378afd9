# SPDX-License-Identifier: Apache-2.0
"""What is measured of a peer: one way to run the join of a case.

    seconds  the whole join, from its text to the one row of its sums
    first    seconds until the first row of the join without the sums, asked with LIMIT 1
    cpu      seconds of the processor: of Spark those of its tasks, without planning, compiling and
             collecting; of DuckDB those of its process. They tell what else the machine does apart
    memory   the most in use at once: of Spark what its memory manager has given to running tasks,
             looked at every 50 ms, which is without broadcast tables and what else Spark does not
             account (the index over a collected side, heap that waits to be collected); of DuckDB
             its buffers
    spill    bytes written to disk because memory was short, of all tasks
    state    of a stream the rows that its joins keep after each micro-batch, and the most bytes
             that the state stores of the query say they have in memory
    joins    the node of each join in the plan that ran; where it is Spark's, why in brackets

Not measured: the whole process. Numbers of Spark's peers can be compared with each other; those of
DuckDB only as to their size.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

STOPPED_AFTER = 120.0

Rows = tuple[Any, ...]


class Stopped(Exception):
    """A peer took longer than it was given: ``seconds``."""

    def __init__(self, seconds: float = STOPPED_AFTER) -> None:
        """Say how long it was given."""
        super().__init__(f"stopped after {seconds:g} s")
        self.seconds = seconds


@dataclass(frozen=True)
class Measured:
    """One run of a peer."""

    seconds: float
    answer: Rows | None = None
    cpu: float | None = None
    memory: int | None = None
    spill: int | None = None
    state: tuple[int, ...] | None = None
    state_bytes: int | None = None
    joins: tuple[str, ...] = ()


class Peer(Protocol):
    """One way to run the join of a case."""

    @property
    def name(self) -> str:
        """How the tables call it."""

    def run(self) -> Measured:
        """Run the join to its end; Stopped if that takes too long."""

    def first(self) -> float | None:
        """Return the seconds until the first row, or None if it has no rows to give."""


@dataclass(frozen=True)
class Join:
    """A join as text.

    >>> join = Join("FROM l JOIN r USING (k)", "k", "count(*)")
    >>> join.whole, join.one_row
    ('SELECT count(*) FROM l JOIN r USING (k)', 'SELECT k FROM l JOIN r USING (k) LIMIT 1')
    """

    body: str
    columns: str
    aggregates: str

    @property
    def whole(self) -> str:
        """The join to its end, in one row."""
        return f"SELECT {self.aggregates} {self.body}"

    @property
    def one_row(self) -> str | None:
        """The join up to its first row."""
        return f"SELECT {self.columns} {self.body} LIMIT 1" if self.columns else None


@dataclass(frozen=True)
class Query:
    """A query that is run as it is."""

    whole: str
    one_row: None = None


def alike(rows: Iterable[Sequence[Any]]) -> Rows:
    """Return rows as they can be compared with another peer's: sorted, their floats rounded.

    >>> alike([("b", 0.1 + 0.2), ("a", None)]) == alike([("a", None), ("b", 0.3)])
    True
    """
    return tuple(sorted((tuple(_rounded(value) for value in row) for row in rows), key=repr))


def _rounded(value: object) -> object:
    return float(f"{value:.8g}") if isinstance(value, float) else value


@contextmanager
def watched(stop: Callable[[], None], seconds: float = STOPPED_AFTER) -> Iterator[None]:
    """Call ``stop`` after so many seconds, and again each second, until the block has ended.

    What the block raises after the first call is Stopped.
    """
    ended = threading.Event()

    def watch() -> None:
        left = seconds
        while not ended.wait(left):
            stop()
            left = 1.0

    thread = threading.Thread(target=watch, daemon=True)
    start = time.perf_counter()
    thread.start()
    try:
        yield
    except Exception as error:
        if time.perf_counter() - start < seconds:
            raise
        raise Stopped(seconds) from error
    finally:
        ended.set()
        thread.join()


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of one run, and what it returned."""
    start = time.perf_counter()
    returned = run()
    return time.perf_counter() - start, returned
