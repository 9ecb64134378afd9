# SPDX-License-Identifier: Apache-2.0
"""The demo's tables, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.demo.joins import DemoJoin
    from plait.demo.run import Engine, PlaitRun, Run
    from plait.explain import JoinCounters

INDENT = "    "

# The counters of a side, as rows of a table, and what the node calls each.
SIDE_COUNTERS = {
    "rows read": ("leftRowsIn", "rightRowsIn"),
    "most rows held by a task": ("leftPeakBuffered", "rightPeakBuffered"),
    "rows pruned": ("leftRowsPruned", "rightRowsPruned"),
    "pairs found by probing": ("pairsByProbingLeft", "pairsByProbingRight"),
}


def heading(name: str, join: DemoJoin) -> str:
    """Return what stands above a join's facts: its name, and its SQL."""
    return f"\n({name}) {join.title}\n\n{indented(join.sql)}\n"


def facts(
    join: DemoJoin, ran: PlaitRun, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> str:
    """Return what a run by Plait has shown: the join's first rows, its plan, its counters."""
    blocks = {
        "first rows": table(header, rows),
        "plan": pruning_lines(ran.pruning),
        "counters": counters_table(ran.counters, join.sides),
    }
    return "\n".join(f"  {name}\n{indented(block)}\n" for name, block in blocks.items())


def measured(engine: Engine, ran: Run) -> str:
    """Return the time that a run took, and how many rows it gave."""
    return f"    {engine.value:<12} {ran.seconds:7.1f} s   {cell(ran.result.rows)} rows"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return aligned columns under a header: numbers to the right, everything else to the left.

    >>> print(table(["name", "rows"], [["a", 1200], ["bc", 30]]))
    name   rows
    a     1,200
    bc       30
    """
    body = list(rows)
    columns = [_column(name, [row[index] for row in body]) for index, name in enumerate(header)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def counters_table(counters: JoinCounters, sides: tuple[str, str]) -> str:
    """Return what the join counted, a column a side.

    A counter that the node does not have is left out.
    """
    metrics = counters.metrics
    return table(
        ["", *sides],
        [
            [what, metrics[left], metrics[right]]
            for what, (left, right) in SIDE_COUNTERS.items()
            if left in metrics and right in metrics
        ],
    )


def pruning_lines(pruning: str) -> str:
    """Return what ``plait.explain`` says, a line for each fact about a side.

    >>> print(pruning_lines("  left  ordered by t ASC, reaches s in (t, t + 3), pruned by (s < t)"))
      left  ordered by t ASC
            reaches s in (t, t + 3)
            pruned by (s < t)
    """
    return re.sub(r", (?=reaches |pruned by |not pruned: )", "\n" + " " * 8, pruning)


def indented(text: str) -> str:
    r"""Return the text as a block, four spaces in.

    >>> indented("a\nb")
    '    a\n    b'
    """
    return "\n".join(INDENT + line if line else line for line in text.splitlines())


def cell(value: object) -> str:
    """Return one value as the demo writes it.

    >>> [cell(1066702), cell("JFK"), cell(None)]
    ['1,066,702', 'JFK', 'NULL']
    """
    match value:
        case None:
            return "NULL"
        case int():
            return f"{value:,}"
    return str(value)


def _column(name: str, values: Sequence[object]) -> list[str]:
    cells = [name, *map(cell, values)]
    width = max(map(len, cells))
    if all(isinstance(value, int) for value in values):
        return [text.rjust(width) for text in cells]
    return [text.ljust(width) for text in cells]
