# SPDX-License-Identifier: Apache-2.0
"""Examples: rows of which few share a key are joined by bucket; the oracle is Spark's own join.

20,000 rows a side, shuffled or by key, of as many keys, of 500 or of twenty. Every 50th key and
every 70th time is NULL, every 30th row comes twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import expr
from tests.python.queries import answer, compared, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000
ON = "l.k = r.k AND r.t BETWEEN l.t - 4000 AND l.t + 4000"
EXISTS = f"EXISTS (SELECT 1 FROM r WHERE {ON})"
ALL = {
    "inner": f"SELECT l.id, r.id, l.name, r.name FROM l JOIN r ON {ON}",
    "left": f"SELECT l.id, r.id, l.name, r.name FROM l LEFT JOIN r ON {ON}",
    "right": f"SELECT l.id, r.id, l.name, r.name FROM l RIGHT JOIN r ON {ON}",
    "full": f"SELECT l.id, r.id, l.name, r.name FROM l FULL JOIN r ON {ON}",
    "semi": f"SELECT l.id, l.name FROM l LEFT SEMI JOIN r ON {ON}",
    "anti": f"SELECT l.id, l.name FROM l LEFT ANTI JOIN r ON {ON}",
    "existence": f"SELECT l.id, l.name FROM l WHERE {EXISTS} OR l.id % 3 = 0",
}
INNER = ALL["inner"]


def make_tables(
    spark: SparkSession, keys: int, right_rows: int = ROWS, left_rows: int = ROWS
) -> None:
    for name, rows, factor in (("l", left_rows, 7919), ("r", right_rows, 6007)):
        spark.range(0, rows, 1, 2).selectExpr(
            "explode(IF(id % 30 = 4, array(id, id), array(id))) AS id",
        ).selectExpr(
            "id",
            f"IF(id % 50 = 7, NULL, id * {factor} % {keys}) AS k",
            f"IF(id % 70 = 9, NULL, id * 104729 % {ROWS}) AS t",
            "repeat('x', CAST(id % 40 AS INT)) AS name",
        ).createOrReplaceTempView(name)


@pytest.fixture(autouse=True)
def shuffling(spark: SparkSession) -> Iterator[None]:
    one_task = {"spark.sql.shuffle.partitions": 1, "spark.sql.autoBroadcastJoinThreshold": -1}
    with settings(spark, one_task):
        yield


def in_buckets(spark: SparkSession, query: str) -> int:
    """Run a query, compare it with Spark's rows, and tell how many rows were joined by bucket."""
    return plait.counters(compared(spark, query))[0].metrics["rowsInBuckets"]


@pytest.mark.parametrize("join_type", ALL)
def test_near_unique_keys_are_joined_by_bucket_in_every_type(
    spark: SparkSession, join_type: str
) -> None:
    make_tables(spark, keys=ROWS)
    assert in_buckets(spark, ALL[join_type]) > 1.9 * ROWS


@pytest.mark.parametrize("join_type", ALL)
def test_either_side_may_have_fewer_rows(spark: SparkSession, join_type: str) -> None:
    make_tables(spark, keys=ROWS, right_rows=ROWS - 3000)
    assert in_buckets(spark, ALL[join_type]) > 1.7 * ROWS


@pytest.mark.parametrize(
    "key",
    ["CAST({0}.k AS STRING)", "struct({0}.k, {0}.k % 7)", "CAST({0}.k AS DECIMAL(30, 2))"],
    ids=["a text", "a struct", "a decimal"],
)
def test_keys_of_other_types_are_compared_not_only_hashed(spark: SparkSession, key: str) -> None:
    make_tables(spark, keys=ROWS)
    query = ALL["full"].replace("l.k = r.k", f"{key.format('l')} = {key.format('r')}")
    assert in_buckets(spark, query) > 1.9 * ROWS


KEYS = {
    "a long": "k - 250",
    "two integers": "struct(CAST(k % 7 AS INT) AS a, CAST(k AS INT) AS b)",
    "two longs": "struct(k % 7 - 3 AS a, k AS b)",
    "a text": "CAST(k AS STRING)",
    "bytes": "CAST(CAST(k AS STRING) AS BINARY)",
    "a decimal": "CAST(k - 250 AS DECIMAL(30, 2))",
    "a double": "CAST(k - 250 AS DOUBLE) / 7",
    "a date": "date_add(DATE'1970-01-01', CAST(k - 250 AS INT))",
}


def sort_sides(spark: SparkSession, left: Sequence[str], right: Sequence[str], key: str) -> None:
    """Make the key of each table another, and sort the tables, by nothing as they come."""
    for name, by in (("l", left), ("r", right)):
        keyed = spark.table(name).selectExpr("id", f"{key} AS k", "t", "name").coalesce(1)
        rows = keyed.sortWithinPartitions(*map(expr, by)) if by else keyed
        # Else Spark takes a sort below EXISTS out; and it does not know that they come by key.
        rows.localCheckpoint().coalesce(1).createOrReplaceTempView(name)


