# SPDX-License-Identifier: Apache-2.0
"""W5: points in ranges, without an equality.

    SELECT count(*), sum(p.id), sum(r.id)
    FROM points p JOIN ranges r ON p.x BETWEEN r.lo AND r.hi

1M points from 0 to a thousand million, 100,000 ranges up to 40,000 long: some 2 ranges a point.

Claim, broadcasting on: Plait takes at most as long as hand-made bins, as Spark plans those.

Peers: bins of a range's mean length, stock Spark, DuckDB. A floor there is none: what other plans
would shuffle by has to be made first.
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

SPAN = 1_000_000_000
BIN = 20_000

COLUMNS = "p.id, r.id AS range"
SUMS = "count(*) AS c, sum(p.id) AS p, sum(r.id) AS r"
JOIN = Join("FROM points p JOIN ranges r ON p.x BETWEEN r.lo AND r.hi", COLUMNS, SUMS)

# A range goes into every bin that it meets, a point into its own.
BINS = Join(
    f"""FROM (SELECT *, x div {BIN} AS bin FROM points) p
JOIN (SELECT *, explode(sequence(lo div {BIN}, hi div {BIN})) AS bin FROM ranges) r
ON p.bin = r.bin AND p.x BETWEEN r.lo AND r.hi""",
    COLUMNS,
    SUMS,
)


def make_tables(spark: SparkSession, folder: Path, points: int) -> dict[str, Path]:
    """Write the points, and a tenth as many ranges, as dense for every number of points."""
    span = SPAN * points // 1_000_000
    x = f"CAST(rand(1) * {span} AS BIGINT)"
    lo = f"CAST(rand(2) * {span} AS BIGINT)"
    hi = f"{lo} + CAST(rand(3) * {2 * BIN} AS BIGINT) AS hi"
    tables = {
        "points": sparks.write(spark, folder, f"points_{points}", points, ("id", f"{x} AS x")),
        "ranges": sparks.write(
            spark, folder, f"ranges_{points}", points // 10, ("id", f"{lo} AS lo", hi)
        ),
    }
    sparks.name_tables(spark, tables)
    return tables


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W5 and keep its result."""
    result = Result("w5", "W5: points in ranges, no equality", sparks.jdk(spark), options)
    for points in options.sizes(1_000_000):
        contest = Contest(spark, JOIN, BINS, make_tables(spark, folder, points), None)
        size = f"{points:,} points, {points // 10:,} ranges"
        contest.hold(result, (size, "broadcasting on"), {"bins": 1.0})
        contest.hold(result, (size, "broadcasting off"), {})
    print("\n".join(result.judged))
