# SPDX-License-Identifier: Apache-2.0
"""Examples: joins with a side that is small enough to be sent to every executor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.python.points_in_ranges import (
    BROADCASTING,
    IN_RANGE,
    KEYED,
    KEYLESS,
    SELECT,
    name_points_and_ranges,
    nodes,
)
from tests.python.queries import answer, joins_planned, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Name the tables of all queries."""
    name_points_and_ranges(spark)


def joined(join: str, keys: str) -> str:
    """Return the query with a type of join, of which some give the left side alone."""
    query = SELECT.format(join, keys + IN_RANGE)
    return query.replace(", ranges.id", "") if "SEMI" in join or "ANTI" in join else query


@pytest.mark.parametrize("codegen", [True, False])
@pytest.mark.parametrize(
    "join", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
)
@pytest.mark.parametrize("keys", ["", "points.k = ranges.k AND "])
def test_each_type_gives_the_rows_of_spark_with_and_without_generated_code(
    spark: SparkSession, keys: str, join: str, codegen: bool
) -> None:
    query = joined(join, keys)
    with settings(spark, BROADCASTING | {"spark.sql.codegen.wholeStage": codegen}):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize("codegen", [True, False])
@pytest.mark.parametrize("keys", ["", "points.k = ranges.k AND "])
def test_that_of_an_exists_under_or_is_one_too(
    spark: SparkSession, keys: str, codegen: bool
) -> None:
    meets = f"SELECT 1 FROM ranges WHERE {keys}points.x BETWEEN ranges.lo AND ranges.hi"
    query = f"SELECT points.id FROM points WHERE points.id % 9 = 4 OR EXISTS ({meets})"
    with settings(spark, BROADCASTING | {"spark.sql.codegen.wholeStage": codegen}):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        assert rows == rows_of_spark(spark, query)


def test_without_an_equality_the_small_side_is_collected(spark: SparkSession) -> None:
    with settings(spark, BROADCASTING):
        df = spark.sql(KEYLESS)
        assert nodes(df) == ["CollectedJoin"]
        _, left, right = str(plait.explain(df)).splitlines()
    assert "left  looks up [x#" in left
    assert "right collected with [lo#" in right


def test_without_an_equality_a_small_side_and_many_rows_the_join_is_sparks(
    spark: SparkSession,
) -> None:
    assert str(plait.explain(spark.sql(KEYLESS))).endswith("[FEW_PAIRS]")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("l.a - r.b < l.c", "ONE_SIDED_REACH"),  # so r.b > l.a - l.c, by sums of doubles
        ("l.a - r.b > l.a", "NO_INTERVAL"),  # r.b < 0, the same for all left rows
        ("l.a || r.b = 'x'", "NO_COMPARISON"),
    ],
)
def test_a_side_that_is_not_collected_says_what_its_condition_lacks(
    spark: SparkSession, condition: str, code: str
) -> None:
    spark.sql(
        "SELECT id AS k, id / 2D AS a, id / 3D AS b, id / 5D AS c FROM range(9)"
    ).createOrReplaceTempView("sums")
    query = f"SELECT l.a, r.b FROM sums l JOIN sums r ON l.k = r.k AND {condition}"
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert str(plait.explain(df)).endswith(f"[{code}]")


@pytest.mark.parametrize(("hinted", "text"), [("points", "left "), ("ranges", "right")])
def test_the_hint_broadcast_says_which_side_is_collected(
    spark: SparkSession, hinted: str, text: str
) -> None:
    df = spark.sql(KEYLESS.replace("SELECT", f"SELECT /*+ BROADCAST({hinted}) */"))
    assert nodes(df) == ["CollectedJoin"]
    assert f"{text} collected with" in str(plait.explain(df))
    assert answer(df) == rows_of_spark(spark, KEYLESS)


