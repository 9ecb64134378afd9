# SPDX-License-Identifier: Apache-2.0
"""A case's peers as lines of text, and claims with what became of them.

Of each peer the total, Plait's time by the peer's, the same of processor time, and what else is
known of a peer of the case:

              total   Plait's time by it       cpu    by it   first row    memory     spill
    floor    9.46 s   1.19 (1.13 to 1.23)  17.02 s     1.16           -    64 MiB         -
    Plait   11.41 s   1.00 (1.00 to 1.00)  20.11 s     1.00      6.20 s    64 MiB         -
    stock   > 120 s   < 0.10                     -        -           -         -         -

    met      1.08, at most 1.1: W1, 10,000,000 rows, 8 keys: Plait by floor (cpu 1.07)
    NOT MET  1.19, at most 1.1: W1, 10,000,000 rows, 64 keys: Plait by floor (cpu 1.16)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.race import Lap, Laps, cpu_ratio, ratio

if TYPE_CHECKING:
    from benchmarks.peer import Measured

NOTHING = "-"


@dataclass(frozen=True)
class Column:
    """What a table shows of a peer if it is known of any: ``value`` is None where it is not."""

    head: str
    meaning: str
    value: Callable[[Lap], float | None]
    shown: Callable[[float | None], str]


def _of_runs(value: Callable[[Measured], int | None]) -> Callable[[Lap], float | None]:
    return lambda lap: lap.median_of(value)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def _count(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def size(bytes_: float | None) -> str:
    """Return a number of bytes for people.

    >>> size(None), size(0), size(640), size(3 << 20), size(5 << 30)
    ('-', '0', '1 KiB', '3 MiB', '5 GiB')
    """
    if bytes_ is None:
        return NOTHING
    if bytes_ == 0:
        return "0"
    for unit, shift in (("GiB", 30), ("MiB", 20)):
        if bytes_ >= 1 << shift:
            return f"{bytes_ / (1 << shift):.0f} {unit}"
    return f"{-(-bytes_ // 1024):.0f} KiB"


# Beside the times; peer.py says at length what they are.
REST = (
    Column(
        "first row",
        "the same join without the sums and with LIMIT 1, median, after the rounds",
        lambda lap: lap.first,
        _seconds,
    ),
    Column(
        "memory",
        "most in use at once: tasks of Spark, without broadcasts; buffers of DuckDB",
        _of_runs(lambda run: run.memory),
        size,
    ),
    Column(
        "spill",
        "bytes written to disk for want of memory",
        _of_runs(lambda run: run.spill),
        size,
    ),
    Column(
        "state rows",
        "the most rows that the joins kept after a micro-batch",
        _of_runs(lambda run: max(run.state, default=0) if run.state is not None else None),
        _count,
    ),
    Column(
        "state",
        "the most bytes that the state stores of the query said they had in memory",
        _of_runs(lambda run: run.state_bytes),
        size,
    ),
)


def explained(cases: Sequence[Laps], whole: str) -> list[str]:
    """Return what the columns of some cases mean; ``whole`` is what the total is of."""
    times = [
        ("total", f"median of the rounds, {whole}"),
        ("by it", "Plait's time by the peer's of the same round: median (least to greatest)"),
        ("cpu", "processor seconds, of Spark those of its tasks; and Plait's by the peer's"),
    ]
    rest = [(c.head, c.meaning) for c in REST if any(_is_known(c, laps) for laps in cases)]
    return [f"{head:<12}{meaning}" for head, meaning in [*times, *rest]]


def _is_known(column: Column, laps: Laps) -> bool:
    return any(column.value(lap) is not None for lap in laps.values())


@dataclass(frozen=True)
class Claim:
    """``over`` takes at most ``limit`` times as long as ``under``."""

    what: str
    over: str
    under: str
    limit: float

    def judged(self, laps: Laps) -> str:
        """Return the line that says whether it is met.

        >>> laps = {"a": Lap({1: 2.0}), "b": Lap({1: 4.0})}
        >>> Claim("W9", "a", "b", 0.4).judged(laps)
        'NOT MET  0.50, at most 0.4: W9: a by b'
        """
        what = f"{self.what}: {self.over} by {self.under}"
        found = ratio(laps, self.over, self.under)
        if found is None:
            return verdict(math.inf, self.limit, what, "stopped")
        cpu = cpu_ratio(laps, self.over, self.under)
        what += "" if cpu is None else f" (cpu {cpu.median:.2f})"
        below = "< " if found.is_below else ""
        return verdict(found.median, self.limit, what, f"{below}{found.median:.2f}")


def verdict(value: float, limit: float, what: str, shown: str = "") -> str:
    """Return the line of a claim that ``value`` is at most ``limit``.

    >>> verdict(3, 2, "W9: rows held")
    'NOT MET  3, at most 2: W9: rows held'
    """
    word = "met    " if value <= limit else "NOT MET"
    return f"{word}  {shown or f'{value:g}'}, at most {limit:g}: {what}"


def lines(laps: Laps, base: str = "Plait") -> list[str]:
    """Return the table of a case."""
    width = max(map(len, laps))
    by = f"{base}'s time by it"
    rest = [column for column in REST if _is_known(column, laps)]
    times = f"{'':<{width}} {'total':>9}   {by:<22} {'cpu':>9} {'by it':>7}"
    head = " ".join([times, *(f"{column.head:>10}" for column in rest)])
    return [head, *(_line(name, laps, base, rest) for name in laps)]


def _line(name: str, laps: Laps, base: str, rest: Sequence[Column]) -> str:
    lap, width = laps[name], max(map(len, laps))
    by = ratio(laps, base, name) if base in laps else None
    by_cpu = cpu_ratio(laps, base, name) if base in laps else None
    cells = (
        (_seconds(lap.cpu_median), 9),
        (NOTHING if by_cpu is None else f"{by_cpu.median:.2f}", 7),
        *((column.shown(column.value(lap)), 10) for column in rest),
    )
    start = f"{name:<{width}} {total(lap):>9}   {NOTHING if by is None else str(by):<22} "
    return start + " ".join(f"{cell:>{cell_width}}" for cell, cell_width in cells)


def total(lap: Lap) -> str:
    """Return a peer's time as a table shows it.

    >>> total(Lap({1: 2.0, 2: 4.0})), total(Lap(stopped_after=120.0))
    ('3.00 s', '> 120 s')
    """
    if lap.stopped_after is not None:
        return f"> {lap.stopped_after:.0f} s"
    return _seconds(lap.median)


def summary(judged: Sequence[str]) -> str:
    """Return how many claims are met.

    >>> summary(["met      ...", "NOT MET  ..."])
    '1 of 2 claims met'
    """
    return f"{sum(line.startswith('met') for line in judged)} of {len(judged)} claims met"
