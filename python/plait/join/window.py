# SPDX-License-Identifier: Apache-2.0
"""Window joins: rows whose times fall into the same window.

size 10                [0, 10)  [10, 20)  [20, 30)
size 10, slide 5       [0, 10)  [5, 15)  [10, 20)  ...
size 10, offset 3      [3, 13)  [13, 23)  ...
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.amounts import is_timestamp
from plait.join.sides import (
    HOW,
    Key,
    Names,
    Sides,
    Suffixes,
    braced,
    join,
    kind,
    length,
    name,
)
from plait.sql import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = ("window_start", "window_end")


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

    The windows are those of ``TUMBLE``, or with ``slide`` of ``HOP``: ``size`` long, one every
    ``slide``, moved by ``offset`` from 1970-01-01 00:00 on the clock of the session's time zone.
    All three are timedeltas or texts as "5 minutes" or "INTERVAL 5 MINUTES". ``window_start`` and
    ``window_end`` come out as columns; with a ``slide`` less than ``size`` a row is in several
    windows, and comes out for each. See ``plait.join`` for what all joins share.

    A row whose time is NULL, or between the windows of a ``slide`` that is more than ``size``, is
    in no window: it never comes out, whatever ``how`` is.
    """
    how = kind(how)
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    lengths = {"SLIDE": slide, "SIZE": size, "OFFSET": offset}
    arguments = ", ".join(
        f"{argument} => {_interval(argument.lower(), length)}"
        for argument, length in lengths.items()
        if length is not None or argument == "SIZE"
    )
    function = "TUMBLE" if slide is None else "HOP"
    sources = [
        f"{function}(DATA => TABLE {{{side[0]}}}, "
        f"TIMECOL => DESCRIPTOR({name(_time(sides, side, time))}), {arguments}) AS {side[0]}"
        for side, time in (("left", left_time), ("right", right_time))
    ]
    for column in COLUMNS:
        sides.keys.append(Key(column, column, merged=True))
    return sides.run(
        f"SELECT {sides.selected(how, suffixes)} FROM {sources[0]} "
        f"{HOW[how]} JOIN {sources[1]}{join(sides.equal_keys())}"
    )


def _time(sides: Sides, side: str, time: str) -> str:
    """Return the column of a side's times; those of its windows are among its columns then."""
    columns = sides.columns[side]
    taken = [column for column in columns if column.casefold() in COLUMNS]
    if taken:
        raise PlaitError(
            f"The {side} side has a column {taken[0]!r} already, which a window join adds: "
            "rename it by withColumnRenamed, or drop it."
        )
    found = sides.column(side, time, f"{side}_time")
    kind = sides.type_of(side, found)
    if not is_timestamp(kind):
        times = [column for column in columns if is_timestamp(sides.type_of(side, column))]
        raise PlaitError(
            f"{side}_time names {found}, which is of type {kind.simpleString().upper()}, and "
            "windows are of timestamps: cast it to a timestamp before, by withColumn"
            f"{', or take ' if times else ''}{' or '.join(times)}."
        )
    columns += COLUMNS
    return found


def _interval(parameter: str, value: timedelta | str | None) -> str:
    """Return a length of time as SQL.

    >>> _interval("size", "5 minutes"), _interval("size", "INTERVAL 5 MINUTES")
    ("INTERVAL '300.000000' SECOND", 'INTERVAL 5 MINUTES')
    """
    if isinstance(value, timedelta) or type(value).__name__ == "timedelta64":
        return literal(value)
    if isinstance(value, str) and value.strip():
        is_sql = re.match(r"\s*INTERVAL\b", value, re.IGNORECASE)
        return length(parameter, value) or braced(value if is_sql else f"INTERVAL {literal(value)}")
    raise PlaitError(f"{parameter} is {value!r}: a timedelta or a text as '5 minutes' is needed.")
