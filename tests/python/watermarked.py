# SPDX-License-Identifier: Apache-2.0
"""Feeds with watermarks, a query over them, and what it has to give out.

The streams end with two rows each, so much later that everything before them is settled. The oracle
is the answer of Spark's own joins to the same query over all rows, as tables.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from tests.python.queries import settings
from tests.python.streams import Feed, Progress, Row, run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows

OFF = {"spark.plait.enabled": False}
DAY = 86_400
LATER = 24_000 * DAY


class Streams:
    """Feeds by name, each with a watermark or without, and a query over them."""

    # What leaves the joins of tables to Spark.
    oracle: ClassVar = OFF

    def __init__(self, session: SparkSession, folder: Path, query: str, **delays: int | None):
        self.session, self.folder, self.query = session, folder, query
        self.feeds = {name: Feed(folder / name, delay) for name, delay in delays.items()}

    def add(self, **rows: list[Row]) -> None:
        for name, feed in self.feeds.items():
            if name in rows:
                feed.add(rows[name])

    def end(self) -> None:
        """Two rows a stream, so much later that everything before them is settled."""
        for time in (LATER, LATER + 2 * DAY):
            for i, feed in enumerate(self.feeds.values()):
                feed.add([(-1 - i, -1 - i, time, time // DAY)])

    def df(self) -> DataFrame:
        sides = {name: feed.df(self.session) for name, feed in self.feeds.items()}
        return self.session.sql(self.query, **sides)

    def run(self) -> Progress:
        return run(self.df(), self.folder)

    def output(self) -> Rows:
        return settled(self.session.read.schema(self.df().schema).parquet(f"{self.folder}/out"))

    def expected(self) -> Rows:
        with settings(self.session, self.oracle):
            tables = {}
            for name, feed in self.feeds.items():
                rows = self.session.read.schema("id INT, k INT, s INT, v INT")
                table = rows.json(str(feed.folder)).selectExpr("*", "timestamp_seconds(s) AS ts")
                tables[name] = table
            return settled(self.session.sql(self.query, **tables))

    def holds(self) -> None:
        rows = self.output()
        assert rows == self.expected()
        assert sum(rows.values()) > 0


def settled(df: DataFrame) -> Rows:
    """The rows that are not of the streams' ends, nor of windows that such rows are in."""
    last = datetime.fromtimestamp(LATER - DAY, UTC).replace(tzinfo=None)
    return Counter(
        row
        for row in map(tuple, df.collect())
        if not any(
            (isinstance(v, datetime) and v >= last) or (isinstance(v, int) and v < 0) for v in row
        )
    )


def dropped(progress: Progress) -> int:
    return sum(o["numRowsDroppedByWatermark"] for p in progress for o in p["stateOperators"])
