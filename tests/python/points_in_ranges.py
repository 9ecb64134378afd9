# SPDX-License-Identifier: Apache-2.0
"""Points in ranges: the tables and queries of the tests of joins with a side that is broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BROADCASTING = {"spark.sql.autoBroadcastJoinThreshold": "10MB"}
IN_RANGE = "points.x BETWEEN ranges.lo AND ranges.hi"
SELECT = "SELECT points.id, ranges.id FROM points {} ranges ON {}"
KEYED = SELECT.format("JOIN", f"points.k = ranges.k AND {IN_RANGE}")
KEYLESS = SELECT.format("JOIN", IN_RANGE)


def name_points_and_ranges(spark: SparkSession) -> None:
    """Name 3,000 points and 600 ranges, which overlap, of 3 keys; some NULLs in every column."""
    numbers = "SELECT id, if(id % 31 = 7, NULL, id % 3) AS k, "
    spark.sql(
        f"{numbers} if(id % 41 = 3, NULL, id * 7919 % 1000) AS x FROM range(3000)"
    ).createOrReplaceTempView("points")
    spark.sql(
        f"{numbers} if(id % 43 = 5, NULL, id * 31 % 1000) AS lo, id * 31 % 1000 + id % 9 AS hi "
        "FROM range(600)"
    ).createOrReplaceTempView("ranges")


def nodes(df: DataFrame) -> list[str]:
    """Return the names of the joins in the plan as it stands now."""
    return [row.node for row in plait.explain(df) if row.side == "left"]