@pytest.mark.parametrize(
    ("join", "hinted"),
    [
        *(("FULL JOIN", "points"), ("FULL JOIN", "ranges"), ("RIGHT JOIN", "ranges")),
        *(("LEFT JOIN", "points"), ("LEFT SEMI JOIN", "points"), ("LEFT ANTI JOIN", "points")),
    ],
)
def test_a_side_whose_own_rows_come_out_is_broadcast_by_spark_or_by_nobody(
    spark: SparkSession, join: str, hinted: str
) -> None:
    """Spark's join by key does not follow such a hint, its nested loop does."""
    hint = f"SELECT /*+ BROADCAST({hinted}) */"
    keyed = joined(join, "points.k = ranges.k AND ").replace("SELECT", hint)
    df = spark.sql(keyed)
    rows = answer(df)
    assert nodes(df) == ["SymmetricHashJoin"]
    assert rows == rows_of_spark(spark, keyed)
    keyless = spark.sql(joined(join, "").replace("SELECT", hint))
    assert nodes(keyless) == ["BroadcastNestedLoopJoin"]
    assert str(plait.explain(keyless)).endswith("[HINTED_OTHERWISE]")


def test_with_an_equality_plait_takes_over_once_many_rows_are_seen_to_share_a_key(
    spark: SparkSession,
) -> None:
    with settings(spark, BROADCASTING):
        df = spark.sql(KEYED)
        assert str(plait.explain(df)).endswith("[BROADCAST_FIRST]")
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
    assert rows == rows_of_spark(spark, KEYED)


def test_where_few_rows_share_a_key_the_join_stays_sparks(spark: SparkSession) -> None:
    query = KEYED.replace("points.k = ranges.k", "points.id = ranges.id")
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["BroadcastHashJoin"]
        assert str(plait.explain(df)).endswith("[FEW_PARTNERS]")
    assert rows == rows_of_spark(spark, query)


def test_without_adaptive_execution_the_small_side_is_collected_at_once(
    spark: SparkSession,
) -> None:
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(KEYED)
        assert nodes(df) == ["CollectedJoin"]
        assert answer(df) == rows_of_spark(spark, KEYED)


OF_FEW = {
    "unique": "points.id = ranges.id AND ",
    "of a few rows": "points.id % 400 = ranges.id % 400 AND ",
    "of two columns": "points.id % 400 = ranges.id % 400 AND points.k = ranges.k AND ",
    "that may be NULL": "points.x <=> ranges.lo AND ",
    "of an empty side": "points.id % 400 = ranges.id % 400 AND ranges.hi + ranges.lo < -5 AND ",
}


@pytest.mark.parametrize("codegen", [True, False])
@pytest.mark.parametrize(
    "join", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
)
@pytest.mark.parametrize("keys", OF_FEW.values(), ids=OF_FEW)
def test_without_adaptive_execution_keys_of_few_rows_are_looked_up_without_an_index(
    spark: SparkSession, keys: str, join: str, codegen: bool
) -> None:
    query = joined(join, keys)
    off = {"spark.sql.adaptive.enabled": False, "spark.sql.codegen.wholeStage": codegen}
    with settings(spark, BROADCASTING | off):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        (counted,) = plait.counters(df)
        assert rows == rows_of_spark(spark, query)
        assert counted.metrics["numOutputRows"] == rows.total()
        assert counted.metrics["probes"] == counted.metrics["collectedRows"] == 0
        assert counted.metrics["rowsPerKey"] < 16
    with settings(spark, BROADCASTING | off | {"spark.plait.join.index": "always"}):
        df = spark.sql(query)
        assert answer(df) == rows
        (counted,) = plait.counters(df)
        assert counted.metrics["probes"] > 0
        assert "rowsPerKey" not in counted.metrics


@pytest.mark.parametrize("index", ["auto", "always"])
@pytest.mark.parametrize("empty", ["", " AND ranges.hi < -5"], ids=["some", "none"])
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("below", ["explode", "another join"])
def test_rows_of_which_the_operator_below_made_several_come_out_each_as_it_is(
    spark: SparkSession, below: str, join: str, empty: str, index: str
) -> None:
    several = {
        "explode": "points LATERAL VIEW explode(sequence(1, id % 4)) AS n",
        "another join": "points JOIN (SELECT /*+ BROADCAST */ id % 9 AS m, id AS n FROM range(40))"
        " ON points.id % 9 = m",
    }
    both = "" if "SEMI" in join or "ANTI" in join else ", ranges.id AS rid"
    query = (
        f"SELECT q.*{both} FROM (SELECT points.*, n FROM {several[below]}) q {join} "
        f"(SELECT * FROM ranges WHERE id >= 0{empty}) ranges "
        "ON q.id = ranges.id AND q.x BETWEEN ranges.lo - 500 AND ranges.hi"
    )
    off = {"spark.sql.adaptive.enabled": False, "spark.plait.join.index": index}
    with settings(spark, BROADCASTING | off):
        df = spark.sql(query)
        assert "CollectedJoin" in nodes(df)
        assert answer(df) == rows_of_spark(spark, query)


