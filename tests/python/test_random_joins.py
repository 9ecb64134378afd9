# SPDX-License-Identifier: Apache-2.0
"""Oracle: random joins of every type through Spark, against their definition and DuckDB.

A query joins 50 pairs of small tables at once: the column `pair` is part of the key. The rows of
all pairs share one order, so the frontier that prunes one pair is mostly moved by the others' rows.

    200 conditions x types x orders x shapes of the key x strategies x numbers of partitions
        x memory, that is enough or little, so that inputs and rows held go to disk
    a pair of tables     up to 50 rows a side, of 3 keys or one; NULL, NaN, -0.0, ties, rows twice
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from math import nan
from random import Random
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql.functions import col
from tests.python.cases import cases
from tests.python.queries import NODES, OF_SPARK, settings
from tests.python.random_conditions import (
    BAND,
    COLUMNS,
    DAY,
    EITHER,
    END,
    HOUR,
    MIXED,
    Condition,
    Row,
    random_condition,
)

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEEDS = range(cases(200, soak=5_000))
PAIRS = 50
EXISTENCE = "EXISTS OR"
NOT_IN = "NOT IN OR"
FULL = "FULL JOIN"
TYPES = [
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    FULL,
    "LEFT SEMI JOIN",
    "LEFT ANTI JOIN",
    EXISTENCE,
    NOT_IN,
]
# The key of a row by its `k`, which is NULL, 0, 1 or 2; and more columns that are of it.
KEYS = {
    "an integer": "{0}.k",
    "a text": "CAST({0}.k AS STRING)",
    "a text in any case": "(IF({0}.id % 2 = 0, 'key ', 'KEY ') || {0}.k) COLLATE UTF8_LCASE",
    "a text of a language": "(IF({0}.id % 2 = 0, 'clé ', 'Clé ') || {0}.k) COLLATE UNICODE_CI",
    "a struct": "IF({0}.k IS NULL, NULL, struct({0}.k AS a, NULLIF({0}.k, 1) AS b))",
    "a double": "CASE {0}.k WHEN 0 THEN IF({0}.id % 2 = 0, 0D, -0D) "
    "WHEN 1 THEN double('NaN') ELSE {0}.k + 0.5D END",
    "an array": "IF({0}.k IS NULL, NULL, array({0}.k, 7))",
}
ALONE_LEFT = ("LEFT JOIN", FULL, "LEFT ANTI JOIN")
ALONE_RIGHT = ("RIGHT JOIN", FULL)
# Their rows are those of the left side that are TRUE, and every third.
OF_ROWS = (EXISTENCE, NOT_IN)
OF_LEFT = ("LEFT SEMI JOIN", "LEFT ANTI JOIN", *OF_ROWS)
SIZES = [0, 1, 2, 4, 4, 8, 8, 16, 50]
NOON = 1_711_886_400_000_000  # 2024-03-31 12:00 UTC
ORIGINS = {"date": NOON // DAY, "timestamp": NOON, "ntz": NOON}
STEPS = {"timestamp": HOUR, "ntz": HOUR, "interval": HOUR, "double": 0.5, "decimal": 0.5}
ARROW_TYPES = {
    "s": pa.int16(),
    "i": pa.int32(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "ntz": pa.timestamp("us"),
    "interval": pa.duration("us"),
}

# What a task has where memory is little: some pages of 64 KiB of each sort and of each side's rows
# held have to be there. And so many rows are sorted in memory.
LITTLE = 640 * 1024
FEW_ROWS = 20
SPILL_AFTER = "spark.shuffle.spill.numElementsForceSpillThreshold"

# As quick as it is for tables of this size.
INTERPRETED = OF_SPARK | {"spark.sql.codegen.wholeStage": False}

Table = list[Row]
Order = tuple[str, str]
SORTED = ("asc", "asc_nulls_last", "desc", "desc_nulls_first")

# The joins that have run in Spark: on our node, or why not.
WHY: Counter[str] = Counter()
# Of those whose inputs come in an order, whether a side is sorted for all that.
SORTED_ALREADY: Counter[bool] = Counter()
# Whether a small side with many rows a key, known once it is broadcast, is collected.
SEEN_TO_BE_SMALL: Counter[bool] = Counter()
# Of those in little memory what may go to disk, and whether it did: a join by its keys alone sorts
# nothing, so that it can only be rows that it holds.
SPILLED: Counter[tuple[str, bool]] = Counter()


class RandomJoin:
    """One condition, its tables, and the query for them."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        self.condition: Condition = random_condition(rng)
        self.null_safe = rng.random() < 0.2
        self.type = TYPES[seed // 2 % len(TYPES)]
        self.key = KEYS[rng.choice(list(KEYS))] if rng.random() < 0.5 else KEYS["an integer"]
        # Two integers of four bytes make one long key, two of eight do not.
        self.pair = "{0}.pair"
        if seed % 4 < 2 and self.key == KEYS["an integer"]:
            self.pair, self.key = "int({0}.pair)", "int({0}.k)"
        # Some joins are by their keys alone, some have a side that may be collected, and some no
        # equality.
        self.is_plain = seed % 9 == 3
        self.is_broadcast = not self.is_plain and seed % 4 == 1
        self.is_keyless = not (self.is_plain or self.null_safe) and seed % 8 in (2, 5)
        self.partitions = (1, 3, 7)[seed % 3]
        # Adaptive execution takes twice the time, and puts small partitions together.
        self.is_adaptive = seed % 5 == 0
        self.strategy = "auto" if self.is_broadcast else "always"
        if not (self.is_plain or self.is_keyless):
            self.strategy = rng.choice(["auto", "always"])
        self.is_short_of_memory = seed % 11 % 4 == 1
        self.times = 200 if self.is_short_of_memory else 1
        self.comes_by_key = seed % 5 in (1, 2)
        self.left: Table = []
        self.right: Table = []
        # With many rows a key a side that adaptive execution has broadcast is collected.
        self.keys = 1 if seed % 40 == 25 else 3
        for pair in range(PAIRS):
            spread = rng.choice([3, 10, 40])
            nulls = rng.choice([0, 0.1, 0.3])
            self.left += random_rows(rng, pair, spread, nulls, self.keys)
            self.right += random_rows(rng, pair, spread, nulls, self.keys)
        # Some inputs come in an order already, the right one or another: of both, for a side in one
        # partition would be dealt as the other is.
        self.orders: tuple[Order | None, Order | None] = (None, None)
        if rng.random() < 0.2:
            self.orders = (self._order(rng, "l"), self._order(rng, "r"))

    def _order(self, rng: Random, side: str) -> Order:
        """Return a column of the condition and how it is sorted: NULL comes first, or last."""
        columns = sorted(set(re.findall(rf"\b{side}\.(\w+)", self.condition.spark)))
        return rng.choice(columns or ["i"]), rng.choice(SORTED)

    def sql(self, condition: str, keys: str) -> str:
        left, right = "lefts", "rights"
        condition = keys + ("" if self.is_plain else f" AND {condition}")
        if self.type == EXISTENCE:
            exists = f"EXISTS (SELECT * FROM {right} r WHERE {condition})"
            return f"SELECT l.id, l.payload FROM {left} l WHERE {exists} OR l.id % 3 = 0"
        if self.type == NOT_IN:
            absent = f"l.i NOT IN (SELECT r.i FROM {right} r WHERE {condition})"
            return f"SELECT l.id, l.payload FROM {left} l WHERE {absent} OR l.id % 3 = 0"
        columns = "l.id, l.payload"
        if self.type not in OF_LEFT:
            columns = "l.id, r.id, l.payload, r.payload"
        return f"SELECT {columns} FROM {left} l {self.type} {right} r ON {condition}"

    @property
    def spark_sql(self) -> str:
        same = "<=>" if self.null_safe else "="
        keys = (
            f"{self.pair.format('l')} = {self.pair.format('r')} "
            f"AND {self.key.format('l')} {same} {self.key.format('r')}"
        )
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
        partners: dict[tuple[float | None, float | None], list[int]] = {}
        for i, row in enumerate(self.right):
            partners.setdefault((row["pair"], row["k"]), []).append(i)
        pairs = [
            (i, j)
            for i, left in enumerate(self.left)
            if left["k"] is not None or self.null_safe
            for j in partners.get((left["pair"], left["k"]), [])
            if self.is_plain or self.condition.holds(left, self.right[j]) is True
            if self.type != NOT_IN or may_be_equal(left["i"], self.right[j]["i"])
        ]
        matched = ({i for i, _ in pairs}, {j for _, j in pairs})
        alone = [row for i, row in enumerate(self.left) if i not in matched[0]]
        if self.type in OF_LEFT:
            with_partner = [self.left[i] for i in matched[0]]
            is_of_alone = self.type in (*ALONE_LEFT, NOT_IN)
            left_rows, others = (alone, with_partner) if is_of_alone else (with_partner, alone)
            if self.type in OF_ROWS:
                left_rows = left_rows + [row for row in others if (row["id"] or 0) % 3 == 0]
            return Counter((row["id"], self.payload(row)) for row in left_rows)
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
                left and self.payload(left),
                right and self.payload(right),
            )
            for left, right in rows
        )

    def is_left_to_spark(self, df: DataFrame) -> bool:
        """Say whether what Spark has of the join is Spark's for a reason that is true of it."""
        of_spark = [side for side in plait.explain(df) if not side.node.startswith(NODES)]
        whys = {side.why_not for side in of_spark}
        WHY.update(map(str, whys))
        # Of an EXISTS that computes with both sides, Spark makes a join by a table of values.
        is_existence = self.type in OF_ROWS
        is_auto = self.strategy == "auto"
        # The pairs and keys of a join without an equality lie between two ends each.
        shapes = {BAND} if self.is_keyless else set(self.condition.shapes)
        unbounded = {MIXED, EITHER}
        true_of_it = {
            "NO_COMPARISON": is_existence,
            "FEW_PARTNERS": self.is_broadcast
            and all(
                self.are_few_partners(side.arguments[0], int(side.arguments[1]))
                for side in of_spark
                if side.why_not == "FEW_PARTNERS"
            ),
            # Other types look the rows of the side that is collected up.
            "FEW_PAIRS": is_auto and (is_existence or (self.is_keyless and self.type == FULL)),
            "KEPT_IN_ONE_TASK": is_existence and not is_auto,
            "ONE_SIDED_REACH": self.is_broadcast and shapes <= {END, MIXED, EITHER},
            # A sum with NaN is NaN, which is above all: what is bounded below is open at both ends.
            "NO_INTERVAL": self.is_broadcast
            and shapes <= (unbounded | {END} if self.has_doubles else unbounded),
            # Of the parts of an EXISTS one join may have those alone.
            "NOTHING_PRUNED": is_auto
            and bool(shapes & unbounded if is_existence else shapes <= unbounded),
        }
        return all(true_of_it.get(str(why), False) for why in whys)

    @property
    def has_doubles(self) -> bool:
        return re.search(r"\b[lr]\.[xy]", self.condition.spark) is not None

    def are_few_partners(self, side: str, told: int) -> bool:
        """Say whether a row may share its key with so many, and they are too few for an index."""
        rows = Counter(
            (row["pair"], row["k"]) for row in (self.left if side == "left" else self.right)
        )
        # Of an EXISTS the parts are other conditions. To solve a reach takes as long as many rows.
        is_formula = set(self.condition.shapes) == {BAND} and self.type not in OF_ROWS
        # Before it is broadcast it is not known how many rows share a key.
        most = max(rows.values()) if self.is_adaptive else rows.total()
        return 0 < told <= most and told < (16 if is_formula else 2000)

    def register(self, spark: SparkSession) -> None:
        tables = (("lefts", self.left), ("rights", self.right))
        for (name, table), order in zip(tables, self.orders, strict=True):
            rows = sorted(table, key=by_key) if self.comes_by_key else table
            df = spark.createDataFrame(self.arrow(rows))
            if order is not None:
                by = getattr(col(order[0]), order[1])()
                # Spark would leave a sort out that it sees, or a shuffle undo it.
                df = df.coalesce(1).sortWithinPartitions(by).localCheckpoint()
            df.createOrReplaceTempView(name)

    def payload(self, row: Row) -> str:
        """A text that says whose row it is, of a length that differs from row to row."""
        return str(row["id"]) * int((row["id"] or 0) % 5) * self.times

    def arrow(self, table: Table) -> pa.Table:
        def values(name: str, kind: str) -> pa.Array:
            if kind == "double":
                return pa.array([row[name] for row in table], pa.float64())
            if kind == "decimal":
                numbers = pa.array([row[name] for row in table], pa.float64())
                return numbers.cast(pa.decimal128(9, 2) if name == "m" else pa.decimal128(12, 1))
            if kind == "text":
                return pa.array([text_of(row[name]) for row in table], pa.string())
            integers = pa.array([row[name] for row in table], pa.int64())
            of_type = ARROW_TYPES.get(name, ARROW_TYPES.get(kind, pa.int64()))
            return (
                integers.cast(pa.int32()).cast(of_type)
                if kind == "date"
                else integers.cast(of_type)
            )

        columns = {name: values(name, "int") for name in ("id", "pair", "k")}
        columns |= {name: values(name, kind) for kind, names in COLUMNS.items() for name in names}
        columns["payload"] = pa.array([self.payload(row) for row in table], pa.string())
        return pa.table(columns)