@pytest.mark.parametrize("compiled", ["FALLBACK", "NO_CODEGEN"])
@pytest.mark.parametrize("key", KEYS)
def test_rows_that_come_by_key_go_by_bucket_though_forty_share_one(
    spark: SparkSession, key: str, compiled: str
) -> None:
    make_tables(spark, keys=500)
    sort_sides(spark, ["k"], ["k"], KEYS[key])
    two = "struct" in KEYS[key]
    on = ON.replace("l.k = r.k", "l.k.a = r.k.a AND l.k.b = r.k.b") if two else ON
    with settings(spark, {"spark.sql.codegen.factoryMode": compiled}):
        assert in_buckets(spark, ALL["full"].replace(ON, on)) > 1.9 * ROWS


@pytest.mark.parametrize("fewer", ["right_rows", "left_rows"])
@pytest.mark.parametrize("join_type", ALL)
def test_rows_that_come_by_key_go_by_bucket_in_every_type(
    spark: SparkSession, join_type: str, fewer: str
) -> None:
    make_tables(spark, keys=500, **{fewer: ROWS - 3000})
    sort_sides(spark, ["k"], ["k"], "k")
    assert in_buckets(spark, ALL[join_type]) > 1.7 * ROWS


@pytest.mark.parametrize(
    ("left", "right"),
    [(["k"], []), ([], ["k"]), (["k % 9", "k"], ["k % 9", "k"]), (["t"], ["t"])],
    ids=["the left", "the right", "by something else first", "by time"],
)
def test_they_come_by_key_only_if_both_sides_do(
    spark: SparkSession, left: list[str], right: list[str]
) -> None:
    make_tables(spark, keys=500)
    sort_sides(spark, left, right, "k")
    assert in_buckets(spark, INNER.replace("4000", "3")) == 0


def test_they_are_sorted_by_order_where_a_thousand_share_a_key(spark: SparkSession) -> None:
    make_tables(spark, keys=20)
    sort_sides(spark, ["k"], ["k"], "k")
    assert in_buckets(spark, INNER.replace("4000", "3")) == 0


