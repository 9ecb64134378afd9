# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: what joins of streams take for granted of time, and what they promise.

Oracle: stock Spark's answer to the same query over all rows, as tables.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.python.cases import cases
from tests.python.queries import settings
from tests.python.streams import Row, custom, quick_session, run
from tests.python.watermarked import DAY, Streams, dropped, settled

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

HOUR = 3600


session = pytest.fixture(scope="module", name="session")(quick_session)


def hourly(streams: Streams, hours: int = 6) -> None:
    """A row an hour a side, of which every third has a partner."""
    for h in range(1, hours + 1):
        at = h * HOUR
        streams.add(l=[(h, h, at, h)], r=[(h, h if h % 3 == 0 else -5, at + 60, h)])
    streams.end()


@pytest.mark.parametrize("last", [None, -1], ids=["NULL", "the second before 1970"])
def test_neither_null_nor_a_time_before_1970_says_how_far_a_side_has_come_as_in_spark(
    session: SparkSession, tmp_path: Path, last: int | None
) -> None:
    query = """SELECT l.id AS l, r.id AS r FROM {l} l LEFT JOIN {r} r
        ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"""
    streams = Streams(session, tmp_path, query, l=10, r=10)
    year = -10 * 365 * DAY
    with settings(session, {"spark.plait.stream.frontier": "side"}):
        for i in range(3):
            at = year + i * HOUR
            streams.add(
                l=[(i, 1, at, 0), (10 + i, 2, last, 0)], r=[(i, 1, at, 0), (10 + i, 2, last, 0)]
            )
        streams.end()
        progress = streams.run()
    streams.holds()
    assert dropped(progress) == 0


COUNTED = "SELECT w.start AS s, count(*) AS c FROM ({}) GROUP BY w"
WITHIN_TEN = "r.ts BETWEEN l.ts AND l.ts + INTERVAL 10 HOURS"


@pytest.mark.parametrize(
    "condition",
    [
        f"{WITHIN_TEN} AND date_trunc('HOUR', r.ts) = date_trunc('HOUR', l.ts)",
        f"{WITHIN_TEN} AND unix_timestamp(r.ts) - unix_timestamp(l.ts) <= 60",
        f"{WITHIN_TEN} AND (r.ts < l.ts + INTERVAL 1 HOUR OR r.ts < l.ts + INTERVAL 2 HOUR)",
        "r.v BETWEEN l.v AND l.v + 3 AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR",
        "r.ts >= l.ts + INTERVAL 4 HOURS AND r.ts <= l.ts + INTERVAL 1 HOUR",
    ],
)
def test_no_row_that_still_waits_is_late_for_what_comes_above(
    session: SparkSession, tmp_path: Path, condition: str
) -> None:
    hint = "/*+ ORDERED(l, v), ORDERED(r, v) */" if "r.v" in condition else ""
    query = COUNTED.format(
        f"""SELECT {hint} window(l.ts, '10 minutes') AS w FROM {{l}} l
        LEFT JOIN {{r}} r ON l.k = r.k AND {condition}"""
    )
    streams = Streams(session, tmp_path, query, l=0, r=0)
    hourly(streams)
    progress = streams.run()
    assert dropped(progress) == 0
    # Where an order that was declared ends a wait, no time is promised, so all is still to come.
    if not hint:
        streams.holds()


@pytest.mark.parametrize(
    "condition",
    [
        "r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR OR r.ts IS NULL",
        "l.ts <=> r.ts",
        "coalesce(r.ts, l.ts) BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR",
    ],
)
def test_a_row_without_a_time_that_may_match_is_never_late(
    session: SparkSession, tmp_path: Path, condition: str
) -> None:
    query = f"SELECT l.id AS l, r.id AS r FROM {{l}} l JOIN {{r}} r ON l.k = r.k AND ({condition})"
    streams = Streams(session, tmp_path, query, l=0, r=0)
    for hour in (10, 12, 14):
        streams.add(l=[(hour, 1, hour * HOUR, 0)], r=[(hour, 1, hour * HOUR, 0)])
    streams.add(l=[(20, 1, None, 0)], r=[(21, 1, None, 0)])
    streams.end()
    streams.run()
    streams.holds()
    assert any(21 in row for row in streams.output())


