# SPDX-License-Identifier: Apache-2.0
"""What joins of two streams keep: bids and the auctions that they are for, joined in four ways.

    regular    ON b.auction = a.id                         grows: every row may match for ever
    interval   AND b.date_time BETWEEN                     flat: an auction is kept while it runs
                   a.date_time AND a.expires
    window     in the same 4 hours (TUMBLE)                saw-tooth: rows go when their window ends
    PROCTIME   auctions FOR SYSTEM_TIME AS OF PROCTIME()   zero: auctions are a table

Bids and auctions are like those of the benchmark Nexmark, of whose 50 events 1 is a person, 3 are
auctions and 46 bids: here 1M events over a day, 24 files a side, one of each a micro-batch. An
auction runs from half an hour to 4 hours. Of the bids every second is on a hot auction, which every
hundredth is; the others are on some auction that began within 4 hours.

Claim: after no micro-batch Plait keeps more rows than Spark's own join at its most; of PROCTIME()
none. The rows are DuckDB's. Times are beside the point here, and measured once.

Spark's own join is given what it can do with the same rows:

    window     the column window(date_time, '4 hours')
    PROCTIME   the table as it is, in which each auction has one version
    interval   4 hours for every auction, and `expires` where Spark does not see a time. With the
               condition as it is written Spark takes the bound of `expires` for one of `date_time`:
               it forgets auctions that still run, and rows are missing. How many is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks import streams
from benchmarks.race import Laps, agree, race
from benchmarks.result import Case, Result
from benchmarks.spark import STOCK
from benchmarks.state_picture import draw_states
from benchmarks.streams import HDFS, Backlog, Source, StreamPeer, StreamQuery, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

TITLE = "Bids and auctions, joined in four ways"
START = 1_770_000_000_000_000 // 14_400_000_000 * 14_400_000_000  # microseconds, of whole windows
DAY = 24 * 3600 * 1_000_000
AUCTIONS, BIDS = 3, 46  # of each turn of events
TURN = AUCTIONS + BIDS
HOT = 100
PLAIT, OWN = "Plait", "stock Spark"

COLUMNS = "b.auction, b.bidder, b.price, a.seller"
SUMS = "count(*) AS c, sum(auction) AS a, sum(bidder) AS b, sum(price) AS p, sum(seller) AS s"


@dataclass(frozen=True)
class Kind:
    """A kind of join, as Plait has it, as Spark has it, and as DuckDB has it over tables."""

    title: str
    plait: str
    spark: str
    duck: str
    are_auctions_streamed: bool = True


_REGULAR = f"SELECT {COLUMNS} FROM bids b JOIN auctions a ON b.auction = a.id"
_INTERVAL = f"{_REGULAR} AND b.date_time BETWEEN a.date_time AND a.expires"
_LONGEST = (
    f"{_REGULAR} AND b.date_time BETWEEN a.date_time AND a.date_time + INTERVAL 4 HOURS"
    " AND unix_micros(b.date_time) <= unix_micros(a.expires)"
)


def _tumbled(table: str) -> str:
    return f"TUMBLE(TABLE {table}, DESCRIPTOR(date_time), INTERVAL 4 HOURS)"


def _with_window(window: str) -> str:
    sides = (f"(SELECT *, {window} AS w FROM {table}) {table[0]}" for table in ("bids", "auctions"))
    return f"SELECT {COLUMNS} FROM {' JOIN '.join(sides)} ON b.auction = a.id AND b.w = a.w"


KINDS = (
    Kind("regular", _REGULAR, _REGULAR, _REGULAR),
    Kind("interval", _INTERVAL, _LONGEST, _INTERVAL),
    Kind(
        "window",
        f"SELECT {COLUMNS} FROM {_tumbled('bids')} b JOIN {_tumbled('auctions')} a"
        " ON b.auction = a.id AND b.window_start = a.window_start AND b.window_end = a.window_end",
        _with_window("window(date_time, '4 hours')"),
        _with_window("time_bucket(INTERVAL 4 HOURS, date_time)"),
    ),
    Kind(
        "PROCTIME",
        f"SELECT /*+ VERSIONED(a, date_time) */ {COLUMNS}"
        " FROM bids b JOIN auctions FOR SYSTEM_TIME AS OF PROCTIME() AS a ON b.auction = a.id",
        _REGULAR,
        _REGULAR,
        are_auctions_streamed=False,
    ),
)


def make_backlogs(spark: SparkSession, folder: Path, events: int, files: int) -> dict[str, Backlog]:
    """Write bids and auctions."""
    turns = events // TURN

    def at(event: str) -> str:
        return f"timestamp_micros({START} + ({event}) * {DAY // events})"

    newest = f"(id div {BIDS} * {AUCTIONS} + {AUCTIONS - 1})"
    recent = f"{newest} - CAST(floor(rand(2) * {turns * AUCTIONS * 4 // 24}) AS BIGINT)"
    began = at(f"id div {AUCTIONS} * {TURN} + id % {AUCTIONS}")
    bids = (
        f"IF(rand(1) < 0.5, {newest} div {HOT} * {HOT}, {recent}) AS auction",
        "CAST(rand(3) * 1000 AS BIGINT) AS bidder",
        "CAST(exp(rand(4) * 10) AS BIGINT) AS price",
        f"{at(f'id div {BIDS} * {TURN} + {AUCTIONS} + id % {BIDS}')} AS date_time",
    )
    auctions = (
        "id",
        "CAST(rand(5) * 1000 AS BIGINT) AS seller",
        f"{began} AS date_time",
        f"{began} + make_dt_interval(0, 0, 30 + CAST(rand(6) * 210 AS INT)) AS expires",
    )
    sides = (("bids", BIDS, bids), ("auctions", AUCTIONS, auctions))
    return {
        name: streams.written(
            spark.range(0, turns * a_turn, 1, files).selectExpr(*columns),
            folder / f"{name}_{events}",
            "date_time",
        )
        for name, a_turn, columns in sides
    }


def race_kind(
    spark: SparkSession, kind: Kind, backlogs: Mapping[str, Backlog], folder: Path
) -> Laps:
    """Run a kind of join once with Plait and once without."""
    sources: dict[str, Source] = {**backlogs}
    if not kind.are_auctions_streamed:
        sources["auctions"] = Table(backlogs["auctions"])
    texts = {PLAIT: (kind.plait, HDFS), OWN: (kind.spark, {**HDFS, **STOCK})}
    peers = [
        StreamPeer(name, spark, StreamQuery(text, SUMS), sources, folder, settings)
        for name, (text, settings) in texts.items()
    ]
    laps = race(peers, 0)
    duck = StreamQuery(kind.duck, SUMS).as_batch
    agree({**laps, "DuckDB": streams.in_duckdb(duck, backlogs)})
    return laps


def missing(spark: SparkSession, backlogs: Mapping[str, Backlog], folder: Path) -> str:
    """Return what Spark's own join makes of the interval as it is written."""
    query = StreamQuery(_INTERVAL, "count(*)")
    found = StreamPeer(OWN, spark, query, backlogs, folder, {**HDFS, **STOCK}).run().answer
    all_ = streams.in_duckdb(query.as_batch, backlogs).last
    assert found is not None
    assert all_ is not None
    assert all_.answer is not None
    return f"  {OWN} with the condition as written: {found[0][0]:,} of {all_.answer[0][0]:,} rows"


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run the four joins and keep the result."""
    result = Result("state", TITLE, sparks.jdk(spark), options, streams.WHOLE)
    for events in options.sizes(1_000_000, quick=4_900):
        backlogs = make_backlogs(spark, folder, events, streams.files(options))
        panels = {}
        for kind in KINDS:
            title = f"{events:,} events, {kind.title}"
            print(title, flush=True)
            laps = race_kind(spark, kind, backlogs, folder)
            notes = [missing(spark, backlogs, folder)] if kind.title == "interval" else []
            result.add(Case(title, laps, notes))
            panels[kind.title] = {name: streams.kept(lap) for name, lap in laps.items()}
            most, most_of_own = (max(panels[kind.title][name]) for name in (PLAIT, OWN))
            result.judge(f"{title}: rows kept at most, by those of {OWN}", most, most_of_own)
        draw_states(panels, TITLE, options.folder / "state-rows.png")
    print("\n".join(result.judged))
