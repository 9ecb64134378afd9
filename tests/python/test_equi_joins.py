# SPDX-License-Identifier: Apache-2.0
"""Examples: joins by their keys alone sort nothing, read both sides in turns, and give out at once.

200,000 rows a side, of 1,000 keys: all pairs are forty million.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 200_000
ON = "l.k = r.k"
ALWAYS = {"spark.plait.join.strategy": "always"}
HINT = "/*+ SYMMETRIC_HASH(l, r) */"
SIDES = ("left", "right")
TYPES = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]


@pytest.fixture(autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    """Two tables of which a task reads as much as it asks for; every 50th key is NULL."""
    for name, key in (("l", "id % 1000"), ("r", "id * 7 % 1000")):
        rows = spark.range(0, ROWS, 1, 2).selectExpr("id", f"IF(id % 50 = 7, NULL, {key}) AS k")
        rows.createOrReplaceTempView(name)
    # In one task of one plan, so that the metrics are of all that was read.
    one_task = {"spark.sql.shuffle.partitions": 1, "spark.sql.adaptive.enabled": False}
    with settings(spark, one_task | {"spark.sql.autoBroadcastJoinThreshold": -1}):
        yield


def test_that_of_an_exists_under_or_has_our_node_and_no_sort(spark: SparkSession) -> None:
    meets = "EXISTS (SELECT 1 FROM r WHERE l.k = r.k)"
    query = f"SELECT count(*), sum(l.id) FROM l WHERE l.id % 100 = 7 OR {meets}"
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        plan, rows = plan_of(df), answer(df)
    assert "SymmetricHashJoin" in plan
    assert "Sort" not in plan
    assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize("how", ["by the hint", "by the strategy"])
@pytest.mark.parametrize("join_type", TYPES)
def test_the_plan_has_our_node_and_no_sort(spark: SparkSession, join_type: str, how: str) -> None:
    columns = "l.id" if join_type.startswith(("LEFT SEMI", "LEFT ANTI")) else "l.id, r.id"
    hint = HINT if how == "by the hint" else ""
    query = f"SELECT {hint} {columns} FROM l {join_type} r ON {ON}"
    with settings(spark, ALWAYS if how == "by the strategy" else {}):
        plan = plan_of(spark.sql(query))
    assert "SymmetricHashJoin" in plan
    assert "Sort" not in plan
    with settings(spark, {"spark.plait.enabled": False}):
        assert "Sort" in plan_of(spark.sql(query)), "Spark's own would sort"


@pytest.mark.parametrize("join_type", TYPES[:4])
def test_the_first_pairs_come_before_a_hundredth_of_either_side_is_read(
    spark: SparkSession, join_type: str
) -> None:
    df = spark.sql(f"SELECT {HINT} l.k AS a, r.k AS b FROM l {join_type} r ON {ON} LIMIT 500")
    rows = df.collect()
    assert len(rows) == 500
    assert any(row.a is not None and row.a == row.b for row in rows)
    found = plait.counters(df)[0].metrics
    assert 0 < found["leftRowsIn"] < ROWS / 100, found
    # Rows whose key is NULL meet nobody, and are held by neither side.
    left, right = (found[f"{side}RowsIn"] - found[f"{side}RowsPruned"] for side in SIDES)
    assert abs(left - right) <= 1, found
    assert min(found["pairsByProbingLeft"], found["pairsByProbingRight"]) > 0, found


def test_the_sides_are_read_row_by_row_in_turns_as_long_as_both_have_any(
    spark: SparkSession,
) -> None:
    few = "SELECT * FROM {} WHERE k IS NOT NULL AND id < {}"
    sides = f"({few.format('l', 6_000)}) l JOIN ({few.format('r', 4_000)}) r"
    with settings(spark, {"spark.plait.trace.buffered": True}):
        df = spark.sql(f"SELECT {HINT} count(*) FROM {sides} ON {ON}")
        df.collect()
        trace = plait.counters(df)[0].trace
        df.collect()
        assert len(plait.counters(df)[0].trace) == len(trace), "those of the last run"
    of_both = [sample for sample in trace if sample.rows_read < 2 * 3_900]
    assert len(of_both) >= 5
    for sample in of_both:
        assert abs(sample.left_buffered - sample.right_buffered) <= 1, sample
