# SPDX-License-Identifier: Apache-2.0
"""What the tests of joins of streams share: feeds of JSON files, runs of queries, random scripts.

A script says what each side gets batch by batch, all within the slack of its watermark. At its end
comes a row a side so much later that everything before it is settled. The oracle is DuckDB's join
of all rows that a script has.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from os import utime
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
from tests.python.conftest import QUICK
from tests.python.queries import settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from tests.python.frames import Rows

COLUMNS = "id INT, k INT, s INT, v INT"
TYPES = ("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")
DELAY = 10
# Times are seconds; 0 is no watermark to Spark.
START = 1000
END = 100_000
FIRST_CHANGE = 1_700_000_000
WITHIN = "r.s BETWEEN l.s - 5 AND l.s + 8"
NEAR = f"l.k = r.k AND {WITHIN}"
OFF = {"spark.plait.enabled": False}
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state"
    ".RocksDBStateStoreProvider"
}
# What operators are called in progress and metadata.
OURS, SPARKS = "plaitSymmetricHashJoin", "symmetricHashJoin"

Row = tuple[int, int | None, int | None, int]
Batch = tuple[list[Row], list[Row]]


def quick_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of a module's own, for many small micro-batches: a fixture once it is made one."""
    own = spark.newSession()
    with settings(own, QUICK):
        yield own


class Feed:
    """A folder of JSON files that a query reads as a stream, one file a micro-batch."""

    def __init__(self, folder: Path, delay: int | None = DELAY) -> None:
        self.folder, self.delay, self.numbers = folder, delay, count()
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, rows: list[Row]) -> None:
        """Add a file, which is there as a whole or not at all."""
        number = next(self.numbers)
        name = f"{number:04}.json"
        lines = [json.dumps(dict(zip(("id", "k", "s", "v"), row, strict=True))) for row in rows]
        (self.folder / f".{name}").write_text("".join(f"{line}\n" for line in lines))
        # Spark takes files by the time of their last change, to the millisecond.
        utime(self.folder / f".{name}", (FIRST_CHANGE + number,) * 2)
        (self.folder / f".{name}").rename(self.folder / name)

    def df(self, session: SparkSession) -> DataFrame:
        reader = session.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        df = reader.json(str(self.folder)).selectExpr("*", "timestamp_seconds(s) AS ts")
        return df if self.delay is None else df.withWatermark("ts", f"{self.delay} seconds")


class Feeds:
    """A left and a right feed."""

    def __init__(self, folder: Path, delays: tuple[int | None, int | None] = (DELAY, DELAY)):
        self.folder = folder
        self.left, self.right = (
            Feed(folder / name, d) for name, d in zip("lr", delays, strict=True)
        )

    def add(self, *batches: Batch) -> None:
        for left, right in batches:
            self.left.add(left)
            self.right.add(right)

    def end(self) -> None:
        self.add(LAST)

    def join(self, session: SparkSession, how: str, condition: str) -> DataFrame:
        sql = f"SELECT {columns(how)} FROM {{l}} l {how} JOIN {{r}} r ON {in_spark(condition)}"
        return session.sql(sql, l=self.left.df(session), r=self.right.df(session))


# Of other keys than all others, and later.
LAST: Batch = ([(-1, -1, END, 0)], [(-2, -2, END, 0)])


def columns(how: str) -> str:
    return "l.id AS l" if how in ("LEFT SEMI", "LEFT ANTI") else "l.id AS l, r.id AS r"


def in_spark(condition: str) -> str:
    """Write times as timestamps: ``r.s BETWEEN l.s - 5 AND l.s + 8``."""
    text = re.sub(r"\b([a-z])\.s ([+-]) (\d+)", r"\1.ts \2 INTERVAL \3 SECONDS", condition)
    return re.sub(r"\b([a-z])\.s\b", r"\1.ts", text)


