# SPDX-License-Identifier: Apache-2.0
"""Examples: a preserved side of stretches is read twice, and must have the same rows each time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

ALWAYS = {"spark.plait.join.strategy": "always"}
JOIN = "SELECT h.lo, h.hi, p.x FROM ({}) h LEFT JOIN points p ON p.x BETWEEN h.lo AND h.hi"
RANDOM = "SELECT lo, lo + CAST(rand() * 9 AS INT) AS hi FROM ranges"


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """600 ranges in two files, and 900 points."""
    folder: Path = tmp_path_factory.mktemp("ranges")
    spark.sql(
        "SELECT id, id % 50 AS k, id * 31 % 1000 AS lo, id * 31 % 1000 + id % 20 - 4 AS hi "
        "FROM range(600)"
    ).repartition(2).write.parquet(str(folder / "files"))
    spark.read.parquet(str(folder / "files")).createOrReplaceTempView("ranges")
    spark.sql("SELECT id * 7 % 1100 AS x FROM range(900)").createOrReplaceTempView("points")


@pytest.mark.parametrize(
    "home",
    [
        "SELECT * FROM ranges WHERE lo % 3 <> 0",
        "SELECT min(lo) AS lo, max(hi) AS hi, count(*) AS n, sum(k) AS s FROM ranges "
        "GROUP BY id DIV 7",
        "SELECT DISTINCT lo, hi FROM ranges",
        "SELECT a.lo, b.hi FROM ranges a JOIN ranges b ON a.id = b.id",
        "SELECT lo, hi FROM ranges WHERE lo < (SELECT max(lo) - 9 FROM ranges)",
        "SELECT lo, hi FROM ranges UNION ALL SELECT lo, lo + 3 FROM ranges",
        "SELECT lo, explode(array(hi, hi + 9)) AS hi FROM ranges",
        "SELECT lo, hi FROM ranges ORDER BY hi",
        "SELECT /*+ ORDERED(ranges, id, 1000) */ lo, hi FROM ranges",
    ],
)
@pytest.mark.parametrize("adaptive", [True, False])
def test_what_has_the_same_rows_each_time_is_cut(
    spark: SparkSession, home: str, adaptive: bool
) -> None:
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(JOIN.format(home))
        assert answer(df) == rows_of_spark(spark, JOIN.format(home))
        assert "range#" in str(plait.explain(df))


@pytest.mark.parametrize(
    ("home", "part"),
    [
        ("SELECT * FROM ranges LIMIT 300", "LIMIT"),
        ("SELECT * FROM ranges TABLESAMPLE (30 PERCENT)", "Sample"),
        (RANDOM, "rand"),
        (f"SELECT lo, max(hi) AS hi FROM ({RANDOM}) GROUP BY lo", "rand"),
        ("SELECT k AS lo, CAST(sum(lo * 0.1D) AS BIGINT) AS hi FROM ranges GROUP BY k", "sum("),
        ("SELECT k AS lo, first(hi) AS hi FROM ranges GROUP BY k", "first("),
        ("SELECT lo, lead(lo) OVER (ORDER BY k) AS hi FROM ranges", "Window"),
        ("SELECT lo, hi FROM ranges WHERE lo > (SELECT max(k) FROM (SELECT * FROM ranges LIMIT 3))",
         "LIMIT"),
        ("SELECT lo, hi FROM computed", "LogicalRDD"),
        ("SELECT lo, hi FROM remembered", "rand"),
    ],
)  # fmt: skip
def test_what_may_have_other_rows_the_next_time_is_in_one_task(
    spark: SparkSession, home: str, part: str
) -> None:
    rows = spark.sql("SELECT lo, hi FROM ranges")
    spark.createDataFrame(rows.rdd.map(tuple), rows.schema).createOrReplaceTempView("computed")
    remembered = spark.sql(RANDOM).cache()
    remembered.createOrReplaceTempView("remembered")
    with settings(spark, ALWAYS):
        df = spark.sql(JOIN.format(home))
        counted = df.groupBy("lo").count().collect()
        assert counted
        text = str(plait.explain(df))
    assert "range#" not in text
    assert text.count("its left side would be read twice, and with ") == 2
    (first, *_) = re.findall("read twice, and with (.*) the second time", text)
    assert part in first
    remembered.unpersist()


def test_rows_that_are_kept_are_cut(spark: SparkSession) -> None:
    cached = spark.sql("SELECT lo, hi FROM ranges WHERE k > 3").cache()
    cached.createOrReplaceTempView("cached")
    # What it is computed from may differ from run to run: it is not run again.
    spark.sql(RANDOM).localCheckpoint().createOrReplaceTempView("kept")
    for table in ("cached", "kept"):
        with settings(spark, ALWAYS):
            df = spark.sql(JOIN.format(f"SELECT * FROM {table}"))
            assert answer(df) == rows_of_spark(spark, JOIN.format(f"SELECT * FROM {table}"))
            assert "range#" in str(plait.explain(df))
    cached.unpersist()


def test_a_side_that_is_a_join_in_ranges_is_not_run_twice(spark: SparkSession) -> None:
    below = JOIN.format("SELECT * FROM ranges").replace("p.x FROM", "p.x + 1 AS y FROM")
    query = JOIN.format(below)
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 2
        assert "and holds a join in ranges itself" in str(plait.explain(df))


def test_rows_that_the_order_drops_are_not_chosen_twice(spark: SparkSession) -> None:
    home = "SELECT /*+ ORDERED(ranges, id, 1000) */ lo, hi FROM ranges"
    with settings(spark, ALWAYS | {"spark.plait.order.violation": "drop"}):
        assert "rows that ORDERED drops" in str(plait.explain(spark.sql(JOIN.format(home))))


def test_cuts_and_ends_are_found_once_each(spark: SparkSession) -> None:
    tracker = spark.sparkContext.statusTracker()
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": False}):
        spark.sparkContext.setJobGroup("stretches", "")
        spark.sql(JOIN.format("SELECT * FROM ranges")).collect()
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", "")
        assert len(tracker.getJobIdsForGroup("stretches")) == 3
