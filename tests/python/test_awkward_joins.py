# SPDX-License-Identifier: Apache-2.0
"""Oracle: joins with awkward keys, conditions and rows give the rows of Spark's own join."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import col, udf
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NEAR = "r.t BETWEEN l.t - 1 AND l.t + 2"
NAN_AND_ZEROS = "element_at(array(0.0D, -0.0D, double('NaN'), 1.5D, NULL), int(id % 5) + 1)"

KEYS = {
    "a string": "concat('key ', repeat('x', int(id % 7)))",
    "an empty string or a long one": "if(id % 2 = 0, '', repeat('y', 5000))",
    "a binary": "binary(string(id % 4))",
    "a boolean": "id % 2 = 0",
    "a decimal": "CAST(id % 3 AS DECIMAL(30, 2))",
    "a double, with -0.0 and NaN": NAN_AND_ZEROS,
    "a float, with -0.0 and NaN": f"float({NAN_AND_ZEROS})",
    "a struct": "struct(id % 2 AS a, string(id % 3) AS b)",
    "a struct with NULL inside": "struct(if(id % 4 = 0, NULL, id % 2) AS a, 'b' AS b)",
    "a struct of a double": f"struct({NAN_AND_ZEROS} AS a)",
    "an array": "array(id % 2, id % 3)",
    "a timestamp": "timestamp_seconds(id % 3)",
    "a local timestamp": "CAST(timestamp_seconds(id % 3) AS TIMESTAMP_NTZ)",
    "a date": "date_add(DATE'2026-01-01', int(id % 3))",
    "days": "make_dt_interval(int(id % 3))",
    "a collated text": "if(id % 3 = 0, 'Ab', 'aB') COLLATE UTF8_LCASE",
    "a struct of a collated text": "struct(if(id % 3 = 0, 'Ab', 'aB') COLLATE UTF8_LCASE AS a)",
    "an array of collated texts": "array('x', if(id % 3 = 0, 'Ab', 'aB') COLLATE UTF8_LCASE)",
    "NULL alone": "if(id < 0, 1, NULL)",
    "one for all": "id % 1",
    "one for each row": "id",
}
LEFT = "SELECT id, id DIV 6 AS t, {0} AS k FROM range(60)"
RIGHT = "SELECT id + 100 AS id, id DIV 7 AS t, {0} AS k FROM range(1, 80)"


@pytest.mark.parametrize("equals", ["=", "<=>"])
@pytest.mark.parametrize("key", KEYS)
def test_a_join_on_a_key_that_is(spark: SparkSession, key: str, equals: str) -> None:
    left, right = LEFT.format(KEYS[key]), RIGHT.format(KEYS[key])
    query = f"SELECT l.*, r.* FROM ({left}) l JOIN ({right}) r ON l.k {equals} r.k AND {NEAR}"
    df = spark.sql(query)
    assert joins_planned(df) == 1
    assert answer(df) == rows_of_spark(spark, query)


def test_a_join_on_several_keys_of_several_types(spark: SparkSession) -> None:
    left, right = (side.format("string(id % 2) AS k, id % 3") for side in (LEFT, RIGHT))
    query = (
        f"SELECT l.*, r.* FROM ({left.replace('3 AS k', '3 AS n')}) l "
        f"JOIN ({right.replace('3 AS k', '3 AS n')}) r "
        f"ON l.k = r.k AND l.n <=> r.n AND l.id % 5 = r.id % 5 AND {NEAR}"
    )
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query) != {}
    assert joins_planned(df) == 1


def test_a_join_on_a_collated_key(spark: SparkSession) -> None:
    left, right = (
        LEFT.format("if(id % 3 = 0, 'Ab', 'ac')"),
        RIGHT.format("if(id % 2 = 0, 'aB', 'AC')"),
    )
    query = (
        f"SELECT l.*, r.* FROM ({left}) l JOIN ({right}) r "
        f"ON l.k COLLATE UTF8_LCASE = r.k COLLATE UTF8_LCASE AND {NEAR}"
    )
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query) != {}
    assert joins_planned(df) == 1


def test_a_struct_of_collated_texts_made_in_the_condition_leaves_the_join_to_spark(
    spark: SparkSession,
) -> None:
    key = "if(id % 3 = 0, 'Ab', 'aB') COLLATE UTF8_LCASE"
    sides = f"({LEFT.format(key)}) l JOIN ({RIGHT.format(key)}) r"
    query = f"SELECT l.id, r.id FROM {sides} ON struct(l.k, 1) = struct(r.k, 1) AND {NEAR}"
    df = spark.sql(query)
    assert str(plait.explain(df)).endswith("[KEY_NOT_HASHABLE]")
    assert answer(df) == rows_of_spark(spark, query) != {}


CONDITIONS = {
    "an expression that costs": "r.t >= l.t AND sha2(string(l.id * r.id), 256) LIKE '%a'",
    "a subquery": "r.t >= l.t AND r.t < l.t + (SELECT count(*) FROM range(2))",
    "a subquery on one side": "r.t < l.t AND l.t > (SELECT 3)",
    "CASE": "r.t >= l.t AND CASE WHEN l.id % 2 = 0 THEN r.id > 140 ELSE r.t < 5 END",
    "IN": "r.t >= l.t AND r.id - l.id IN (99, 100, 101, 117)",
    "a lambda": "r.t >= l.t AND exists(sequence(l.id, l.id + 3), x -> x = r.id - 100)",
    "a comparison that is always true": "r.t >= l.t AND l.id < r.id",
    "a comparison that is never true": "r.t > l.t AND r.t < l.t",
    "one of one side": "r.t >= l.t AND l.id > 30 AND r.id % 2 = 0",
    "doubles beside": "r.t >= l.t AND double(r.t) < l.t + 1.5D",
    "decimals beside": "r.t >= l.t AND r.t < l.t * 1.1BD",
    "multiplication": "r.t >= l.t * 2 AND r.t <= l.t * l.t",
    "division": "r.t >= l.t DIV 2 AND r.t <= l.t DIV 2 + 1",
    "remainders": "r.t % 4 >= l.t % 3 AND r.t <= l.t",
    "abs": "abs(l.t - r.t) <= 1 AND l.t <= r.t + 5",
    "greatest": "r.t <= greatest(l.t, 4) AND least(r.t, 7) >= l.t",
    "a nested field": "struct(l.t AS a).a <= r.t AND r.t < array(l.t + 2)[0]",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_join_whose_condition_holds(spark: SparkSession, condition: str) -> None:
    left, right = LEFT.format("id % 3"), RIGHT.format("id % 4")
    query = (
        f"SELECT l.id, r.id FROM ({left}) l JOIN ({right}) r ON l.k = r.k "
        f"AND {CONDITIONS[condition]}"
    )
    df = spark.sql(query)
    assert joins_planned(df) == 1
    assert answer(df) == rows_of_spark(spark, query)


def test_what_is_not_deterministic_is_evaluated_above_the_join(spark: SparkSession) -> None:
    left, right = LEFT.format("id % 3"), RIGHT.format("id % 4")
    query = (
        f"SELECT l.id, r.id FROM ({left}) l, ({right}) r WHERE l.k = r.k AND r.t > l.t "
        "AND r.t < l.t + {0}"
    )
    df = spark.sql(query.format("1.2 + rand() / 2"))
    rows = answer(df)
    assert joins_planned(df) == 1
    assert rows == rows_of_spark(spark, query.format("1.5"))


def test_a_python_function_of_both_sides_is_evaluated_above_the_join(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The workers are to be this Python, whichever is first on the path.
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    odd = udf(lambda a, b: (a + b) % 2 == 1, "boolean")
    left = spark.sql(LEFT.format("id % 3")).alias("l")
    right = spark.sql(RIGHT.format("id % 4")).alias("r")

    def joined(odd_sum: Column) -> DataFrame:
        on = (col("l.k") == col("r.k")) & (col("l.t") <= col("r.t")) & odd_sum
        return left.join(right, on).select("l.id", "r.id")

    df = joined(odd(col("l.id"), col("r.id")))
    rows = answer(df)
    assert joins_planned(df) == 1
    with settings(spark, {"spark.plait.enabled": False}):
        assert rows == answer(joined((col("l.id") + col("r.id")) % 2 == 1))


def test_a_sum_that_overflows_in_a_row_without_a_partner_is_no_error(spark: SparkSession) -> None:
    largest = (1 << 63) - 1
    query = (
        f"SELECT * FROM (SELECT id AS k, if(id = 7, {largest}, id) AS t FROM range(8)) l "
        "JOIN (SELECT id AS k, id + 2 AS t FROM range(7)) r ON l.k = r.k AND l.t + 1 < r.t "
        "AND l.t + 9 > r.t"
    )
    df = spark.sql(query)
    rows = answer(df)
    assert joins_planned(df) == 1
    assert sum(rows.values()) == 7
    assert rows == rows_of_spark(spark, query)


def test_rows_of_200_columns(spark: SparkSession) -> None:
    def columns(side: str) -> str:
        kinds = ("id * {0}", "string(id + {0})", "if(id % 3 = 0, NULL, id / {0})", "id < {0}")
        return ", ".join(f"{kinds[n % 4].format(n + 1)} AS {side}{n}" for n in range(200))

    left, right = LEFT.format("id % 3"), RIGHT.format("id % 4")
    query = (
        f"SELECT * FROM (SELECT *, {columns('a')} FROM ({left}) WHERE id < 20) l "
        f"JOIN (SELECT *, {columns('b')} FROM ({right})) r ON l.k = r.k AND {NEAR}"
    )
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query) != {}
    assert joins_planned(df) == 1


def test_rows_with_a_megabyte_of_text(spark: SparkSession) -> None:
    # Long and short rows by turns, so that pages of every size are taken and given back.
    text = "if(id % 10 = 0, repeat(string(id), 500000), string(id))"
    left, right = LEFT.format(f"id % 2 AS k, {text}"), RIGHT.format(f"id % 2 AS k, {text}")
    query = (
        f"SELECT l.id, r.id, sha1(l.x) AS a, sha1(r.x) AS b, length(l.x) + length(r.x) AS n "
        f"FROM (SELECT * FROM ({left})) AS l(id, t, k, x) "
        f"JOIN (SELECT * FROM ({right})) AS r(id, t, k, x) ON l.k = r.k AND {NEAR}"
    )
    df = spark.sql(query)
    rows = answer(df)
    assert joins_planned(df) == 1
    assert rows == rows_of_spark(spark, query) != {}


@pytest.mark.parametrize("empty", ["left", "right", "both"])
@pytest.mark.parametrize("adaptive", [True, False])
def test_an_input_without_rows(spark: SparkSession, empty: str, adaptive: bool) -> None:
    left = LEFT.format("id % 3") + (" WHERE id > 60" if empty != "right" else "")
    right = RIGHT.format("id % 4") + (" WHERE id > 80" if empty != "left" else "")
    query = f"SELECT l.*, r.* FROM ({left}) l JOIN ({right}) r ON l.k = r.k AND {NEAR}"
    with settings(spark, {"spark.sql.adaptive.enabled": adaptive}):
        df = spark.sql(query)
        assert joins_planned(df) == 1
        assert not answer(df)


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_limit_gives_so_many_rows_of_the_join(spark: SparkSession, limit: int) -> None:
    left, right = LEFT.format("id % 3"), RIGHT.format("id % 4")
    query = f"SELECT l.*, r.* FROM ({left}) l JOIN ({right}) r ON l.k = r.k AND {NEAR}"
    some = answer(spark.sql(f"{query} LIMIT {limit}"))
    assert sum(some.values()) == limit
    assert some <= rows_of_spark(spark, query)


def test_a_column_that_is_all_of_a_row_and_one_that_is_none(spark: SparkSession) -> None:
    left, right = LEFT.format("id % 3"), RIGHT.format("id % 4")
    for columns in ("count(*)", "count(l.id)", "max(r.t - l.t)"):
        query = f"SELECT {columns} FROM ({left}) l JOIN ({right}) r ON l.k = r.k AND {NEAR}"
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)
