# SPDX-License-Identifier: Apache-2.0
"""What an as-of join is, in plain Python, and random ones with their tables.

    SELECT l.id, r.id FROM ls l LEFT ASOF JOIN rs r
      MATCH_CONDITION (l.m >= r.m TOLERANCE 2 TIES ORDER BY r.v DESC)
      ON l.pair = r.pair AND l.k = r.k AND l.v < r.v

A query joins 50 pairs of small tables at once: ``pair`` is part of the key. ``m`` is of one of nine
types; its values are few, so that ties are many. Without a key it joins one pair.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

PAIRS = 50
SIZES = [0, 1, 2, 4, 4, 8, 8, 16, 30]
NOON = datetime(2024, 3, 31, 12)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
WORDS = ["", "A", "B", "a", "aa", "ab", "b", "z", "ß", "é", "ﬁ", "\U0001f600"]

Row = dict[str, Any]
Holds = Callable[[Row, Row], bool]

TYPES = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "ntz": pa.timestamp("us"),
    "decimal": pa.decimal128(12, 2),
    "double": pa.float64(),
    "string": pa.string(),
    "struct": pa.struct([("n", pa.int32()), ("s", pa.string())]),
}
# The tolerance by the type, as SQL and as a difference; what has no difference has none.
TOLERANCES: dict[str, list[tuple[str, Any]]] = {
    "int": [("0", 0), ("1", 1), ("2.5", 2.5)],
    "bigint": [("0", 0), ("3", 3)],
    "date": [("INTERVAL 2 DAYS", 2 * DAY), ("INTERVAL '1' DAY", DAY)],
    "timestamp": [("INTERVAL 90 MINUTES", 1.5 * HOUR), ("INTERVAL '1' DAY", DAY)],
    "ntz": [("INTERVAL 2 HOURS", 2 * HOUR), ("INTERVAL 0 SECONDS", 0 * HOUR)],
    "decimal": [("0.5", Decimal("0.5")), ("1", 1)],
    "double": [("1", 1), ("0.5D", 0.5)],
}
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
}
MIRRORED = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}
HOW = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")


def both(name: str, holds: Callable[[Any, Any], bool]) -> Holds:
    def holds_of(left: Row, right: Row) -> bool:
        a, b = left[name], right[name]
        return a is not None and b is not None and holds(rank(a), rank(b))

    return holds_of


KEYS: dict[str, Holds] = {
    "": lambda _l, _r: True,
    "l.k = r.k": both("k", operator.eq),
    "CAST(l.k AS STRING) = CAST(r.k AS STRING)": both("k", operator.eq),
    "struct(l.k) = struct(r.k)": lambda a, b: a["k"] == b["k"],  # never NULL itself
    "l.k <=> r.k": lambda a, b: a["k"] == b["k"],
    "l.w = r.w": both("w", operator.eq),
    "l.k = r.k AND l.v = r.v": lambda a, b: (
        both("k", operator.eq)(a, b) and both("v", operator.eq)(a, b)
    ),
}
CONDITIONS: dict[str, Holds] = {
    "l.v < r.v": both("v", operator.lt),
    "l.w >= r.w": both("w", operator.ge),
    "r.v <> 2": lambda _, r: r["v"] is not None and r["v"] != 2,
    "l.v > 1": lambda a, _: a["v"] is not None and a["v"] > 1,
    "(l.v = r.v OR r.w IS NULL)": lambda a, b: both("v", operator.eq)(a, b) or b["w"] is None,
    "l.id % 3 <> r.id % 3": lambda a, b: a["id"] % 3 != b["id"] % 3,
}
# What orders ties: the column, whether downwards, whether NULL comes last.
TIES: dict[str, list[tuple[str, bool, bool]]] = {
    "r.v": [("v", False, False)],
    "r.v DESC": [("v", True, True)],
    "r.w DESC NULLS FIRST": [("w", True, False)],
    "r.w NULLS LAST, r.v DESC": [("w", False, True), ("v", True, True)],
}
COLUMNS = ["pair", "k", "v", "m", "w", "id"]


def rank(value: Any) -> Any:
    """What stands for a value where Spark orders: NULL first, NaN last, -0.0 = 0.0."""
    match value:
        case None:
            return (0,)
        case float():
            return (1, math.isnan(value), 0.0 if math.isnan(value) else value)
        case dict():
            return (1, *map(rank, value.values()))
    return (1, value)


@dataclass(frozen=True)
class AsOf:
    """One as-of join: its words, and its two tables."""

    kind: str
    how: str
    operator: str | None  # None is NEAREST
    tolerance: tuple[str, Any] | None
    ties: str | None
    key: str
    condition: str | None
    is_mirrored: bool
    left: list[Row]
    right: list[Row]
    is_keyless: bool = False

    @property
    def sql(self) -> str:
        sign = self.operator
        match = f"l.m {sign} r.m"
        if sign is None:
            match = "NEAREST (l.m, r.m)"
        elif self.is_mirrored:
            match = f"r.m {MIRRORED[sign]} l.m"
        match += f" TOLERANCE {self.tolerance[0]}" if self.tolerance else ""
        match += f" TIES ORDER BY {self.ties}" if self.ties else ""
        pair = "" if self.is_keyless else "l.pair = r.pair"
        on = " AND ".join(filter(None, [pair, self.key, self.condition]))
        columns = "l.id" if self.how in HOW[-2:] else "l.id, r.id"
        sides = f"ls l {self.how} ASOF JOIN rs r"
        on = f" ON {on}" if on else ""
        return f"SELECT {columns} FROM {sides} MATCH_CONDITION ({match}){on}"

    def rows(self) -> Counter[tuple[int | None, ...]]:
        """The definition."""
        of_pair: dict[int, list[Row]] = {}
        for row in self.right:
            of_pair.setdefault(row["pair"], []).append(row)
        found = [(row, self.chosen(row, of_pair.get(row["pair"], []))) for row in self.left]
        if self.how in HOW[-2:]:
            is_semi = self.how == "LEFT SEMI"
            return Counter((left["id"],) for left, right in found if (right is not None) == is_semi)
        picked = {id(right) for _, right in found}
        rows = Counter(
            (left["id"], right and right["id"])
            for left, right in found
            if right or self.how in ("LEFT", "FULL")
        )
        if self.how in ("RIGHT", "FULL"):
            rows.update((None, right["id"]) for right in self.right if id(right) not in picked)
        return rows

    def chosen(self, left: Row, rights: list[Row]) -> Row | None:
        """Sort by the least reason to be chosen first, so that the last one is chosen."""
        rows = [right for right in rights if self.matches(left, right)]
        for column in reversed(COLUMNS):
            rows.sort(key=lambda row: rank(row[column]))
        for column, is_down, is_null_last in reversed(TIES[self.ties] if self.ties else []):
            rows.sort(key=lambda row: rank(row[column]), reverse=is_down)
            rows.sort(key=lambda row: (row[column] is None) == is_null_last)
        rows.sort(key=lambda row: rank(row["m"]), reverse=self.operator not in (">=", ">"))
        if self.operator is None:
            # To each side the next is last; and of equally far ones those before.
            before = [row for row in rows if rank(row["m"]) <= rank(left["m"])]
            before.sort(key=lambda row: rank(row["m"]))
            rows = [row for row in rows if rank(row["m"]) > rank(left["m"])] + before
            rows.sort(key=lambda row: apart(left["m"], row["m"]), reverse=True)
        return rows[-1] if rows else None

    def matches(self, left: Row, right: Row) -> bool:
        if left["m"] is None or right["m"] is None or not KEYS[self.key](left, right):
            return False
        if self.operator and not OPERATORS[self.operator](rank(left["m"]), rank(right["m"])):
            return False
        if self.tolerance and not apart(left["m"], right["m"]) <= self.tolerance[1]:
            return False
        return not self.condition or CONDITIONS[self.condition](left, right)


def apart(a: Any, b: Any) -> Any:
    """How far two values are apart: equal ones not at all, NaN from all others infinitely far."""
    if rank(a) == rank(b):
        return a - a if not isinstance(a, float) else 0.0
    distance = abs(a - b)
    return math.inf if distance != distance else distance  # noqa: PLR0124


def random_join(seed: int) -> AsOf:
    rng = Random(seed)
    kind = list(TYPES)[seed % len(TYPES)]
    signs: list[str | None] = [*OPERATORS, None] if kind in TOLERANCES else [*OPERATORS]
    sign = signs[seed // len(TYPES) % len(signs)]
    tolerance = rng.choice([None, *TOLERANCES.get(kind, [])])
    tables: list[list[Row]] = [[], []]
    for pair in range(PAIRS):
        spread, nulls = rng.choice([2, 4, 12]), rng.choice([0, 0.1, 0.3])
        for table in tables:
            table.extend(random_rows(rng, kind, pair, spread, nulls))
    return AsOf(
        kind,
        rng.choice(HOW),
        sign,
        tolerance,
        rng.choice([None, *TIES]),
        rng.choice(list(KEYS)),
        rng.choice([None, *CONDITIONS]),
        rng.random() < 0.3,
        *tables,
    )


def random_join_without_key(seed: int, pair: int) -> AsOf:
    """Return a join of one pair of tables, with no equality in ON."""
    join = random_join(seed)
    left, right = ([row for row in t if row["pair"] == pair] for t in (join.left, join.right))
    return replace(join, key="", left=left, right=right, is_keyless=True)


def random_rows(rng: Random, kind: str, pair: int, spread: int, nulls: float) -> Iterator[Row]:
    def drawn(value: Any) -> Any:
        return None if rng.random() < nulls else value

    for number in range(rng.choice(SIZES)):
        row = {
            "pair": pair,
            "k": drawn(rng.randrange(3)),
            "v": drawn(rng.randrange(4)),
            "m": drawn(match_value(rng, kind, rng.randint(-spread, spread))),
            "w": drawn(rng.choice([0.0, -0.0, 1.5, math.nan])),
            "id": pair * 1000 + number,
        }
        yield row
        if rng.random() < 0.1:
            yield dict(row)


def match_value(rng: Random, kind: str, step: int) -> Any:
    odd = rng.choice([math.nan, math.inf, -math.inf, -0.0])
    values: dict[str, Any] = {
        "date": NOON.date() + step * DAY,
        "timestamp": (NOON + step * HOUR).replace(tzinfo=UTC),
        "ntz": NOON + step * HOUR,
        "decimal": Decimal(step) / 4,
        "double": odd if rng.random() < 0.15 else step / 2,
        "string": WORDS[step % len(WORDS)],
        "struct": {"n": rng.choice([None, step % 3]), "s": rng.choice([None, *WORDS[:3]])},
    }
    return values.get(kind, step)


def with_distinct_values(join: AsOf) -> AsOf:
    """Keep one right row of those that have one value and one ``k`` and ``v``."""
    kept = {(row["pair"], row["k"], row["v"], rank(row["m"])): row for row in join.right}
    return replace(join, right=list(kept.values()))


def arrow(kind: str, table: list[Row]) -> pa.Table:
    types = {"m": TYPES[kind], "w": pa.float64()}
    schema = pa.schema([(name, types.get(name, pa.int32())) for name in COLUMNS])
    return pa.Table.from_pylist(table, schema)
