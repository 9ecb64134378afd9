# SPDX-License-Identifier: Apache-2.0
"""Range joins: points in ranges, and ranges that overlap.

point="t", low="start", high="stop"                   r.start <= l.t AND l.t <= r.stop
low="start", high="stop"                              l.start <= r.stop AND r.start <= l.stop
low=("start", "begin"), high=("stop", "finish")       l.start <= r.finish AND r.begin <= l.stop
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.sides import ENDS, HOW, Names, Sides, Suffixes, choice, join, kind, of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def range_join(
    left: DataFrame,
    right: DataFrame,
    by: Names | None = None,
    *,
    low: str | tuple[str, str],
    high: str | tuple[str, str],
    point: str | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "inner",
    closed: str = "both",
    suffixes: Suffixes = ("_x", "_y"),
) -> DataFrame:
    """Join points with the ranges they lie in, or ranges with those they overlap.

    With ``point``, a column of the left side, ``low`` and ``high`` are columns of the right side.
    Without, both sides have ranges: ``low`` and ``high`` are columns of both, or pairs of the left
    side's column and the right side's. ``closed`` says which ends belong to a range: both, left,
    right or neither, as of pandas' intervals. See ``plait.join`` for what all joins share.

    The caller has ranges that do not end before they begin: others are compared all the same.
    """
    how = kind(how)
    at_or_after, at_or_before = ENDS[choice("closed", closed, ENDS)]
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    if point is not None:
        if not (isinstance(low, str) and isinstance(high, str)):
            raise PlaitError("With point, low and high are each one column of the right side.")
        found = of("l", sides.column("left", point, "point"))
        start = of("r", sides.column("right", low, "low"))
        stop = of("r", sides.column("right", high, "high"))
        meeting = [f"{found} {at_or_after} {start}", f"{found} {at_or_before} {stop}"]
    else:
        starts, stops = _both(sides, "low", low), _both(sides, "high", high)
        end = "<=" if closed == "both" else "<"
        meeting = [f"{starts[0]} {end} {stops[1]}", f"{starts[1]} {end} {stops[0]}"]
    return sides.run(
        f"SELECT {sides.selected(how, suffixes)} FROM {{l}} AS l {HOW[how]} JOIN {{r}} AS r"
        f"{join(sides.equal_keys() + meeting)}"
    )


def _both(sides: Sides, parameter: str, given: str | tuple[str, str]) -> tuple[str, str]:
    """Return an end of the ranges of both sides."""
    left, right = _pair(parameter, given)
    return (
        of("l", sides.column("left", left, parameter)),
        of("r", sides.column("right", right, parameter)),
    )


def _pair(parameter: str, given: object) -> tuple[str, str]:
    match given:
        case str(column):
            return column, column
        case (str(left), str(right)):
            return left, right
    raise PlaitError(
        f"{parameter} is a column that both sides have, as {parameter}='start', or a pair of the "
        f"left side's column and the right side's, as {parameter}=('start', 'begin'), and not "
        f"{given!r}."
    )
