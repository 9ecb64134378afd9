# SPDX-License-Identifier: Apache-2.0
"""Spark as a peer: the session of a benchmark, tables with a seed, a join under some settings.

A run is found again in Spark's own status store by its job tag: that is where the memory of tasks
and the bytes spilled come from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plait
from benchmarks.peer import Join, Measured, Query, alike, timed, watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# Part of the data: rand() goes by partition.
PARTITIONS = 4

BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
BROADCASTING_OFF = {BROADCAST: "-1"}
BROADCASTING_ON = {BROADCAST: "10m"}  # Spark's default
STOCK = {"spark.plait.enabled": "false"}
_DEFAULTS = {
    BROADCAST: "10m",
    "spark.plait.enabled": "true",
    "spark.plait.join.footers": "32",
    "spark.sql.adaptive.enabled": "true",
}

# Those of Plait, as plait.explain names them.
NODES = ("SymmetricHashJoin", "CollectedJoin", "AsOfJoin")

_runs = itertools.count()


def start(heap: str = "6g") -> SparkSession:
    """Return the session that all benchmarks use, in a JVM with so much memory."""
    spark = plait.session(
        master="local[2]",
        app_name="plait-bench",
        **{
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.memory": heap,
            "spark.executor.metrics.pollingInterval": "50ms",
            # What tasks have used is read of all stages of a query, which may be hundreds.
            "spark.ui.retainedStages": "10000",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        },
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def jdk(spark: SparkSession) -> str:
    """Return the version of the JDK that runs Spark."""
    return str(_jvm(spark).java.lang.System.getProperty("java.version"))


def write(spark: SparkSession, folder: Path, name: str, rows: int, columns: Sequence[str]) -> Path:
    """Write a table of ``columns``, expressions over ``id`` below ``rows``, unless it is there."""
    path = folder / name
    if not path.exists():
        spark.range(0, rows, 1, PARTITIONS).selectExpr(*columns).write.parquet(str(path))
    return path


def name_tables(spark: SparkSession, tables: Mapping[str, Path]) -> None:
    """Make the tables known by their names."""
    for name, path in tables.items():
        spark.read.parquet(str(path)).createOrReplaceTempView(name)


@dataclass(frozen=True)
class SparkPeer:
    """A join as Spark runs it under some settings; by default with Plait."""

    name: str
    spark: SparkSession
    join: Join | Query
    settings: Mapping[str, str] = field(default_factory=dict)

    def run(self) -> Measured:
        """Run the join to its end."""
        seconds, (df, rows), tag = self._ask(self.join.whole)
        used = tasks(self.spark, lambda job: job.jobTags().contains(tag))
        return Measured(seconds, alike(rows), used.cpu, used.memory, used.spill, joins=joins_of(df))

    def first(self) -> float | None:
        """Run the join up to its first row."""
        return self._ask(self.join.one_row)[0] if self.join.one_row else None

    def _ask(self, text: str) -> tuple[float, tuple[DataFrame, list[Row]], str]:
        def ask() -> tuple[DataFrame, list[Row]]:
            df = self.spark.sql(text)
            return df, df.collect()

        context = self.spark.sparkContext
        tag = f"plait-bench-{next(_runs)}"
        for key, value in {**_DEFAULTS, **self.settings}.items():
            self.spark.conf.set(key, value)
        context.addJobTag(tag)
        try:
            with watched(lambda: context.cancelJobsWithTag(tag)):
                seconds, found = timed(ask)
        finally:
            context.removeJobTag(tag)
        return seconds, found, tag


def joins_of(df: DataFrame) -> tuple[str, ...]:
    """Return the joins of a query that ran, as Measured has them."""
    return tuple(
        side.node if side.node.startswith(NODES) else f"{side.node} [{side.why_not}]"
        for side in plait.explain(df)
        if side.side == "left"
    )


@dataclass(frozen=True)
class FloorPeer(SparkPeer):
    """Work that is no join but that every join of its kind does; its answer is not compared."""

    def run(self) -> Measured:
        """Do the work."""
        return replace(super().run(), answer=None)


def floor(
    spark: SparkSession, sides: Mapping[str, Sequence[str]], settings: Mapping[str, str]
) -> FloorPeer:
    """Return the floor of a join: each table shuffled by its first column, sorted by its second.

    All columns named go through the shuffle; each table names as many.
    """
    width = len(next(iter(sides.values())))
    parts = " UNION ALL ".join(
        f"SELECT {', '.join(f'{c} AS c{n}' for n, c in enumerate(columns))} FROM "
        f"(SELECT * FROM {table} DISTRIBUTE BY {columns[0]} SORT BY {columns[1]})"
        for table, columns in sides.items()
    )
    largest = ", ".join(f"max(c{n})" for n in range(width))
    return FloorPeer("floor", spark, Join(f"FROM ({parts})", "", largest), settings)


@dataclass(frozen=True)
class Tasks:
    """What tasks of Spark have used: seconds of the processor, and bytes."""

    cpu: float
    memory: int
    spill: int


def tasks(spark: SparkSession, is_ours: Callable[[Any], bool]) -> Tasks:
    """Return what the tasks of the newest jobs have used, back to the first that is not ours."""
    context = _scala_context(spark)
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    cpu = memory = spill = 0
    for stage in {stage for job in _jobs(store, is_ours) for stage in job}:
        data = store.lastStageAttempt(stage)
        cpu += int(data.executorCpuTime())
        spill += int(data.diskBytesSpilled())
        if data.peakExecutorMetrics().isDefined():
            peaks = data.peakExecutorMetrics().get()
            memory = max(memory, int(peaks.getMetricValue("OnHeapExecutionMemory")))
    return Tasks(cpu / 1e9, memory, spill)


def _jobs(store: Any, is_ours: Callable[[Any], bool]) -> list[list[int]]:
    found = []
    for job in _items(store.jobsList(None)):
        if not is_ours(job):
            break  # the newest come first
        found.append([int(stage) for stage in _items(job.stageIds())])
    return found


def _items(scala_seq: Any) -> list[Any]:
    return [scala_seq.apply(n) for n in range(scala_seq.size())]


def _scala_context(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.sc()


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm
