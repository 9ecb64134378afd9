# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: whose the joins of a query are when it starts, and when it is started again.

Oracle: Spark's own join of all rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from pyspark.errors import AnalysisException
from tests.python.queries import settings
from tests.python.streams import OURS, SPARKS, Feed, Progress, quick_session, run
from tests.python.watermarked import OFF, Streams

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)

Conf = dict[str, Any]
NEVER = {"spark.plait.join.strategy": "never"}


class OfClauses(Streams):
    """Of clauses that are not there while Plait is off."""

    oracle: ClassVar = NEVER


def near(left: str, right: str) -> str:
    return (
        f"{left}.k = {right}.k AND {right}.ts BETWEEN {left}.ts AND {left}.ts + INTERVAL 7 SECONDS"
    )


def fill(streams: Streams, first: int) -> None:
    """Rows of three keys, of which the first two find partners."""
    for i, name in enumerate(streams.feeds):
        rows = [(first + k, k, 1000 + first + i, k) for k in (1, 2)]
        streams.add(**{name: [*rows, (first + 3, 3 + i, 1000 + first, 3)]})


def joins(progress: Progress) -> Counter[str]:
    """The names of the joins that the last micro-batch ran."""
    names = [operator["operatorName"] for operator in progress[-1]["stateOperators"]]
    return Counter(name for name in names if name in (OURS, SPARKS))


def twice(streams: Streams, *confs: Conf) -> list[Counter[str]]:
    """Start a query over rows, and again over more of them; see its rows."""
    ran = []
    for i, conf in enumerate(confs):
        fill(streams, 100 * i)
        if i + 1 == len(confs):
            streams.end()
        with settings(streams.session, conf):
            ran.append(joins(streams.run()))
    streams.holds()
    return ran


@pytest.mark.parametrize("conf", [OFF, NEVER], ids=["Plait is off", "it joins nothing"])
def test_the_joins_of_a_view_are_whose_the_session_says(
    session: SparkSession, tmp_path: Path, conf: Conf
) -> None:
    joined = f"""SELECT a.id, a.k, a.ts, b.id AS b
        FROM {{a}} a LEFT JOIN {{b}} b ON {near("a", "b")}"""
    query = f"SELECT v.id, v.b, c.id AS c FROM {{v}} v JOIN {{{{c}}}} c ON {near('v', 'c')}"
    streams = Streams(session, tmp_path, query.format(v=f"({joined})"), a=0, b=0, c=0)
    sides = {name: feed.df(session) for name, feed in streams.feeds.items()}
    for name in "ab":
        sides[name].createOrReplaceTempView(f"stream_{name}")
    with settings(session, conf):
        view = joined.format(a="stream_a", b="stream_b")
        session.sql(f"CREATE OR REPLACE TEMPORARY VIEW joined AS {view}")
        for first in (0, 100):
            fill(streams, first)
            if first:
                streams.end()
            progress = run(session.sql(query.format(v="joined"), c=sides["c"]), tmp_path)
            assert joins(progress) == {SPARKS: 2}
    streams.holds()