@pytest.mark.parametrize("place", range(0, ROWS, ROWS // 8))
def test_a_key_out_of_place_finds_its_partners_all_the_same(
    spark: SparkSession, place: int
) -> None:
    make_tables(spark, keys=ROWS)
    sort_sides(spark, ["k"], [f"IF(k = 8601, {place}, k)"], "k")
    assert in_buckets(spark, ALL["full"]) > 1.9 * ROWS


def test_null_safe_keys_meet_by_bucket_too(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    assert in_buckets(spark, INNER.replace("l.k = r.k", "l.k <=> r.k")) > 1.9 * ROWS


def test_a_time_that_is_null_and_may_match_is_found_by_bucket(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    query = ALL["full"].replace(ON, "l.k = r.k AND (r.t BETWEEN l.t - 9 AND l.t OR r.t IS NULL)")
    with settings(spark, {"spark.plait.join.radix": "always"}):
        assert in_buckets(spark, query) > 1.9 * ROWS


def test_a_time_that_is_null_and_may_match_is_found_where_rows_come_by_key(
    spark: SparkSession,
) -> None:
    make_tables(spark, keys=500)
    sort_sides(spark, ["k"], ["k"], "k")
    query = ALL["full"].replace(ON, "l.k = r.k AND (r.t BETWEEN l.t - 9 AND l.t OR r.t IS NULL)")
    assert in_buckets(spark, query) > 1.9 * ROWS


def test_keys_with_many_rows_are_sorted_by_order(spark: SparkSession) -> None:
    make_tables(spark, keys=20)
    query = f"SELECT l.id, r.id FROM l JOIN r ON {ON.replace('4000', '3')}"
    assert in_buckets(spark, query) == 0


@pytest.mark.parametrize("join_type", ALL)
def test_rows_that_reach_a_good_part_of_their_key_go_by_bucket_however_many_it_has(
    spark: SparkSession, join_type: str
) -> None:
    make_tables(spark, keys=200)
    assert in_buckets(spark, ALL[join_type]) > 1.9 * ROWS
    assert in_buckets(spark, ALL[join_type].replace("4000", "3")) == 0


@pytest.mark.parametrize("join_type", ["semi", "anti", "existence"])
def test_rows_that_are_done_at_their_first_match_probe_though_they_are_more(
    spark: SparkSession, join_type: str
) -> None:
    # If they were built, each right row would go past all of its key that have had their match.
    make_tables(spark, keys=200, left_rows=2 * ROWS)
    df = spark.sql(ALL[join_type])
    df.collect()
    metrics = plait.counters(df)[0].metrics
    assert metrics["rowsInBuckets"] > 2.9 * ROWS
    assert (metrics["pairsByProbingLeft"], metrics["pairsByProbingRight"] > ROWS) == (0, True)


@pytest.mark.parametrize("join_type", ["semi", "anti"])
def test_rows_that_are_done_at_their_first_match_go_by_bucket_if_they_soon_have_one(
    spark: SparkSession, join_type: str
) -> None:
    # A thousand rows share a key: every second is reached, or none is.
    make_tables(spark, keys=20)
    assert in_buckets(spark, ALL[join_type]) > 1.9 * ROWS
    out_of_reach = ALL[join_type].replace(
        "l.t - 4000 AND l.t + 4000", "l.t + 30000 AND l.t + 40000"
    )
    with settings(spark, {"spark.plait.join.footers": 0}):
        assert in_buckets(spark, out_of_reach) == 0


def test_few_rows_are_sorted_unless_all_are_to_go_by_bucket(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS, right_rows=100)
    assert in_buckets(spark, INNER) == 0
    with settings(spark, {"spark.plait.join.radix": "always"}):
        assert in_buckets(spark, INNER) > 0


SOLVED = "pow(r.t - l.t, 2) <= 16000000"
EITHER = "(r.t BETWEEN l.t - 9 AND l.t + 900 OR r.t BETWEEN l.t + 2000 AND l.t + 6000)"


@pytest.mark.parametrize("join_type", ALL)
def test_rows_whose_reach_would_be_solved_are_compared_with_the_few_of_their_key(
    spark: SparkSession, join_type: str
) -> None:
    make_tables(spark, keys=ROWS, right_rows=1000)
    query = ALL[join_type].replace("r.t BETWEEN l.t - 4000 AND l.t + 4000", SOLVED)
    assert "as solved for each row" in str(plait.explain(spark.sql(query)))
    assert in_buckets(spark, query) > ROWS


def test_a_reach_is_solved_where_many_rows_have_one_key(spark: SparkSession) -> None:
    make_tables(spark, keys=20, right_rows=3000, left_rows=6000)
    query = INNER.replace("r.t BETWEEN l.t - 4000 AND l.t + 4000", SOLVED)
    assert in_buckets(spark, query) == 0


def test_the_cases_of_an_or_are_computed_and_go_by_bucket_as_any_formula(
    spark: SparkSession,
) -> None:
    make_tables(spark, keys=200)
    query = INNER.replace("r.t BETWEEN l.t - 4000 AND l.t + 4000", EITHER)
    told = str(plait.explain(spark.sql(query)))
    assert "reaches t in [t - 9, t + 900] or [t + 2000, t + 6000]" in re.sub(r"#\d+L?", "", told)
    assert in_buckets(spark, query) > 1.9 * ROWS


def test_never_is_never(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    with settings(spark, {"spark.plait.join.radix": "never"}):
        assert in_buckets(spark, INNER) == 0


def test_rows_held_are_told_as_they_are(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    df = spark.sql(INNER)
    rows = answer(df).total()
    found = plait.counters(df)[0].metrics
    assert found["numOutputRows"] == rows
    assert found["pairsByProbingLeft"] + found["pairsByProbingRight"] == rows
    assert found["leftRowsIn"] == found["leftPeakBuffered"] + found["leftRowsPruned"]
    assert found["peakBuffered"] == found["rowsInBuckets"]


@pytest.mark.parametrize("radix", ["always", "never"])
def test_where_nothing_asks_for_the_right_side_it_is_not_read(
    spark: SparkSession, radix: str
) -> None:
    one = spark.range(0, ROWS, 1, 1)
    one.selectExpr("id AS k", "id AS t").filter("k % 7 = 9").createOrReplaceTempView("nobody")
    bad = "CAST(raise_error('the right side was read') AS INT) AS bad"
    one.selectExpr("id AS k", "id AS t", bad).createOrReplaceTempView("unread")
    query = "SELECT l.k, r.bad FROM nobody l LEFT JOIN unread r ON {}"
    on = "l.k = r.k AND r.t BETWEEN l.t - 5 AND l.t + 5"
    with settings(spark, {"spark.plait.join.radix": radix, "spark.sql.adaptive.enabled": False}):
        df = spark.sql(query.format(on))
        assert df.collect() == []
        assert "SymmetricHashJoin" in str(plait.explain(df))


def test_a_limit_above_ends_it(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    assert len(spark.sql(f"{INNER} LIMIT 5").collect()) == 5


def test_another_word_is_refused_with_those_that_exist(spark: SparkSession) -> None:
    make_tables(spark, keys=ROWS)
    with (
        settings(spark, {"spark.plait.join.radix": "perhaps"}),
        pytest.raises(Exception, match="'perhaps', but must be one of auto, always, never"),
    ):
        spark.sql(INNER).collect()
