# SPDX-License-Identifier: Apache-2.0
"""Oracle: random joins of every type through Spark, against their definition and DuckDB.

A query joins 50 pairs of small tables at once: the column `pair` is part of the key. The rows of
all pairs share one order, so the frontier that prunes one pair is mostly moved by the others' rows.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from tests.python.queries import joins_planned, settings
from tests.python.random_conditions import COLUMNS, DAY, HOUR, Condition, Row, random_condition

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEEDS = range(60 * int(os.environ.get("PLAIT_SOAK", "1")))
PAIRS = 50
TYPES = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
ALONE_LEFT = ("LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN")
ALONE_RIGHT = ("RIGHT JOIN", "FULL JOIN")
OF_LEFT = ("LEFT SEMI JOIN", "LEFT ANTI JOIN")
SIZES = [0, 1, 2, 4, 4, 8, 8, 16, 50]
NOON = 1_711_886_400_000_000  # 2024-03-31 12:00 UTC
ORIGINS = {"int": 0, "date": NOON // DAY, "timestamp": NOON, "ntz": NOON, "interval": 0}
STEPS = {"int": 1, "date": 1, "timestamp": HOUR, "ntz": HOUR, "interval": HOUR}
ARROW_TYPES = {
    "s": pa.int16(),
    "i": pa.int32(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "ntz": pa.timestamp("us"),
    "interval": pa.duration("us"),
}

Table = list[Row]


class RandomJoin:
    """One condition, its tables, and the query for them."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.condition: Condition = random_condition(rng)
        self.null_safe = rng.random() < 0.2
        self.type = TYPES[seed // 2 % len(TYPES)]
        # Every seventh join is by its keys alone, every fourth has a side that may be collected;
        # every fourth has no equality.
        self.is_plain = seed % 7 == 3
        self.is_broadcast = not self.is_plain and seed % 4 == 1
        self.is_keyless = not (self.is_plain or self.null_safe) and seed % 8 in (2, 5)
        self.left: Table = []
        self.right: Table = []
        for pair in range(PAIRS):
            spread = rng.choice([3, 10, 40])
            nulls = rng.choice([0, 0.1, 0.3])
            self.left += random_rows(rng, pair, spread, nulls)
            self.right += random_rows(rng, pair, spread, nulls)
        # Some inputs come in an order already, the right one or another.
        self.sources = [
            f"(SELECT * FROM {table} ORDER BY {rng.choice('sibtnvd')} {rng.choice(['', 'DESC'])} "
            "LIMIT 1000000)"
            if rng.random() < 0.25
            else table
            for table in ("lefts", "rights")
        ]

    def sql(self, condition: str, keys: str) -> str:
        left, right = self.sources
        columns = "l.id, l.payload"
        if self.type not in OF_LEFT:
            columns = "l.id, r.id, l.payload, r.payload"
        return f"SELECT {columns} FROM {left} l {self.type} {right} r ON {keys}" + (
            "" if self.is_plain else f" AND {condition}"
        )

    @property
    def spark_sql(self) -> str:
        keys = f"l.pair = r.pair AND l.k {'<=>' if self.null_safe else '='} r.k"
        if self.is_keyless:
            keys = "l.pair BETWEEN r.pair AND r.pair AND l.k + 0 BETWEEN r.k AND r.k"
        return self.sql(self.condition.spark, keys)

    @property
    def duckdb_sql(self) -> str:
        # With equalities always: by ranges alone, DuckDB 2.0.0 gave too few rows of a semi join.
        same = "IS NOT DISTINCT FROM" if self.null_safe else "="
        in_duckdb = self.sql(self.condition.duckdb, f"l.pair = r.pair AND l.k {same} r.k")
        return in_duckdb.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI")

    def expected(self) -> Counter[tuple[object, ...]]:
        """The definition: the pairs for which the condition is TRUE, and what the type adds."""
        partners: dict[tuple[int | None, int | None], list[int]] = {}
        for i, row in enumerate(self.right):
            partners.setdefault((row["pair"], row["k"]), []).append(i)
        pairs = [
            (i, j)
            for i, left in enumerate(self.left)
            if left["k"] is not None or self.null_safe
            for j in partners.get((left["pair"], left["k"]), [])
            if self.is_plain or self.condition.holds(left, self.right[j]) is True
        ]
        matched = ({i for i, _ in pairs}, {j for _, j in pairs})
        alone = [row for i, row in enumerate(self.left) if i not in matched[0]]
        if self.type in OF_LEFT:
            left_rows = alone if self.type in ALONE_LEFT else [self.left[i] for i in matched[0]]
            return Counter((row["id"], payload(row)) for row in left_rows)
        rows: list[tuple[Row | None, Row | None]] = [
            (self.left[i], self.right[j]) for i, j in pairs
        ]
        if self.type in ALONE_LEFT:
            rows += [(row, None) for row in alone]
        if self.type in ALONE_RIGHT:
            rows += [(None, row) for j, row in enumerate(self.right) if j not in matched[1]]
        return Counter(
            (
                left and left["id"],
                right and right["id"],
                left and payload(left),
                right and payload(right),
            )
            for left, right in rows
        )

    def is_left_to_spark(self, df: DataFrame) -> bool:
        """Say whether a join with a side to broadcast is left to Spark for a reason of its kind."""
        reasons = ("[ONE_SIDED_REACH]", "[FEW_PARTNERS]", "[KEPT_IN_ONE_TASK]")
        is_other = self.is_broadcast or self.is_keyless
        return is_other and any(reason in str(plait.explain(df)) for reason in reasons)

    def register(self, spark: SparkSession) -> None:
        for name, table in (("lefts", self.left), ("rights", self.right)):
            spark.createDataFrame(arrow(table)).createOrReplaceTempView(name)


def random_rows(rng: Random, pair: int, spread: int, nulls: float) -> Iterator[Row]:
    for number in range(rng.choice(SIZES)):
        row: dict[str, int | None] = {"id": pair * 1000 + number, "pair": pair}
        row["k"] = None if rng.random() < nulls else rng.randrange(3)
        for kind, names in COLUMNS.items():
            first = rng.randint(-spread, spread)
            # The last column of a kind mostly lies a little after the one before it.
            values = [first] * (len(names) - 1) + [first + rng.randint(-2, 8)]
            if kind == "int":
                values[0] = rng.randint(-spread, spread)
            for name, value in zip(names, values, strict=True):
                missing = rng.random() < nulls
                row[name] = None if missing else ORIGINS[kind] + value * STEPS[kind]
        yield row
        if rng.random() < 0.1:
            yield row


def payload(row: Row) -> str:
    """A text that says whose row it is, of a length that differs from row to row."""
    return str(row["id"]) * ((row["id"] or 0) % 5)


def arrow(table: Table) -> pa.Table:
    def values(name: str, kind: str) -> pa.Array:
        integers = pa.array([row[name] for row in table], pa.int64())
        of_type = ARROW_TYPES.get(name, ARROW_TYPES.get(kind, pa.int64()))
        return integers.cast(pa.int32()).cast(of_type) if kind == "date" else integers.cast(of_type)

    columns = {name: values(name, "int") for name in ("id", "pair", "k")}
    columns |= {name: values(name, kind) for kind, names in COLUMNS.items() for name in names}
    columns["payload"] = pa.array([payload(row) for row in table], pa.string())
    return pa.table(columns)


@pytest.mark.parametrize("seed", SEEDS)
def test_spark_with_plait_gives_the_rows_of_the_definition(spark: SparkSession, seed: int) -> None:
    join = RandomJoin(seed)
    join.register(spark)
    expected = join.expected()
    # Adaptive execution takes twice the time, and puts small partitions together.
    special = join.is_plain or join.is_keyless
    keys = {
        "spark.sql.shuffle.partitions": 1 if seed % 2 == 0 else 5,
        "spark.sql.adaptive.enabled": seed % 5 == 0,
        "spark.plait.join.strategy": "auto" if join.is_broadcast or not special else "always",
        "spark.sql.autoBroadcastJoinThreshold": "100MB" if join.is_broadcast else -1,
    }
    with settings(spark, keys):
        df = spark.sql(join.spark_sql)
        assert Counter(map(tuple, df.collect())) == expected, join.spark_sql
        assert joins_planned(df) == 1 or join.is_left_to_spark(df), join.spark_sql


@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb_gives_the_rows_of_the_definition(seed: int) -> None:
    join = RandomJoin(seed)
    with duckdb.connect() as database:
        for name, table in (("lefts", join.left), ("rights", join.right)):
            # In UTC, a timestamp with a zone is one without; DuckDB's own zones need an extension.
            database.register(name, arrow(table))
        found = Counter(database.execute(join.duckdb_sql).fetchall())
    assert found == join.expected(), join.duckdb_sql