def may_be_equal(x: float | None, y: float | None) -> bool:
    """Say whether `x = y` is TRUE or NULL."""
    return x is None or y is None or x == y


def text_of(number: float | None) -> str | None:
    """Return a text that stands where the number does among such; ten have the same 8 letters."""
    return None if number is None else f"{(5000 + number) // 10:03.0f}, from {5000 + number:.0f}"


def by_key(row: Row) -> tuple[float, bool, float]:
    """Say where a row stands among those that come in the sequence of their keys."""
    return row["pair"] or 0, row["k"] is not None, row["k"] or 0


def random_rows(rng: Random, pair: int, spread: int, nulls: float, keys: int) -> Iterator[Row]:
    for number in range(rng.choice(SIZES)):
        row: dict[str, float | None] = {"id": pair * 1000 + number, "pair": pair}
        row["k"] = None if rng.random() < nulls else rng.randrange(keys)
        for kind, names in COLUMNS.items():
            first = rng.randint(-spread, spread)
            # The last column of a kind mostly lies a little after the one before it.
            values = [first] * (len(names) - 1) + [first + rng.randint(-2, 8)]
            if kind == "int":
                values[0] = rng.randint(-spread, spread)
            for name, value in zip(names, values, strict=True):
                missing = rng.random() < nulls
                row[name] = None if missing else order_value(rng, kind, value)
        yield row
        if rng.random() < 0.1:
            yield row


