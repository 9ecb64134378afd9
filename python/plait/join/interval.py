# SPDX-License-Identifier: Apache-2.0
"""Interval joins: the right rows whose time lies in an interval around the left row's.

right_time BETWEEN left_time + lower AND left_time + upper
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.amounts import require_fit, require_order
from plait.join.sides import (
    ENDS,
    HOW,
    Distance,
    Names,
    Sides,
    Suffixes,
    choice,
    distance,
    join,
    kind,
    of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def interval_join(
    left: DataFrame,
    right: DataFrame,
    by: Names | None = None,
    *,
    left_time: str,
    right_time: str,
    lower: Distance | None,
    upper: Distance | None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "inner",
    closed: str = "both",
    suffixes: Suffixes = ("_x", "_y"),
) -> DataFrame:
    """Join rows whose times lie near each other, as Flink's interval join does.

    A pair matches if ``left_time + lower <= right_time <= left_time + upper``; a bound that is None
    is none. Times may be numbers too, with numbers as bounds. ``closed`` says which ends belong to
    the interval: both, left, right or neither. See ``plait.join`` for what all joins share.
    """
    how = kind(how)
    ends = ENDS[choice("closed", closed, ENDS)]
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    column = sides.column("left", left_time, "left_time")
    time = of("l", column)
    other = of("r", sides.column("right", right_time, "right_time"))
    bounds = {"lower": (ends[0], lower), "upper": (ends[1], upper)}
    near = [
        f"{other} {end} {time} + {distance(parameter, bound)}"
        for parameter, (end, bound) in bounds.items()
        if bound is not None
    ]
    if not near:
        raise PlaitError("Both lower and upper are None: an interval join needs one of them.")
    require_order(lower, upper)
    for parameter, (_, bound) in bounds.items():
        require_fit(parameter, bound, column, sides.type_of("left", column))
    return sides.run(
        f"SELECT {sides.selected(how, suffixes)} FROM {{l}} AS l {HOW[how]} JOIN {{r}} AS r"
        f"{join(sides.equal_keys() + near)}"
    )