def test_a_query_is_whose_the_settings_say_when_it_starts(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""SELECT a.id, b.id AS b, c.id AS c FROM {{a}} a LEFT JOIN {{b}} b ON {near("a", "b")}
        JOIN {{c}} c ON {near("a", "c")}"""
    streams = Streams(session, tmp_path, query, a=0, b=0, c=0)
    made = streams.df()
    for first in (0, 100):
        fill(streams, first)
        if first:
            streams.end()
        with settings(session, NEVER):
            assert joins(run(made, tmp_path)) == {SPARKS: 2}
    streams.holds()


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("LEFT ANTI JOIN {b} b ON " + near("a", "b"), "Spark runs no LEFT ANTI join"),
        (f"WHERE EXISTS (SELECT 1 FROM {{b}} b WHERE {near('a', 'b')})", "Spark runs no subquery"),
    ],
    ids=["LEFT ANTI", "EXISTS"],
)
def test_what_spark_does_not_run_is_refused_when_it_starts_or_is_explained_with_plait_off(
    session: SparkSession, tmp_path: Path, where: str, told: str
) -> None:
    made = Streams(session, tmp_path, f"SELECT a.id FROM {{a}} a {where}", a=0, b=0).df()
    sentence = (
        rf"{told}.*spark\.plait\.join\.strategy=never\. Take that back where the query starts"
    )
    with settings(session, NEVER):
        with pytest.raises(AnalysisException, match=sentence):
            run(made, tmp_path)
        with pytest.raises(AnalysisException, match=sentence):
            plait.explain(made)


def test_while_plait_is_off_no_hint_takes_a_join_in_a_view_or_a_query_made_before(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""SELECT /*+ SYMMETRIC_HASH(a, b) */ a.id, b.id AS b, c.id AS c FROM {{a}} a
        JOIN {{b}} b ON {near("a", "b")} JOIN {{c}} c ON {near("a", "c")}"""
    streams = Streams(session, tmp_path, query, a=0, b=0, c=0)
    made = streams.df()
    for first, conf in ((0, OFF), (100, OFF), (200, {})):
        fill(streams, first)
        with settings(session, conf):
            assert joins(run(made, tmp_path)) == {SPARKS: 2}


def test_a_hint_leaves_exists_to_sparks_semi_join(session: SparkSession, tmp_path: Path) -> None:
    query = f"""SELECT /*+ NO_SYMMETRIC_HASH(a) */ a.id FROM {{a}} a
        WHERE EXISTS (SELECT 1 FROM {{b}} b WHERE {near("a", "b")})"""
    streams = Streams(session, tmp_path, query, a=0, b=0)
    assert twice(streams, {}, {}) == [{SPARKS: 1}] * 2


def test_a_hint_in_a_query_of_with_says_nothing_of_the_join_that_reads_it(
    session: SparkSession, tmp_path: Path
) -> None:
    query = """WITH w AS (SELECT /*+ NO_SYMMETRIC_HASH(a) */ a.id, a.k, a.window_end
            FROM TUMBLE({a}, ts, INTERVAL 5 SECONDS) a)
        SELECT w.id, b.id AS b, c.id AS c FROM w
        JOIN TUMBLE({b}, ts, INTERVAL 5 SECONDS) b ON w.k = b.k AND w.window_end = b.window_end
        JOIN TUMBLE({c}, ts, INTERVAL 5 SECONDS) c ON w.k = c.k AND w.window_end = c.window_end"""
    streams = OfClauses(session, tmp_path, query, a=0, b=0, c=0)
    assert twice(streams, {}, {}) == [{OURS: 2}] * 2


@pytest.mark.parametrize(
    "above",
    ["SELECT * FROM counted UNION ALL SELECT * FROM counted", "SELECT x.* FROM counted x"],
    ids=["named twice", "named once"],
)
def test_windows_of_a_query_of_with_carry_their_watermark_wherever_it_is_named(
    session: SparkSession, tmp_path: Path, above: str
) -> None:
    feed = Feed(tmp_path / "a", 10)
    feed.df(session).createOrReplaceTempView("stream_a")
    session.sql(
        """WITH w AS (SELECT * FROM TUMBLE(TABLE stream_a, DESCRIPTOR(ts), INTERVAL '5' SECOND))
        SELECT window_end, count(*) AS n FROM w GROUP BY window_end"""
    ).createOrReplaceTempView("counted")
    feed.add([(1, 1, 1000, 1), (2, 1, 1001, 1)])
    feed.add([(3, 1, 2000, 1)])
    counted = session.sql(above)
    run(counted, tmp_path)
    assert {tuple(row)[1:] for row in session.read.parquet(str(tmp_path / "out")).collect()} == {
        (2,)
    }


@pytest.mark.parametrize("first", [{}, NEVER], ids=["others are ours", "others are Spark's"])
def test_with_hints_of_both_kinds_the_other_joins_stay_whose_they_were_set_to_be(
    session: SparkSession, tmp_path: Path, first: Conf
) -> None:
    query = f"""SELECT /*+ NO_SYMMETRIC_HASH(a, b) */ a.id, b.id AS b, d.id AS d, j.c, j.e
        FROM {{a}} a JOIN {{b}} b ON {near("a", "b")} LEFT JOIN {{d}} d ON {near("a", "d")}
        JOIN (SELECT /*+ SYMMETRIC_HASH(c, e) */ c.k, c.ts, c.id AS c, e.id AS e
            FROM {{c}} c LEFT JOIN {{e}} e ON {near("c", "e")}) j ON {near("a", "j")}"""
    streams = Streams(session, tmp_path, query, a=0, b=0, c=0, d=0, e=0)
    ran = twice(streams, first, {} if first else NEVER)
    assert ran == [{OURS: 1, SPARKS: 3} if first else {OURS: 3, SPARKS: 1}] * 2


def test_a_hint_that_leaves_to_spark_what_is_sparks_anyway_changes_nothing_at_a_restart(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""SELECT /*+ NO_SYMMETRIC_HASH(a, b) */ a.id, b.id AS b, d.id AS d, c.id AS c
        FROM {{a}} a JOIN {{b}} b ON {near("a", "b")} JOIN {{d}} d ON {near("a", "d")}
        LEFT ASOF JOIN {{c}} c MATCH_CONDITION (a.ts >= c.ts) ON a.k = c.k"""
    streams = OfClauses(session, tmp_path, query, a=0, b=0, c=0, d=0)
    assert twice(streams, NEVER, {}) == [{OURS: 1, SPARKS: 2}] * 2


def test_windows_that_are_counted_above_sparks_join_go_on_as_they_were(
    session: SparkSession, tmp_path: Path
) -> None:
    query = """SELECT window_start, window_end, count(*) AS n FROM (
            SELECT a.window_start, a.window_end FROM TUMBLE({a}, ts, INTERVAL 5 SECONDS) a
            JOIN TUMBLE({b}, ts, INTERVAL 5 SECONDS) b ON a.k = b.k AND a.window_end = b.window_end)
        GROUP BY window_start, window_end"""
    streams = OfClauses(session, tmp_path, query, a=10, b=10)
    counts: dict[tuple, int] = {}
    for i, conf in enumerate((NEVER, {})):
        fill(streams, i)
        with settings(session, conf):
            writer = streams.df().writeStream.outputMode("update").trigger(availableNow=True)
            writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
            writer = writer.foreachBatch(
                lambda df, _: counts.update({row[:2]: row[2] for row in df.collect()})
            )
            writer.start().awaitTermination()
    assert counts == {row[:2]: row[2] for row in streams.expected()}


def test_a_checkpoint_that_a_setting_and_a_name_place_is_known_as_one_that_is_given(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"SELECT a.id FROM {{a}} a LEFT ANTI JOIN {{b}} b ON {near('a', 'b')}"
    streams = Streams(session, tmp_path, query, a=0, b=0)
    for i, conf in enumerate(({}, OFF)):
        fill(streams, 100 * i)
        if i:
            streams.end()
        placed = {"spark.sql.streaming.checkpointLocation": str(tmp_path / "checkpoints")}
        with settings(session, {**placed, **conf}):
            writer = streams.df().writeStream.format("parquet").queryName("anti")
            writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    streams.holds()


def test_a_time_in_a_struct_is_an_event_time(session: SparkSession, tmp_path: Path) -> None:
    query = """SELECT a.id, b.id AS b FROM {a} a
        LEFT JOIN (SELECT id, k, named_struct('t', ts) AS s FROM {b}) b
        ON a.k = b.k AND b.s.t BETWEEN a.ts AND a.ts + INTERVAL 7 SECONDS"""
    streams = Streams(session, tmp_path, query, a=0, b=0)
    assert twice(streams, {}, {}) == [{OURS: 1}] * 2
