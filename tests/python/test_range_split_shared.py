# SPDX-License-Identifier: Apache-2.0
"""Examples: both sides of a join in ranges have the same cuts, whatever plans say of equality.

Cuts of a sample may differ from run to run, and then partners would lie in different ranges.
Without adaptive execution Spark plans a subquery once for each place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from tests.python.queries import answer, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

ONCE = {"spark.plait.join.strategy": "always", "spark.sql.adaptive.enabled": False}


class Numbers(DataSource):
    """A source of which Spark makes a new plan each time that it plans it, equal to none."""

    @classmethod
    def name(cls) -> str:
        return "numbers_of_python"

    def schema(self) -> str:
        return "x BIGINT"

    def reader(self, schema: StructType) -> DataSourceReader:
        class Reader(DataSourceReader):
            def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
                yield from ((n,) for n in range(2000))

        return Reader()


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    spark.dataSource.register(Numbers)
    spark.read.format("numbers_of_python").load().createOrReplaceTempView("computed")
    points = "SELECT id AS x, id % 9 AS k, id * 0.5D AS d FROM range(900)"
    spark.sql(points).createOrReplaceTempView("points")
    spark.sql("SELECT id * 3 AS lo, id * 3 + 10 AS hi FROM range(600)").createOrReplaceTempView(
        "ranges"
    )


def subqueries(spark: SparkSession, query: str) -> dict[str, set[str]]:
    """Run a query, compare it with Spark's rows, and tell the plans of each subquery."""
    with settings(spark, ONCE):
        df = spark.sql(query)
        assert "range#" in str(plait.explain(df))
        found = answer(df)
    assert found == rows_of_spark(spark, query)
    plans: dict[str, set[str]] = {}
    text = plan_of(df)
    for subquery, plan in re.findall(r"scalar-subquery#(\d+), \[id=#(\d+)\]", text):
        plans.setdefault(subquery, set()).add(plan)
    return plans


def test_the_cuts_of_a_source_whose_plans_are_never_equal_are_found_once(
    spark: SparkSession,
) -> None:
    query = "SELECT c.x, r.lo FROM computed c JOIN ranges r ON c.x BETWEEN r.lo AND r.hi"
    [cuts] = subqueries(spark, query).values()
    assert len(cuts) == 1


def test_the_cuts_and_ends_of_a_side_with_a_join_by_doubles_are_found_once(
    spark: SparkSession,
) -> None:
    home = (
        "SELECT a.k, min(a.x) AS lo, max(b.x) AS hi FROM points a "
        "JOIN points b ON a.k = b.k AND a.d BETWEEN b.d - 4.5D AND b.d + 4.5D GROUP BY a.k"
    )
    query = f"SELECT h.k, p.x FROM ({home}) h LEFT JOIN points p ON p.x BETWEEN h.lo AND h.hi"
    cuts, ends = subqueries(spark, query).values()
    assert (len(cuts), len(ends)) == (1, 1)
