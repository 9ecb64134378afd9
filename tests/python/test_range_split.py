# SPDX-License-Identifier: Apache-2.0
"""Examples: joins without an equality and without a small side, cut into ranges."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALWAYS = {"spark.plait.join.strategy": "always"}
IN_RANGE = "p.x BETWEEN r.lo AND r.hi"
OVERLAP = "a.lo <= b.hi AND b.lo <= a.hi"
OF_TWO_TYPES = "(SELECT id, CAST(lo AS {}) AS lo, CAST(hi AS {}) AS hi FROM ranges) {}"


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """3,000 points, half of them at one place, and 600 ranges, some of them empty, some NULL."""
    spark.sql(
        "SELECT id, CASE WHEN id % 41 = 3 THEN NULL WHEN id % 2 = 0 THEN 500 "
        "ELSE id * 7919 % 1000 END AS x FROM range(3000)"
    ).createOrReplaceTempView("points")
    spark.sql(
        "SELECT id, if(id % 43 = 5, NULL, id * 31 % 1000) AS lo, "
        "id * 31 % 1000 + id % 90 - 9 AS hi, id * 31 % 1000 + 0.5D AS middle FROM range(600)"
    ).createOrReplaceTempView("ranges")


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
def test_points_in_ranges_give_the_rows_of_spark(
    spark: SparkSession, join: str, adaptive: bool
) -> None:
    columns = "p.id" if "SEMI" in join or "ANTI" in join else "p.id, r.id"
    query = f"SELECT {columns} FROM points p {join} ranges r ON {IN_RANGE}"
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        rows = answer(df)
        assert joins_planned(df) == 1
        assert "range#" in str(plait.explain(df))
    assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT p.id, r.id FROM ranges r RIGHT JOIN points p ON {IN_RANGE}",
        f"SELECT a.id, b.id FROM ranges a JOIN ranges b ON {OVERLAP}",
        "SELECT a.id, b.id FROM ranges a, ranges b "
        "WHERE a.lo < b.hi AND b.lo < a.hi AND a.id < b.id",
        "SELECT p.id, r.id FROM points p JOIN ranges r ON abs(p.x - r.lo) < 5",
        "SELECT p.id, r.id FROM points p JOIN ranges r ON abs(p.x - r.middle) < 5.5D",
        "SELECT count(*) FROM points p LEFT JOIN ranges r ON p.x - r.lo BETWEEN -3 AND 3",
        f"SELECT a.x, count(*) FROM points a JOIN "
        f"(SELECT p.id FROM points p JOIN ranges r ON {IN_RANGE}) b ON a.id = b.id GROUP BY a.x",
        f"SELECT a.id, b.id FROM ranges a LEFT JOIN ranges b ON {OVERLAP}",
        f"SELECT a.id, b.id FROM ranges a RIGHT JOIN ranges b ON {OVERLAP}",
        f"SELECT a.id FROM ranges a LEFT SEMI JOIN ranges b ON {OVERLAP} AND a.id <> b.id",
        f"SELECT a.id FROM ranges a LEFT ANTI JOIN ranges b ON {OVERLAP} AND a.id <> b.id",
        *(
            f"SELECT a.id, b.id FROM {OF_TWO_TYPES.format(lo, hi, 'a')} "
            f"{how} {OF_TWO_TYPES.format(lo, hi, 'b')} ON {OVERLAP}"
            for lo, hi in (("INT", "BIGINT"), ("BIGINT", "SMALLINT"), ("FLOAT", "DOUBLE"))
            for how in ("JOIN", "LEFT JOIN")
        ),
        f"SELECT p.id FROM points p WHERE p.id < 10 OR EXISTS "
        f"(SELECT 1 FROM ranges r WHERE {IN_RANGE})",
        f"SELECT p.id FROM points p WHERE p.id < 10 OR NOT EXISTS "
        f"(SELECT 1 FROM ranges r WHERE {IN_RANGE})",
    ],
)
def test_bands_and_overlaps_give_the_rows_of_spark(spark: SparkSession, query: str) -> None:
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert "range#" in str(plait.explain(df))


@pytest.mark.parametrize("partitions", [1, 2, 50])
def test_the_rows_do_not_hang_on_the_number_of_ranges(spark: SparkSession, partitions: int) -> None:
    query = f"SELECT a.id, b.id FROM ranges a JOIN ranges b ON {OVERLAP}"
    with settings(spark, ALWAYS | {"spark.sql.shuffle.partitions": partitions}):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)


def test_where_to_cut_a_join_is_found_without_running_it(spark: SparkSession) -> None:
    chain = f"(SELECT * FROM points WHERE id < 40) p JOIN ranges r ON {IN_RANGE}"
    for i in range(2):
        chain += f" JOIN ranges r{i} ON {IN_RANGE.replace('r.', f'r{i}.')}"
    query = f"SELECT p.id, r.id, r0.id, r1.id FROM {chain}"
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        nodes = [row for row in plait.explain(df) if "range#" in str(row)]
        assert [row.side for row in nodes].count("left") == 3, "each join is in the plan once"


def test_no_cuts_are_found_in_an_empty_side(spark: SparkSession) -> None:
    empty = "(SELECT * FROM points WHERE id < 0)"
    query = f"SELECT p.id, r.id FROM {empty} p LEFT JOIN ranges r ON {IN_RANGE}"
    with settings(spark, ALWAYS):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT p.id, r.id FROM points p FULL JOIN ranges r ON {IN_RANGE}",
        f"SELECT a.id, b.id FROM ranges a FULL JOIN ranges b ON {OVERLAP}",
        # Until where a row reaches is a number of one type, from where on one of another.
        "SELECT r.id, p.id FROM ranges r LEFT JOIN points p "
        "ON p.x >= r.lo AND p.x + 0.25D <= r.middle",
    ],
)
@pytest.mark.parametrize("adaptive", [True, False])
def test_what_cannot_be_split_runs_in_one_task_pruned(
    spark: SparkSession, query: str, adaptive: bool
) -> None:
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1
        assert "range#" not in str(plait.explain(df))
        assert str(plait.explain(df)).count("in one task: the condition of this ") == 2
        assert plait.counters(df)[0].metrics["peakBuffered"] < 1500


def test_a_side_is_small_by_the_partitions_that_are_read_of_it(spark: SparkSession) -> None:
    points = spark.sql("SELECT x, if(id = 7, 1, 2) AS day FROM points")
    points.write.partitionBy("day").mode("overwrite").saveAsTable("days")
    query = f"SELECT p.x, r.id FROM days p JOIN ranges r ON {IN_RANGE} WHERE p.day = "
    # More than the file of one row, and less than any other side.
    small = {"spark.sql.autoBroadcastJoinThreshold": 2000}
    try:
        with settings(spark, ALWAYS | small):
            assert "left  collected" in str(plait.explain(spark.sql(query + "1")))
            assert "range#" in str(plait.explain(spark.sql(query + "2")))
            assert answer(spark.sql(query + "1")) == rows_of_spark(spark, query + "1") != Counter()
    finally:
        spark.sql("DROP TABLE days")


def test_a_join_whose_sides_would_be_cut_in_two_places_runs_in_one_task(
    spark: SparkSession,
) -> None:
    query = f"SELECT p.id, r.id FROM points p LEFT JOIN ranges r ON {IN_RANGE}"
    with settings(spark, ALWAYS | {"spark.sql.execution.reuseSubquery": False}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        said = str(plait.explain(df))
        assert "range#" not in said
        assert "cut in different places, because spark.sql.execution.reuseSubquery is false" in said


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("points p FULL JOIN ranges r ON p.x < r.lo", "[KEPT_IN_ONE_TASK]"),
        ("points p JOIN ranges r ON p.x < r.lo", "[KEPT_IN_ONE_TASK]"),
        ("points p JOIN ranges r ON p.x <> r.lo", "[NOTHING_PRUNED]"),
        ("points p JOIN ranges r ON p.x + r.lo <> 3", "[NOTHING_PRUNED]"),
    ],
)
def test_a_task_that_would_keep_a_whole_side_is_left_to_spark(
    spark: SparkSession, query: str, reason: str
) -> None:
    with settings(spark, ALWAYS):
        assert str(plait.explain(spark.sql(f"SELECT * FROM {query}"))).endswith(reason)


@pytest.mark.parametrize("known", [True, False])
def test_each_task_gets_its_share_of_the_ranges(spark: SparkSession, known: bool) -> None:
    numbers = spark.range(20000)
    if not known:
        # Of rows that come from Python Spark knows no size.
        numbers = spark.createDataFrame(numbers.rdd.map(tuple), "id long")
    numbers.createOrReplaceTempView("numbers")
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": False}):
        tasks = spark.sql(
            "SELECT task, count(*) FROM (SELECT a.id, spark_partition_id() AS task FROM numbers a "
            "JOIN numbers b ON a.id BETWEEN b.id - 1 AND b.id + 1) GROUP BY task"
        ).collect()
    assert len(tasks) == 4
    assert max(rows for _, rows in tasks) < 2 * 3 * 20000 / 4


def test_few_pairs_are_not_worth_a_split_unless_a_hint_says_so(spark: SparkSession) -> None:
    query = f"SELECT p.id, r.id FROM points p JOIN ranges r ON {IN_RANGE}"
    assert str(plait.explain(spark.sql(query))).endswith("[FEW_PAIRS]")
    hinted = query.replace("SELECT", "SELECT /*+ SYMMETRIC_HASH(p, r) */")
    assert "range#" in str(plait.explain(spark.sql(hinted)))


@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "FULL JOIN"])
def test_pairs_that_are_compared_sooner_than_solved_are_sparks(
    spark: SparkSession, how: str
) -> None:
    query = "SELECT a.id, b.id FROM range({0}) a {1} range({0}) b ON {2}"
    solved, computed = "pow(b.id - a.id, 2) <= 9", "abs(b.id - a.id) <= 3"

    def told(rows: int, condition: str) -> str:
        return str(plait.explain(spark.sql(query.format(rows, how, condition))))

    assert told(20_000, solved).endswith("[FEW_PAIRS_TO_SOLVE]")
    for rows, condition in ((80_000, solved), (20_000, computed)):
        assert "SymmetricHashJoin" in told(rows, condition)
    with settings(spark, ALWAYS):
        assert "SymmetricHashJoin" in told(20_000, solved)


def test_tables_of_many_rows_are_split_without_being_asked_for(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT count(*) FROM range(200000) a JOIN range(200000) b "
        "ON a.id * 3 BETWEEN b.id * 3 - 1 AND b.id * 3 + 1"
    )
    assert "range#" in str(plait.explain(df))
    assert df.first() == (200000,)


def test_the_hint_is_heard_where_the_strategy_is_never(spark: SparkSession) -> None:
    hint = "/*+ SYMMETRIC_HASH(p, r) */"
    query = f"SELECT {hint} p.id, r.id FROM points p JOIN ranges r ON {IN_RANGE}"
    with settings(spark, {"spark.plait.join.strategy": "never"}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert "range#" in str(plait.explain(df))
        plain = spark.sql(query.replace(hint, ""))
        assert joins_planned(plain) == 0
