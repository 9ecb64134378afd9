# SPDX-License-Identifier: Apache-2.0
"""Examples: collected sides indexed once it is likely to pay. The oracle is Spark's own join."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.python.points_in_ranges import (
    BROADCASTING,
    IN_RANGE,
    KEYED,
    name_points_and_ranges,
    nodes,
)
from tests.python.queries import answer, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Name the tables of all queries."""
    name_points_and_ranges(spark)


def counters_of_collected(
    spark: SparkSession, query: str, how: Mapping[str, str | int | bool]
) -> dict[str, int]:
    """Run a query as a collected join, compare it with Spark's rows, and return what it counted."""
    with settings(spark, BROADCASTING | how):
        df = spark.sql(query)
        rows = answer(df)
        assert nodes(df) == ["CollectedJoin"]
        (counted,) = plait.counters(df)
    assert rows == rows_of_spark(spark, query)
    return counted.metrics


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
    metrics = counters_of_collected(spark, query, {})
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
    metrics = counters_of_collected(spark, query, how)
    if join not in ("LEFT SEMI JOIN", "EXISTS"):
        assert metrics["collectedRows"] > 0


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
