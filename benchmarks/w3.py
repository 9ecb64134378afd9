# SPDX-License-Identifier: Apache-2.0
"""W3: orders and their shipments within 4 hours; keys are nearly unique.

    SELECT count(*), sum(o.amount), sum(s.parcel)
    FROM orders o JOIN shipments s ON o.number = s.number
     AND s.shipped BETWEEN o.ordered AND o.ordered + INTERVAL 4 HOURS

10M of each over 30 days. One order in 50 has the number of the order before it. A shipment is of a
random order, sent up to 8 hours after it: so about half of them are in time.

Claim, broadcasting off: Plait takes at most 0.9 times as long as Spark's own join.

Peers: the floor, stock Spark, DuckDB as it comes. Nobody would bin so few rows a key.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks.contest import Contest
from benchmarks.duck import AS_IT_COMES
from benchmarks.peer import Join
from benchmarks.result import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

START = 1_770_000_000_000_000  # microseconds
SPAN = 30 * 24 * 3600 * 1_000_000

JOIN = Join(
    """FROM orders o JOIN shipments s ON o.number = s.number
 AND s.shipped BETWEEN o.ordered AND o.ordered + INTERVAL 4 HOURS""",
    "o.number, o.amount, s.parcel",
    "count(*) AS c, sum(o.amount) AS a, sum(s.parcel) AS p",
)


def make_tables(spark: SparkSession, folder: Path, rows: int) -> dict[str, Path]:
    """Write orders and shipments."""
    step = SPAN // rows
    orders = (
        "IF(id % 50 = 49, id - 1, id) AS number",
        f"timestamp_micros({START} + id * {step}) AS ordered",
        "CAST(rand(1) * 10000 AS BIGINT) AS amount",
    )
    number = f"CAST(floor(rand(2) * {rows}) AS BIGINT)"
    shipments = (
        f"{number} AS number",
        f"timestamp_micros({START} + {number} * {step} + CAST(rand(3) * 28800000000 AS BIGINT))"
        " AS shipped",
        "id AS parcel",
    )
    tables = {
        "orders": sparks.write(spark, folder, f"orders_{rows}", rows, orders),
        "shipments": sparks.write(spark, folder, f"shipments_{rows}", rows, shipments),
    }
    sparks.name_tables(spark, tables)
    return tables


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W3 and keep its result."""
    title = "W3: orders and shipments within 4 hours, near-unique keys"
    result = Result("w3", title, sparks.jdk(spark), options)
    for rows in options.sizes(10_000_000):
        tables = make_tables(spark, folder, rows)
        sides = {
            "orders": ("number", "ordered", "amount"),
            "shipments": ("number", "shipped", "parcel"),
        }
        contest = Contest(spark, JOIN, None, tables, sides, AS_IT_COMES)
        contest.hold(result, (f"{rows:,} rows a side", "broadcasting off"), {"stock Spark": 0.9})
    print("\n".join(result.judged))