def order_value(rng: Random, kind: str, steps: int) -> float:
    if kind == "decimal":
        return steps * STEPS[kind]
    if kind != "double":
        return ORIGINS.get(kind, 0) + steps * int(STEPS.get(kind, 1))
    if rng.random() < 0.05:
        return nan
    return steps * STEPS[kind] or rng.choice([0.0, -0.0])


@contextmanager
def little_memory(spark: SparkSession, *, is_keyless: bool) -> Iterator[None]:
    """Let sorts have few rows in memory, and tasks little of it.

    Spark shares its memory evenly among the tasks that have some: for a while there are many. Where
    ranges are cut, operators of Spark's own run in the tasks, which cannot do with so little.
    """
    context = spark.sparkContext._jsc.sc()
    # The methods of SparkEnv cannot be listed, as one of them has a class that Spark does not ship.
    env = spark._jvm.java.lang.Class.forName("org.apache.spark.SparkEnv")
    field = env.getDeclaredField("_memoryManager")
    field.setAccessible(True)
    conf, memory = context.conf(), field.get(context.env())
    mode = memory.tungstenMemoryMode()
    shared = 0 if is_keyless else memory.maxOnHeapStorageMemory() - memory.storageMemoryUsed()
    tasks = range(-shared // LITTLE, 0)
    conf.set(SPILL_AFTER, str(FEW_ROWS))
    try:
        for task in tasks:
            assert memory.acquireExecutionMemory(1, task, mode) == 1
        yield
    finally:
        for task in tasks:
            memory.releaseAllExecutionMemoryForTask(task)
        conf.remove(SPILL_AFTER)


@pytest.mark.parametrize("seed", SEEDS)
def test_spark_with_plait_gives_the_rows_of_the_definition(spark: SparkSession, seed: int) -> None:
    join = RandomJoin(seed)
    join.register(spark)
    expected = join.expected()
    keys = {
        "spark.sql.shuffle.partitions": join.partitions,
        "spark.sql.adaptive.enabled": join.is_adaptive,
        # To compile the code for whole stages takes longer than to run them.
        "spark.sql.codegen.wholeStage": seed % 4 < 2,
        "spark.plait.join.strategy": join.strategy,
        "spark.plait.join.radix": "always" if seed // 7 % 2 else "auto",
        # With adaptive execution Spark's own join is the one of few rows a key.
        "spark.plait.join.index": "auto" if join.is_adaptive or seed % 3 == 1 else "always",
        "spark.sql.autoBroadcastJoinThreshold": "100MB" if join.is_broadcast else -1,
    }
    with settings(spark, keys):
        df = spark.sql(join.spark_sql)
        # Spark's own sorts may get no page where memory is that little.
        is_ours_alone = all(side.node in NODES for side in plait.explain(df))
        memory = little_memory(spark, is_keyless=join.is_keyless)
        with memory if join.is_short_of_memory and is_ours_alone else nullcontext():
            assert Counter(map(tuple, df.collect())) == expected, join.spark_sql
        # Spark may make two joins of an EXISTS.
        nodes = {side.node for side in plait.explain(df)}
        is_ours = nodes <= set(NODES)
        WHY["on our node"] += is_ours
        SEEN_TO_BE_SMALL["CollectedJoin" in nodes] += join.keys == 1
        if any(join.orders):
            text = spark.sql(f"EXPLAIN FORMATTED {join.spark_sql}").collect()[0][0]
            for told in re.findall(r"(?:Left|Right): ordered by .*", text):
                SORTED_ALREADY["sorted here" not in told] += 1
        assert nodes, f"there is no join: {join.spark_sql}"
        assert is_ours or join.is_left_to_spark(df), f"{plait.explain(df)}\n{join.spark_sql}"
    if join.type == "JOIN":
        for found in (each.metrics for each in plait.counters(df)):
            if "pairsByProbingLeft" in found:
                by_both = found["pairsByProbingLeft"] + found["pairsByProbingRight"]
                assert by_both == found["numOutputRows"] == expected.total()
    if join.is_short_of_memory and is_ours_alone:
        # A join with a collected side has no such metric.
        bytes_spilled = [each.metrics.get("spillSize") for each in plait.counters(df)]
        if any(spilled is not None for spilled in bytes_spilled):
            what = "rows held" if join.is_plain else "inputs"
            SPILLED[what, any(bytes_spilled)] += 1
    with settings(spark, keys | INTERPRETED):
        own = spark.sql(join.spark_sql).collect()
    assert Counter(map(tuple, own)) == expected, join.spark_sql


def test_nine_in_ten_of_them_run_on_our_node(say: Callable[[str], None]) -> None:
    say(f"random joins: {dict(WHY)}; in little memory: {dict(SPILLED)}")
    if WHY.total() < 100:
        pytest.skip("too few of them have run to say so")
    assert WHY["on our node"] >= 0.9 * WHY.total(), WHY


def test_some_of_them_come_in_their_order_and_some_have_a_side_that_is_seen_to_be_small() -> None:
    if WHY.total() < 100:
        pytest.skip("too few of them have run to say so")
    assert SORTED_ALREADY[True] >= len(SEEDS) // 40, SORTED_ALREADY
    assert SEEN_TO_BE_SMALL[True] >= 1, SEEN_TO_BE_SMALL


@pytest.mark.parametrize("what", ["inputs", "rows held"])
def test_in_little_memory_they_go_to_disk(what: str) -> None:
    if WHY.total() < 100:
        pytest.skip("too few of them have run to say so")
    assert SPILLED[what, True] >= len(SEEDS) // 40, SPILLED
    # One may have more memory for a moment, as Spark frees what it has broadcast when it likes.
    assert SPILLED[what, False] <= max(1, 0.05 * SPILLED[what, True]), SPILLED


@pytest.mark.parametrize("seed", SEEDS)
def test_duckdb_gives_the_rows_of_the_definition(seed: int) -> None:
    join = RandomJoin(seed)
    with duckdb.connect() as database:
        for name, table in (("lefts", join.left), ("rights", join.right)):
            # In UTC, a timestamp with a zone is one without; DuckDB's own zones need an extension.
            database.register(name, join.arrow(table))
        found = Counter(database.execute(join.duckdb_sql).fetchall())
    assert found == join.expected(), join.duckdb_sql
