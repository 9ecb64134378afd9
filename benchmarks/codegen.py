# SPDX-License-Identifier: Apache-2.0
"""What generated code for whole stages gains a join: W1, W4 and joins of buckets, with and without.

    with      the pairs of a join go to the code of what stands above it, and no row is made of them
    without   spark.plait.join.whole-stage=false: each pair becomes a row, and what stands above and
              below is generated as ever

Conditions, keys, orders and reaches are generated code either way. Nothing is claimed; broadcasting
is off. (Spark's own join compares all pairs of a key here, for minutes, and is left out.)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import grid, w1, w4
from benchmarks import spark as sparks
from benchmarks.race import race
from benchmarks.result import Case, Result
from benchmarks.spark import BROADCASTING_OFF, SparkPeer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options
    from benchmarks.peer import Join

TITLE = "Joins with generated code for whole stages, and without"
WITHOUT = {"spark.plait.join.whole-stage": "false"}
KEYS = 64


def peers(spark: SparkSession, join: Join) -> list[SparkPeer]:
    """Return Plait with and without."""
    return [
        SparkPeer(f"Plait{how}", spark, join, {**BROADCASTING_OFF, **setting})
        for how, setting in (("", {}), (", rows", WITHOUT))
    ]


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Race the two and keep the result."""
    result = Result("codegen", TITLE, sparks.jdk(spark), options)
    for rows in options.sizes(1_000_000):
        cases = {
            f"W1, {rows:,} rows a side, {KEYS} keys": w1.JOIN,
            f"W4, {rows:,} rows a side": w4.JOIN,
        }
        w1.make_tables(spark, folder / "w1", rows, KEYS)
        w4.make_tables(spark, folder / "w4", rows)
        for title, join in cases.items():
            result.add(Case(title, race(peers(spark, join), options.runs)))
        # Buckets are not shuffled: the stages that read them, which are generated, end in the join.
        for case in grid.cases(rows * 3 // 10):
            if case.buckets:
                grid.make_tables(spark, folder / "grid", case)
                result.add(Case(case.name, race(peers(spark, case.join), options.runs)))
    print("\n".join(result.judged))
