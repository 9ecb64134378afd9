# SPDX-License-Identifier: Apache-2.0
"""Temporal joins: each left row with the version of the right row that was valid at its time.

rates   (EUR, from 1, 1.10)  (EUR, from 5, 1.20)  (EUR, from 8, deleted)
orders  (EUR, at 4) -> 1.10      (EUR, at 5) -> 1.20      (EUR, at 9) -> none
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.join.sides import HOW as KINDS
from plait.join.sides import Names, Sides, Suffixes, braced, join, kind, name, of
from plait.join.sides import names as listed
from plait.join.ties import directed
from plait.sql import literal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

HOW = {"inner": "INNER", "left": "LEFT"}
PROCTIME = "PROCTIME()"


def temporal_join(
    left: DataFrame,
    right: DataFrame,
    by: Names | None = None,
    *,
    left_time: str,
    version_time: str | None = None,
    ties: Names | None = None,
    deleted: str | None = None,
    left_by: Names | None = None,
    right_by: Names | None = None,
    how: str = "left",
    suffixes: Suffixes = ("_x", "_y"),
) -> DataFrame:
    """Join each left row with the version of its key that is valid at ``left_time``.

    The right side holds the versions of each key: a version is valid from its ``version_time``
    until that of the next. Of versions of one time the last by ``ties`` is valid (columns of the
    right side, also as "seq DESC").
    ``deleted`` is a column or a condition of the right side, as "op = '-D'": where it is TRUE the
    key has no version from then on. What is not given here is what the right side's hints
    (``VERSIONED``, ``VERSION_DELETED``) or its table's properties say; a ``left_time`` of
    "PROCTIME()" takes the newest version. ``how`` is left or inner. See ``plait.join`` for what all
    joins share.
    """
    how = _kind(how)
    sides = Sides(left, right)
    sides.key_by(by, left_by, right_by)
    if not sides.keys:
        raise PlaitError("A temporal join needs the key of the versions: give by.")
    time = _time(sides, left_time)
    order = [_order(sides, tie) for tie in listed("ties", ties)]
    hints = []
    if version_time is not None:
        since = name(sides.column("right", version_time, "version_time"))
        hints.append(f"VERSIONED(r, {', '.join([since, *order])})")
    elif order:
        raise PlaitError(
            "ties order the versions of one time: give version_time too, or say both by the hint "
            'right.hint("VERSIONED", time, *ties).'
        )
    if deleted is not None:
        hints.append(f"VERSION_DELETED(r, ({_condition(sides, deleted)}))")
    hinted = f"/*+ {', '.join(hints)} */ " if hints else ""
    return sides.run(
        f"SELECT {hinted}{sides.selected(how, suffixes)} FROM {{l}} AS l "
        f"{HOW[how]} JOIN {{r}} FOR SYSTEM_TIME AS OF {time} AS r{join(sides.equal_keys())}"
    )


def _kind(how: str) -> str:
    """Return the join type, of those that Plait has the two that make sense here."""
    if (found := kind(how, KINDS)) in HOW:
        return found
    instead = {
        "semi": "take how='inner' and select the left side's columns",
        "anti": "take how='left' and filter by a column of the version that is NULL",
    }.get(found, "a version is looked up by a left row, and is no row of its own")
    raise PlaitError(f"how is {how!r}, and a temporal join is inner or left: {instead}.")


def _order(sides: Sides, tie: str) -> str:
    """Return a column of the right side, or with its direction a text, as a hint takes them."""
    column, direction = directed(sides, tie)
    return literal(f"{name(column)} {direction}") if direction else name(column)


def _time(sides: Sides, left_time: str) -> str:
    is_newest = isinstance(left_time, str) and left_time.replace(" ", "").upper() == PROCTIME
    if is_newest and left_time not in sides.columns["left"]:
        return PROCTIME
    return of("l", sides.column("left", left_time, "left_time"))


def _condition(sides: Sides, deleted: str) -> str:
    if not isinstance(deleted, str):
        raise PlaitError(
            "deleted takes a column's name or a condition in SQL as a text, as "
            f"deleted=\"op = 'D'\", and {deleted!r} is of type {type(deleted).__name__}."
        )
    columns = sides.columns["right"]
    return name(deleted) if deleted in columns else braced(deleted)
