# SPDX-License-Identifier: Apache-2.0
"""Examples: subqueries without an equality, two large sides, cut into ranges as joins are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALWAYS = {"spark.plait.join.strategy": "always"}
HIT = "EXISTS (SELECT 1 FROM ranges r WHERE p.x BETWEEN r.lo AND r.hi)"


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """2,000 points and 60 ranges, which leave gaps; some points and ends are NULL."""
    spark.sql(
        "SELECT id, CASE WHEN id % 41 = 3 THEN NULL WHEN id % 5 = 0 THEN 500 "
        "ELSE id * 7919 % 1000 END AS x FROM range(2000)"
    ).localCheckpoint().createOrReplaceTempView("points")
    spark.sql(
        "SELECT id, if(id % 43 = 5, NULL, id * 31 % 1000) AS lo, "
        "if(id % 37 = 5, NULL, id * 31 % 1000 + id % 20 - 4) AS hi FROM range(60)"
    ).localCheckpoint().createOrReplaceTempView("ranges")


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("where", [HIT, f"NOT {HIT}"])
def test_exists_and_not_exists_are_split(spark: SparkSession, where: str, adaptive: bool) -> None:
    query = f"SELECT p.id FROM points p WHERE {where}"
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        rows = answer(df)
        assert joins_planned(df) == 1
        assert "range#" in str(plait.explain(df))
    assert rows == rows_of_spark(spark, query)
    assert 0 < len(rows) < 2000


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT id FROM points p WHERE p.id % 3 = 0 AND {HIT} AND NOT EXISTS "
        "(SELECT 1 FROM ranges s WHERE p.x + 7 BETWEEN s.lo AND s.hi)",
        f"SELECT id FROM points p WHERE {HIT} AND p.id IN (SELECT id * 3 FROM ranges)",
        f"SELECT id FROM points p WHERE {HIT} AND "
        "EXISTS (SELECT 1 FROM ranges s WHERE s.id = p.id AND s.lo < p.x)",
        # Both sides are one table.
        "SELECT id FROM points p WHERE NOT EXISTS (SELECT 1 FROM points q "
        "WHERE q.x BETWEEN p.x - 1 AND p.x + 1 AND q.id <> p.id)",
        # A subquery in a subquery.
        "SELECT id FROM points p WHERE EXISTS (SELECT 1 FROM ranges r WHERE "
        "p.x BETWEEN r.lo AND r.hi AND NOT EXISTS "
        "(SELECT 1 FROM ranges s WHERE s.lo BETWEEN r.hi AND r.hi + 9))",
        # Above a join that is split too, and below an aggregate.
        "SELECT p.x, count(*) FROM points p JOIN ranges s ON p.x BETWEEN s.lo - 5 AND s.lo "
        f"WHERE NOT {HIT} GROUP BY p.x",
        # Spark joins the ranges with each x once, counts, and looks the x up in what is left.
        "SELECT id FROM points p WHERE EXISTS (SELECT r.hi % 3 FROM ranges r "
        "WHERE p.x BETWEEN r.lo AND r.hi GROUP BY r.hi % 3 HAVING count(*) = 1)",
    ],
)
def test_of_subqueries_of_many_shapes_nothing_is_left_to_spark(
    spark: SparkSession, query: str
) -> None:
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert "range#" in str(plait.explain(df))
        assert "left to Spark" not in str(plait.explain(df))


def test_what_spark_has_not_yet_written_into_a_subquery_is_not_cut(spark: SparkSession) -> None:
    query = """SELECT o.id, (SELECT count(*) FROM (SELECT * FROM points p WHERE p.id < o.id) a
        JOIN ranges s ON a.x BETWEEN s.lo AND s.hi) FROM ranges o WHERE o.id < 9"""
    with settings(spark, ALWAYS):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query) != {}


# NULL NOT IN (...), and x NOT IN (..., NULL), are not TRUE, unless nothing is in the list.
NOT_IN = "p.id % 60 NOT IN (SELECT if(r.id % 7 = 0, NULL, r.id % 30) FROM ranges r WHERE {})"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (NOT_IN.format("p.x BETWEEN r.lo AND r.hi"), "range#"),
        (NOT_IN.format("p.x < r.lo"), "[KEPT_IN_ONE_TASK]"),
        ("p.x NOT IN (SELECT lo FROM ranges WHERE lo IS NOT NULL)", "[NULL_AWARE]"),
        ("p.x NOT IN (SELECT lo FROM ranges)", "[NULL_AWARE]"),
    ],
)
def test_not_in_takes_null_as_spark_does(spark: SparkSession, where: str, said: str) -> None:
    query = f"SELECT p.id, p.x FROM points p WHERE {where}"
    rows = rows_of_spark(spark, query)
    for strategy in ("auto", "always"):
        with settings(spark, {"spark.plait.join.strategy": strategy}):
            assert answer(spark.sql(query)) == rows
    with settings(spark, ALWAYS):
        assert said in str(plait.explain(spark.sql(query)))


def test_after_the_run_a_null_aware_join_still_says_so(spark: SparkSession) -> None:
    df = spark.sql("SELECT id FROM points WHERE x NOT IN (SELECT hi FROM ranges WHERE hi > 0)")
    df.collect()
    assert str(plait.explain(df)).endswith("[NULL_AWARE]")


def test_of_few_pairs_the_subquery_is_left_to_spark(spark: SparkSession) -> None:
    assert str(plait.explain(spark.sql(f"SELECT id FROM points p WHERE {HIT}"))).endswith(
        "[FEW_PAIRS]"
    )


def test_subqueries_over_many_rows_are_split_without_being_asked_for(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT count(*) FROM range(200000) a WHERE NOT EXISTS "
        "(SELECT 1 FROM range(100000) b WHERE a.id BETWEEN b.id * 3 AND b.id * 3 + 1)"
    )
    assert "range#" in str(plait.explain(df))
    assert df.first() == (66666,)


@pytest.mark.parametrize(
    "home",
    [
        "SELECT * FROM points WHERE EXISTS (SELECT 1 FROM ranges r WHERE r.id = points.id)",
        f"SELECT * FROM points p WHERE {HIT} OR p.id = 3",
        "SELECT id, same(x) AS x FROM points",
        "SELECT id, max(x) AS x, count(DISTINCT x) AS n, count(DISTINCT id, x) AS m "
        "FROM points GROUP BY id HAVING n <= 1 AND m <= 1",
    ],
)
def test_the_cuts_of_a_side_that_spark_has_yet_to_rewrite_are_found(
    spark: SparkSession, home: str
) -> None:
    spark.udf.register("same", lambda x: x, "long")
    query = f"SELECT h.id, r.id FROM ({home}) h JOIN ranges r ON h.x BETWEEN r.lo AND r.hi"
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert "range#" in str(plait.explain(df))
