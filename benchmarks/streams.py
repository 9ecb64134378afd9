# SPDX-License-Identifier: Apache-2.0
"""Streams as a peer: a backlog of files is read one a micro-batch, and joined until it is read.

    orders     part-00000 part-00001 ... part-00023   ─┐  one of each a micro-batch
                                                       ├─►  query  ──►  Parquet, new for each run
    shipments  part-00000 part-00001 ... part-00023   ─┘      │
                                                          checkpoint, new for each run

The time of a run is that of the whole query, from its text to the end of its last micro-batch, with
checkpoint and sink. Its answer is sums over what lies in the sink then.

Fair to all peers:

1. All run in one JVM and have had a warm-up round. A query of streams runs for days: what it takes
   in its first seconds, while the JVM still compiles, says little, and would say it of the quicker
   peer above all. What the runs of one peer teach the JVM's compiler meets the others too.
2. Each run has a session, a checkpoint and a sink of its own. After it, state stores are unloaded
   and the heap is collected, so none runs in what another has left.
3. A peer is one setting of the session: the store of the state, and whether Plait is on. Nothing
   else is set that Spark does not set by itself, but two partitions for two cores.

Not measured: delay of a row, recovery, many executors.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from benchmarks import spark as sparks
from benchmarks.duck import DuckPeer
from benchmarks.options import Extent
from benchmarks.peer import Measured, Query, Rows, Stopped, alike, timed
from benchmarks.race import Lap

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    from benchmarks.options import Options

FILES = 24
STOPPED_AFTER = 300
WHOLE = "from the query's text to the end of its last micro-batch"

SETTINGS = {"spark.sql.shuffle.partitions": "2"}

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_STATE = "org.apache.spark.sql.execution.streaming.state"
HDFS = {_PROVIDER: f"{_STATE}.HDFSBackedStateStoreProvider"}
ROCKSDB = {_PROVIDER: f"{_STATE}.RocksDBStateStoreProvider"}
# How Spark's own join lays out its state: 2 if nothing is said; 4 is of RocksDB alone.
FORMAT_4 = {"spark.sql.streaming.join.stateFormatVersion": "4"}

# What keeps state beside joins.
_AGGREGATE = "stateStoreSave"
# Of this time and a second later each: Spark takes files by their last change.
_FIRST_CHANGE = 1_700_000_000

_runs = itertools.count()


def files(options: Options) -> int:
    """Return how many files a stream has."""
    return FILES if options.extent is Extent.WHOLE else 2


class Source(Protocol):
    """Where a query finds rows under a name."""

    def read(self, session: SparkSession) -> DataFrame:
        """Return the rows, as a stream or a table of the session."""


@dataclass(frozen=True)
class Backlog:
    """A folder of files that is a stream, one file a micro-batch.

    ``event_time`` is a column with a watermark ten minutes behind it, None if there is none.
    """

    folder: Path
    schema: StructType
    event_time: str | None = None

    def read(self, session: SparkSession) -> DataFrame:
        """Return the stream."""
        reader = session.readStream.schema(self.schema).option("maxFilesPerTrigger", 1)
        df = reader.parquet(str(self.folder))
        return df.withWatermark(self.event_time, "10 minutes") if self.event_time else df


@dataclass(frozen=True)
class Table:
    """The same folder as a table, beside a stream."""

    backlog: Backlog

    def read(self, session: SparkSession) -> DataFrame:
        """Return the table."""
        return session.read.schema(self.backlog.schema).parquet(str(self.backlog.folder))


def written(df: DataFrame, folder: Path, event_time: str | None = None) -> Backlog:
    """Write a file a partition, to be read in their sequence, unless that is done already."""
    if not folder.exists():
        df.write.parquet(str(folder))
        for number, path in enumerate(sorted(folder.glob("part-*.parquet"))):
            os.utime(path, (_FIRST_CHANGE + number,) * 2)
    return Backlog(folder, df.schema, event_time)


@dataclass(frozen=True)
class StreamQuery:
    """A query of streams, and what is asked of its sink.

    ``text`` names sources; ``sums`` are over ``result``, by default the rows as they came out. In
    the mode update those are versions of rows, with the column ``batch`` in which each came out.

    >>> StreamQuery("SELECT k FROM l JOIN r USING (k)", "count(*)").as_batch.whole
    'SELECT count(*) FROM (SELECT k FROM l JOIN r USING (k)) sink'
    """

    text: str
    sums: str
    result: str = "sink"
    mode: Literal["append", "update"] = "append"

    @property
    def as_batch(self) -> Query:
        """The same over tables, for those who know Spark's words."""
        return Query(f"SELECT {self.sums} FROM ({self.text}) sink")


