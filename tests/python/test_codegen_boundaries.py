# SPDX-License-Identifier: Apache-2.0
"""Examples: joins whose inputs are generated code; the oracle is Spark's own join.

Of as-of joins, which Spark does not have, it is the same join where no code is generated.

Two tables in buckets of their key, 600 rows a side and 20 a key, so that nothing is shuffled. Every
50th key and every 70th time is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ON = "l.k = r.k AND r.t BETWEEN l.t - 90 AND l.t + 90"
SOLVED = "pow(r.t - l.t, 2) < 9"
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
FULL = f"l FULL JOIN r ON {ON}"
ABOVE = {
    "nothing": f"SELECT * FROM {FULL}",
    "a filter": f"SELECT l.id, r.id FROM {FULL} WHERE coalesce(l.id, -r.id) % 2 = 0",
    "an aggregate": f"SELECT count(*), sum(l.id), sum(r.t) FROM {FULL}",
    "an exchange": f"SELECT l.t, count(r.id) FROM {FULL} GROUP BY l.t",
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


def plan_that_ran(spark: SparkSession, query: str) -> str:
    """Run a query, compare its rows with Spark's, and return its plan."""
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    return plan_of(df).split("== Initial Plan ==")[0]


@pytest.mark.parametrize("is_adaptive", [True, False])
@pytest.mark.parametrize("join_type", TYPES)
def test_a_join_and_its_inputs_are_each_code_of_their_own(
    spark: SparkSession, join_type: str, is_adaptive: bool
) -> None:
    with settings(spark, CODE | {"spark.sql.adaptive.enabled": is_adaptive}):
        plan = plan_that_ran(spark, TYPES[join_type])
        assert "Exchange" not in plan
        assert re.search(GENERATED, plan), plan
        assert borders(plan) == 2


@pytest.mark.parametrize("is_adaptive", [True, False])
@pytest.mark.parametrize("above", ABOVE)
def test_what_stands_above_takes_pairs(spark: SparkSession, above: str, is_adaptive: bool) -> None:
    with settings(spark, CODE | {"spark.sql.adaptive.enabled": is_adaptive}):
        plan = plan_that_ran(spark, ABOVE[above])
        assert re.search(GENERATED, plan), plan
        assert borders(plan) == 2


def test_a_limit_above_ends_the_join(spark: SparkSession) -> None:
    some = f"SELECT l.id, r.id AS other FROM {FULL} LIMIT 7"
    with settings(spark, CODE):
        df = spark.sql(f"SELECT id, other, count(*) FROM ({some}) GROUP BY id, other")
        rows = [(row[0], row[1]) for row in df.collect()]
        assert borders(plan_of(df)) == 2
        found = plait.counters(df)[0].metrics["numOutputRows"]
        every = [tuple(row) for row in spark.sql(TYPES["full"]).collect()]
    assert len(rows) == 7
    assert set(rows) <= set(every)
    assert found < len(every) / 10


def test_rows_that_come_in_order_are_held_though_the_code_below_uses_theirs_again(
    spark: SparkSession,
) -> None:
    """One partition, so that nothing is shuffled, sorted by its ids as it is made."""
    one = "(SELECT id, id % 7 AS k, concat(id, 'x') AS name FROM range(0, 400, 1, 1))"
    query = (
        f"SELECT l.id, r.id, l.name, r.name FROM {one} l FULL JOIN {one} r "
        "ON l.k = r.k AND r.id BETWEEN l.id + 3 AND l.id + 90"
    )
    with settings(spark, CODE):
        plan = plan_that_ran(spark, query)
        assert "sorted here" not in plan
        assert re.search(GENERATED, plan)
        assert borders(plan) == 2


def test_a_join_of_a_join_is_kept_apart_from_it(spark: SparkSession) -> None:
    outer = ON.replace("l.", "j.")
    inner = f"SELECT l.* FROM l LEFT SEMI JOIN r ON {ON}"
    query = f"SELECT j.id, r.id FROM ({inner}) j JOIN r ON {outer}"
    with settings(spark, CODE):
        plan = plan_that_ran(spark, query)
        assert len(re.findall(GENERATED, plan)) == 2
        assert borders(plan) == 4


def test_an_as_of_join_is_kept_apart_too(spark: SparkSession) -> None:
    query = "SELECT l.id, r.id FROM l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k"
    with settings(spark, CODE):
        df = spark.sql(query)
        rows = answer(df)
        assert re.search(r"\*\(\d+\) AsOfJoin", plan_of(df)), plan_of(df)
        assert borders(plan_of(df)) == 2
    with settings(spark, {"spark.sql.codegen.wholeStage": False}):
        assert rows == answer(spark.sql(query))


NO_CODE = {
    "switched off": {"spark.plait.join.whole-stage": False},
    "Spark's switched off": {"spark.sql.codegen.wholeStage": False},
    "all of it switched off": {"spark.sql.codegen.factoryMode": "NO_CODEGEN"},
    "too many columns": {"spark.sql.codegen.maxFields": 5},
}


@pytest.mark.parametrize("why", NO_CODE)
def test_there_is_no_border_where_pairs_do_not_go_to_generated_code(
    spark: SparkSession, why: str
) -> None:
    with settings(spark, CODE | NO_CODE[why]):
        plan = plan_that_ran(spark, ABOVE["nothing"])
        assert "SymmetricHashJoin" in plan
        assert not re.search(GENERATED, plan)
        assert borders(plan) == 0


def test_there_is_no_border_where_a_reach_is_solved(spark: SparkSession) -> None:
    query = f"SELECT l.id, r.id FROM l JOIN r ON l.k = r.k AND {SOLVED}"
    with settings(spark, CODE):
        plan = plan_that_ran(spark, query)
        assert "as solved for each row" in plan
        assert not re.search(GENERATED, plan)
        assert borders(plan) == 0


def test_shuffled_rows_that_the_join_sorts_itself_need_no_border(spark: SparkSession) -> None:
    query = TYPES["full"].replace("l.k = r.k", "l.k + 1 = r.k + 1")
    with settings(spark, CODE):
        plan = plan_that_ran(spark, query)
        assert re.search(GENERATED, plan)
        assert borders(plan) == 0
