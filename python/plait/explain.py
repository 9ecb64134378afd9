# SPDX-License-Identifier: Apache-2.0
"""What Plait did with a query: the orders and reaches of its joins, and what they pruned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from plait import _jvm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Sample(NamedTuple):
    """How many rows a task held after it had read so many."""

    partition: int
    rows_read: int
    left_buffered: int
    right_buffered: int


@dataclass(frozen=True)
class JoinCounters:
    """The metrics of one Plait join of a query that has run.

    ``trace`` is empty unless ``spark.plait.trace.buffered`` was ``true`` when the query ran.
    """

    join: str
    metrics: Mapping[str, int]
    trace: tuple[Sample, ...]


def explain(df: DataFrame, *, graph: bool = False) -> str:
    """Return the lines of the plan that tell how each Plait join of ``df`` prunes.

    With ``graph``, the lines of a join are followed by the graph of its condition as a Mermaid
    flowchart, with what is known of each term once the condition is TRUE. A query without a join
    of Plait's gives an empty text.

    >>> from plait import session
    >>> explain(session(master="local[2]").range(3))
    ''
    """
    report = _jvm.report(df.sparkSession)
    query = _jvm.query_execution(df)
    return str(report.graphs(query) if graph else report.pruning(query))


def counters(df: DataFrame) -> list[JoinCounters]:
    """Return the metrics of each Plait join of ``df``, from the last time that ``df`` ran.

    Run it by ``df.collect()`` or ``df.toPandas()``: what makes a new query out of it, as
    ``df.count()`` and ``df.write`` do, counts in that query.

    >>> from plait import session
    >>> counters(session(master="local[2]").range(3))
    []
    """
    report = json.loads(str(_jvm.report(df.sparkSession).counters(_jvm.query_execution(df))))
    return [
        JoinCounters(
            join["join"],
            join["metrics"],
            tuple(Sample(*sample) for sample in join["trace"]),
        )
        for join in report
    ]
