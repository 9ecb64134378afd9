# SPDX-License-Identifier: Apache-2.0
"""What the tests of queries share: settings for a while, answers, bounds, and plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import plait

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

NODES = ("SymmetricHashJoin", "CollectedJoin", "AsOfJoin")


@contextmanager
def settings(spark: SparkSession, keys: Mapping[str, str | int | bool]) -> Iterator[None]:
    """Set Spark's keys, and put them back in the end."""
    before = {key: spark.conf.get(key, None) for key in keys}
    for key, value in keys.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def answer(df: DataFrame) -> Counter[str]:
    """Run a query and return its rows as a multiset; as text, where NaN equals NaN."""
    return Counter(repr(tuple(row)) for row in df.collect())


def compared(spark: SparkSession, query: str) -> DataFrame:
    """Run a query and compare its rows with Spark's, of which there may be many."""
    df = spark.sql(query)
    rows = _in_sequence(df)
    with settings(spark, OF_SPARK):
        assert rows.equals(_in_sequence(spark.sql(query)))
    return df


def _in_sequence(df: DataFrame) -> pa.Table:
    rows = df.toArrow()
    columns = [str(number) for number in range(rows.num_columns)]
    return rows.rename_columns(columns).sort_by([(column, "ascending") for column in columns])


def shown(condition: str, **known: Any) -> dict[str, str]:
    """The bounds of each variable of a condition, as text."""
    return {name: repr(found) for name, found in plait.bounds(condition, **known).items()}


def plan_of(df: DataFrame) -> str:
    """The physical plan as it stands now, as text."""
    return str(df._jdf.queryExecution().executedPlan().toString())  # type: ignore[operator]


def rows_of(df: DataFrame, node: str) -> list[int]:
    """How many rows each node of that name gave, in a plan that ran without adaptive execution."""

    def given(plan: Any) -> list[int]:
        children = [plan.children().apply(i) for i in range(plan.children().size())]
        below = [rows for child in children for rows in given(child)]
        own = plan.nodeName().startswith(node)
        return [int(plan.metrics().apply("numOutputRows").value()), *below] if own else below

    return given(df._jdf.queryExecution().executedPlan())  # type: ignore[operator]


def joins_planned(df: DataFrame) -> int:
    """Count the joins of ``df`` that Plait has planned; after a run, in the plan that ran."""
    return sum(row.node.startswith(NODES) and row.side == "left" for row in plait.explain(df))


# To adapt and to deal takes longer than to run queries of a few rows. Its code is compiled all the
# same: without that Spark evaluates of `l.q = 0 OR r.x / l.q > 1` what the OR guards.
OF_SPARK = {
    "spark.plait.enabled": False,
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.adaptive.enabled": False,
}


def rows_of_spark(spark: SparkSession, query: str) -> Counter[str]:
    """Run a query without Plait."""
    with settings(spark, OF_SPARK):
        df = spark.sql(query)
        rows = answer(df)
        assert joins_planned(df) == 0
    return rows
