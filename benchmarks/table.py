# SPDX-License-Identifier: Apache-2.0
"""A case's peers as lines of text, and claims with what became of them.

Of each peer the total, Plait's time by the peer's, the same of processor time, and the rest:

              total   Plait's time by it       cpu    by it   first row    memory     spill
    floor    9.46 s   1.19 (1.13 to 1.23)  17.02 s     1.16           -    64 MiB         -
    Plait   11.41 s   1.00 (1.00 to 1.00)  20.11 s     1.00      6.20 s    64 MiB         -
    stock   > 120 s   < 0.10                     -        -           -         -         -

    met      1.08, at most 1.1: W1, 10,000,000 rows, 8 keys: Plait by floor (cpu 1.07)
    NOT MET  1.19, at most 1.1: W1, 10,000,000 rows, 64 keys: Plait by floor (cpu 1.16)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.race import Lap, Laps, cpu_ratio, ratio

NOTHING = "-"

# What each column means, for the foot of a result; peer.py says it at length.
COLUMNS = (
    "total       median of the rounds, from the query's text to the one row of its sums",
    "by it       Plait's time by the peer's of the same round: median (least to greatest)",
    "cpu         processor seconds, of Spark those of its tasks; and Plait's by the peer's",
    "first row   the same join without the sums and with LIMIT 1, once, after the rounds",
    "memory      most in use at once: tasks of Spark, without broadcasts; buffers of DuckDB",
    "spill       bytes written to disk for want of memory",
)


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
    width = max(len(name) for name in laps)
    by = f"{base}'s time by it"
    head = (
        f"{'':<{width}} {'total':>9}   {by:<22} {'cpu':>9} {'by it':>7} {'first row':>10} "
        f"{'memory':>10} {'spill':>10}"
    )
    return [head, *(_line(name, laps, base, width) for name in laps)]


def _line(name: str, laps: Laps, base: str, width: int) -> str:
    lap = laps[name]
    by = ratio(laps, base, name) if base in laps else None
    by_cpu = cpu_ratio(laps, base, name) if base in laps else None
    cells = (
        (_seconds(lap.cpu_median), 9),
        (NOTHING if by_cpu is None else f"{by_cpu.median:.2f}", 7),
        (_seconds(lap.first), 10),
        (size(lap.last.memory if lap.last else None), 10),
        (size(lap.last.spill if lap.last else None), 10),
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


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f} s"


def size(bytes_: int | None) -> str:
    """Return a number of bytes for people.

    >>> size(None), size(0), size(640), size(3 << 20), size(5 << 30)
    ('-', '-', '1 KiB', '3 MiB', '5 GiB')
    """
    if not bytes_:
        return NOTHING
    for unit, shift in (("GiB", 30), ("MiB", 20)):
        if bytes_ >= 1 << shift:
            return f"{bytes_ / (1 << shift):.0f} {unit}"
    return f"{-(-bytes_ // 1024)} KiB"


def summary(judged: Sequence[str]) -> str:
    """Return how many claims are met.

    >>> summary(["met      ...", "NOT MET  ..."])
    '1 of 2 claims met'
    """
    return f"{sum(line.startswith('met') for line in judged)} of {len(judged)} claims met"