def test_a_dataframe_that_runs_again_counts_again(spark: SparkSession) -> None:
    # So that a whole table streams by, and its index is made at once.
    spark.catalog.cacheTable("points")
    try:
        with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
            df = spark.sql(KEYED)
            df.collect()
            (first,) = plait.counters(df)
            df.collect()
            (again,) = plait.counters(df)
            assert first.metrics == again.metrics
            assert again.metrics["rowsPerKey"] >= 16
    finally:
        spark.catalog.uncacheTable("points")


def test_without_adaptive_execution_the_plan_says_what_is_to_be_counted(
    spark: SparkSession,
) -> None:
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(KEYED)
        assert "looked up by key alone if fewer than 16 rows share one" in str(plait.explain(df))
        df.collect()
        (counted,) = plait.counters(df)
        assert counted.metrics["rowsPerKey"] >= 16
        assert counted.metrics["probes"] > 0


def test_intervals_are_not_solved_where_the_few_rows_of_a_key_are_compared(
    spark: SparkSession,
) -> None:
    solved = "pow(points.x - ranges.lo, 2) <= 25"
    ranges = "JOIN (SELECT id, id AS lo FROM range(5000)) ranges ON"
    query = SELECT.format("JOIN", f"points.id % 900 = ranges.id % 900 AND {solved}")
    query = query.replace("JOIN ranges ON", ranges)
    query = query.replace("SELECT points", "SELECT /*+ BROADCAST(ranges) */ points")
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        (counted,) = plait.counters(df)
        assert counted.metrics["rowsPerKey"] == 5
        assert counted.metrics["probes"] == 0
    assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize("index", ["auto", "always"])
