# SPDX-License-Identifier: Apache-2.0
"""The rows that wait in a join of streams, read from its checkpoint by Spark's ``statestore``.

A join keeps its rows in chunks, beside what it knows of them (``StateLayout.scala``)::

    key                             value
    side kind      segment number   hashes ranks ends  left or right  bits   numbers
    0    0 root    0       0                                                 version, next, frontier
    0    2 chunk   7       3        one a row          the rows
    0    3 bits    7       3                                          one bit a row

1. A row is live if its end is not below the frontier of its side's root.
2. The bit of a row says that it has matched. Where a row leaves with its match (the left side of
   SEMI and ANTI, both sides of an as-of join), such a row is not live.
3. Ranks are numbers. Where an order is a column of times, they are shown as its times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plait.bounds import active_session
from plait.errors import PlaitError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

JOIN = "plaitSymmetricHashJoin"
FORMAT = "format 4"
SIDES = ("left", "right")
ROOT, CHUNK, BITS = 0, 2, 3

# Join types of which the bit of a side is kept to know who comes out alone.
PRESERVED = {
    "LEFT OUTER": ("left",),
    "RIGHT OUTER": ("right",),
    "FULL OUTER": SIDES,
    "INNER": (),
    "CROSS": (),
}

# What the format says of a side whose order is one column: rank ordervalue(left2). A line
# that begins with a backslash has line breaks, escaped.
ORDER = re.compile(r"^\\?(left|right) key .*; rank ordervalue\((?:left|right)(\d+)\); low ")


@dataclass(frozen=True)
class _Join:
    """What the checkpoint says of a join."""

    operator: int
    type: str
    is_as_of: bool
    orders: Mapping[str, int]  # of a side the place of the column that it is ordered by

    def removes(self, side: str) -> bool:
        """Whether a row whose bit is set has left."""
        return self.is_as_of or (side == "left" and self.type not in PRESERVED)

    def says_matched(self, side: str) -> bool:
        """Whether it is known of a row that waits if it has matched."""
        if self.is_as_of or self.type not in PRESERVED:
            return side == "left"
        return side in PRESERVED[self.type]


def state(
    checkpoint: str,
    side: str | None = None,
    *,
    operator: int | None = None,
    batch: int | None = None,
    spark: SparkSession | None = None,
) -> DataFrame:
    """Return the rows that wait in a join of streams, as its checkpoint has them.

    ``side`` is ``"left"`` or ``"right"``: the rows have that side's columns, as far as the query
    needs them, and three more. ``_order`` is what they are ordered by, a time if that is a column
    of times, else a number; NULL if the row has none. ``_end`` is the last order
    of the other side that a row can match, NULL if it waits for ever. ``_matched`` says whether a
    row has matched; NULL of a side where nobody has to know. Without ``side`` there are the rows of
    both, in the columns ``left`` and ``right`` of which one is NULL.

    ``operator`` is the join's number among what keeps state in the query, needed if several joins
    are there; ``batch`` one that the checkpoint still has, else the last. The query may run, have
    ended, or have run elsewhere; of the session nothing of Plait is needed.
    """
    if side not in (None, *SIDES):
        raise PlaitError(f"The side is 'left', 'right' or None for both, not {side!r}.")
    spark = spark or active_session()
    kept = spark.read.format("state-metadata").load(str(checkpoint)).collect()
    join = _join(spark, str(checkpoint), kept, operator)
    options = {"operatorId": str(join.operator)}
    if batch is not None:
        _see_batch(str(checkpoint), kept, batch)
        options["batchId"] = str(batch)
    entries = spark.read.format("statestore").options(**options).load(str(checkpoint))
    if side is not None:
        return _of_side(entries, join, side)
    left, right = (_side_of_both(entries, join, each) for each in SIDES)
    return left.unionByName(right)


def _join(spark: SparkSession, checkpoint: str, kept: Sequence[Row], operator: int | None) -> _Join:
    found = dict(sorted((row.operatorId, row.operatorName) for row in kept))
    joins = [number for number, name in found.items() if name == JOIN]
    there_are = ", ".join(f"{name} as operator {number}" for number, name in found.items())
    if not joins:
        raise PlaitError(
            f"There is no join of streams of Plait's in {checkpoint}: "
            + (f"what keeps state there is {there_are}." if found else "nothing keeps state there.")
        )
    if operator is None and len(joins) > 1:
        raise PlaitError(
            f"There are several joins of streams in {checkpoint}: say operator= one of "
            f"{', '.join(map(str, joins))}."
        )
    chosen = joins[0] if operator is None else operator
    if chosen not in joins:
        raise PlaitError(
            f"Operator {chosen} of {checkpoint} is no join of streams of Plait's: what keeps state "
            f"there is {there_are}."
        )
    lines = spark.read.text(f"{checkpoint}/state/{chosen}/_plait/format", wholetext=True)
    return _described(chosen, str(lines.collect()[0][0]).split("\n"))


def _see_batch(checkpoint: str, kept: Sequence[Row], batch: int) -> None:
    first, last = min(row.minBatchId for row in kept), max(row.maxBatchId for row in kept)
    if not first <= batch <= last:
        raise PlaitError(
            f"Batch {batch} is not in {checkpoint}, which has the batches {first} to {last}."
        )


def _described(operator: int, lines: list[str]) -> _Join:
    """Read what StateFormat.scala has written."""
    if not lines or lines[0] != FORMAT:
        raise PlaitError(
            f"The state of this join is in {lines[0] if lines else 'no format'!r}, and this "
            f"version of Plait reads {FORMAT!r}: read it with the version that wrote it."
        )
    type_ = next(line for line in lines if line.startswith("join "))
    matches = [found for line in lines if (found := ORDER.match(line))]
    return _Join(
        operator,
        type_.removeprefix("join "),
        "as of none" not in lines,
        {found[1]: int(found[2]) for found in matches},
    )


def _of_side(entries: DataFrame, join: _Join, side: str) -> DataFrame:
    return _waiting(entries, join, side).select("row.*", "_order", "_end", "_matched")


def _side_of_both(entries: DataFrame, join: _Join, side: str) -> DataFrame:
    """Return the rows of one side, with NULL for the other's."""
    is_of_one_type = len({_order_type(entries, join, each) for each in SIDES}) == 1
    return _waiting(entries, join, side).selectExpr(
        f"'{side}' AS side",
        *(f"{'row' if each == side else 'no_row'} AS {each}" for each in SIDES),
        # Orders of two types have their texts in common.
        *(name if is_of_one_type else f"string({name}) AS {name}" for name in ("_order", "_end")),
        "_matched",
    )