def test_nor_is_one_whose_time_has_two_names(session: SparkSession, tmp_path: Path) -> None:
    query = """SELECT w.start AS s, count(*) AS c, max(t2) AS t FROM (
        SELECT window(r.ts, '10 minutes') AS w, l.t2 FROM (SELECT *, ts AS t2 FROM {l}) l JOIN {r} r
        ON l.k = r.k AND (r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR OR l.ts IS NULL))
        GROUP BY w"""
    streams = Streams(session, tmp_path, query, l=0, r=0)
    for hour in (10, 12, 14):
        streams.add(l=[(hour, 1, hour * HOUR, 0)], r=[(hour, 1, hour * HOUR, 0)])
    # It pairs with all three.
    streams.add(l=[(20, 1, None, 0)], r=[])
    assert dropped(streams.run()) == 0


@pytest.mark.parametrize("join", ["{l} l, {r} r", "{l} l JOIN {r} r"])
def test_what_where_says_of_an_inner_join_is_its_condition(
    session: SparkSession, tmp_path: Path, join: str
) -> None:
    within = "l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR"
    query = f"SELECT l.id AS l, r.id AS r FROM {join} WHERE {within}"
    with settings(session, {"spark.plait.stream.unbounded-state": "error"}):
        streams = Streams(session, tmp_path, query, l=0, r=0)
        hourly(streams)
        streams.run()
    streams.holds()


def test_rows_of_a_join_that_promises_nothing_are_not_late_beside_a_stream_that_does(
    session: SparkSession, tmp_path: Path
) -> None:
    query = COUNTED.format(
        """SELECT window(l.ts, '10 minutes') AS w FROM {l} l JOIN {r} r ON l.k = r.k
        UNION ALL SELECT window(ts, '10 minutes') AS w FROM {x}"""
    )
    streams = Streams(session, tmp_path, query, l=0, r=0, x=0)
    for hour in range(1, 6):
        streams.add(
            l=[(hour, hour, hour * HOUR, 0)],
            r=[(hour, hour - 2, hour * HOUR, 0)],
            x=[(hour, hour, hour * HOUR, 0)],
        )
    assert dropped(streams.run()) == 0


PARTS = (
    "r.ts BETWEEN l.ts - INTERVAL {a} MINUTES AND l.ts + INTERVAL {b} MINUTES",
    "r.ts <= l.ts + INTERVAL {a} MINUTES",
    "l.ts <= r.ts + INTERVAL {b} MINUTES",
    "date_trunc('HOUR', l.ts) = date_trunc('HOUR', r.ts)",
    "unix_timestamp(r.ts) - unix_timestamp(l.ts) <= {a} * 60",
    "(r.ts < l.ts + INTERVAL {a} MINUTES OR r.ts < l.ts + INTERVAL {b} MINUTES)",
    "greatest(r.ts, l.ts) <= l.ts + INTERVAL {b} MINUTES",
    "l.v < r.v + {a}",
)
SCRIPTS = cases(3, soak=50)


