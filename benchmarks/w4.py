# SPDX-License-Identifier: Apache-2.0
"""W4: clicks within a second after an impression of the same campaign.

    SELECT count(*), sum(i.shown), sum(c.clicked)
    FROM impressions i JOIN clicks c ON i.campaign = c.campaign
     AND c.ts BETWEEN i.ts AND i.ts + INTERVAL 1 SECOND

100 campaigns, 1M of each over one hour: some 2.8 clicks an impression.

Claims, broadcasting off: Plait takes at most 0.4 times as long as bins of 1 second, and as DuckDB
with `prefer_range_joins`.

Peers: the floor, bins, stock Spark, DuckDB.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks.contest import Contest
from benchmarks.peer import Join
from benchmarks.result import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

START = 1_770_000_000_000_000  # microseconds
HOUR = 3_600_000_000
CAMPAIGNS = 100

COLUMNS = "i.campaign, i.shown, c.clicked"
SUMS = "count(*) AS c, sum(i.shown) AS i, sum(c.clicked) AS k"
WITHIN = "c.ts BETWEEN i.ts AND i.ts + INTERVAL 1 SECOND"
JOIN = Join(
    f"FROM impressions i JOIN clicks c ON i.campaign = c.campaign AND {WITHIN}", COLUMNS, SUMS
)

# An impression goes into its own second and the next, a click into its own.
BINS = Join(
    f"""FROM (SELECT *, explode(array(unix_seconds(ts), unix_seconds(ts) + 1)) AS bin
  FROM impressions) i
JOIN (SELECT *, unix_seconds(ts) AS bin FROM clicks) c
ON i.campaign = c.campaign AND i.bin = c.bin AND {WITHIN}""",
    COLUMNS,
    SUMS,
)


def make_tables(spark: SparkSession, folder: Path, rows: int) -> dict[str, Path]:
    """Write impressions and clicks."""
    tables = {
        name: sparks.write(
            spark,
            folder,
            f"{name}_{rows}",
            rows,
            (
                f"CAST(floor(rand({seed}) * {CAMPAIGNS}) AS INT) AS campaign",
                f"timestamp_micros({START} + CAST(rand({seed + 10}) * {HOUR} AS BIGINT)) AS ts",
                f"id AS {column}",
            ),
        )
        for name, column, seed in (("impressions", "shown", 1), ("clicks", "clicked", 2))
    }
    sparks.name_tables(spark, tables)
    return tables


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W4 and keep its result."""
    title = "W4: clicks within a second of an impression, 100 campaigns"
    result = Result("w4", title, sparks.jdk(spark), options)
    for rows in options.sizes(1_000_000):
        tables = make_tables(spark, folder, rows)
        sides = {
            "impressions": ("campaign", "ts", "shown"),
            "clicks": ("campaign", "ts", "clicked"),
        }
        contest = Contest(spark, JOIN, BINS, tables, sides)
        limits = {"bins": 0.4, "DuckDB": 0.4}
        contest.hold(result, (f"{rows:,} rows a side", "broadcasting off"), limits)
    print("\n".join(result.judged))
