# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: joins of streams as the optimizer makes them of a query, at every start.

An equality may stand above a view or follow from two others, and which streams are joined first may
hang on that. Oracle: DuckDB's answer to the same SQL over all rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import duckdb
import pytest
from pyspark.errors import StreamingQueryException
from tests.python.queries import settings
from tests.python.streams import (
    COLUMNS,
    OFF,
    OURS,
    SPARKS,
    Feed,
    Row,
    in_spark,
    output,
    quick_session,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)

# Of each stream the rows of each batch; NULLs and two rows of one key and time among them.
BATCHES: list[dict[str, list[Row]]] = [
    {
        "a": [(1, 1, 1000, 7), (2, 1, 1000, 7), (3, None, 1000, 5), (4, 2, None, 5)],
        "b": [(11, 1, 1002, 5), (12, None, 1002, 5), (13, 2, 1003, 7), (14, 1, 1002, 5)],
        "c": [(21, 1, 1001, 5), (22, 2, 1001, 7), (23, 1, 1001, 5)],
    },
    {
        "a": [(5, 1, 1010, 7), (6, 2, 1011, 5), (7, 3, 1011, 5)],
        "b": [(15, 1, 1012, 5), (16, 2, 1013, 7), (17, 3, 1030, 7)],
        "c": [(24, 2, 1012, 7), (25, None, 1013, 5)],
    },
]
DIMENSION = "SELECT * FROM VALUES (1, 5), (2, 7), (2, 5), (CAST(NULL AS INT), 5) AS d(k, v)"