@pytest.mark.parametrize("seed", range(SCRIPTS))
def test_what_a_random_join_gives_out_is_in_time_for_the_windows_above(
    session: SparkSession, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    parts = [PARTS[0], *random.sample(PARTS[1:], random.randint(1, 2))]
    numbers = {"a": random.randint(0, 200), "b": random.randint(0, 200)}
    condition = " AND ".join(part.format(**numbers) for part in parts)
    how, side = random.choice([("LEFT", "l"), ("RIGHT", "r"), ("FULL", "l"), ("", "r")])
    query = COUNTED.format(
        f"""SELECT window({side}.ts, '10 minutes') AS w FROM {{l}} l
        {how} JOIN {{r}} r ON l.k = r.k AND {condition}"""
    )
    streams = Streams(session, tmp_path, query, l=0, r=0)
    at = 10 * HOUR
    for n in range(6):
        at += random.randint(60, 2 * HOUR)
        rows: list[list[Row]] = [
            [(10 * n + i, random.randint(1, 2), at + random.randint(0, 3000), n) for i in range(3)]
            for _ in "lr"
        ]
        streams.add(l=rows[0], r=rows[1])
        at += 3000
    streams.end()
    streams.run()
    assert streams.output() == streams.expected(), condition


@pytest.mark.parametrize("how", ["", "LEFT"])
def test_windows_that_are_equal_carry_their_watermark_on(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    side = "(SELECT window(ts, '10 minutes') AS w, k FROM {{{}}})"
    query = f"""SELECT w.start AS s, count(*) AS c FROM (
        SELECT a.w FROM {side.format("l")} a {how} JOIN {side.format("r")} b
        ON a.k = b.k AND a.w = b.w) GROUP BY w"""
    streams = Streams(session, tmp_path, query, l=0, r=0)
    hourly(streams)
    streams.run()
    streams.holds()


def test_a_watermark_of_one_side_of_an_equality_is_one_of_both(
    session: SparkSession, tmp_path: Path
) -> None:
    query = COUNTED.format(
        """SELECT window(r.ts, '10 minutes') AS w FROM {l} l
        JOIN {r} r ON l.k = r.k AND l.ts = r.ts - INTERVAL 0 SECONDS AND l.ts = r.ts"""
    )
    streams = Streams(session, tmp_path, query, l=None, r=0)
    for h in range(1, 5):
        streams.add(l=[(h, h, h * HOUR, h)], r=[(h, h, h * HOUR, h)])
    streams.end()
    streams.run()
    streams.holds()


def test_what_an_aggregation_gives_out_is_not_as_late_as_its_watermark(
    session: SparkSession, tmp_path: Path
) -> None:
    streams = Streams(
        session,
        tmp_path,
        """WITH a AS (
            SELECT k, h, count(*) AS c FROM (SELECT *, date_trunc('HOUR', ts) AS h FROM {l})
            GROUP BY window(ts, '12 hours'), k, h)
        SELECT a.k, a.h, a.c, r.id FROM a
        JOIN {r} r ON a.k = r.k AND r.ts BETWEEN a.h AND a.h + INTERVAL 2 HOURS""",
        l=0,
        r=0,
    )
    for h in range(1, 40, 6):
        rows: list[Row] = [(10 * h + i, 1, (h + i) * HOUR + 60, 0) for i in range(6)]
        streams.add(l=rows, r=[(id_, k, s + 60, v) for id_, k, s, v in rows])
    streams.end()
    with settings(session, {"spark.plait.stream.unbounded-state": "allow"}):
        progress = streams.run()
    assert dropped(progress) == 0
    streams.holds()


def test_a_branch_of_a_union_that_is_idle_changes_nothing(
    session: SparkSession, tmp_path: Path
) -> None:
    query = """SELECT a.id, r.id AS r FROM (SELECT * FROM {u} UNION ALL SELECT * FROM {l}) a
        JOIN {r} r ON a.k = r.k AND r.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"""
    streams = Streams(session, tmp_path, query, u=None, l=0, r=0)
    streams.add(u=[(1, 1, HOUR, 1)], l=[(11, 1, HOUR, 1)], r=[(21, 1, HOUR + 300, 1)])
    streams.add(l=[(12, 1, 50 * HOUR, 1)], r=[(22, 1, 50 * HOUR, 1)])
    streams.add(l=[(13, 1, 51 * HOUR, 1)], r=[(23, 1, 51 * HOUR, 1)])
    first = streams.run()
    streams.add(l=[(14, 1, 52 * HOUR, 1)], r=[(24, 1, 52 * HOUR, 1)])
    streams.run()
    streams.add(u=[(2, 1, HOUR + 120, 1)])
    last = streams.run()
    assert custom(first + last, "leftRowsLate") == 0
    streams.holds()


@pytest.mark.parametrize("time", ["ta", "tb"])
def test_each_time_of_a_side_that_has_two_lets_the_other_side_forget(
    session: SparkSession, tmp_path: Path, time: str
) -> None:
    # Rows of the first join carry two times, each with a watermark of its own.
    query = f"""SELECT j.a, j.b, c.id AS c FROM (
            SELECT a.id AS a, b.id AS b, a.k, a.ts AS ta, b.ts AS tb FROM {{a}} a
            JOIN {{b}} b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 20 MINUTES) j
        JOIN {{c}} c ON j.k = c.k AND c.ts BETWEEN j.{time} AND j.{time} + INTERVAL 10 MINUTES"""
    streams = Streams(session, tmp_path, query, a=0, b=0, c=0)
    for h in range(1, 9):
        at = h * HOUR
        streams.add(a=[(h, h % 2, at, 0)], b=[(h, h % 2, at + 600, 0)], c=[(h, h % 2, at + 900, 0)])
        streams.add(a=[(10 + h, 5, at, 0)], b=[], c=[(10 + h, h % 2, at + 300, 0)])
    streams.end()
    progress = streams.run()
    streams.holds()
    for operator in (0, 1):
        assert max(p["stateOperators"][operator]["numRowsTotal"] for p in progress) <= 8
        assert progress[-1]["stateOperators"][operator]["numRowsTotal"] <= 4


@pytest.mark.parametrize("frontier", ["query", "side"])
def test_the_watermark_of_one_column_says_nothing_of_another(
    session: SparkSession, tmp_path: Path, frontier: str
) -> None:
    streams = Streams(
        session,
        tmp_path,
        """SELECT l.id, r.id AS r FROM (SELECT id, k, other FROM {l}) l
        LEFT JOIN {r} r ON l.k = r.k AND l.other = r.ts""",
        l=None,
        r=0,
    )
    for h in range(1, 6):
        streams.add(l=[(h, 1, h * HOUR, 5 * HOUR)], r=[(h, 1 + h % 2, h * HOUR, h)])
    streams.end()
    reader = session.readStream.schema("id INT, k INT, s INT, v INT").option(
        "maxFilesPerTrigger", 1
    )
    ahead = reader.json(str(streams.feeds["l"].folder)).selectExpr(
        "*", "timestamp_seconds(s) AS other", "timestamp_seconds(s + v) AS ts"
    )
    sides = {"l": ahead.withWatermark("ts", "0 seconds"), "r": streams.feeds["r"].df(session)}
    with settings(session, {"spark.plait.stream.frontier": frontier}):
        df = session.sql(streams.query, **sides)
        progress = run(df, tmp_path)
    assert custom(progress, "leftRowsLate") == 0
    found = settled(session.read.schema(df.schema).parquet(f"{tmp_path}/out"))
    assert found == Counter((h, h if h % 2 == 0 else None) for h in range(1, 6))


@pytest.mark.parametrize("frontier", ["query", "side"])
def test_a_stream_without_a_watermark_is_not_late_by_that_of_another_branch(
    session: SparkSession, tmp_path: Path, frontier: str
) -> None:
    query = """SELECT a.id, r.id AS r FROM (SELECT * FROM {l} UNION ALL SELECT * FROM {u}) a
        JOIN {r} r ON a.k = r.k AND r.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"""
    streams = Streams(session, tmp_path, query, l=0, u=None, r=0)
    for h in range(1, 4):
        streams.add(
            l=[(h, 1, (h + 20) * HOUR, h)],
            u=[(100 + h, 1, h * HOUR, h)],
            r=[(h, 1, h * HOUR + 300, h)],
        )
    with settings(session, {"spark.plait.stream.frontier": frontier}):
        streams.run()
    streams.holds()


def test_a_query_of_which_a_hint_leaves_one_join_to_spark_goes_on(
    session: SparkSession, tmp_path: Path
) -> None:
    query = """SELECT a.l, a.r, x.id FROM (
            SELECT /*+ NO_SYMMETRIC_HASH(r) */ l.id AS l, r.id AS r, l.k, l.ts FROM {l} l
            JOIN {r} r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 1 HOUR) a
        JOIN {x} x ON a.k = x.k AND x.ts BETWEEN a.ts AND a.ts + INTERVAL 1 HOUR"""
    streams = Streams(session, tmp_path, query, l=0, r=0, x=0)
    for h in range(1, 3):
        at = h * HOUR
        streams.add(l=[(h, 1, at, h)], r=[(h, 1, at, h)], x=[(h, 1, at, h)])
        progress = streams.run()
        names = {o["operatorName"] for o in progress[-1]["stateOperators"]}
        assert names == {"plaitSymmetricHashJoin", "symmetricHashJoin"}
    streams.holds()


def test_a_reach_that_is_not_as_wide_for_all_rows_is_not_cut_into_ranges(
    session: SparkSession, tmp_path: Path
) -> None:
    query = """SELECT l.id, r.id AS r FROM {l} l JOIN {r} r ON r.ts BETWEEN l.ts AND
        CASE WHEN l.ts < TIMESTAMP'1970-01-02' THEN l.ts ELSE l.ts + INTERVAL 10 HOURS END"""
    streams = Streams(session, tmp_path, query, l=0, r=0)
    for h in (1, 30, 31):
        streams.add(l=[(h, 1, h * HOUR, h)], r=[(h, 1, h * HOUR, h), (h + 1, 1, h * HOUR + 60, h)])
    streams.run()
    streams.holds()
