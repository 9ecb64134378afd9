# SPDX-License-Identifier: Apache-2.0
"""Oracle: NOT IN as one half of an OR, with NULL on either side, against Spark's own join.

    l.a = 1 OR l.k NOT IN (SELECT r.k FROM r WHERE ...)

It is TRUE of an empty list; else NULL where l.k is, and where the list has a NULL and not l.k.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NULLS = ["neither side", "left", "right", "both sides"]
LISTS = {
    "by key and order": "r.g = l.g AND r.t BETWEEN l.t - 9 AND l.t",
    "by key and one end": "r.g = l.g AND r.t > l.t",
    "by key alone": "r.g = l.g",
    "by order alone": "r.t BETWEEN l.t - 2 AND l.t",
    "of its own": "r.t < 60",
    "empty": "r.t < -1",
}
# The others may be compared with a broadcast list, or row by row.
KEYED = [name for name in LISTS if name.startswith("by key")]
# To compile and to adapt takes longer than to run queries of a few rows.
QUICK = {
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.codegen.wholeStage": False,
}


def make_tables(spark: SparkSession, nulls: str) -> None:
    for name, factor, side in (("l", 7, "left"), ("r", 11, "right")):
        key = f"id * {factor} % 9"
        if nulls in (side, "both sides"):
            key = f"IF(id % 13 = 5, NULL, {key})"
        spark.range(0, 150, 1, 2).selectExpr(
            "id", f"{key} AS k", "id % 5 AS a", f"id * {factor} % 10 AS g", "id * 37 % 100 AS t"
        ).createOrReplaceTempView(name)


def under_or(listed: str) -> str:
    return (
        "SELECT l.id, l.k FROM l WHERE l.a = 1 OR l.k NOT IN "
        f"(SELECT r.k FROM r WHERE {LISTS[listed]})"
    )


@pytest.mark.parametrize("strategy", ["auto", "always"])
@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("nulls", NULLS)
def test_not_in_under_or_gives_the_rows_of_spark(
    spark: SparkSession, nulls: str, listed: str, strategy: str
) -> None:
    make_tables(spark, nulls)
    query = under_or(listed)
    with settings(spark, QUICK | {"spark.plait.join.strategy": strategy}):
        expected = rows_of_spark(spark, query)
        assert expected.total() >= 30
        df = spark.sql(query)
        assert answer(df) == expected
        assert joins_planned(df) == 1 or listed not in KEYED


@pytest.mark.parametrize("listed", KEYED)
@pytest.mark.parametrize("nulls", NULLS)
def test_not_in_of_several_columns_gives_the_rows_of_spark(
    spark: SparkSession, nulls: str, listed: str
) -> None:
    make_tables(spark, nulls)
    for either in ("", "l.a = 1 OR "):
        query = (
            f"SELECT l.id, l.k FROM l WHERE {either}(l.k, l.a) NOT IN "
            f"(SELECT r.k, r.a FROM r WHERE {LISTS[listed]})"
        )
        with settings(spark, QUICK | {"spark.plait.join.strategy": "always"}):
            df = spark.sql(query)
            assert answer(df) == rows_of_spark(spark, query) != {}
            assert joins_planned(df) == 1


@pytest.mark.parametrize("listed", LISTS)
@pytest.mark.parametrize("nulls", NULLS)
def test_a_list_that_is_small_gives_the_rows_of_spark(
    spark: SparkSession, nulls: str, listed: str
) -> None:
    make_tables(spark, nulls)
    query = under_or(listed)
    with settings(spark, QUICK | {"spark.sql.autoBroadcastJoinThreshold": "10MB"}):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)


@pytest.mark.parametrize("nulls", NULLS)
def test_a_list_of_its_own_gives_the_rows_of_spark_without_its_rule_for_null(
    spark: SparkSession, nulls: str
) -> None:
    make_tables(spark, nulls)
    query = "SELECT l.id, l.k FROM l WHERE l.k NOT IN (SELECT r.k FROM r WHERE r.t < 9)"
    other = {"spark.sql.optimizeNullAwareAntiJoin": False, "spark.plait.join.strategy": "always"}
    with settings(spark, QUICK | other):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)
