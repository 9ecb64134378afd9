# SPDX-License-Identifier: Apache-2.0
"""Oracle: a condition is evaluated as it is written, as in Spark's own joins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.python.queries import answer, joins_planned, rows_of_spark, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT = "VALUES (1, 10, 0D, 1e20D, -1e20D), (2, 10, 3D, 1D, 1D) l(k, t, q, a, b)"
RIGHT = "VALUES (1, 12, 6D, 3D), (2, 12, 6D, 3D) r(k, t, x, c)"

CONDITIONS = {
    "what OR guards is not divided": "l.q = 0 OR (r.x / l.q > 1 AND r.x / l.q < 5)",
    "what AND guards is not divided": "l.q <> 0 AND r.x / l.q > 1 AND r.x / l.q < 5",
    "sums in other brackets are other sums": "(l.a + l.b) + r.c > 2 AND l.a + (l.b + r.c) < 1",
    "their product is no square": "((l.a + l.b) + r.c) * (l.a + (l.b + r.c)) <= 0",
}


BRACKETS = """SELECT {} l.k, r.x FROM VALUES (1, 1e20D, -1e20D, 3D) l(k, a, b, c)
    {} JOIN VALUES (1, 0D), (1, 1D), (1, 2D), (1, 3D) r(k, x)
    ON {} r.x BETWEEN l.a + (l.b + l.c) AND (l.a + l.b) + l.c"""
SHAPES = {
    "dealt by key": ("", "l.k = r.k AND"),
    "dealt by ranges": ("", ""),
    "the left side collected": ("/*+ BROADCAST(l) */", ""),
    "the right side collected": ("/*+ BROADCAST(r) */", ""),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shared", [True, False])
def test_sums_in_other_brackets_are_other_ends_of_a_reach(
    spark: SparkSession, shape: str, shared: bool
) -> None:
    """Spark takes both sums for one where it computes once what occurs twice, in some places."""
    conf = {
        "spark.sql.subexpressionElimination.enabled": shared,
        "spark.plait.join.strategy": "always",
    }
    hint, keys = SHAPES[shape]
    # Of a collected side Spark's own join evaluates the condition, whose interpreter shares.
    kinds = ("INNER",) if hint else ("INNER", "LEFT", "RIGHT")
    for compiled in ("FALLBACK",) if hint else ("FALLBACK", "NO_CODEGEN"):
        with settings(spark, conf | {"spark.sql.codegen.factoryMode": compiled}):
            for kind in kinds:
                df = spark.sql(BRACKETS.format(hint, kind, keys))
                assert {row.x for row in df.collect()} == {0, 1, 2, 3}
                assert joins_planned(df) == 1


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("case", CONDITIONS)
def test_a_condition_is_evaluated_as_it_is_written(
    spark: SparkSession, case: str, kind: str
) -> None:
    near = "l.k = r.k AND r.t BETWEEN l.t AND l.t + 5"
    query = f"SELECT * FROM {LEFT} {kind} {RIGHT} ON {near} AND ({CONDITIONS[case]})"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert joins_planned(df) == 1
