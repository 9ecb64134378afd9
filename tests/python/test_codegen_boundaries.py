# SPDX-License-Identifier: Apache-2.0
"""Examples: joins whose inputs are generated code; the oracle is Spark's own join.

Two tables in buckets of their key, 600 rows a side and 20 a key, so that nothing is shuffled. Every
50th key and every 70th time is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, plan_of, rows_of_spark, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON = "l.k = r.k AND r.t BETWEEN l.t - 90 AND l.t + 90"
EXISTS = f"EXISTS (SELECT 1 FROM r WHERE {ON})"
TYPES = {
    "inner": f"SELECT l.id, r.id FROM l JOIN r ON {ON}",
    "left": f"SELECT l.id, r.id FROM l LEFT JOIN r ON {ON}",
    "right": f"SELECT l.id, r.id FROM l RIGHT JOIN r ON {ON}",
    "full": f"SELECT l.id, r.id FROM l FULL JOIN r ON {ON}",
    "semi": f"SELECT l.id FROM l LEFT SEMI JOIN r ON {ON}",
    "anti": f"SELECT l.id FROM l LEFT ANTI JOIN r ON {ON}",
    "existence": f"SELECT l.id FROM l WHERE {EXISTS} OR l.id % 3 = 0",
}
ABOVE = {
    "whole rows": "{}",
    "a filter": "SELECT * FROM ({}) AS j WHERE id % 2 = 0",
    "an aggregate": "SELECT count(*), sum(id) FROM ({}) AS j",
    "a limit": "SELECT count(*) FROM (SELECT * FROM ({}) AS j LIMIT 7)",
}
GENERATED = r"\*\(\d+\) SymmetricHashJoin"
# An input of a join that is code of its own.
APART = re.compile(
    r"[:+]- CodegenBoundary\n\W*\*\(\d+\) (?:ColumnarToRow|Project|Filter|SymmetricHashJoin)"
)
CODE = {
    "spark.sql.codegen.wholeStage": True,
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.adaptive.enabled": False,
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> Iterator[None]:
    for name, factor in (("l", 7919), ("r", 6007)):
        rows = spark.range(600).selectExpr(
            "id", f"IF(id % 50 = 7, NULL, id * {factor} % 30) AS k", f"id * {factor} % 600 AS time"
        )
        written = rows.repartition(2, "k").write.mode("overwrite").bucketBy(2, "k")
        written.saveAsTable(f"in_buckets_{name}")
        table = spark.table(f"in_buckets_{name}")
        table.selectExpr("id", "k", "IF(id % 70 = 9, NULL, time) AS t").createOrReplaceTempView(
            name
        )
    yield
    for name in "lr":
        spark.catalog.dropTempView(name)
        spark.sql(f"DROP TABLE in_buckets_{name}")


def borders(plan: str) -> int:
    assert len(APART.findall(plan)) == plan.count("CodegenBoundary"), plan
    return plan.count("CodegenBoundary")


@pytest.mark.parametrize("is_adaptive", [True, False])
@pytest.mark.parametrize("join_type", TYPES)
def test_a_join_and_its_inputs_are_each_code_of_their_own(
    spark: SparkSession, join_type: str, is_adaptive: bool
) -> None:
    query = TYPES[join_type]
    with settings(spark, CODE | {"spark.sql.adaptive.enabled": is_adaptive}):
        df = spark.sql(query)
        rows = answer(df)
        plan = plan_of(df).split("== Initial Plan ==")[0]
        assert "Exchange" not in plan
        assert re.search(GENERATED, plan), plan
        assert borders(plan) == 2
        assert rows == rows_of_spark(spark, query)


@pytest.mark.parametrize("above", ABOVE)
def test_what_stands_above_takes_pairs(spark: SparkSession, above: str) -> None:
    query = ABOVE[above].format(TYPES["full"].replace(", r.id", ", r.id AS other"))
    with settings(spark, CODE):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert borders(plan_of(df)) == 2


def test_a_join_of_a_join_is_kept_apart_from_it(spark: SparkSession) -> None:
    outer = ON.replace("l.", "j.")
    inner = f"SELECT l.* FROM l LEFT SEMI JOIN r ON {ON}"
    query = f"SELECT j.id, r.id FROM ({inner}) j JOIN r ON {outer}"
    with settings(spark, CODE):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert len(re.findall(GENERATED, plan_of(df))) == 2
        assert borders(plan_of(df)) == 4


def test_an_as_of_join_is_kept_apart_too(spark: SparkSession) -> None:
    query = "SELECT l.id, r.id FROM l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k"
    with settings(spark, CODE):
        df = spark.sql(query)
        rows = answer(df)
        assert re.search(r"\*\(\d+\) AsOfJoin", plan_of(df)), plan_of(df)
        assert borders(plan_of(df)) == 2
    with settings(spark, {"spark.sql.codegen.wholeStage": False}):
        assert rows == answer(spark.sql(query))


@pytest.mark.parametrize(
    "key", ["spark.plait.join.whole-stage", "spark.sql.codegen.wholeStage", "spark.plait.enabled"]
)
def test_there_is_no_border_where_pairs_do_not_go_to_generated_code(
    spark: SparkSession, key: str
) -> None:
    with settings(spark, CODE | {key: False}):
        df = spark.sql(TYPES["full"])
        assert answer(df) == rows_of_spark(spark, TYPES["full"])
        assert borders(plan_of(df)) == 0


def test_rows_that_are_shuffled_need_no_border(spark: SparkSession) -> None:
    query = TYPES["full"].replace("l.k = r.k", "l.k + 1 = r.k + 1")
    with settings(spark, CODE):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert re.search(GENERATED, plan_of(df))
        assert borders(plan_of(df)) == 0