def joined(batches: list[Batch], how: str, condition: str) -> Rows:
    """Join all rows of the batches with DuckDB."""
    on = condition.replace("<=>", "IS NOT DISTINCT FROM")
    with duckdb.connect() as db:
        for side, name in enumerate("lr"):
            db.execute(f"CREATE TABLE {name} ({COLUMNS})")
            rows = [row for batch in batches for row in batch[side]]
            if rows:
                db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)
        words = how.removeprefix("LEFT ") if how.startswith("LEFT ") else how
        sql = f"SELECT {columns(how)} FROM l {words} JOIN r ON {on}"
        return Counter(db.execute(sql).fetchall())


def start(df: DataFrame, folder: Path, now: bool = True, mode: str = "append") -> StreamingQuery:
    """Start a query into files that keep what came before."""
    writer = df.writeStream.format("parquet").outputMode(mode)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    return (writer.trigger(availableNow=True) if now else writer).start(str(folder / "out"))


Progress = list[dict[str, Any]]


def run(df: DataFrame, folder: Path) -> Progress:
    """Run a query over what is there, and stop it."""
    query = start(df, folder)
    try:
        query.awaitTermination()
        return [json.loads(p.json) for p in query.recentProgress]
    finally:
        query.stop()


def output(df: DataFrame, folder: Path) -> Rows:
    """Read what came out up to now, without the rows that end the streams."""
    read = df.sparkSession.read.schema(df.schema).parquet(str(folder / "out"))
    return Counter(row for row in map(tuple, read.collect()) if not {-1, -2} & set(row))


def custom(progress: Progress, name: str, operator: int = -1) -> int:
    """Sum what an operator counts over all batches."""
    return sum(p["stateOperators"][operator]["customMetrics"][name] for p in progress)


@dataclass
class Script:
    """A random script."""

    seed: int
    how: str
    size: int = 6
    batches: list[Batch] = field(default_factory=list)
    condition: str = ""

    def __post_init__(self) -> None:
        random = Random(self.seed)
        low, high = random.choice([(0, 8), (5, 0), (5, 8), (-3, 9)])
        low_text = f"- {low}" if low >= 0 else f"+ {-low}"
        self.condition = f"l.k = r.k AND r.s BETWEEN l.s {low_text} AND l.s + {high}"
        if random.random() < 0.4:
            self.condition += " AND l.v < r.v"
        ids, latest = count(), [START, START]
        idle = random.choice([None, 0, 1])
        for i in range(self.size):
            batch: Batch = ([], [])
            for side in range(2):
                if side == idle and 2 <= i < 4:
                    continue
                seen = latest[side]
                for _ in range(random.choice([0, 3, 8, 12])):
                    s = seen + random.randint(1 - DELAY, 8)
                    latest[side] = max(latest[side], s)
                    key = random.choice([None, 1, 1, 2, 3])
                    time = None if random.random() < 0.08 else s
                    batch[side].append((next(ids), key, time, random.randint(0, 3)))
            self.batches.append(batch)


def restarted(
    session: SparkSession, feeds: Feeds, script: Script, second: dict[str, str | int | bool]
) -> tuple[DataFrame, Progress]:
    """Run a script up to its middle, and the rest of it with a new query."""
    middle = len(script.batches) // 2
    feeds.add(*script.batches[:middle])
    run(feeds.join(session, script.how, script.condition), feeds.folder)
    feeds.add(*script.batches[middle:])
    feeds.end()
    with settings(session, second):
        df = feeds.join(session, script.how, script.condition)
        return df, run(df, feeds.folder)


def timed(script: Script) -> Script:
    """Leave the rows without a time out: Spark's outer joins keep them and never give them."""
    script.batches = [
        ([row for row in left if row[2] is not None], [row for row in right if row[2] is not None])
        for left, right in script.batches
    ]
    return script


@contextmanager
def logged(session: SparkSession) -> Iterator[Callable[[], str]]:
    """Give what Spark's process logs for a while."""
    jvm = session._jvm
    text = jvm.java.io.StringWriter()
    log4j = jvm.org.apache.logging.log4j
    make = log4j.core.appender.WriterAppender.createAppender
    appender = make(None, None, text, "of a test", False, True)
    logger = log4j.LogManager.getRootLogger()
    appender.start()
    logger.addAppender(appender)
    try:
        yield text.toString
    finally:
        logger.removeAppender(appender)
