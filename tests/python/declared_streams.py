# SPDX-License-Identifier: Apache-2.0
"""What tests of joins of two streams share: folders read as streams, and running queries."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.python.conftest import QUICK
from tests.python.queries import settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

Row = tuple[Any, ...]


def session_of_two_partitions(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of a module's own, as ``quick_session``, whose joins have two tasks."""
    own = spark.newSession()
    with settings(own, QUICK | {"spark.sql.shuffle.partitions": 2}):
        yield own


class Stream:
    """A folder of JSON files that a query reads as a stream, and what was ever put there."""

    def __init__(self, session: SparkSession, folder: Path, name: str, schema: str) -> None:
        self.session, self.folder, self.schema = session, folder / name, schema
        self.names = [column.split()[0] for column in re.split(", (?=[a-z])", schema)]
        self.numbers = count()
        self.rows: list[Row] = []
        self.folder.mkdir(parents=True)
        self.df.createOrReplaceTempView(name)

    @property
    def df(self) -> DataFrame:
        return self.session.readStream.schema(self.schema).json(str(self.folder))

    def add(self, rows: Iterable[Row]) -> None:
        """Add a file, which is there as a whole or not at all."""
        added = list(rows)
        self.rows += added
        put(self.folder, f"{next(self.numbers)}.json", self.names, added)

    def batch(self, session: SparkSession) -> DataFrame:
        """All that was ever put there, to a session that has no stream of this name."""
        return session.read.schema(self.schema).json(str(self.folder))


def put(folder: Path, name: str, names: list[str], rows: Iterable[Row]) -> None:
    lines = [json.dumps(dict(zip(names, row, strict=True)), default=str) for row in rows]
    (folder / f".{name}").write_text("\n".join(lines))
    (folder / f".{name}").rename(folder / name)


class Run:
    """A query that runs, batch by batch as rows are added."""

    def __init__(self, query: StreamingQuery, found: Callable[[], DataFrame]) -> None:
        self.query, self.found = query, found

    def rows(self) -> Counter[str]:
        """All that has come out, once all that there is has been read."""
        self.query.processAllAvailable()
        return Counter(str(tuple(row)) for row in self.found().collect())

    def waiting(self) -> int:
        """How many rows wait in the state."""
        progress = self.query.lastProgress
        assert progress is not None
        return sum(s["numRowsTotal"] for s in progress["stateOperators"])

    def counted(self, metric: str) -> int:
        """The sum over all batches."""
        return sum(
            s["customMetrics"].get(metric, 0)
            for progress in self.query.recentProgress
            for s in progress["stateOperators"]
        )


NUMBERS = count()


@contextmanager
def running(session: SparkSession, df: DataFrame, folder: Path | None = None) -> Iterator[Run]:
    """Run a query into a table of memory, or into files if it is to go on later."""
    if folder is None:
        name = f"joined{next(NUMBERS)}"
        query = df.writeStream.format("memory").queryName(name).start()
        found = partial(session.table, name)
    else:
        place, checkpoint = str(folder / "out"), str(folder / "checkpoint")
        writer = df.writeStream.format("parquet").option("checkpointLocation", checkpoint)
        query = writer.start(place)
        found = partial(session.read.schema(df.schema).parquet, place)
    try:
        yield Run(query, found)
    finally:
        query.stop()
