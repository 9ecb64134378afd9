# SPDX-License-Identifier: Apache-2.0
"""Examples: joins of streams that have run, by their checkpoints and by their progress."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from tests.python.shipments import MATCH, WITHIN, Streams

import plait
from plait import PlaitError, StreamReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# The rows of the semi join, joined once more.
TWICE = f"""{WITHIN} JOIN {{s}} WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS t
    ON t.k = o.k AND t.ts BETWEEN o.ts AND o.ts + INTERVAL 1 HOUR"""
JOINS = {
    "outer": ("LEFT JOIN", "o.id AS oid, s.id AS sid", WITHIN),
    "as_of": ("LEFT ASOF JOIN", "*", MATCH),
    "twice": ("LEFT SEMI JOIN", "o.id, t.id AS tid", TWICE),
}


def at(minute: int, micros: int = 0) -> datetime:
    return datetime(2026, 3, 1, 10, minute, 0, micros)


@dataclass
class Ran:
    """Queries that have run over Spark Connect, the rows that wait in each, and their reports."""

    streams: Streams
    waiting: dict[str, list[int]]
    reports: dict[str, StreamReport]


@pytest.fixture(scope="module")
def ran(connect: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    streams = Streams(connect, tmp_path_factory.mktemp("streams"))
    streams.add(0)
    queries = [streams.start(streams.join(*JOINS[name]), name) for name in JOINS]
    other = streams.read("orders").dropDuplicates(["k"])
    counting = streams.start(other, "no_join")
    try:
        counting.processAllAvailable()
        with pytest.raises(PlaitError, match=r"no join .*: what keeps state in it is dedupe"):
            plait.stream_report(counting)
        counting.stop()
        for query in queries:
            query.processAllAvailable()
        streams.add(1)
        for query in queries:
            query.processAllAvailable()
        waiting = {
            query.name: [o["numRowsTotal"] for o in query.lastProgress["stateOperators"]]
            for query in queries
        }
    finally:
        for query in [*queries, counting]:
            query.stop()
    return Ran(streams, waiting, {query.name: plait.stream_report(query) for query in queries})


def rows(ran: Ran, spark: SparkSession, name: str, side: str) -> list[tuple[object, ...]]:
    df = plait.state(ran.streams.checkpoint(name), side, spark=spark)
    return sorted(tuple(row) for row in df.drop("k", "ts").collect())


def test_there_are_as_many_as_the_progress_says(ran: Ran, spark: SparkSession) -> None:
    df = plait.state(ran.streams.checkpoint("as_of"), spark=spark)
    assert [df.count()] == ran.waiting["as_of"]


def test_the_report_has_the_rows_of_each_side_and_frontier_and_bound_as_times(ran: Ran) -> None:
    report = ran.reports["outer"]
    # The files of the second batch may be met by one batch or by two.
    # A shipment is of the order's time, or up to an hour later.
    first = {"left": timedelta(hours=1), "right": timedelta(0)}
    for side, rows_in, stored, pruned in (("left", 4, 4, 0), ("right", 4, 3, 1)):
        rows = [row for row in report if row.side == side]
        assert sum(row.rows_in for row in rows) == rows_in
        assert sum(row.rows_pruned for row in rows) == pruned
        assert rows[0].frontier is None
        assert rows[-1].rows_stored == stored
        frontier = datetime(2026, 3, 1, 10, 10, 0, 1, tzinfo=UTC)
        assert rows[-1].frontier == frontier
        assert (rows[0].bound, rows[-1].bound) == (None, frontier - first[side])
        assert rows[-1].bytes_stored >= 32 * stored
        # The newest event time is that of the orders, 10:20, or of the shipments, 10:30.
        micro = timedelta(microseconds=1)
        assert rows[-1].lag in [timedelta(minutes=minutes) - micro for minutes in (10, 20)]
    assert sum(row.pairs for row in report) == 2
    assert all(row.state_bytes > 0 and row.duration > timedelta(0) for row in report)


def test_the_report_of_two_joins_has_both_as_the_progress_lists_them(ran: Ran) -> None:
    sides = ran.reports["twice"].rows()[-4:]
    assert [(s.join, s.side) for s in sides] == [
        (0, "left"),
        (0, "right"),
        (1, "left"),
        (1, "right"),
    ]
    stored = [s.rows_stored for s in sides]
    assert [sum(stored[:2]), sum(stored[2:])] == ran.waiting["twice"]


def test_an_outer_side_says_who_has_matched(ran: Ran, session: SparkSession) -> None:
    left = plait.state(ran.streams.checkpoint("outer"), "left", spark=session)
    assert left.columns == ["id", "k", "ts", "_order", "_end", "_matched"]
    # (id, order, the last shipment that can match: an hour later, matched)
    assert rows(ran, session, "outer", "left") == [
        (id_, at(minute), datetime(2026, 3, 1, 11, minute), matched)
        for id_, minute, matched in [(1, 0, True), (2, 5, True), (3, 6, False), (4, 20, False)]
    ]
    # Shipment 11, of 10:10, is behind the frontier of the orders.
    assert rows(ran, session, "outer", "right") == [
        (id_, at(minute), at(minute), None) for id_, minute in [(12, 12), (13, 30), (14, 14)]
    ]


def test_of_an_as_of_join_there_are_pending_rows_and_versions(
    ran: Ran, spark: SparkSession
) -> None:
    assert rows(ran, spark, "as_of", "left") == [(4, at(20), at(20), False)]
    # Version 12 is picked up to the one that follows; the others wait for one.
    assert rows(ran, spark, "as_of", "right") == [
        (11, at(10), None, None),
        (12, at(12), at(13).replace(second=59, microsecond=999999), None),
        (13, at(30), None, None),
        (14, at(14), None, None),
    ]


def test_both_sides_at_once_and_an_earlier_batch(ran: Ran, spark: SparkSession) -> None:
    checkpoint = ran.streams.checkpoint("outer")
    df = plait.state(checkpoint, spark=spark)
    assert df.columns == ["side", "left", "right", "_order", "_end", "_matched"]
    found = {(r.side, (r.left or r.right).id, r.left is None) for r in df.collect()}
    assert [len(found)] == ran.waiting["outer"]
    expected = {("left", id_, False) for id_ in (1, 2, 3, 4)}
    assert found == expected | {("right", id_, True) for id_ in (12, 13, 14)}
    first = plait.state(checkpoint, "left", batch=0, spark=spark)
    assert sorted(row.id for row in first.collect()) == [1, 2, 3]


def test_of_several_joins_one_is_named(ran: Ran, spark: SparkSession) -> None:
    checkpoint = ran.streams.checkpoint("twice")
    with pytest.raises(PlaitError, match=r"several joins .* say operator= one of 0, 1"):
        plait.state(checkpoint, spark=spark)
    found = [plait.state(checkpoint, operator=i, spark=spark).count() for i in (0, 1)]
    assert found == ran.waiting["twice"]
    # Orders 1 and 2 have left with their first match.
    semi = plait.state(checkpoint, "left", operator=1, spark=spark)
    assert sorted((row.id, row._matched) for row in semi.collect()) == [(3, False), (4, False)]


def test_what_is_no_join_of_ours_is_told(ran: Ran, spark: SparkSession) -> None:
    streams = ran.streams
    with pytest.raises(PlaitError, match="what keeps state there is dedupe as operator 0"):
        plait.state(streams.checkpoint("no_join"), spark=spark)
    with pytest.raises(PlaitError, match=r"Operator 3 .* plaitSymmetricHashJoin as operator 0"):
        plait.state(streams.checkpoint("outer"), operator=3, spark=spark)
    with pytest.raises(PlaitError, match=r"Batch 99 is not in .*, which has the batches 0 to "):
        plait.state(streams.checkpoint("outer"), batch=99, spark=spark)
    with pytest.raises(PlaitError, match="nothing keeps state there"):
        plait.state(str(streams.folder / "nothing"), spark=spark)
    with pytest.raises(PlaitError, match="'left', 'right' or None for both, not 'both'"):
        plait.state(streams.checkpoint("outer"), "both", spark=spark)
