# SPDX-License-Identifier: Apache-2.0
"""As-of joins: each left row with the nearest right row at or before it, after it, or around it.

left ts   1  5  9        backward   -  3  8
right ts  3  6  8        forward    3  6  -      nearest   3  6  8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.amounts import require_fit, require_tolerance
from plait.join.sides import HOW, Distance, Names, Sides, Suffixes, choice, distance, join, kind, of
from plait.join.sides import names as listed
from plait.join.ties import directed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# By the direction, the comparison of the left value with the right one: equal ones match or not.
OPERATORS = {"backward": (">=", ">"), "forward": ("<=", "<"), "nearest": ("", "<>")}


def asof_join(
    left: DataFrame,
    right: DataFrame,
    on: str | None = None,
    by: Names | None = None,
    *,
    left_on: str | None = None,
    right_on: str | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "left",
    direction: str = "backward",
    tolerance: Distance | None = None,
    allow_exact_matches: bool = True,
    suffixes: Suffixes = ("_x", "_y"),
    ties: Names | None = None,
) -> DataFrame:
    """Join each left row with the one right row that is nearest in ``on``.

    The words and their defaults are those of ``pandas.merge_asof``; see ``plait.join`` for what all
    joins share. ``direction`` is backward (the last right value at or before the left one), forward
    or nearest. Without ``allow_exact_matches`` an equal value is no match. ``how`` "right" and
    "full" add the right rows that no left row picked.

    Unlike in pandas nothing need be sorted; NULL keys and NULL values of ``on`` match nothing; and
    of right rows with equal values the last wins by ``ties`` (columns of the right side, also as
    "price DESC"), then by the right side's columns from left to right: rows have no place here.
    """
    how = kind(how)
    exact, open_end = OPERATORS[choice("direction", direction, OPERATORS)]
    sides = Sides(left, right)
    if len(pair := sides.pairs("on", on, left_on, right_on)) != 1:
        raise PlaitError(
            f"An as-of join is on one column of each side, not {len(pair)}: "
            "give on, or left_on and right_on."
        )
    sides.key_by(by, left_by, right_by)
    values = of("l", pair[0].left), of("r", pair[0].right)
    conditions = sides.equal_keys()
    if direction == "nearest":
        match = f"NEAREST ({values[0]}, {values[1]})"
        if not allow_exact_matches:
            conditions.append(f" {open_end} ".join(values))
    else:
        match = f" {exact if allow_exact_matches else open_end} ".join(values)
    if tolerance is not None:
        match += f" TOLERANCE {distance('tolerance', tolerance)}"
        require_tolerance(tolerance)
        require_fit("tolerance", tolerance, pair[0].left, sides.type_of("left", pair[0].left))
    if orders := [_order(sides, tie) for tie in listed("ties", ties)]:
        match += f" TIES ORDER BY {', '.join(orders)}"
    return sides.run(
        f"SELECT {sides.selected(how, suffixes, pair)} FROM {{l}} AS l "
        f"{HOW[how]} ASOF JOIN {{r}} AS r MATCH_CONDITION ({match}){join(conditions)}"
    )


def _order(sides: Sides, tie: str) -> str:
    """Return what one of ``ties`` orders by: a column of the right side, and how."""
    column, direction = directed(sides, tie)
    return f"{of('r', column)} {direction}".rstrip()
