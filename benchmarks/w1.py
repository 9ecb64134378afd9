# SPDX-License-Identifier: Apache-2.0
"""W1: a narrow band on a sequence number, over few keys.

    SELECT count(*), sum(l.key), sum(l.s), sum(r.s)
    FROM l JOIN r ON l.key = r.key AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10

Keys are uniform, the sides independent, s is the row number or, with probability 0.3, one less.

Claims, for 8, 64 and 1024 keys:
  1. 10M rows a side, broadcasting off: at most 1.1 times the floor, the time in which Spark alone
     shuffles both sides by key and sorts them by s.
  2. 1M rows a side, broadcasting on: at most as long as hand-made bins, as Spark plans those.
  3. 1M rows a side: a task holds at most 64 rows of both sides together.

Peers: hand-made bins, stock Spark, DuckDB with `prefer_range_joins`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import plait
from benchmarks import spark as sparks
from benchmarks.contest import Contest
from benchmarks.peer import Join
from benchmarks.result import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

KEYS = (8, 64, 1024)
MOST_HELD = 64
NOT_BROADCAST = ("floor", "stock Spark")
BIN = 16
COLUMNS = "l.key, l.s, r.s AS rs"
SUMS = "count(*) AS c, sum(l.key) AS k, sum(l.s) AS ls, sum(r.s) AS rs"
BAND = "l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10"
JOIN = Join(f"FROM l JOIN r ON l.key = r.key AND {BAND}", COLUMNS, SUMS)

# One side goes into every bin that its reach meets, the other into its own.
BINS = Join(
    f"""FROM (SELECT *, s div {BIN} AS bin FROM l) l
JOIN (SELECT *, explode(sequence((s + 4) div {BIN}, (s + 7) div {BIN})) AS bin FROM r) r
ON l.key = r.key AND l.bin = r.bin AND {BAND}""",
    COLUMNS,
    SUMS,
)


def make_tables(spark: SparkSession, folder: Path, rows: int, keys: int) -> dict[str, Path]:
    """Write both sides and name them l and r."""
    tables = {
        name: sparks.write(
            spark,
            folder,
            f"{name}_{rows}_{keys}",
            rows,
            (
                f"CAST(floor(rand({seed}) * {keys}) AS BIGINT) AS key",
                f"id - CAST(rand({seed + 10}) < 0.3 AS BIGINT) AS s",
            ),
        )
        for name, seed in (("l", 1), ("r", 2))
    }
    sparks.name_tables(spark, tables)
    return tables


def held(spark: SparkSession) -> int:
    """Return the most rows of both sides that a task of the join holds."""
    for key, value in (sparks.BROADCASTING_OFF | {"spark.plait.enabled": "true"}).items():
        spark.conf.set(key, value)
    df = spark.sql(JOIN.whole)
    df.collect()
    return plait.counters(df)[0].metrics["peakBuffered"]


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W1 and keep its result."""
    result = Result("w1", "W1: a narrow band over few keys", sparks.jdk(spark), options)
    for rows in options.sizes(65_536, 1_000_000, 10_000_000):
        for keys in KEYS:
            tables = make_tables(spark, folder, rows, keys)
            sides = {"l": ("key", "s"), "r": ("key", "s")}
            contest = Contest(spark, JOIN, BINS, tables, sides)
            title = f"{rows:,} rows a side, {keys} keys"
            limits = {"floor": 1.1} if rows == 10_000_000 else {}
            most = held(spark)
            note = f"  most rows of both sides that a task of Plait's held: {most}"
            contest.hold(result, (title, "broadcasting off"), limits, notes=[note])
            if rows == 1_000_000:
                result.judge(f"{title}: rows that a task holds", most, MOST_HELD)
            if rows <= 1_000_000:
                limits = {"bins": 1.0} if rows == 1_000_000 else {}
                contest.hold(result, (title, "broadcasting on"), limits, without=NOT_BROADCAST)
    print("\n".join(result.judged))
