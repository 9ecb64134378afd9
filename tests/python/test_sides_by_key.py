# SPDX-License-Identifier: Apache-2.0
"""Examples: sides that Spark knows to come by key are joined key by key; the oracle is Spark.

20,000 rows a side, sorted by key within their partition. Every 50th key and every 70th time is
NULL, every 30th row comes twice. A key has about one row, 40, or 1,000; or most have one and a few
1,000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import col
from tests.python.queries import compared, plan_of, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 20_000
BAND = "r.t BETWEEN l.t - 9 AND l.t + 9"
ON = f"l.k = r.k AND {BAND}"
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
FULL = ALL["full"]
KEYS = {
    "one": f"id * {{}} % {ROWS}",
    "forty": "id * {} % 500 - 250",
    "a thousand": "id * {} % 20",
    "some many": f"IF(id % 4 = 0, (id % 5) * 4000, id * {{}} % {ROWS})",
}


def sorted_by_key(df: DataFrame, *by: str) -> DataFrame:
    # Below EXISTS Spark would take a sort out that it sees, and of an alias it would not know it.
    return df.coalesce(1).localCheckpoint().sortWithinPartitions(*by).localCheckpoint()


def make_tables(spark: SparkSession, keys: str, key: str = "k", by: str = "k") -> None:
    for name, factor in (("l", 7919), ("r", 6007)):
        rows = spark.range(0, ROWS, 1, 2).selectExpr(
            "explode(IF(id % 30 = 4, array(id, id), array(id))) AS id",
        )
        of_name = rows.selectExpr(
            "id",
            f"IF(id % 50 = 7, NULL, {KEYS[keys].format(factor)}) AS k",
            f"IF(id % 70 = 9, NULL, id * 104729 % {ROWS}) AS t",
            "repeat('x', CAST(id % 40 AS INT)) AS name",
        ).selectExpr(
            "id", f"{key} AS k", "t", "name", "CAST(k AS INT) AS i", "CAST(k % 3 AS INT) AS j"
        )
        sorted_by_key(of_name, *by.split(", ")).createOrReplaceTempView(name)


@pytest.fixture(autouse=True)
def shuffling(spark: SparkSession) -> Iterator[None]:
    one_task = {"spark.sql.shuffle.partitions": 1, "spark.sql.autoBroadcastJoinThreshold": -1}
    with settings(spark, one_task):
        yield


def counted(spark: SparkSession, query: str) -> Mapping[str, int]:
    (found,) = plait.counters(compared(spark, query))
    return found.metrics


def comes_by_key(spark: SparkSession, query: str) -> bool:
    return "comes by key" in plan_of(compared(spark, query))


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("join_type", ALL)
def test_each_type_gives_the_rows_of_spark(spark: SparkSession, join_type: str, keys: str) -> None:
    make_tables(spark, keys)
    metrics = counted(spark, ALL[join_type])
    by_key = metrics["rowsByKey"] / (metrics["leftRowsIn"] + metrics["rightRowsIn"])
    least, most = (1, 1) if keys in ("one", "forty") else (0, 0.05)
    assert least <= by_key <= most


def test_of_few_rows_a_key_no_more_are_held_than_a_key_has(spark: SparkSession) -> None:
    make_tables(spark, "one")
    metrics = counted(spark, FULL)
    assert metrics["peakBuffered"] <= 10
    assert metrics["numOutputRows"] > ROWS
    make_tables(spark, "forty")
    assert 30 < counted(spark, FULL)["peakBuffered"] < 64


def test_what_was_joined_by_key_goes_on_after_keys_with_many_rows(spark: SparkSession) -> None:
    # Every 30,000th key has 500 rows: a portion of some 65,000 rows is stored from there on.
    for name, factor in (("l", 7919), ("r", 6007)):
        rows = spark.range(120_000).selectExpr(
            "explode(IF(id % 30000 = 17, sequence(1, 500), array(1))) AS n", "id AS k"
        )
        sorted_by_key(
            rows.selectExpr("k * 1000 + n AS id", "k", f"n * {factor} % 500 AS t", "'' AS name"),
            "k",
        ).createOrReplaceTempView(name)
    for join_type in ("inner", "full"):
        metrics = counted(spark, ALL[join_type])
        assert 50_000 < metrics["rowsByKey"] < metrics["leftRowsIn"]
        assert 60_000 < metrics["peakBuffered"] < 70_000


@pytest.mark.parametrize("hint", ["", "BROADCAST(r)", "SHUFFLE_HASH(r)", "NO_SYMMETRIC_HASH(r)"])
def test_a_hint_of_another_way_is_followed(spark: SparkSession, hint: str) -> None:
    make_tables(spark, "one")
    hinted = INNER.replace("SELECT", f"SELECT /*+ {hint} */" if hint else "SELECT")
    assert comes_by_key(spark, hinted) == (not hint)


@pytest.mark.parametrize(
    ("key", "by", "is_known"),
    [
        ("CAST(k AS STRING)", "k", True),
        ("CAST(CAST(k AS STRING) AS BINARY)", "k", True),
        ("CAST(k - 250 AS DECIMAL(30, 2))", "k", True),
        ("date_add(DATE'1970-01-01', CAST(k - 250 AS INT))", "k", True),
        ("timestamp_seconds(k)", "k", True),
        ("struct(k % 7 - 3 AS a, CAST(k AS STRING) AS b)", "k", True),
        ("CAST(k - 250 AS DOUBLE) / 7", "k", False),
        ("CAST(k AS STRING) COLLATE UTF8_LCASE", "k", False),
        ("k", "name", False),
        ("k", "t", False),
    ],
)
@pytest.mark.parametrize("compiled", ["FALLBACK", "NO_CODEGEN"])
def test_keys_of_any_type_whose_order_is_that_of_their_equality(
    spark: SparkSession, key: str, by: str, is_known: bool, compiled: str
) -> None:
    make_tables(spark, "some many", key, by)
    with settings(spark, {"spark.sql.codegen.factoryMode": compiled}):
        assert comes_by_key(spark, FULL) == is_known


@pytest.mark.parametrize(
    ("by", "on", "is_known"),
    [
        ("j, i", "l.j = r.j AND l.i = r.i", True),
        ("j, i, t", "l.j = r.j AND l.i = r.i", True),
        ("j", "l.j = r.j AND l.i = r.i", False),
        ("i, j", "l.j = r.j AND l.i = r.i", False),
        ("j, k", "l.j = r.j AND l.k = r.k", True),
        ("k", "l.k <=> r.k", False),
        ("k, name", "l.k = r.k AND l.name = r.name", True),
    ],
)
@pytest.mark.parametrize("join_type", ["inner", "full"])
def test_columns_as_on_has_them_negative_numbers_too(
    spark: SparkSession, by: str, on: str, is_known: bool, join_type: str
) -> None:
    make_tables(spark, "forty", by=by)
    query = ALL[join_type].replace("l.k = r.k", on)
    assert comes_by_key(spark, query) == is_known


@pytest.mark.parametrize("nulls", ["asc_nulls_first", "asc_nulls_last", "desc"])
def test_nulls_stand_first_or_last_and_descending_sides_go_another_way(
    spark: SparkSession, nulls: str
) -> None:
    make_tables(spark, "some many")
    for name in "lr":
        by = getattr(col("k"), nulls)()
        sorted_by_key(spark.table(name), by).createOrReplaceTempView(name)  # type: ignore[arg-type]
    assert comes_by_key(spark, FULL) == (nulls != "desc")


@pytest.mark.parametrize("join_type", ALL)
def test_one_side_may_lack_most_keys_or_all(spark: SparkSession, join_type: str) -> None:
    make_tables(spark, "some many")
    for name, kept in (("l", "k % 19 = 3"), ("r", "k > 900000"), ("l", "k IS NULL")):
        whole = spark.table(name)
        whole.filter(kept).createOrReplaceTempView(name)
        assert comes_by_key(spark, ALL[join_type])
        whole.createOrReplaceTempView(name)


def test_a_time_that_is_null_and_may_match_is_found(spark: SparkSession) -> None:
    for keys in KEYS:
        make_tables(spark, keys)
        or_null = FULL.replace(BAND, "(r.t BETWEEN l.t - 9 AND l.t OR r.t IS NULL)")
        assert comes_by_key(spark, or_null)


def test_reaches_that_would_be_solved_are_not_where_few_rows_share_a_key(
    spark: SparkSession,
) -> None:
    make_tables(spark, "one")
    assert counted(spark, FULL.replace(BAND, "pow(r.t - l.t, 2) <= 81"))["rowsByKey"] > 1.9 * ROWS


def test_sides_that_windows_and_sort_merge_joins_give_come_by_key(spark: SparkSession) -> None:
    make_tables(spark, "some many")
    for name in "lr":
        spark.table(name).repartition(3).createOrReplaceTempView(name)
    versions = "(SELECT *, lead(t) OVER (PARTITION BY k ORDER BY t, id) AS until FROM {})"
    windows = (
        f"SELECT l.id, r.id FROM {versions.format('l')} l LEFT JOIN {versions.format('r')} r "
        "ON l.k = r.k AND r.t BETWEEN l.t AND l.until - 1 AND r.until - r.t < 99"
    )
    assert comes_by_key(spark, windows)
    only = "(SELECT DISTINCT k FROM {0} WHERE id > 9) {0}k"
    left, right = (
        f"(SELECT /*+ NO_SYMMETRIC_HASH({n}k) */ {n}.* FROM {n} JOIN {only.format(n)} "
        f"ON {n}.k = {n}k.k) {n}"
        for n in "lr"
    )
    merged = f"SELECT l.id, r.id FROM {left} JOIN {right} ON {ON}"
    df = compared(spark, merged)
    assert "comes by key" in plan_of(df)
    assert "SortMergeJoin" in plan_of(df)


def test_buckets_in_key_order_come_by_key(spark: SparkSession, tmp_path: Path) -> None:
    make_tables(spark, "some many")
    for name in "lr":
        rows = spark.table(name).repartition(3, "k").write.bucketBy(3, "k").sortBy("k")
        rows.option("path", str(tmp_path / name)).mode("overwrite").saveAsTable(
            f"{name}_in_buckets"
        )
        spark.table(f"{name}_in_buckets").createOrReplaceTempView(name)
    known = "spark.sql.legacy.bucketedTableScan.outputOrdering"
    try:
        with settings(spark, {known: True}):
            assert comes_by_key(spark, FULL)
        assert not comes_by_key(spark, FULL)
    finally:
        for name in "lr":
            spark.sql(f"DROP TABLE IF EXISTS {name}_in_buckets")


def test_never_is_never(spark: SparkSession) -> None:
    make_tables(spark, "one")
    with settings(spark, {"spark.plait.join.radix": "never"}):
        assert not comes_by_key(spark, FULL)


@pytest.mark.parametrize("keys", KEYS)
def test_a_limit_above_ends_it(spark: SparkSession, keys: str) -> None:
    make_tables(spark, keys)
    assert len(spark.sql(f"{INNER} LIMIT 5").collect()) == 5


def test_each_row_is_counted_once(spark: SparkSession) -> None:
    make_tables(spark, "some many")
    metrics = counted(spark, FULL)
    rows = spark.table("l").count()
    assert (metrics["leftRowsIn"], metrics["rightRowsIn"]) == (rows, rows)
    assert metrics["numOutputRows"] == spark.sql(FULL).count()
    inner = counted(spark, INNER)
    found = inner["pairsByProbingLeft"] + inner["pairsByProbingRight"]
    assert found == inner["numOutputRows"]
