# SPDX-License-Identifier: Apache-2.0
"""Results written as they come: as a table for people, as CSV, as JSON, as an Arrow stream.

1. A table fits the terminal's width: long values are cut, columns that have no room are counted.
   The first rows decide how wide the columns are; a wider value after them takes what room there
   is. Numbers are never cut, and nothing is where there is no terminal.
2. CSV is that of RFC 4180 with the names in the first line; NULL is nothing, an empty text ``""``.
3. JSON is one object a line, with every column in it.
4. Nothing but a table's first rows is held; a result without columns writes nothing.
"""

from __future__ import annotations

import itertools
import json
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
from pyarrow import types

from plait.arrow import values_of
from plait.commands.text import cut, jsonable, width, written
from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.commands.place import Result

# So many rows decide how wide the columns of a table are.
LOOKED_AT = 1000

# A column of a table is at least so wide if its values are.
NARROW = 6


@dataclass
class Out:
    """Where bytes go, and the width of the terminal there; None if it is none."""

    stream: BinaryIO
    columns: int | None = None
    results: int = 0

    def line(self, text: str) -> None:
        """Write a line."""
        self.stream.write(text.encode("utf-8", "replace") + b"\n")


def table(result: Result, out: Out) -> int:
    """Write a table, and how many rows it has."""
    schema = result.schema
    rows = _texts(result)
    first = list(itertools.islice(rows, LOOKED_AT))
    names = [written(name, pa.string()) for name in schema.names]
    wanted = [max(map(width, column)) for column in zip(names, *first, strict=True)]
    is_number = [_is_number(field.type) for field in schema]
    least = [_widest(first, n) if is_number[n] else NARROW for n in range(len(names))]
    widths = fitting(wanted, out.columns, least)
    out.line(_line(names, widths, [False] * len(names)))
    out.line("  ".join("-" * columns for columns in widths))
    count = 0
    for row in itertools.chain(first, rows):
        out.line(_line(row, _grown(row, widths, is_number, out.columns), is_number))
        count += 1
    hidden = len(names) - len(widths)
    more = f", {hidden} more {_of(hidden, 'column')}: other formats have all" if hidden else ""
    out.line(f"({count} {_of(count, 'row')}{more})")
    return count


def fitting(wanted: list[int], columns: int | None, least: list[int] | None = None) -> list[int]:
    """Choose the widths of a table's columns, two spaces apart; the last may have no room.

    None is narrower than ``least``; only one that stands alone may be wider than the terminal.

    >>> fitting([4, 30, 50], 60), fitting([4, 30, 50], None), fitting([9] * 5, 20)
    ([4, 26, 26], [4, 30, 50], [9, 9])
    >>> fitting([30, 20], 40, [6, 20])
    [18, 20]
    """
    if columns is None:
        return wanted
    least = list(map(min, wanted, least or [NARROW] * len(wanted)))
    shown = list(wanted)
    while len(shown) > 1 and sum(least[: len(shown)]) + 2 * (len(shown) - 1) > columns:
        shown.pop()
    room = max(1, columns - 2 * (len(shown) - 1))
    shown = [max(low, min(each, room)) for low, each in zip(least, shown)]  # noqa: B905
    while sum(shown) > room and (can := [n for n, each in enumerate(shown) if each > least[n]]):
        shown[max(can, key=shown.__getitem__)] -= 1
    return shown


def csv(result: Result, out: Out) -> int:
    """Write CSV; results after the first come after an empty line."""
    kinds = [field.type for field in result.schema]
    if out.results:
        out.line("")
    out.line(",".join(map(_field, result.schema.names)))
    count = 0
    for batch in result.batches():
        for row in values_of(batch):
            out.line(",".join(map(_cell, row, kinds)))
            count += 1
    return count


def json_lines(result: Result, out: Out) -> int:
    """Write an object a row; raises ``PlaitError`` where two columns have one name."""
    names = result.schema.names
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise PlaitError(
            f"{len(twice)} names are those of several columns, {', '.join(twice)}, and JSON has "
            "one value a name: rename them with AS."
        )
    kinds = [field.type for field in result.schema]
    count = 0
    for batch in result.batches():
        for row in values_of(batch):
            values = dict(zip(names, map(jsonable, row, kinds), strict=True))
            out.line(json.dumps(values, ensure_ascii=False))
            count += 1
    return count


def arrow(result: Result, out: Out) -> int:
    """Write an Arrow IPC stream; raises ``PlaitError`` for a second result."""
    if out.results:
        raise PlaitError("An Arrow stream holds one result: run the queries one by one.")
    count = 0
    with pa.ipc.new_stream(out.stream, result.schema) as writer:
        for batch in result.batches():
            writer.write_batch(batch)
            count += batch.num_rows
    return count


FORMATS: dict[str, Callable[[Result, Out], int]] = {
    "table": table,
    "csv": csv,
    "json": json_lines,
    "arrow": arrow,
}


def write(result: Result, name: str, out: Out) -> int | None:
    """Write a result, and give how many rows it has; None where it has no columns."""
    if not result.schema.names:
        for _ in result.batches():
            pass
        return None
    if name == "table" and out.results:
        out.line("")
    count = FORMATS[name](result, out)
    out.results += 1
    out.stream.flush()
    return count


def _texts(result: Result) -> Iterator[list[str]]:
    kinds = [field.type for field in result.schema]
    for batch in result.batches():
        for row in values_of(batch):
            yield list(map(written, row, kinds))


def _widest(rows: list[list[str]], column: int) -> int:
    return max((width(row[column]) for row in rows), default=1)


def _grown(
    row: list[str], widths: list[int], is_number: list[bool], columns: int | None
) -> list[int]:
    """Give the widths in one row: a value may be wider than all those that were looked at."""
    wanted = list(map(width, row[: len(widths)]))
    if not any(map(operator.gt, wanted, widths)):
        return widths
    grown = [max(pair) if n else pair[0] for *pair, n in zip(widths, wanted, is_number)]  # noqa: B905
    room = sum(wanted) if columns is None else columns - sum(grown) - 2 * (len(grown) - 1)
    for n, want in enumerate(wanted):
        more = max(0, min(want - grown[n], room))
        grown[n] += more
        room -= more
    return grown


def _line(texts: list[str], widths: list[int], is_number: list[bool]) -> str:
    cells = []
    for text, columns, to_the_right in zip(texts, widths, is_number):  # noqa: B905 - hidden ones
        shown = cut(text, columns)
        space = " " * (columns - width(shown))
        cells.append(space + shown if to_the_right else shown + space)
    return "  ".join(cells).rstrip()


def _cell(value: Any, kind: pa.DataType) -> str:
    if value is None:
        return ""
    return _field(value if isinstance(value, str) else written(value, kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _field(text: str) -> str:
    """Quote a field where it must be.

    >>> [_field('a, "b" c'), _field("a"), _field("")]
    ['"a, ""b"" c"', 'a', '""']
    """
    if text and not any(character in text for character in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _of(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
