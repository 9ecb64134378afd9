# SPDX-License-Identifier: Apache-2.0
"""Examples: what Spark is told of the rows of a join is so; the oracle is Spark's own join.

A sort, an exchange or a broadcast is left out where the plan below says that none is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEAR = "l.k = r.k AND r.t BETWEEN l.t - 20 AND l.t + 20"
MATCH = "MATCH_CONDITION (l.t >= r.t) ON l.k = r.k"
# Types of joins, and the columns of a side that come out.
OF_BOTH = [
    (how, column) for how in ("INNER", "LEFT", "RIGHT", "FULL") for column in ("l.t", "r.t", "l.k")
]
OF_LEFT = [(how, column) for how in ("SEMI", "ANTI") for column in ("l.t", "l.k")]
COLLECTED = {
    "collected": f"{{}} JOIN {{}} ON {NEAR}",
    "collected, left": f"{{}} LEFT JOIN {{}} ON {NEAR}",
    "collected, no key": "{} JOIN {} ON r.t BETWEEN l.t AND l.t + 9",
}
ONE_PLAN = {"spark.sql.adaptive.enabled": False}
# Adaptive execution asks a broadcast whether it is worth an index; without it there is one at once.
BROADCASTING = ONE_PLAN | {"spark.sql.autoBroadcastJoinThreshold": "10MB"}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    for name, factor in (("l", 7919), ("r", 6007)):
        spark.range(0, 2000, 1, 3).selectExpr(
            "id", f"IF(id % 50 = 7, NULL, id * {factor} % 30) AS k", f"id * {factor} % 500 AS t"
        ).createOrReplaceTempView(name)
    yield
    for name in "lr":
        spark.catalog.dropTempView(name)


def is_sorted_in_partitions(spark: SparkSession, query: str, column: str) -> bool:
    """Sort each partition by a column, and look whether it is."""
    rows = spark.sql(query).sortWithinPartitions(column)
    in_partitions = rows.selectExpr(column, "spark_partition_id() AS p").collect()
    values = [(row["p"], row[column] is not None, row[column] or 0) for row in in_partitions]
    return all(a[0] != b[0] or a <= b for a, b in pairwise(values))


@pytest.mark.parametrize(("how", "column"), OF_BOTH + OF_LEFT)
def test_what_is_sorted_above_a_join_is_sorted(spark: SparkSession, how: str, column: str) -> None:
    query = f"SELECT {column} AS x FROM l {how} JOIN r ON {NEAR}"
    with settings(spark, ONE_PLAN):
        assert joins_planned(spark.sql(query)) == 1
        assert is_sorted_in_partitions(spark, query, "x")


@pytest.mark.parametrize("side", ["l", "r"])
def test_what_is_sorted_above_an_as_of_join_is_sorted(spark: SparkSession, side: str) -> None:
    query = f"SELECT {side}.t AS x FROM l LEFT ASOF JOIN r {MATCH}"
    with settings(spark, ONE_PLAN):
        assert joins_planned(spark.sql(query)) == 1
        assert is_sorted_in_partitions(spark, query, "x")


@pytest.mark.parametrize("join", COLLECTED)
def test_the_order_of_a_side_that_streams_through_is_kept_and_no_other_is_said(
    spark: SparkSession, join: str
) -> None:
    joined = COLLECTED[join].format("in_order l", "(SELECT * FROM r WHERE id < 900) r")
    spark.sql("CACHE TABLE in_order AS SELECT * FROM l SORT BY t")
    try:
        with settings(spark, BROADCASTING):
            for column, sorts in (("l.t", 0), ("r.t", 1)):
                hinted = f"SELECT /*+ BROADCAST(r) */ {column} AS x FROM {joined}"
                df = spark.sql(hinted).sortWithinPartitions("x")
                plan = plan_of(df).split("InMemoryRelation")[0]
                assert "CollectedJoin" in plan
                assert len(re.findall(r"\bSort \[", plan)) == sorts, plan
                assert is_sorted_in_partitions(spark, hinted, "x")
    finally:
        spark.sql("DROP VIEW in_order")


@pytest.mark.parametrize("join", ["collected", "collected, left"])
def test_rows_dealt_by_key_are_so_above_a_collected_join(spark: SparkSession, join: str) -> None:
    dealt = "(SELECT /*+ REPARTITION(3, k) */ * FROM l) l"
    joined = COLLECTED[join].format(dealt, "(SELECT * FROM r WHERE id < 900) r")
    query = f"SELECT /*+ BROADCAST(r) */ l.k, count(*), sum(r.id) FROM {joined} GROUP BY l.k"
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert plan_of(df).count("Exchange hashpartitioning") == 1
        assert "CollectedJoin" in plan_of(df)


TWICE = {
    "SymmetricHashJoin": (f"SELECT l.t, r.id FROM l JOIN r ON {NEAR}", ONE_PLAN),
    "AsOfJoin": (f"SELECT l.t, r.id FROM l ASOF JOIN r {MATCH}", ONE_PLAN),
    "CollectedJoin": (
        f"SELECT /*+ BROADCAST(r) */ l.t, r.id FROM l JOIN r ON {NEAR}",
        BROADCASTING,
    ),
}


@pytest.mark.parametrize("node", TWICE)
def test_an_exchange_above_equal_joins_is_made_once(spark: SparkSession, node: str) -> None:
    query, keys = TWICE[node]
    count = f"SELECT t, count(*) AS c, sum(id) AS s FROM ({query}) GROUP BY t"
    with settings(spark, keys):
        df = spark.sql(f"SELECT * FROM ({count}) UNION ALL SELECT * FROM ({count})")
        plan = plan_of(df)
        assert plan.count("ReusedExchange") == 1, plan
        assert len(re.findall(rf"{node} \[", plan)) == 1, plan
        once = answer(spark.sql(count))
        assert answer(df) == once + once
    with settings(spark, keys | {"spark.sql.adaptive.enabled": True}):
        df = spark.sql(f"SELECT * FROM ({count}) UNION ALL SELECT * FROM ({count})")
        assert answer(df) == once + once
        plan = plan_of(df).split("== Initial Plan ==")[0]
        assert plan.count("ReusedExchange") == 1, plan
        assert len(re.findall(rf"{node} \[", plan)) == 1, plan


@pytest.mark.parametrize("node", TWICE)
def test_joins_that_differ_in_their_condition_alone_are_both_made(
    spark: SparkSession, node: str
) -> None:
    query, keys = TWICE[node]
    count = "SELECT t, count(*) AS c, sum(id) AS s FROM ({}) GROUP BY t"
    other = query.replace("- 20", "- 30").replace("l.t >= r.t", "l.t > r.t")
    both = [count.format(each) for each in (query, other)]
    with settings(spark, keys):
        df = spark.sql(f"SELECT * FROM ({both[0]}) UNION ALL SELECT * FROM ({both[1]})")
        assert len(re.findall(rf"{node} \[", plan_of(df))) == 2
        first, second = (answer(spark.sql(each)) for each in both)
        assert first != second
        assert answer(df) == first + second


def test_a_broadcast_is_made_once_for_a_collected_join_and_for_sparks_own(
    spark: SparkSession,
) -> None:
    few = "(SELECT id, k, t FROM r WHERE id < 900)"
    query = (
        f"SELECT /*+ BROADCAST(r) */ l.id, r.id, r.t FROM l JOIN {few} r ON {NEAR} UNION ALL "
        f"SELECT /*+ BROADCAST(r) */ l.id, r.id, r.t FROM l JOIN {few} r "
        "ON l.k = r.k AND l.id <> r.id WHERE r.t IS NOT NULL AND l.t = 1"
    )
    with settings(spark, BROADCASTING):
        df = spark.sql(query)
        plan = plan_of(df)
        assert answer(df) == rows_of_spark(spark, query)
        assert [row.node for row in plait.explain(df) if row.side == "left"] == [
            "CollectedJoin",
            "BroadcastHashJoin",
        ]
        assert plan.count("ReusedExchange") == 1, plan


@pytest.mark.parametrize("node", TWICE)
def test_a_join_that_fills_a_cached_table_runs_on_our_node_and_is_explained(
    spark: SparkSession, node: str
) -> None:
    query, keys = TWICE[node]
    with settings(spark, keys):
        expected = answer(spark.sql(query))
        cached = spark.sql(query).cache()
        try:
            assert answer(cached) == expected
            assert [row.node for row in plait.explain(cached)] == [node, node]
            assert plait.counters(cached)[0].metrics["numOutputRows"] == expected.total()
            twice = cached.union(cached)
            assert answer(twice).total() == 2 * expected.total()
            assert [row.node for row in plait.explain(twice)] == [node, node]
            assert len(plait.counters(twice)) == 1
        finally:
            cached.unpersist()


def test_a_join_of_a_statement_that_has_run_is_explained(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE joined (a BIGINT, b BIGINT) USING parquet")
    try:
        ours = spark.sql(f"INSERT INTO joined SELECT l.id, r.t FROM l JOIN r ON {NEAR}")
        assert joins_planned(ours) == 1
        plain = spark.sql("INSERT INTO joined SELECT l.id, r.t FROM l JOIN r ON l.k = r.k")
        assert str(plait.explain(plain)).endswith("[NO_COMPARISON]")
    finally:
        spark.sql("DROP TABLE joined")
