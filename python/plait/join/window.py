# SPDX-License-Identifier: Apache-2.0
"""Window joins: rows whose times fall into the same window.

size 10                [0, 10)  [10, 20)  [20, 30)
size 10, slide 5       [0, 10)  [5, 15)  [10, 20)  ...
size 10, offset 3      [3, 13)  [13, 23)  ...
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.sides import HOW, Key, Names, Sides, Suffixes, braced, choice, join, name
from plait.sql import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = {"window_start": "start", "window_end": "end"}


def window_join(
    left: DataFrame,
    right: DataFrame,
    by: Names | None = None,
    *,
    left_time: str,
    right_time: str,
    size: timedelta | str,
    slide: timedelta | str | None = None,
    offset: timedelta | str | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "inner",
    suffixes: Suffixes = ("_x", "_y"),
) -> DataFrame:
    """Join rows of the same key and the same window of time.

    Windows are ``size`` long, begin every ``slide`` (every ``size`` if not given), and are moved by
    ``offset`` from 1970-01-01 00:00 UTC. All three are timedeltas or texts as "5 minutes".
    ``window_start`` and ``window_end`` come out as columns; with a ``slide`` less than ``size`` a
    row is in several windows, and comes out for each. See ``plait.join`` for what all joins share.

    A row whose time is NULL is in no window: it never comes out, whatever ``how`` is.
    """
    choice("how", how, HOW)
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    arguments = [_duration("size", size)]
    if slide is not None or offset is not None:
        arguments.append(_duration("slide", size if slide is None else slide))
    if offset is not None:
        arguments.append(_duration("offset", offset))
    sources = [
        _windowed(sides, side, sides.column(side, time, f"{side}_time"), arguments)
        for side, time in (("left", left_time), ("right", right_time))
    ]
    for column in COLUMNS:
        sides.keys.append(Key(column, column, merged=True))
    return sides.run(
        f"SELECT {sides.selected(how, suffixes)} FROM {sources[0]} AS l "
        f"{HOW[how]} JOIN {sources[1]} AS r{join(sides.equal_keys())}"
    )


def _windowed(sides: Sides, side: str, time: str, arguments: list[str]) -> str:
    """Return a side with the columns of its windows, which from then on are among its columns."""
    columns = sides.columns[side]
    taken = [column for column in columns if column.casefold() in COLUMNS]
    if taken:
        raise PlaitError(
            f"The {side} side has a column {taken[0]!r} already, which a window join adds: "
            "rename it by withColumnRenamed, or drop it."
        )
    window = f"window({', '.join([name(time), *arguments])})"
    added = [f"{window}.{field} AS {column}" for column, field in COLUMNS.items()]
    selected = ", ".join([*map(name, columns), *added])
    columns += COLUMNS
    return f"(SELECT {selected} FROM {{{side[0]}}})"


def _duration(parameter: str, value: timedelta | str) -> str:
    """Return a length of time as Spark's ``window`` takes it: a text."""
    if isinstance(value, timedelta):
        return literal(f"{value // timedelta(microseconds=1)} microseconds")
    if isinstance(value, str) and value.strip():
        return braced(literal(value))
    raise PlaitError(f"{parameter} is {value!r}: a timedelta or a text as '5 minutes' is needed.")
