# SPDX-License-Identifier: Apache-2.0
"""What ``plait.explain`` returns: text to print, rows to go through, a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import overload

GRAPH = "```mermaid"
NO_JOIN = "There is no join in it."
COLUMNS = ("join", "side", "pruned by", "why not", "in words")


@dataclass(frozen=True)
class ExplainedSide:
    """One side of a join, with what prunes it, ``pruned_by``, or the code of why nothing does.

    A join that is left to Spark has the reason for that in both of its sides. ``why_not`` is a
    stable code such as ``ENDLESS_REACH``, ``arguments`` are what it is about, and ``sentence``
    says it for people; ``text`` is all that is told of the side, its order and its reach too.
    """

    join: str
    node: str
    side: str
    pruned_by: str | None = None
    why_not: str | None = None
    arguments: tuple[str, ...] = ()
    sentence: str | None = None
    text: str = ""


@dataclass(frozen=True)
class Explanation(Sequence[ExplainedSide]):
    """What became of the joins of a query: printed, lines of text; a sequence, a row for each side.

    Of a query without a join there are no rows, ``text`` is empty, and what is printed says so.

    >>> left = ExplainedSide("Join on a < b", "Join", "left", pruned_by="(a < b)")
    >>> right = ExplainedSide("Join on a < b", "Join", "right", None, "ENDLESS_REACH", ("right",))
    >>> explanation = Explanation("Join on a < b ...", (left, right))
    >>> print(explanation)
    Join on a < b ...
    >>> [side.why_not for side in explanation]
    [None, 'ENDLESS_REACH']
    >>> explanation[0].pruned_by
    '(a < b)'
    """

    text: str
    sides: tuple[ExplainedSide, ...]

    def __str__(self) -> str:
        return self.text or NO_JOIN

    def __iter__(self) -> Iterator[ExplainedSide]:
        return iter(self.sides)

    def __len__(self) -> int:
        return len(self.sides)

    @overload
    def __getitem__(self, index: int) -> ExplainedSide: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ExplainedSide, ...]: ...

    def __getitem__(self, index: int | slice) -> ExplainedSide | tuple[ExplainedSide, ...]:
        return self.sides[index]

    def _repr_html_(self) -> str:
        if not self.text and not self.sides:
            return f"<p>{NO_JOIN}</p>"
        rows = [(row.join, row.side, row.pruned_by, row.why_not, row.text) for row in self.sides]
        head = _line("th", COLUMNS)
        table = f"<table>\n{head}\n" + "".join(f"{_line('td', row)}\n" for row in rows) + "</table>"
        return f"{table}\n<pre>{escape(self.text)}</pre>" if GRAPH in self.text else table


def _line(cell: str, values: tuple[str | None, ...]) -> str:
    cells = (f"<{cell}>{escape(value or '')}</{cell}>" for value in values)
    return f"<tr>{''.join(cells)}</tr>"
