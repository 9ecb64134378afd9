# SPDX-License-Identifier: Apache-2.0
"""Examples: which joins Plait plans, which it leaves to Spark, and what it says about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, plan_of, rows_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NEAR = "r.t BETWEEN l.t - 1 AND l.t + 2"
JOIN = f"SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND {NEAR}"
OFF = {"spark.plait.enabled": False}

WRITTEN = {
    "JOIN ON": JOIN,
    "comma": f"SELECT l.id, r.id FROM l, r WHERE l.k = r.k AND {NEAR}",
    "CROSS JOIN WHERE": f"SELECT l.id, r.id FROM l CROSS JOIN r WHERE l.k = r.k AND {NEAR}",
    "USING WHERE": f"SELECT l.id, r.id FROM l JOIN r USING (k) WHERE {NEAR}",
    "NATURAL JOIN": "SELECT a.t, b.u FROM (SELECT k, t FROM l) a NATURAL JOIN "
    "(SELECT k, t AS u FROM r) b WHERE u >= t",
    "subquery in FROM": f"SELECT count(*) FROM ({JOIN})",
    "subquery in IN": f"SELECT * FROM l WHERE id IN (SELECT l.id FROM ({JOIN}) x JOIN l ON true)",
    "correlated scalar subquery": "SELECT o.id, (SELECT count(*) FROM l JOIN r ON l.k = r.k AND "
    f"{NEAR} WHERE l.k = o.k) FROM l o",
    "comparison with a scalar subquery": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND "
    "l.t < r.t AND r.t <= l.t + (SELECT max(id) % 5 FROM l)",
    "view": "SELECT * FROM near WHERE b > 7",
    "under a window": f"SELECT a, row_number() OVER (ORDER BY a, b) FROM ({JOIN}) AS j(a, b)",
    "under a limit of all rows": f"{JOIN} LIMIT 1000000",
    "an outer join above": f"SELECT * FROM ({JOIN}) AS j(a, b) LEFT JOIN r ON r.id = j.b + 60",
    "an aggregation below": "SELECT l.k, l.t, r.t FROM (SELECT k, max(t) AS t FROM l GROUP BY k) l "
    "JOIN r ON l.k = r.k AND r.t >= l.t",
    "EXISTS": f"SELECT * FROM l WHERE EXISTS (SELECT * FROM r WHERE l.k = r.k AND {NEAR})",
    "NOT EXISTS": f"SELECT * FROM l WHERE NOT EXISTS (SELECT * FROM r WHERE l.k = r.k AND {NEAR})",
    "LEFT JOIN": f"SELECT l.id, r.id FROM l LEFT JOIN r ON l.k = r.k AND {NEAR}",
    "FULL JOIN": f"SELECT l.id, r.id FROM l FULL JOIN r ON l.k = r.k AND {NEAR}",
    "RIGHT JOIN": f"SELECT l.id, r.id FROM l RIGHT JOIN r ON l.k = r.k AND {NEAR}",
    "LEFT SEMI JOIN": f"SELECT * FROM l LEFT SEMI JOIN r ON l.k = r.k AND {NEAR}",
    "LEFT ANTI JOIN": f"SELECT * FROM l LEFT ANTI JOIN r ON l.k = r.k AND {NEAR}",
    "EXISTS under OR": "SELECT * FROM l WHERE l.id < 7 OR EXISTS "
    f"(SELECT * FROM r WHERE l.k = r.k AND {NEAR})",
    "IN": f"SELECT * FROM l WHERE l.k IN (SELECT r.k FROM r WHERE {NEAR})",
    "several keys": f"{JOIN} AND l.id % 3 = r.id % 3",
    "a key computed": f"SELECT l.id, r.id FROM l JOIN r ON l.k + 1 = r.k - 1 AND {NEAR}",
    "an equality that is NULL-safe": f"SELECT l.id, r.id FROM l JOIN r ON l.k <=> r.k AND {NEAR}",
}

# Of what looks at both sides and is not understood neither side has a value of its own.
OPAQUE = [
    "l.t + l.id * r.id >= r.t AND r.t >= l.t",
    "l.t + CASE WHEN l.id > r.id THEN 1D ELSE 0D END >= r.t AND l.t <= r.t + 2",
    "l.t + (l.id ^ r.id) <= r.t * 2 AND r.t <= l.t + 5",
    "coalesce(l.t, l.id ^ r.id) <= r.t * 2 AND l.t + 3 > r.t",
    "cast(l.t AS DECIMAL(9, 2)) + cast(l.id * r.id AS DECIMAL(9, 2)) <= r.t + 9 AND r.t < l.t + 4",
]

LEFT_TO_SPARK = {
    "no equality": f"SELECT l.id, r.id FROM l JOIN r ON {NEAR}",
    "no comparison": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k",
    "a comparison of one side": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.t < l.id",
    "an unequal": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.t <> r.t",
    "a sum over both sides": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.t + r.t <> 7",
    "collated strings": "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k "
    "AND string(l.t) COLLATE UNICODE_CI < string(r.t) COLLATE UNICODE_CI",
    "hint BROADCAST": JOIN.replace("SELECT", "SELECT /*+ BROADCAST(r) */"),
    "hint MERGE": JOIN.replace("SELECT", "SELECT /*+ MERGE(l) */"),
    "hint SHUFFLE_HASH": JOIN.replace("SELECT", "SELECT /*+ SHUFFLE_HASH(r) */"),
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """60 and 80 rows of 5 keys, with ties, and NULL in every column but the id."""
    rows = "SELECT id, if(id % 11 = 7, NULL, id % 5) AS k, if(id % 13 = 3, NULL, id DIV {0}) AS t"
    spark.sql(f"{rows.format(6)} FROM range(60)").createOrReplaceTempView("l")
    spark.sql(f"{rows.format(9)} FROM range(80)").createOrReplaceTempView("r")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW near AS {JOIN.replace('r.id', 'r.id AS b')}")


@pytest.mark.parametrize("written", WRITTEN)
def test_an_interval_join_is_planned_however_it_is_written(
    spark: SparkSession, written: str
) -> None:
    df = spark.sql(WRITTEN[written])
    rows = answer(df)
    assert rows
    assert joins_planned(df) == 1
    assert rows == rows_of_spark(spark, WRITTEN[written])


@pytest.mark.parametrize("case", LEFT_TO_SPARK)
def test_any_other_join_is_left_to_spark(spark: SparkSession, case: str) -> None:
    df = spark.sql(LEFT_TO_SPARK[case])
    rows = answer(df)
    assert joins_planned(df) == 0
    assert rows == rows_of_spark(spark, LEFT_TO_SPARK[case])


@pytest.mark.parametrize("condition", OPAQUE)
def test_what_is_not_understood_is_left_to_the_condition(
    spark: SparkSession, condition: str
) -> None:
    query = f"SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND {condition}"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert joins_planned(df) == 1


@contextmanager
def cached(spark: SparkSession, query: str) -> Iterator[None]:
    """Make a view of this name; a DataFrame that a text names is cached no more once it is read."""
    df = spark.sql(query).cache()
    df.count()  # its order is known once it has run
    df.createOrReplaceTempView("cached")
    try:
        yield
    finally:
        spark.catalog.dropTempView("cached")
        df.unpersist()


def data_frame_join(spark: SparkSession) -> DataFrame:
    l, r = spark.table("l").alias("l"), spark.table("r").alias("r")  # noqa: E741
    from pyspark.sql.functions import col

    near = col("r.t").between(col("l.t") - 1, col("l.t") + 2)
    return l.join(r, (col("l.k") == col("r.k")) & near).select("l.id", "r.id")


def test_a_join_of_data_frames_is_planned_as_one_in_sql(spark: SparkSession) -> None:
    df = data_frame_join(spark)
    assert answer(df) == answer(spark.sql(JOIN))
    assert joins_planned(df) == 1


def test_a_hint_of_a_data_frame_leaves_the_join_to_spark(spark: SparkSession) -> None:
    df = spark.sql("SELECT id AS a, k, t FROM l").join(
        spark.sql("SELECT k, t AS u FROM r").hint("broadcast"), "k"
    )
    assert joins_planned(df.where("u >= t")) == 0


def test_both_joins_of_a_union_are_planned(spark: SparkSession) -> None:
    union = f"{JOIN} UNION ALL SELECT l.id, r.id FROM r l JOIN r ON l.k = r.k AND l.t < r.t"
    df = spark.sql(union)
    assert answer(df) == rows_of_spark(spark, union)
    assert joins_planned(df) == 2


def test_a_join_of_joins_is_planned_with_all_of_them(spark: SparkSession) -> None:
    query = (
        "SELECT a.id, b.id, c.id FROM l a JOIN r b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + 1 "
        "JOIN l c ON c.k = b.k AND c.t > b.t + 5 JOIN r d ON d.id = c.id"
    )
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert joins_planned(df) == 2


def test_a_join_of_joins_on_one_key_shuffles_each_table_once(spark: SparkSession) -> None:
    with settings(spark, {"spark.sql.adaptive.enabled": False}):
        text = spark.sql(
            "EXPLAIN SELECT a.id, b.id, c.id FROM l a JOIN r b ON a.k = b.k AND a.t < b.t "
            "JOIN l c ON c.k = b.k AND c.id < b.id"
        ).collect()[0][0]
    assert text.count("Exchange hashpartitioning") == 3


def test_cached_inputs_and_a_cached_join_give_the_same_rows(spark: SparkSession) -> None:
    expected = rows_of_spark(spark, JOIN)
    with cached(spark, "SELECT * FROM l DISTRIBUTE BY k SORT BY t DESC"):
        joined = spark.sql(JOIN.replace("FROM l", "FROM cached l")).cache()
        try:
            assert plan_of(joined).count("InMemoryRelation") == 2
            assert answer(joined) == expected
            assert answer(joined) == expected
            assert joined.where("false").count() == 0
        finally:
            joined.unpersist()


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("partitions", [1, 3, 40])
def test_the_plan_that_runs_is_ours_with_adaptive_execution_on_and_off(
    spark: SparkSession, adaptive: bool, partitions: int
) -> None:
    # Of 40 partitions 35 are empty, for which Spark wants to avoid broadcasting.
    keys = {"spark.sql.adaptive.enabled": adaptive, "spark.sql.shuffle.partitions": partitions}
    with settings(spark, keys):
        df = spark.sql(JOIN)
        assert answer(df) == rows_of_spark(spark, JOIN)
        assert joins_planned(df) == 1
        assert ("AQEShuffleRead coalesced" in plan_of(df)) == (adaptive and partitions > 1)


@pytest.mark.parametrize("side", ["l", "r"])
@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
def test_rows_of_a_join_are_one_group_for_each_key_above_it(
    spark: SparkSession, how: str, side: str
) -> None:
    inside = f"SELECT {side}.k FROM l {how} r ON l.k = r.k AND {NEAR}"
    query = f"SELECT k, count(*) FROM ({inside}) GROUP BY k"
    with settings(spark, {"spark.sql.adaptive.enabled": False, "spark.sql.shuffle.partitions": 3}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1


def test_adaptive_execution_drops_a_join_whose_side_turns_out_empty(spark: SparkSession) -> None:
    df = spark.sql(JOIN + " AND l.k + l.id > 1000")
    assert joins_planned(df) == 1
    assert not answer(df)


def test_it_can_be_switched_off_and_on_while_the_session_runs(spark: SparkSession) -> None:
    assert joins_planned(spark.sql(JOIN)) == 1
    with settings(spark, OFF):
        assert joins_planned(spark.sql(JOIN)) == 0
    with settings(spark, {"spark.plait.enabled": "TRUE"}):
        assert joins_planned(spark.sql(JOIN)) == 1


@pytest.mark.parametrize("setting", [True, False])
def test_pairs_go_to_the_generated_code_above_unless_that_is_switched_off(
    spark: SparkSession, setting: bool
) -> None:
    keys = {
        "spark.sql.codegen.wholeStage": True,
        "spark.sql.adaptive.enabled": False,
        "spark.plait.join.whole-stage": setting,
    }
    with settings(spark, keys):
        df = spark.sql(JOIN)
        rows = sorted(map(tuple, df.collect()))
        assert bool(re.search(r"\*\(\d+\) SymmetricHashJoin", plan_of(df))) == setting
    with settings(spark, OFF):
        assert rows == sorted(map(tuple, spark.sql(JOIN).collect()))


@pytest.mark.parametrize("key", ["join.log-probes", "join.whole-stage", "trace.buffered"])
def test_a_setting_that_is_no_setting_is_an_error_though_the_join_is_sparks(
    spark: SparkSession, key: str
) -> None:
    with (
        settings(spark, {f"spark.plait.{key}": "perhaps", "spark.plait.join.strategy": "never"}),
        pytest.raises(Exception, match=f"spark.plait.{key} is 'perhaps', but must be one of"),
    ):
        spark.sql(JOIN)


@pytest.mark.parametrize("key", ["enabled", "trace.buffered", "join.strategy"])
def test_a_setting_that_is_no_setting_is_an_error_that_names_the_choice(
    spark: SparkSession, key: str
) -> None:
    choice = "auto, always, never" if key == "join.strategy" else "true, false"
    with (
        settings(spark, {f"spark.plait.{key}": "perhaps"}),
        pytest.raises(
            Exception, match=f"spark.plait.{key} is 'perhaps', but must be one of {choice}"
        ),
    ):
        spark.sql(JOIN).collect()


def test_explain_shows_order_reach_and_pruning_conjunct_of_each_side(spark: SparkSession) -> None:
    _, left, right = pruning(spark, JOIN)
    assert left == "left ordered by t ASC, reaches t in [t - 1, t + 2], pruned by (t <= (t + 2))"
    assert right == "right ordered by t ASC, reaches t in [t - 2, t + 1], pruned by (t >= (t - 1))"


def test_explain_shows_why_a_side_is_not_pruned(spark: SparkSession) -> None:
    query = "SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND l.t < r.t"
    _, left, right = pruning(spark, query)
    assert left.startswith("left ordered by t ASC, reaches t in (t, +inf), not pruned: ")
    assert "it is kept until the right side ends: bounds at both ends would end it" in left
    assert left.endswith("[ENDLESS_REACH]")
    assert right == "right ordered by t ASC, reaches t in (-inf, t), pruned by (t < t)"


def test_of_a_side_that_is_not_pruned_nothing_is_solved(spark: SparkSession) -> None:
    rows = "VALUES (1, 5, 9), (1, 7, 2), (2, 5, 8), (2, 8, 8), (NULL, 5, 9), (2, NULL, 3)"
    query = (
        f"SELECT l.t, l.u, r.t FROM ({rows}) l(k, t, u) JOIN ({rows}) r(k, t, u) "
        "ON l.k = r.k AND (r.t BETWEEN l.t AND l.t + 2 OR r.t = l.u)"
    )
    _, left, right = pruning(spark, query)
    assert "reaches t in [t, t + 2] or [u, u], pruned by " in left
    assert re.search(r"reaches . in .*\(-inf, \+inf\).*, not pruned: ", right)
    assert answer(spark.sql(query)) == rows_of_spark(spark, query)


def test_explain_shows_intervals_as_sql_writes_them(spark: SparkSession) -> None:
    query = (
        "SELECT l.id, r.id FROM (SELECT *, timestamp_seconds(t) AS ts FROM l) l "
        "JOIN (SELECT *, timestamp_seconds(t) AS ts FROM r) r "
        "ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL 90 MINUTES AND l.ts"
    )
    _, left, _ = pruning(spark, query)
    assert left.startswith(
        "left ordered by ts ASC, reaches ts in [ts - INTERVAL 90 MINUTE, ts], pruned by "
    )


NULL_ORDERS = [
    "abs(l.t - r.t) < 3 OR r.t IS NULL",
    "r.t BETWEEN l.t AND l.t + 5 OR l.t IS NULL",
    "(l.t - r.t) BETWEEN -2 AND 2 OR (l.t IS NULL AND r.t IS NULL)",
    "l.t <=> r.t",
    "l.id + l.t <=> r.id + r.t",
    "coalesce(l.t, 3) = coalesce(r.t, 7) AND l.id > r.id",
]
ALL_TYPES = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]


@pytest.mark.parametrize("condition", NULL_ORDERS)
@pytest.mark.parametrize("join", ALL_TYPES)
def test_rows_without_an_order_value_match_where_the_condition_lets_them(
    spark: SparkSession, join: str, condition: str
) -> None:
    # Half of the types of each condition, and half of the conditions of each type.
    adaptive = (ALL_TYPES.index(join) + NULL_ORDERS.index(condition)) % 2 == 0
    columns = "l.id" if "SEMI" in join or "ANTI" in join else "l.id, r.id"
    query = f"SELECT {columns} FROM l {join} r ON l.k = r.k AND ({condition})"
    always = {"spark.plait.join.strategy": "always", "spark.sql.adaptive.enabled": adaptive}
    with settings(spark, always):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1


def test_of_a_row_that_reaches_nothing_but_nan_the_partners_are_found(spark: SparkSession) -> None:
    numbers = (
        "(SELECT id, id % 3 AS k, if(id % 5 = 0, double('NaN'), double(id)) AS x FROM range(40))"
    )
    query = (
        f"SELECT l.id, r.id FROM {numbers} l FULL JOIN {numbers} r "
        "ON l.k = r.k AND l.x * r.x > l.x AND isnan(r.x)"
    )
    with settings(spark, {"spark.plait.join.strategy": "always"}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1


@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("collected", ["", "/*+ BROADCAST(r) */"])
def test_what_a_case_asks_of_a_row_raises_no_error_for_rows_that_have_no_partner(
    spark: SparkSession, how: str, collected: str
) -> None:
    # The row of d = 0 has no partner by key, so Spark never divides by it.
    left = "(SELECT id % 7 AS k, id AS t, id % 7 AS d FROM range(400)) l"
    right = "(SELECT 1 + id % 6 AS k, id AS t FROM range(300)) r"
    columns = "l.t" if how == "LEFT ANTI JOIN" else "l.t, r.t"
    query = (
        f"SELECT {collected} {columns} FROM {left} {how} {right} ON l.k = r.k AND "
        "(100 / l.d > 30 AND r.t BETWEEN l.t AND l.t + 9 OR r.t BETWEEN l.t + 20 AND l.t + 60)"
    )
    with settings(spark, {"spark.plait.join.index": "always"}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1
        told = re.sub(r"#\d+L?", "", str(plait.explain(df)))
        assert "[t, t + 9] or [t + 20, t + 60]" in told


def test_rows_that_have_met_those_without_an_order_value_die_as_any_other(
    spark: SparkSession,
) -> None:
    numbers = "(SELECT id % 1 AS k, if(id = 7, NULL, id) AS t FROM range(2000))"
    query = (
        f"SELECT l.t, r.t FROM {numbers} l JOIN {numbers} r "
        "ON l.k = r.k AND (abs(l.t - r.t) < 3 OR r.t IS NULL)"
    )
    right = pruning(spark, query)[2]
    assert right.startswith("right ordered by t ASC NULLS FIRST, reaches t in (t - 3, t + 3)")
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert plait.counters(df)[0].metrics["peakBuffered"] < 20


@pytest.mark.parametrize("mode", ["", "EXTENDED", "FORMATTED", "COST"])
def test_each_kind_of_explain_shows_the_pruning(spark: SparkSession, mode: str) -> None:
    text = spark.sql(f"EXPLAIN {mode} {JOIN}").collect()[0][0]
    assert "SymmetricHashJoin" in text
    assert "pruned by" in text


def pruning(spark: SparkSession, query: str) -> list[str]:
    """Return the lines of `plait.explain` without the numbers of the columns."""
    lines = str(plait.explain(spark.sql(query))).splitlines()
    return [re.sub(r"#\d+L?", "", " ".join(line.split())) for line in lines]


REASONS = {
    "no equality": "[FEW_PAIRS]",
    "no comparison": "[NO_COMPARISON]",
    "hint MERGE": "[HINTED_OTHERWISE]",
}


@pytest.mark.parametrize("case", REASONS)
def test_explain_says_why_a_join_is_left_to_spark(spark: SparkSession, case: str) -> None:
    df = spark.sql(LEFT_TO_SPARK[case])
    before = str(plait.explain(df))
    assert "left to Spark: " in before
    assert before.endswith(REASONS[case])
    df.collect()
    assert REASONS[case] in str(plait.explain(df))


@pytest.mark.parametrize("written", ["l, r", "r", "'l'", "`r`"])
def test_the_hint_symmetric_hash_asks_for_a_join_without_a_comparison(
    spark: SparkSession, written: str
) -> None:
    query = f"SELECT /*+ SYMMETRIC_HASH({written}) */ l.id, r.id FROM l JOIN r ON l.k = r.k"
    df = spark.sql(query)
    assert joins_planned(df) == 1
    assert "not pruned: the condition has no comparison" in str(plait.explain(df))
    assert answer(df) == rows_of_spark(spark, query)


def test_the_hint_stands_for_a_whole_dataframe_in_python(spark: SparkSession) -> None:
    left, right = spark.table("l"), spark.table("r")
    assert joins_planned(left.hint("symmetric_hash").join(right, "k")) == 1
    named = left.alias("a").join(right.alias("b"), "k").hint("symmetric_hash", "b")
    assert joins_planned(named) == 1
    assert joins_planned(left.join(right, "k")) == 0


def test_a_hint_says_more_than_the_strategy_of_the_session(spark: SparkSession) -> None:
    plain = "FROM l JOIN r ON l.k = r.k"
    with settings(spark, {"spark.plait.join.strategy": "always"}):
        assert joins_planned(spark.sql(f"SELECT l.id {plain}")) == 1
        refused = spark.sql(f"SELECT /*+ NO_SYMMETRIC_HASH(l) */ l.id {plain}")
        assert str(plait.explain(refused)).endswith("[HINTED_OTHERWISE]")
        broadcast = spark.sql(f"SELECT /*+ BROADCAST(l) */ l.id {plain}")
        for _ in ("planned", "run"):
            assert str(plait.explain(broadcast)).endswith("the hint broadcast [HINTED_OTHERWISE]")
            broadcast.collect()
    with settings(spark, {"spark.plait.join.strategy": "never"}):
        assert str(plait.explain(spark.sql(JOIN))).endswith("strategy=never [TURNED_OFF]")
        hinted = JOIN.replace("SELECT", "SELECT /*+ SYMMETRIC_HASH(l) */")
        assert joins_planned(spark.sql(hinted)) == 1


@pytest.mark.parametrize(
    ("hint", "error"),
    [
        ("SYMMETRIC_HASH(x)", "names x, but the relations of its query are l, r"),
        ("NO_SYMMETRIC_HASH(l, x.r)", "names x.r, but the relations"),
        ("SYMMETRIC_HASH(1)", "takes names of relations, as in SYMMETRIC_HASH.a, b., not 1"),
    ],
)
def test_a_hint_that_names_nothing_is_an_error_unless_plait_is_off(
    spark: SparkSession, hint: str, error: str
) -> None:
    query = JOIN.replace("SELECT", f"SELECT /*+ {hint} */")
    with pytest.raises(Exception, match=error):
        spark.sql(query)
    with settings(spark, OFF):
        spark.sql(query)


def test_the_hint_range_join_of_others_is_accepted(spark: SparkSession) -> None:
    query = JOIN.replace("SELECT", "SELECT /*+ RANGE_JOIN(l, 10) */")
    assert joins_planned(spark.sql(query)) == 1


def test_explain_says_that_plait_is_turned_off(spark: SparkSession) -> None:
    with settings(spark, OFF):
        assert str(plait.explain(spark.sql(JOIN))).endswith("[TURNED_OFF]")


def test_a_setting_that_is_none_is_an_error_that_names_those_there_are(
    spark: SparkSession,
) -> None:
    with (
        settings(spark, {"spark.plait.planning.on-error": "boom"}),
        pytest.raises(Exception, match="on-error is 'boom', but must be one of spark, fail"),
    ):
        spark.sql(JOIN).collect()


def test_counters_before_the_query_ran_are_an_error(spark: SparkSession) -> None:
    with pytest.raises(plait.PlaitError, match="has not run"):
        plait.counters(spark.sql(JOIN))
    # Where Spark's join is there first, and Plait's once a side is broadcast.
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": "10MB"}):
        df = spark.sql(JOIN)
        assert joins_planned(df) == 0
        with pytest.raises(plait.PlaitError, match="has not run"):
            plait.counters(df)


def test_what_is_no_dataframe_is_an_error_that_says_so() -> None:
    for function in (plait.explain, plait.counters):
        with pytest.raises(plait.PlaitError, match="takes a DataFrame of Spark, not str"):
            function(JOIN)  # type: ignore[operator]


def test_the_counters_of_both_sides_add_up_to_the_rows(spark: SparkSession) -> None:
    df = spark.sql(JOIN)
    rows = len(df.collect())
    (join,) = plait.counters(df)
    metrics = join.metrics
    assert f"{rows:,}  rows out" in str(join)
    found = metrics["pairsByProbingLeft"] + metrics["pairsByProbingRight"]
    assert found == metrics["numOutputRows"] == rows > 0
    # Spark filters out rows whose key or order is NULL before the join.
    assert metrics["leftRowsIn"] == spark.sql("SELECT * FROM l WHERE k + t IS NOT NULL").count()
    assert metrics["rightRowsIn"] == spark.sql("SELECT * FROM r WHERE k + t IS NOT NULL").count()
    assert metrics["peakBuffered"] < metrics["leftRowsIn"]
    assert 0 < metrics["leftRowsPruned"] <= metrics["leftRowsIn"]


IN_ORDER = {
    "spark.sql.adaptive.enabled": False,
    # Else Spark takes a thousand rows of a range at a time.
    "spark.sql.codegen.wholeStage": False,
}


def test_a_limit_stops_both_inputs(spark: SparkSession) -> None:
    million = "(SELECT id, id % 2 AS k FROM range(0, 1000000, 1, 1))"
    with settings(spark, IN_ORDER):
        df = spark.sql(
            f"SELECT l.id AS a, r.id AS b FROM {million} l JOIN {million} r "
            "ON l.k = r.k AND r.id BETWEEN l.id - 9 AND l.id LIMIT 1"
        )
        assert len(df.collect()) == 1
        assert "Exchange" not in plan_of(df)
        (join,) = plait.counters(df)
        read = rows_of(df, "Range")
    assert join.metrics["leftRowsIn"] + join.metrics["rightRowsIn"] < 100
    assert len(read) == 2
    assert sum(read) < 100


def test_the_first_row_without_a_match_comes_before_a_hundredth_of_ten_million_is_read(
    spark: SparkSession,
) -> None:
    # The first left row of a key that no right row has, in order of their numbers.
    query = (
        "SELECT l.id FROM "
        "(SELECT id, IF(id = 50000, -1, id % 5) AS k FROM range(5, 10000005, 1, 1)) l "
        "LEFT JOIN (SELECT id, id % 5 AS k FROM range(0, 10000000, 1, 1)) r "
        "ON l.k = r.k AND l.id BETWEEN r.id + 5 AND r.id + 6 WHERE r.id IS NULL LIMIT 1"
    )
    with settings(spark, IN_ORDER | {"spark.plait.join.strategy": "always"}):
        df = spark.sql(query)
        assert [row.id for row in df.collect()] == [50000]
        assert joins_planned(df) == 1
        read = rows_of(df, "Range")
    assert len(read) == 2
    assert all(49_000 < rows < 100_000 for rows in read), read


def test_a_side_in_the_order_of_its_times_is_in_that_of_their_hours(spark: SparkSession) -> None:
    hour = "date_trunc('HOUR', {})"
    near = f"{hour.format('r.ts')} BETWEEN {hour.format('l.ts')} AND {hour.format('l.ts')} + "
    timed = "SELECT id, k, timestamp_seconds(t * 1000) AS ts FROM {}"
    query = (
        f"SELECT l.id, r.id FROM ({timed.format('l')}) l JOIN ({timed.format('r')}) r "
        f"ON l.k = r.k AND {near} INTERVAL 1 HOUR"
    )
    expected = rows_of_spark(spark, query)
    with cached(spark, f"{timed.format('l')} DISTRIBUTE BY k SORT BY ts"):
        ours = query.replace(f"({timed.format('l')}) l", "cached l")
        text = spark.sql(f"EXPLAIN FORMATTED {ours}").collect()[0][0]
        assert answer(spark.sql(ours)) == expected != {}
    left, right = re.findall(r"(?:Left|Right): ordered by .*", text)
    assert left.startswith("Left: ordered by date_trunc")
    assert not left.endswith("; sorted here")
    assert right.endswith("; sorted here")


@pytest.mark.parametrize("order", ["t", "t NULLS LAST", "t DESC", "t DESC NULLS FIRST"])
@pytest.mark.parametrize("how", ["JOIN", "FULL JOIN", "LEFT ANTI JOIN"])
def test_a_side_that_comes_by_key_and_in_order_is_not_sorted_again_wherever_its_nulls_stand(
    spark: SparkSession, how: str, order: str
) -> None:
    columns = "l.id" if "ANTI" in how else "l.id, r.id"
    query = f"SELECT {columns} FROM l {how} r ON l.k = r.k AND {NEAR}"
    expected = rows_of_spark(spark, query)
    with cached(spark, f"SELECT * FROM l DISTRIBUTE BY k SORT BY {order}"):
        query = query.replace("FROM l", "FROM cached l")
        text = spark.sql(f"EXPLAIN FORMATTED {query}").collect()[0][0]
        assert answer(spark.sql(query)) == expected
    left, right = re.findall(r"(?:Left|Right): ordered by .*", text)
    assert not left.endswith("; sorted here")
    assert right.endswith("; sorted here")