@dataclass(frozen=True)
class StreamPeer:
    """A query of streams as Spark runs it under some settings; by default with Plait.

    ``folder`` is where checkpoints and sinks go; each is deleted after its run.
    """

    name: str
    spark: SparkSession
    query: StreamQuery
    sources: Mapping[str, Source]
    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    limit: int = STOPPED_AFTER

    def run(self) -> Measured:
        """Run the query over the whole backlog; Stopped if that takes too long."""
        session = self.spark.newSession()
        for key, value in {**SETTINGS, **self.settings}.items():
            session.conf.set(key, value)
        place = self.folder / f"run-{next(_runs)}"
        try:
            seconds, (query, schema) = timed(lambda: self._through(session, place))
            used = sparks.tasks(self.spark, lambda job: _group(job) == query.runId)
            states = _states(query)
            return Measured(
                seconds,
                self._answer(session, place, schema),
                used.cpu,
                used.memory,
                used.spill,
                tuple(rows for rows, _ in states),
                max((bytes_ for _, bytes_ in states), default=0),
            )
        finally:
            _forget(self.spark)
            shutil.rmtree(place, ignore_errors=True)

    def first(self) -> None:
        """Return None: what is asked of a stream is all of it."""

    def _through(self, session: SparkSession, place: Path) -> tuple[StreamingQuery, StructType]:
        for name, source in self.sources.items():
            source.read(session).createOrReplaceTempView(name)
        df = session.sql(self.query.text)
        query = _start(df, place, self.query.mode)
        try:
            if not query.awaitTermination(self.limit):
                raise Stopped(self.limit)
        finally:
            query.stop()
        return query, df.schema

    def _answer(self, session: SparkSession, place: Path, schema: StructType) -> Rows | None:
        if self.query.mode == "update":
            from pyspark.sql.types import LongType

            schema = schema.add("batch", LongType())
        session.read.schema(schema).parquet(str(place / "sink")).createOrReplaceTempView("sink")
        return alike(session.sql(f"SELECT {self.query.sums} FROM {self.query.result}").collect())


@dataclass(frozen=True)
class FloorPeer(StreamPeer):
    """Work that every join of the streams does; its answer is not compared."""

    def run(self) -> Measured:
        """Do the work."""
        return replace(super().run(), answer=None)


def in_duckdb(query: Query, backlogs: Mapping[str, Backlog]) -> Lap:
    """Run a query over the files of streams as tables: what the peers have to agree with."""
    tables = {name: backlog.folder for name, backlog in backlogs.items()}
    return Lap(last=DuckPeer(query, tables, settings="").run())


def kept(lap: Lap) -> tuple[int, ...]:
    """Return the rows in the state after each micro-batch of a peer's last run."""
    return (lap.last.state if lap.last else None) or ()


def _start(df: DataFrame, place: Path, mode: str) -> StreamingQuery:
    sink = str(place / "sink")
    writer = df.writeStream.outputMode(mode).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(place / "checkpoint"))
    if mode == "append":
        return writer.format("parquet").start(sink)

    # Spark's own sink of files takes rows that stay as they are alone.
    def keep(changed: DataFrame, batch: int) -> None:
        changed.selectExpr("*", f"{batch}L AS batch").write.mode("append").parquet(sink)

    return writer.foreachBatch(keep).start()


def _states(query: StreamingQuery) -> list[tuple[int, int]]:
    """Return of each micro-batch the rows in the state of joins, and the bytes of all state."""
    return [
        (
            sum(o["numRowsTotal"] for o in operators if o["operatorName"] != _AGGREGATE),
            sum(o["memoryUsedBytes"] for o in operators),
        )
        for progress in query.recentProgress
        if "addBatch" in progress["durationMs"]
        for operators in [progress["stateOperators"]]
    ]


def _group(job: Any) -> str | None:
    group = job.jobGroup()
    return str(group.get()) if group.isDefined() else None


def _forget(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    jvm.org.apache.spark.sql.execution.streaming.state.StateStore.stop()
    jvm.java.lang.System.gc()