class Streams:
    """The streams of `BATCHES`, so far as they have come."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.feeds = {name: Feed(folder / name) for name in "abc"}
        session.sql(DIMENSION).createOrReplaceTempView("dim")

    def fill(self, batch: int) -> None:
        for name, rows in BATCHES[batch].items():
            self.feeds[name].add(rows)

    def end(self, *seconds: int) -> None:
        """Add a last row a stream, which finds nothing, at each of these times."""
        for second in seconds:
            for name, feed in self.feeds.items():
                feed.add([(-1, -ord(name), second, -ord(name))])

    def df(self, sql: str) -> DataFrame:
        used = {name: feed for name, feed in self.feeds.items() if f"{{{name}}}" in sql}
        return self.session.sql(
            in_spark(sql), **{name: feed.df(self.session) for name, feed in used.items()}
        )


@pytest.fixture
def streams(session: SparkSession, tmp_path: Path) -> Iterator[Streams]:
    yield Streams(session, tmp_path)
    session.catalog.dropTempView("dim")


def expected(sql: str) -> Rows:
    with duckdb.connect() as db:
        for name in "abc":
            db.execute(f"CREATE TABLE {name} ({COLUMNS})")
            for batch in BATCHES:
                db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", batch[name])
        db.execute("CREATE TABLE dim (k INT, v INT)")
        db.execute("INSERT INTO dim VALUES (1, 5), (2, 7), (2, 5), (NULL, 5)")
        return Counter(db.execute(sql.format(a="a", b="b", c="c")).fetchall())


WITHOUT_A_KEY_AT_FIRST = {
    "the third stream joins the other two": """SELECT a.id, b.id AS b, c.id AS c
        FROM {a} a, {b} b, {c} c WHERE a.k = c.k AND c.v = b.v""",
    "a table does": """SELECT a.id, b.id AS b FROM {a} a, {b} b, dim d
        WHERE a.k = d.k AND d.v = b.v""",
    "the equality stands in both parts of an OR": """SELECT a.id, b.id AS b FROM {a} a
        JOIN {b} b ON (a.k = b.k AND a.v > 5) OR (a.k = b.k AND b.v > 5)""",
    "it stands above a subquery": """SELECT id, b FROM
        (SELECT a.id, b.id AS b, a.k AS ak, b.k AS bk FROM {a} a, {b} b) x WHERE ak = bk""",
    "it stands above a query of WITH": """WITH x AS
        (SELECT a.id, b.id AS b, a.k AS ak, b.k AS bk FROM {a} a, {b} b)
        SELECT id, b FROM x WHERE ak = bk""",
}


@pytest.mark.parametrize("what", WITHOUT_A_KEY_AT_FIRST)
def test_a_join_without_an_equality_in_its_own_condition_may_have_one_all_the_same(
    streams: Streams, what: str
) -> None:
    sql = WITHOUT_A_KEY_AT_FIRST[what]
    for batch in range(len(BATCHES)):
        streams.fill(batch)
    df = streams.df(sql)
    progress = run(df, streams.folder)
    assert output(df, streams.folder) == expected(sql)
    assert {op["operatorName"] for p in progress for op in p["stateOperators"]} == {OURS}


def test_times_that_are_compared_above_a_subquery_prune(streams: Streams) -> None:
    sql = """SELECT id, b FROM (SELECT a.id, b.id AS b, a.s AS one, b.s AS other
        FROM {a} a JOIN {b} b ON a.k = b.k) x WHERE other BETWEEN one AND one + 7"""
    in_times = sql.replace("one + 7", "one + INTERVAL 7 SECONDS")
    streams.fill(0)
    streams.fill(1)
    streams.end(5000, 6000)
    with settings(streams.session, {"spark.plait.stream.unbounded-state": "error"}):
        df = streams.df(in_times)
        progress = run(df, streams.folder)
    assert output(df, streams.folder) == expected(sql)
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 2


RESTARTED = {
    "a table between two streams": """SELECT a.id, b.id AS b FROM {a} a, dim d, {b} b
        WHERE a.k = b.k AND b.v = d.v AND b.s BETWEEN a.s AND a.s + 7""",
    "a third stream": """SELECT a.id, b.id AS b, c.id AS c FROM {a} a, {b} b, {c} c
        WHERE a.k = c.k AND c.v = b.v AND b.s BETWEEN c.s AND c.s + 7
        AND c.s BETWEEN a.s AND a.s + 7""",
}


@pytest.mark.parametrize("what", RESTARTED)
@pytest.mark.parametrize(
    ("first", "second", "operator"),
    [({}, {}, OURS), ({}, OFF, OURS), (OFF, {}, SPARKS), (OFF, OFF, SPARKS)],
    ids=["on", "on, then off", "off, then on", "off"],
)
def test_a_query_that_is_started_again_has_the_joins_that_it_had(
    streams: Streams, what: str, first: dict[str, bool], second: dict[str, bool], operator: str
) -> None:
    sql = RESTARTED[what]
    for batch, conf in enumerate((first, second)):
        streams.fill(batch)
        with settings(streams.session, conf):
            df = streams.df(sql)
            progress = run(df, streams.folder)
        assert {op["operatorName"] for p in progress for op in p["stateOperators"]} == {operator}
    assert output(df, streams.folder) == expected(sql)


def test_a_query_goes_on_when_a_table_beside_its_streams_is_cached_no_more(
    streams: Streams,
) -> None:
    session = streams.session
    path = str(streams.folder / "days")
    days = "SELECT k, timestamp_seconds(v) AS t FROM dim"
    session.sql(days).write.parquet(path)
    session.read.parquet(path).createOrReplaceTempView("days")
    session.sql(
        "CREATE OR REPLACE TEMP VIEW dated AS SELECT k, date_trunc('DAY', t) AS d FROM days"
    )
    sql = """SELECT a.id, b.id AS b FROM (SELECT x.*, d.d FROM {a} x JOIN dated d ON x.k = d.k) a
        JOIN {b} b ON a.k = b.k AND b.s BETWEEN a.s AND a.s + 7"""
    session.sql("CACHE TABLE dated")
    try:
        streams.fill(0)
        run(streams.df(sql), streams.folder)
    finally:
        session.sql("UNCACHE TABLE dated")
    streams.fill(1)
    df = streams.df(sql)
    run(df, streams.folder)
    assert output(df, streams.folder) == expected(
        sql.replace("dated", "(SELECT *, v AS d FROM dim)")
    )


def test_the_zone_stays_that_a_column_of_a_table_follows_from(streams: Streams) -> None:
    session = streams.session
    path = str(streams.folder / "days")
    session.sql("SELECT k, timestamp_seconds(v) AS t FROM dim").write.parquet(path)
    session.read.parquet(path).createOrReplaceTempView("days")
    sql = """SELECT a.id, b.id AS b FROM (SELECT x.*, d.d FROM {a} x JOIN
        (SELECT k, date_trunc('DAY', t) AS d FROM days) d ON x.k = d.k) a
        JOIN {b} b ON a.k = b.k AND a.d < b.s AND b.s BETWEEN a.s AND a.s + 7"""
    for batch, zone in enumerate(("Europe/Berlin", "Asia/Tokyo")):
        streams.fill(batch)
        with settings(session, {"spark.sql.session.timeZone": zone}):
            if batch == 0:
                run(streams.df(sql), streams.folder)
            else:
                with pytest.raises(StreamingQueryException, match=r"timeZone=Europe/Berlin.*Tokyo"):
                    run(streams.df(sql), streams.folder)


# Of each the same for DuckDB.
WINDOWS = {
    "the other side's time has no bound": (
        """SELECT window(b.s, '10 seconds').start AS w, count(*) AS n FROM {a} a JOIN {b} b
        ON a.k = b.k AND b.s BETWEEN a.s AND a.s + make_dt_interval(0, 0, 0, a.v)
        GROUP BY window(b.s, '10 seconds')""",
        """SELECT b.s // 10 * 10 AS w, count(*) FROM a JOIN b
        ON a.k = b.k AND b.s BETWEEN a.s AND a.s + a.v GROUP BY w""",
    ),
    "the time has another name": (
        """SELECT window(a.t2, '10 seconds').start AS w, count(*) AS n
        FROM (SELECT *, ts AS t2 FROM {a}) a JOIN {b} b
        ON a.k = b.k AND b.s BETWEEN a.s AND a.s + 7
        GROUP BY window(a.t2, '10 seconds')""",
        """SELECT a.s // 10 * 10 AS w, count(*) FROM a JOIN b
        ON a.k = b.k AND b.s BETWEEN a.s AND a.s + 7 GROUP BY w""",
    ),
}


@pytest.mark.parametrize("what", WINDOWS)
def test_windows_above_a_join_are_over_by_the_times_that_they_read(
    streams: Streams, what: str
) -> None:
    sql, same = WINDOWS[what]
    streams.fill(0)
    streams.fill(1)
    streams.end(5000, 6000)
    df = streams.df(sql).selectExpr("unix_seconds(w) AS w", "n")
    progress = run(df, streams.folder)
    assert output(df, streams.folder) == expected(same)
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 1
