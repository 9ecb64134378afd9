# SPDX-License-Identifier: Apache-2.0
"""Examples: one key has nine of ten rows on both sides, and its partition goes to several tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ON = "l.k = r.k AND l.t BETWEEN r.t - 3 AND r.t + 3"
EXISTS = f"EXISTS (SELECT 1 FROM r WHERE {ON})"
FORCED = {"spark.sql.adaptive.forceOptimizeSkewedJoin": True}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    """Of 2,000 rows 1,800 have the key 0; six tasks wrote the left side, eight the right side.

    Every 50th key and every 70th time is NULL, and a row in five finds no partner.
    """
    for name, tasks in (("l", 6), ("r", 8)):
        spark.range(0, 2000, 1, tasks).selectExpr(
            "id",
            "CASE WHEN id % 50 = 7 THEN NULL WHEN id % 10 = 3 THEN id % 30 ELSE 0 END AS k",
            f"CASE WHEN id % 70 = {tasks} THEN NULL WHEN id % 5 = 1 THEN id * {tasks * 1000} "
            "ELSE id * 7 END AS t",
        ).createOrReplaceTempView(name)
    spark.range(0, 2000, 1, 1).selectExpr("id", "id % 1 AS k", "id AS t").createOrReplaceTempView(
        "one"
    )
    with settings(
        spark,
        {
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": 2000,
            "spark.sql.adaptive.skewJoin.skewedPartitionFactor": 2,
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": 2000,
        },
    ):
        yield


def splits(df: DataFrame) -> dict[str, bool]:
    """Tell, of a query that has run, which sides of its joins have partitions that were split."""
    lines = [line.split() for line in str(plait.explain(df)).splitlines()]
    return {line[0]: line[-1] == "split" for line in lines if line[0] in ("left", "right")}


@pytest.mark.parametrize(
    ("query", "left", "right"),
    [
        (f"SELECT l.id, r.id FROM l JOIN r ON {ON}", True, True),
        (f"SELECT l.id, r.id FROM l LEFT JOIN r ON {ON}", True, False),
        (f"SELECT l.id, r.id FROM l RIGHT JOIN r ON {ON}", False, True),
        (f"SELECT l.id, r.id FROM l FULL JOIN r ON {ON}", False, False),
        (f"SELECT l.id FROM l LEFT SEMI JOIN r ON {ON}", True, False),
        (f"SELECT l.id FROM l LEFT ANTI JOIN r ON {ON}", True, False),
        (f"SELECT l.id FROM l WHERE {EXISTS} OR l.id % 3 = 0", True, False),
    ],
)
def test_the_sides_that_may_be_split_are_and_the_rows_are_those_of_spark(
    spark: SparkSession, query: str, left: bool, right: bool
) -> None:
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert joins_planned(df) == 1
    assert splits(df) == {"left": left, "right": right}
    assert ("SymmetricHashJoin(skew=true)" in str(plait.explain(df))) == (left or right)


def test_the_hot_key_has_several_tasks(spark: SparkSession) -> None:
    tasks = f"SELECT l.k, spark_partition_id() AS task FROM l JOIN r ON {ON}"
    query = f"SELECT DISTINCT task FROM ({tasks}) WHERE k = 0"
    with settings(spark, {"spark.sql.adaptive.skewJoin.enabled": False}):
        assert len(spark.sql(query).collect()) == 1
    # At least two parts of either side, each with each.
    assert len(spark.sql(query).collect()) >= 4


def test_the_plan_that_ran_says_how_many_partitions_were_split(spark: SparkSession) -> None:
    df = spark.sql(f"SELECT l.id FROM l JOIN r ON {ON}")
    assert "split" not in str(plait.explain(df))
    df.collect()
    assert str(plait.explain(df)).count("; 1 partition split") == 2


@pytest.mark.parametrize(
    "off",
    ["spark.sql.adaptive.enabled", "spark.sql.adaptive.skewJoin.enabled"],
)
def test_nothing_is_split_where_spark_would_split_nothing(spark: SparkSession, off: str) -> None:
    query = f"SELECT l.id, r.id FROM l JOIN r ON {ON}"
    with settings(spark, {off: False}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert splits(df) == {"left": False, "right": False}


def test_what_one_task_wrote_is_not_split(spark: SparkSession) -> None:
    query = f"SELECT l.id, r.id FROM one l JOIN r ON {ON}"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert splits(df) == {"left": False, "right": True}


@pytest.mark.parametrize("force", [{}, FORCED])
def test_a_split_that_would_cost_a_shuffle_is_not_made(
    spark: SparkSession, force: dict[str, bool]
) -> None:
    query = f"SELECT l.k, count(*) FROM l JOIN r ON {ON} GROUP BY l.k"
    with settings(spark, force):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert splits(df) == {"left": False, "right": False}


def test_of_two_joins_the_one_that_costs_no_shuffle_is_split(spark: SparkSession) -> None:
    hot = f"SELECT l.id AS a, r.id AS b FROM l JOIN r ON {ON}"
    grouped = f"SELECT l.k, count(*) AS n FROM l JOIN r ON {ON} GROUP BY l.k"
    query = f"SELECT h.*, g.n FROM ({hot}) h JOIN ({grouped}) g ON h.a % 3 = g.k"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert str(plait.explain(df)).count("(skew=true)") == 1


@pytest.mark.parametrize("columns", [["k"], ["id"]])
def test_a_repartition_above_the_join_keeps_its_meaning(
    spark: SparkSession, columns: list[str]
) -> None:
    df = spark.sql(f"SELECT l.k, l.id FROM l JOIN r ON {ON}").repartition(*columns)
    dealt = df.selectExpr(columns[0], "spark_partition_id() AS task").distinct().collect()
    assert len(dealt) == len({value for value, _ in dealt})
    df.collect()
    # By key the join deals its rows so already, and Spark takes the repartition out.
    assert ("skew=true" in str(plait.explain(df))) == (columns == ["id"])


def test_the_range_of_a_hot_place_is_split_too(spark: SparkSession) -> None:
    query = (
        "SELECT /*+ SYMMETRIC_HASH(l, r) */ l.id, r.id FROM l JOIN r "
        "ON l.k BETWEEN r.k - 1 AND r.k + 1 AND l.t < r.t AND l.id % 9 = 0 AND r.id % 9 = 0"
    )
    with settings(
        spark,
        {
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": 200,
            "spark.sql.adaptive.advisoryPartitionSizeInBytes": 200,
        },
    ):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        # The right rows go to every range that they reach: those hold as many each.
        assert splits(df) == {"left": True, "right": False}
