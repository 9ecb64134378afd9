# SPDX-License-Identifier: Apache-2.0
"""W6: two streams, orders and their shipments within 4 hours.

    SELECT o.number, o.ordered, s.shipped, o.item, s.parcel
    FROM orders o JOIN shipments s ON o.number = s.number
     AND s.shipped BETWEEN o.ordered AND o.ordered + INTERVAL 4 HOURS

1M of each over a day, in the sequence of their times, 24 files a side, one of each a micro-batch,
watermarks ten minutes behind. One order in 50 has the number of the order before it. A shipment is
of a random order of the 5 hours before it, so four of five are in time; those of the first hours
may be of an order of the day before, which nobody has.

Claims, ours on the same store each time:
  1. at most 1/2 of the time of Spark's own join on the HDFS-backed store (its default);
  2. at most 1/3 of its time on RocksDB, with the state format that suits it best, 4.

Peers: the floor, the same query with a filter over both streams in the join's place; Spark's own
join, on RocksDB also with the format that it takes if nothing is said, 2, once. Who comes first
changes with the round. The rows that come out are DuckDB's, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import flight, streams
from benchmarks import spark as sparks
from benchmarks.race import Laps, agree, race
from benchmarks.result import Case, Result
from benchmarks.spark import STOCK
from benchmarks.state_picture import draw_states
from benchmarks.streams import FORMAT_4, HDFS, ROCKSDB, Backlog, FloorPeer, StreamPeer, StreamQuery
from benchmarks.table import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options
    from benchmarks.peer import Peer

TITLE = "W6: streams of orders and shipments within 4 hours"
START = 1_770_000_000_000_000  # microseconds
DAY = 24 * 3600 * 1_000_000
HOURS_TO_SHIP = 5

JOIN = StreamQuery(
    """SELECT o.number, o.ordered, s.shipped, o.item, s.parcel
FROM orders o JOIN shipments s ON o.number = s.number
 AND s.shipped BETWEEN o.ordered AND o.ordered + INTERVAL 4 HOURS""",
    "count(*) AS c, sum(number) AS n, sum(length(item)) AS i, sum(parcel) AS p",
)
FLOOR = StreamQuery(
    """SELECT * FROM (SELECT number, ordered AS at, item FROM orders
 UNION ALL SELECT number, shipped, carrier FROM shipments) WHERE number % 2 = 0""",
    "count(*)",
)

# A store: its settings, what Spark's own join is given there, and the limit of the claim.
STORES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str], float]] = {
    "HDFS-backed": (HDFS, {}, 1 / 2),
    "RocksDB": (ROCKSDB, FORMAT_4, 1 / 3),
}
PLAIT, OWN, OLD_OWN = "Plait", "stock Spark", "stock Spark, format 2"


def make_backlogs(spark: SparkSession, folder: Path, rows: int, files: int) -> dict[str, Backlog]:
    """Write both streams."""
    step = DAY // rows
    reach = rows * HOURS_TO_SHIP // 24
    orders = (
        "IF(id % 50 = 49, id - 1, id) AS number",
        f"timestamp_micros({START} + id * {step}) AS ordered",
        "lpad(hex(id), 20, 'item') AS item",
    )
    shipments = (
        f"id - CAST(floor(rand(1) * {reach}) AS BIGINT) AS number",
        f"timestamp_micros({START} + id * {step}) AS shipped",
        "id AS parcel",
        "lpad(hex(id), 20, 'carrier') AS carrier",
    )
    sides = {"orders": ("ordered", orders), "shipments": ("shipped", shipments)}
    return {
        name: streams.written(
            spark.range(0, rows, 1, files).selectExpr(*columns),
            folder / f"{name}_{rows}",
            event_time,
        )
        for name, (event_time, columns) in sides.items()
    }


def race_all(
    spark: SparkSession, backlogs: Mapping[str, Backlog], runs: int, folder: Path
) -> dict[str, Laps]:
    """Race all peers and return the laps of each store; the floor is in both."""

    def peer(name: str, settings: Mapping[str, str]) -> StreamPeer:
        return StreamPeer(name, spark, JOIN, backlogs, folder, settings)

    peers: list[Peer] = [FloorPeer("floor", spark, FLOOR, backlogs, folder)]
    for store, (settings, best, _) in STORES.items():
        peers.append(peer(f"{PLAIT}, {store}", settings))
        peers.append(peer(f"{OWN}, {store}", {**settings, **STOCK, **best}))
    # The slow ones, too, are run in every round: something is claimed of them.
    laps = race(peers, runs, slow=math.inf)
    once = race([peer(OLD_OWN, {**ROCKSDB, **STOCK})], 0)
    agree({**laps, **once, "DuckDB": streams.in_duckdb(JOIN.as_batch, backlogs)})
    found = {
        store: {
            "floor": laps["floor"],
            **{name: laps[f"{name}, {store}"] for name in (PLAIT, OWN)},
        }
        for store in STORES
    }
    found["RocksDB"] |= once
    return found


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W6 and keep its result."""
    result = Result("w6", TITLE, sparks.jdk(spark), options, streams.WHOLE)
    for rows in options.sizes(1_000_000, quick=4_800):
        backlogs = make_backlogs(spark, folder, rows, streams.files(options))
        found = race_all(spark, backlogs, options.runs, folder)
        for store, laps in found.items():
            settings, _, limit = STORES[store]
            title = f"{rows:,} rows a side, {store} store"
            notes: Sequence[str] = ()
            if options.profile:
                plait = StreamPeer(PLAIT, spark, JOIN, backlogs, folder, settings)
                notes = flight.hottest(spark, f"w6-{store}", plait.run)
            result.add(Case(title, laps, notes), Claim(title, PLAIT, OWN, limit))
        laps = found["HDFS-backed"]
        states = {name: streams.kept(laps[name]) for name in (PLAIT, OWN)}
        draw_states({f"{rows:,} rows a side": states}, TITLE, options.folder / "w6-rows.png")
    print("\n".join(result.judged))
