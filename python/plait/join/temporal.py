# SPDX-License-Identifier: Apache-2.0
"""Temporal joins: each left row with the version of the right row that was valid at its time.

rates   (EUR, from 1, 1.10)  (EUR, from 5, 1.20)  (EUR, from 8, deleted)
orders  (EUR, at 4) -> 1.10      (EUR, at 5) -> 1.20      (EUR, at 9) -> none
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.sides import Names, Sides, Suffixes, braced, choice, join, name, names, of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HOW = {"inner": "INNER", "left": "LEFT"}


def temporal_join(
    left: DataFrame,
    right: DataFrame,
    by: Names | None = None,
    *,
    left_time: str,
    version_time: str,
    ties: Names | None = None,
    deleted: str | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "left",
    suffixes: Suffixes = ("_x", "_y"),
) -> DataFrame:
    """Join each left row with the version of its key that is valid at ``left_time``.

    The right side holds the versions of each key: a version is valid from its ``version_time``
    until that of the next. Of versions of one time the last by the columns ``ties`` is valid.
    ``deleted`` is a column or a condition of the right side, as "op = '-D'": where it is TRUE the
    key has no version from then on. ``how`` is left or inner. See ``plait.join`` for what all joins
    share.
    """
    choice("how", how, HOW)
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    if not sides.keys:
        raise PlaitError("A temporal join needs the key of the versions: give by.")
    time = of("l", sides.column("left", left_time, "left_time"))
    order = [sides.column("right", version_time, "version_time")]
    order += [sides.column("right", tie, "ties") for tie in names(ties)]
    hints = [f"VERSIONED(r, {', '.join(map(name, order))})"]
    if deleted is not None:
        hints.append(f"VERSION_DELETED(r, ({_condition(sides, deleted)}))")
    return sides.run(
        f"SELECT /*+ {', '.join(hints)} */ {sides.selected(how, suffixes)} FROM {{l}} AS l "
        f"{HOW[how]} JOIN {{r}} FOR SYSTEM_TIME AS OF {time} AS r{join(sides.equal_keys())}"
    )


def _condition(sides: Sides, deleted: str) -> str:
    columns = sides.columns["right"]
    return name(deleted) if deleted in columns else braced(deleted)