def _waiting(entries: DataFrame, join: _Join, side: str) -> DataFrame:
    """Return the live rows: row, a NULL of the other side's, _order, _end, _matched."""
    other = SIDES[1 - SIDES.index(side)]
    is_set = "coalesce(getbit(get(bits, shiftright(i, 6)), i & 63) = 1, false)"
    matched = is_set if join.says_matched(side) else "boolean(NULL)"
    order, end = (_order_type(entries, join, each) for each in (side, other))
    own = entries.where(f"key.side = {SIDES.index(side)}")
    place = ["partition_id", "key.segment AS segment", "key.number AS number"]
    bits = own.where(f"key.kind = {BITS}").selectExpr(*place, "value.bits AS bits")
    roots = own.where(f"key.kind = {ROOT}").selectExpr(
        "partition_id", "value.numbers[2] AS frontier"
    )
    return (
        own.where(f"key.kind = {CHUNK}")
        .selectExpr(
            *place,
            f"arrays_zip(value.hashes, value.ranks, value.ends, value.{side}) AS rows",
            f"get(value.{other}, 0) AS no_row",
        )
        .join(bits.hint("broadcast"), ["partition_id", "segment", "number"], "left")
        .join(roots.hint("broadcast"), "partition_id")
        .selectExpr("frontier", "bits", "no_row", "posexplode(rows) AS (i, at)")
        .where("at.ends >= frontier" + (f" AND NOT {is_set}" if join.removes(side) else ""))
        .selectExpr(
            f"at.{side} AS row",
            "no_row",
            f"{_as_time('at.ranks', order)} AS _order",
            f"{_as_time('at.ends', end)} AS _end",
            f"{matched} AS _matched",
        )
    )


def _order_type(entries: DataFrame, join: _Join, side: str) -> str | None:
    """Return the type of the column that a side is ordered by, None if it is no column."""
    place = join.orders.get(side)
    if place is None:
        return None
    rows: Any = entries.schema["value"].dataType
    return str(rows[side].dataType.elementType.fields[place].dataType.typeName())


def _as_time(rank: str, type_: str | None) -> str:
    """Return a rank as its order, where that is a column of times; NULL for the ends of longs."""
    known = f"nullif(nullif({rank}, {2**63 - 1}), -{2**63 - 1} - 1)"
    match type_:
        case "timestamp":
            return f"timestamp_micros({known})"
        case "timestamp_ntz":
            seconds = f"CAST(({known}) / 1000000BD AS DECIMAL(18, 6))"
            return f"TIMESTAMP_NTZ'1970-01-01' + make_dt_interval(0, 0, 0, {seconds})"
        case "date":
            return f"date_from_unix_date(int({known}))"
    return known
