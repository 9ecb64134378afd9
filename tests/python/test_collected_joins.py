# SPDX-License-Identifier: Apache-2.0
"""Examples: joins with a side that is small enough to be sent to every executor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROADCASTING = {"spark.sql.autoBroadcastJoinThreshold": "10MB"}
IN_RANGE = "points.x BETWEEN ranges.lo AND ranges.hi"
SELECT = "SELECT points.id, ranges.id FROM points {} ranges ON {}"
KEYED = SELECT.format("JOIN", f"points.k = ranges.k AND {IN_RANGE}")
KEYLESS = SELECT.format("JOIN", IN_RANGE)


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """3,000 points and 600 ranges, which overlap, of 3 keys; some NULLs in every column."""
    numbers = "SELECT id, if(id % 31 = 7, NULL, id % 3) AS k, "
    spark.sql(
        f"{numbers} if(id % 41 = 3, NULL, id * 7919 % 1000) AS x FROM range(3000)"
    ).createOrReplaceTempView("points")
    spark.sql(
        f"{numbers} if(id % 43 = 5, NULL, id * 31 % 1000) AS lo, id * 31 % 1000 + id % 9 AS hi "
        "FROM range(600)"
    ).createOrReplaceTempView("ranges")


def joined(join: str, keys: str) -> str:
    """Return the query with a type of join, of which some give the left side alone."""
    query = SELECT.format(join, keys + IN_RANGE)
    return query.replace(", ranges.id", "") if "SEMI" in join or "ANTI" in join else query


def nodes(df: DataFrame) -> list[str]:
    """Return the names of the joins in the plan as it stands now."""
    return [row.node for row in plait.explain(df) if row.side == "left"]


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
    at_once = {"spark.plait.join.index": "always", "spark.sql.adaptive.enabled": False}
    with settings(spark, BROADCASTING | at_once):
        df = spark.sql(KEYED)
        df.collect()
        (first,) = plait.counters(df)
        df.collect()
        (again,) = plait.counters(df)
        assert first.metrics == again.metrics


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


# Of how many rows that stream through a filter, nobody knows beforehand.
NO_NULLS = "points.x + ranges.lo IS NOT NULL"
FILTERED = KEYED.replace("points JOIN", "(SELECT * FROM points WHERE {}) points JOIN")


@pytest.mark.parametrize("adaptive", [True, False])
def test_few_rows_go_through_those_of_their_key_and_no_index_is_made(
    spark: SparkSession, adaptive: bool
) -> None:
    query = FILTERED.format("id % 300 = 1")
    by_key = f"SELECT count(*) FROM ({query.replace(IN_RANGE, NO_NULLS)})"
    (pairs,) = spark.sql(by_key).first() or ()
    with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        (counted,) = plait.counters(df)
        assert counted.metrics["candidates"] == pairs
        assert counted.metrics["collectedRows"] == 0
        late = "indexed once an executor has gone through 8 rows by key for each of its rows"
        assert late in str(plait.explain(df))


KEYS = {
    "an integer": "CAST({}.k AS INT)",
    "a text": "CAST({}.k AS STRING)",
    "a date": "date_add(DATE '2026-01-01', CAST({}.k AS INT))",
    "a wide decimal": "CAST({}.k AS DECIMAL(30, 2))",
    "a struct": "named_struct('a', CAST({}.k AS STRING), 'b', {}.k)",
    "two integers": "CAST({}.k AS INT)|CAST({}.k AS SMALLINT)",
    "two longs": "{}.k|{}.k + 1",
    "a text between numbers": "{}.k|repeat('long ', CAST({}.k AS INT))|CAST({}.k AS DOUBLE)",
    "a double": "CASE {}.k WHEN 0 THEN -0.0D WHEN 1 THEN double('NaN') ELSE {}.k END",
    "a text without case": "CAST({}.k AS STRING) COLLATE UTF8_LCASE",
    "70 columns": "|".join("{}.k + CAST(" + str(n) + " AS TINYINT)" for n in range(70)),
}


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("key", KEYS)
def test_many_rows_go_through_those_of_their_key_until_an_index_is_made(
    spark: SparkSession, key: str, join: str
) -> None:
    parts = KEYS[key].split("|")
    equal = " AND ".join(
        f"{p} = {p}".format(*["points"] * p.count("{}"), *["ranges"] * p.count("{}")) for p in parts
    )
    query = FILTERED.format("id % 30 < 29").replace("points.k = ranges.k", equal)
    query = query.replace("points JOIN", f"points {join}")
    if "SEMI" in join or "ANTI" in join:
        query = query.replace(", ranges.id", "")
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        (counted,) = plait.counters(df)
    assert rows == rows_of_spark(spark, query)
    metrics = counted.metrics
    if "SEMI" not in join:
        assert 0 < metrics["collectedRows"] <= 600
        assert 4800 <= metrics["candidates"] < 3000 * 190 // 4


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("codegen", [True, False])
@pytest.mark.parametrize(
    ("join", "collected"),
    [
        ("JOIN", "ranges"),
        ("JOIN", "points"),
        ("LEFT JOIN", "ranges"),
        ("RIGHT JOIN", "points"),
        ("LEFT SEMI JOIN", "ranges"),
        ("LEFT ANTI JOIN", "ranges"),
        ("EXISTS", "ranges"),
    ],
)
def test_each_type_turns_to_an_index_on_its_way(
    spark: SparkSession, join: str, collected: str, codegen: bool, adaptive: bool
) -> None:
    streamed = {"points": "ranges", "ranges": "points"}[collected]
    many = f"(SELECT * FROM {streamed} WHERE id % 30 < 29) {streamed}"
    by = f"points.k = ranges.k AND {IN_RANGE}"
    shown = "points.id" if "SEMI" in join or "ANTI" in join else "points.id, ranges.id"
    left, right = ("points", many) if collected == "points" else (many, "ranges")
    hint = f"/*+ BROADCAST({collected}) */"
    query = f"SELECT {hint} {shown} FROM {left} {join} {right} ON {by}"
    if join == "EXISTS":
        inner = f"SELECT {hint} 1 FROM {right} WHERE {by}"
        query = f"SELECT points.id FROM {left} WHERE points.id % 9 = 4 OR EXISTS ({inner})"
    how = {"spark.sql.codegen.wholeStage": codegen, "spark.sql.adaptive.enabled": adaptive}
    with settings(spark, BROADCASTING | how):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        (counted,) = plait.counters(df)
    assert rows == rows_of_spark(spark, query)
    if join not in ("LEFT SEMI JOIN", "EXISTS"):
        assert counted.metrics["collectedRows"] > 0


def test_rows_of_a_key_are_asked_for_the_interval_before_the_rest(spark: SparkSession) -> None:
    rest = "1 / (points.x - ranges.lo + 1) > 0"
    query = FILTERED.format("id % 300 = 1").replace(IN_RANGE, f"{rest} AND {IN_RANGE}")
    with settings(spark, BROADCASTING | {"spark.sql.ansi.enabled": True}):
        df = spark.sql(query)
        in_range = query.replace(f"{rest} AND ", "")
        assert answer(df) == rows_of_spark(spark, in_range)
        assert nodes(df) == ["CollectedJoin"]


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    ("points", "late"),
    [
        ("points", False),
        ("(SELECT * FROM points WHERE k IS NOT NULL) points", False),
        ("(SELECT * FROM points WHERE x < 990) points", True),
        ("(SELECT * FROM points LIMIT 2990) points", True),
        ("(SELECT k, id, max(x) AS x FROM points GROUP BY k, id) points", True),
        ("(SELECT * FROM kept WHERE x < 990) points", True),
    ],
)
def test_the_index_is_made_at_once_where_a_whole_table_streams_by(
    spark: SparkSession, points: str, late: bool, adaptive: bool
) -> None:
    query = KEYED.replace("points JOIN", f"{points} JOIN")
    query = query.replace("SELECT points", "SELECT /*+ BROADCAST(ranges) */ points")
    kept = spark.table("points").cache()
    kept.createOrReplaceTempView("kept")
    try:
        with settings(spark, BROADCASTING | {"spark.sql.adaptive.enabled": adaptive}):
            df = spark.sql(query)
            rows = answer(df)
            assert nodes(df) == ["CollectedJoin"]
            assert ("indexed once an executor" in str(plait.explain(df))) == late
        assert rows == rows_of_spark(spark, query)
    finally:
        kept.unpersist()