def test_with_adaptive_execution_an_index_is_made_of_few_rows_a_key_where_it_is_asked_for(
    spark: SparkSession, index: str
) -> None:
    query = KEYED.replace("points.k = ranges.k", "points.id = ranges.id")
    with settings(spark, BROADCASTING | {"spark.plait.join.index": index}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert (nodes(df) == ["CollectedJoin"]) == (index == "always")


@pytest.mark.parametrize("strategy", ["always", "never"])
def test_always_deals_both_sides_by_key_and_never_leaves_all_to_spark(
    spark: SparkSession, strategy: str
) -> None:
    with settings(spark, BROADCASTING | {"spark.plait.join.strategy": strategy}):
        df = spark.sql(KEYED)
        rows = answer(df)
        assert ("SymmetricHashJoin" in nodes(df)) == (strategy == "always")
        assert "CollectedJoin" not in nodes(df)
    assert rows == rows_of_spark(spark, KEYED)


@pytest.mark.parametrize("adaptive", [True, False])
def test_keys_that_spark_cannot_hash_are_collected_at_once(
    spark: SparkSession, adaptive: bool
) -> None:
    """Of texts of a collation Spark makes a sort-merge join, and broadcasts neither side."""
    spark.sql("SELECT id, char(97 + id % 3) AS c, id AS t FROM range(60)").createOrReplaceTempView(
        "texts"
    )
    query = (
        "SELECT l.id, r.id FROM texts l JOIN texts r ON upper(l.c) COLLATE UTF8_LCASE = "
        "r.c COLLATE UTF8_LCASE AND r.t BETWEEN l.t AND l.t + 3"
    )
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert nodes(df) == ["CollectedJoin"]


@pytest.mark.parametrize("query", [KEYED, KEYLESS])
def test_the_large_side_is_neither_dealt_nor_sorted(spark: SparkSession, query: str) -> None:
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(query)
        assert nodes(df) == ["CollectedJoin"]
        plan = plan_of(df)
    assert plan.count("Exchange") == plan.count("BroadcastExchange") == 1
    assert "Sort" not in plan


def test_an_empty_collected_side_gives_no_pairs(spark: SparkSession) -> None:
    empty = KEYLESS.replace("JOIN ranges", "LEFT JOIN (SELECT * FROM ranges WHERE hi < lo) ranges")
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": False}):
        df = spark.sql(empty)
        assert nodes(df) == ["CollectedJoin"]
        assert answer(df) == rows_of_spark(spark, empty)


def test_the_counters_tell_what_was_looked_at(spark: SparkSession) -> None:
    with settings(spark, BROADCASTING):
        df = spark.sql(KEYLESS)
        rows = df.collect()
        (counters,) = plait.counters(df)
        (collected,) = spark.sql("SELECT count(lo) FROM ranges").first() or ()
        (looking,) = spark.sql("SELECT count(x) FROM points").first() or ()
    assert counters.metrics == {
        "numOutputRows": len(rows),
        "collectedRows": collected,
        "probes": looking,
        "candidates": len(rows),
    }
    assert "rows that they looked at" in str(counters)


def test_other_joins_around_it_are_still_planned_anew_while_the_query_runs(
    spark: SparkSession,
) -> None:
    inside = KEYLESS.replace("points.id, ranges.id", "points.*")
    query = f"SELECT q.id, count(*) FROM ({inside}) q JOIN points p ON q.id = p.id GROUP BY q.id"
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert "CollectedJoin" in nodes(df)


def test_a_broadcast_is_shared_with_sparks_own_join_on_the_same_keys(spark: SparkSession) -> None:
    query = (
        "SELECT a.id, b.id FROM points a JOIN ranges b ON a.k = b.k AND a.x BETWEEN b.lo AND b.hi "
        "UNION ALL SELECT a.id, b.id FROM points a JOIN ranges b ON a.k = b.k AND a.id <> b.id "
        "AND a.x = 1 AND b.hi IS NOT NULL AND b.lo IS NOT NULL"
    )
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert nodes(df) == ["CollectedJoin", "BroadcastHashJoin"]


def test_a_join_of_a_cached_table_is_planned_too(spark: SparkSession) -> None:
    # Once the query is cached, Spark's own would be read from there.
    expected = rows_of_spark(spark, KEYLESS)
    with settings(spark, BROADCASTING):
        cached = spark.sql(KEYLESS).cache()
        try:
            assert answer(cached) == expected
            assert nodes(cached) == ["CollectedJoin"]
        finally:
            cached.unpersist()


def test_limit_ends_the_join(spark: SparkSession) -> None:
    with settings(spark, BROADCASTING):
        assert len(spark.sql(f"{KEYLESS} LIMIT 3").collect()) == 3


def test_a_null_order_that_may_match_leaves_the_join_to_spark(spark: SparkSession) -> None:
    query = SELECT.format("JOIN", "abs(points.x - ranges.lo) < 3 OR ranges.lo IS NULL")
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        assert joins_planned(df) == 0
        assert "left to Spark" in str(plait.explain(df))


def test_intervals_are_not_solved_where_few_rows_would_be_compared(spark: SparkSession) -> None:
    query = SELECT.format("JOIN", "pow(points.x - ranges.lo, 2) <= 25")
    with settings(spark, BROADCASTING):
        assert str(plait.explain(spark.sql(query))).endswith("[FEW_PARTNERS]")
        many = query.replace("ranges ON", "(SELECT id, id AS lo FROM range(5000)) ranges ON")
        many = many.replace("SELECT points", "SELECT /*+ BROADCAST(ranges) */ points")
        df = spark.sql(many)
        assert nodes(df) == ["CollectedJoin"]
        assert answer(df) == rows_of_spark(spark, many)


def test_the_cases_of_an_or_give_an_interval(spark: SparkSession) -> None:
    query = SELECT.format("JOIN", "abs(points.x - ranges.lo) <= 5 OR points.x * 2 = ranges.lo")
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        assert nodes(df) == ["CollectedJoin"]
        told = re.sub(r"#\d+L?", "", str(plait.explain(df)))
        assert "looks up [x - 5, x + 5] or [(x * 2), (x * 2)]" in told
        assert answer(df) == rows_of_spark(spark, query)


@pytest.mark.parametrize("adaptive", [True, False])
def test_partitions_that_a_broadcast_prunes_are_still_pruned(
    spark: SparkSession, adaptive: bool
) -> None:
    spark.sql(
        "CREATE OR REPLACE TEMP VIEW dim_source AS "
        "SELECT id, id * 31 % 1000 AS lo, id % 20 AS k FROM range(400)"
    )
    try:
        spark.sql(
            "CREATE TABLE fact USING parquet PARTITIONED BY (k) AS "
            "SELECT id, id * 7919 % 1000 AS x, id % 20 AS k FROM range(5000)"
        )
        spark.sql("CREATE TABLE dim USING parquet AS SELECT * FROM dim_source")
        query = (
            "SELECT f.id, d.id FROM fact f JOIN dim d "
            "ON f.k = d.k AND f.x BETWEEN d.lo AND d.lo + 50 WHERE d.id % 4 = 1 AND d.lo < 300"
        )
        with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": adaptive}):
            df = spark.sql(query)
            rows = answer(df)
            assert "[PARTITIONS_PRUNED]" in str(plait.explain(df))
            assert rows == rows_of_spark(spark, query)
    finally:
        spark.sql("DROP TABLE IF EXISTS fact")
        spark.sql("DROP TABLE IF EXISTS dim")


# By what is known beforehand the ranges that are left are as many as before.
SEEN_TO_BE_SMALL = {"spark.sql.autoBroadcastJoinThreshold": "6KB"}
FEW_RANGES = KEYED.replace("JOIN ranges", "JOIN (SELECT * FROM ranges WHERE id % 10 = 3) ranges")


def test_a_side_that_is_seen_to_be_small_when_it_is_shuffled_is_collected(
    spark: SparkSession,
) -> None:
    with settings(spark, SEEN_TO_BE_SMALL):
        df = spark.sql(FEW_RANGES)
        assert nodes(df) == ["SymmetricHashJoin"]
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
    assert rows == rows_of_spark(spark, FEW_RANGES)


def test_a_side_that_is_seen_to_be_small_is_left_to_spark_where_few_rows_share_a_key(
    spark: SparkSession,
) -> None:
    query = FEW_RANGES.replace("points.k = ranges.k", "points.id = ranges.id")
    with settings(spark, SEEN_TO_BE_SMALL):
        df = spark.sql(query)
        assert nodes(df) == ["SymmetricHashJoin"]
        rows = answer(df)
        assert nodes(df) == ["BroadcastHashJoin"]
        assert str(plait.explain(df)).endswith("[FEW_PARTNERS]")
    assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize(
    "keep",
    [
        {"spark.plait.join.strategy": "always"},
        {"spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"},
    ],
)
def test_a_side_that_is_seen_to_be_small_stays_dealt_by_key_where_that_is_asked_for(
    spark: SparkSession, keep: dict[str, str]
) -> None:
    with settings(spark, SEEN_TO_BE_SMALL | keep):
        df = spark.sql(FEW_RANGES)
        rows = answer(df)
        assert nodes(df) == ["SymmetricHashJoin"]
    assert rows == rows_of_spark(spark, FEW_RANGES)


@pytest.mark.parametrize(
    "join", ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]
)
@pytest.mark.parametrize("partitions", [1, 4, 40])
def test_each_type_gives_the_rows_of_spark_with_a_side_that_is_seen_to_be_small(
    spark: SparkSession, join: str, partitions: int
) -> None:
    query = FEW_RANGES.replace(" JOIN", f" {join}", 1)
    if "SEMI" in join or "ANTI" in join:
        query = query.replace(", ranges.id", "")
    with settings(spark, SEEN_TO_BE_SMALL | {"spark.sql.shuffle.partitions": partitions}):
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)
