# SPDX-License-Identifier: Apache-2.0
"""What Plait did with a query: the orders and reaches of its joins, and what they pruned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from plait import _jvm
from plait.errors import PlaitError
from plait.explanation import ExplainedSide, Explanation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Sample(NamedTuple):
    """How many rows a task held after it had read so many."""

    partition: int
    rows_read: int
    left_buffered: int
    right_buffered: int


# What is counted, as it is shown. A *task* joins the rows of some of the keys.
METRICS = {
    "leftRowsIn": "rows read of the left side",
    "rightRowsIn": "rows read of the right side",
    "leftRowsPruned": "left rows dead before the right side had ended",
    "rightRowsPruned": "right rows dead before the left side had ended",
    "leftOutOfOrder": "left rows against the declared order",
    "rightOutOfOrder": "right rows against the declared order",
    "leftPeakBuffered": "most left rows that a task held at once",
    "rightPeakBuffered": "most right rows that a task held at once",
    "peakBuffered": "most rows of both sides that a task held at once",
    "pairsByProbingLeft": "matches found by looking for a right row's partners on the left",
    "pairsByProbingRight": "matches found by looking for a left row's partners on the right",
    "numOutputRows": "rows out",
    "rowsInBuckets": "rows joined by bucket, for few of them share a key",
    "rowsByKey": "rows of sides that come by key, joined key by key as they came",
    "sortTime": "milliseconds of all tasks in which the join sorted or dealt its inputs",
    "spillSize": "bytes that the join wrote to disk: inputs while sorting, and rows held",
    "collectedRows": "rows of the collected side that an executor has indexed, 0 if none were",
    "probes": "rows of the other side that looked some of them up",
    "candidates": "rows that they looked at",
    "rowsPerKey": "rows of the collected side that share a key; with few of them there is no index",
}


@dataclass(frozen=True)
class JoinCounters:
    """The metrics of one Plait join of a query that has run; as a text, a table.

    ``metrics`` are numbers by name, the *most* rows of a task the greatest of all tasks, the others
    sums: rows read (``leftRowsIn``, ``rightRowsIn``), rows dead before the other side had ended
    (``leftRowsPruned``, ...), most rows held by a task (``leftPeakBuffered``, ..., ``peakBuffered``
    for both), matches by the side that was searched (``pairsByProbingLeft``, ...), and the rows
    that came out, ``numOutputRows``, for an inner join the sum of both; ``sortTime`` and
    ``spillSize`` where the join sorted its inputs itself, and ``rowsInBuckets`` where it did not as
    few rows share a key; ``leftOutOfOrder``, ``rightOutOfOrder``
    where an order is declared of the side. A join with a collected side has
    ``collectedRows``, ``probes``, ``candidates`` and ``numOutputRows`` instead, and ``rowsPerKey``
    where it was to see whether an index pays. ``trace`` is empty
    unless ``spark.plait.trace.buffered`` was ``true`` when the query ran.
    """

    join: str
    metrics: Mapping[str, int]
    trace: tuple[Sample, ...]

    def __str__(self) -> str:
        lines = [f"  {self.metrics[name]:>12,}  {METRICS[name]}" for name in self.metrics]
        return "\n".join([self.join, *lines])


def explain(df: DataFrame, *, graph: bool = False) -> Explanation:
    """Return how each join of ``df`` prunes, or why it is left to Spark.

    The answer is to be printed, iterated, or shown by a notebook. With ``graph``, the lines of a
    join of Plait's are followed by the graph of its condition as a Mermaid flowchart in a fenced
    block: each term with what is known of it, before and after each sweep of the solver. A
    query without a join gives no rows, and a text that says so.

    >>> from plait import session
    >>> list(explain(session(master="local[2]").range(3)))
    []
    """
    spark = _session(df, "explain")
    if _jvm.is_connect(spark):
        raise PlaitError(
            "This is a Spark Connect session, which has no JVM to ask: df.explain() shows how "
            "each join of Plait's prunes; EXPLAIN before the statement also why one is Spark's."
        )
    report = _jvm.report(spark)
    query = _jvm.query_execution(df)
    found = report.explain(query)
    text = str(report.graphs(query) if graph else found.toString())
    return Explanation(text, tuple(_side(row) for row in json.loads(str(found.json()))))


def counters(df: DataFrame) -> list[JoinCounters]:
    """Return the metrics of each Plait join of ``df``, from the last time that ``df`` ran.

    Run it by ``df.collect()`` or ``df.toPandas()``: what makes a new query out of it, as
    ``df.count()``, ``df.show()`` and ``df.write`` do, counts in that query. If it is known that
    ``df`` has not run, this is an error.

    >>> from plait import session
    >>> counters(session(master="local[2]").range(3))
    []
    """
    report = _jvm.report(_session(df, "counters"))
    query = _jvm.query_execution(df)
    if report.isPending(query):
        raise PlaitError(
            "This DataFrame has not run: call df.collect() or df.toPandas() first. What count(), "
            "show() and write run is another query."
        )
    return [
        JoinCounters(
            join["join"],
            {name: join["metrics"][name] for name in METRICS if name in join["metrics"]},
            tuple(Sample(*sample) for sample in join["trace"]),
        )
        for join in json.loads(str(report.counters(query)))
    ]


def _side(row: Mapping[str, Any]) -> ExplainedSide:
    return ExplainedSide(
        row["join"],
        row["node"],
        row["side"],
        row.get("prunedBy"),
        row.get("code"),
        tuple(row.get("arguments", ())),
        row.get("sentence"),
        row["text"],
    )


def _session(df: DataFrame, function: str) -> SparkSession:
    if not hasattr(df, "sparkSession") or not hasattr(df, "schema"):
        raise PlaitError(f"plait.{function} takes a DataFrame of Spark, not {type(df).__name__}.")
    return df.sparkSession
