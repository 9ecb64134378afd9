# SPDX-License-Identifier: Apache-2.0
"""The two joins of the demo, in plain SQL over the views ``flights`` and ``weather``."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_ROWS = 5


@dataclass(frozen=True)
class DemoJoin:
    """A join, what it must give, and what its two sides are called.

    ``held`` says how many rows a hash join of Spark's holds, and of what. ``stock_hint`` is the
    join hint with which stock Spark is quickest; empty where that is its own choice.
    """

    title: str
    picture_title: str
    sql: str
    first: str  # the ORDER BY of the first rows shown
    rows: int
    sides: tuple[str, str]
    held: tuple[int, str]
    stock_hint: str = ""


# Both queries compute the end of a row's time once a row, below the join. In the ON clause itself
# (`w.observed >= f.scheduled - INTERVAL 3 HOURS`) it makes little difference to Plait, but Spark's
# hash join then computes it for each of some three billion pairs, and takes several times as long.
WEATHER_BEFORE = DemoJoin(
    title="Flights with the weather of the three hours before their scheduled departure",
    picture_title="(a) flights and the weather of 3 hours before",
    sql="""\
SELECT f.scheduled, f.carrier, f.flight, f.origin, f.dest,
       w.observed, w.temp, w.wind_speed, w.visib
FROM flights f
JOIN (SELECT *, observed + INTERVAL 3 HOURS AS until FROM weather) w
  ON f.origin = w.origin
 AND f.scheduled BETWEEN w.observed AND w.until""",
    first="scheduled, carrier, flight, observed",
    rows=1_066_702,
    sides=("flights", "observations"),
    held=(26_115, "observations"),
)

# A cancelled flight never departed: its NULL meets nothing. Stock Spark chooses a sort-merge join,
# which took 304 s here even with all rows of a key kept in memory; broadcasting `b` takes as
# long (321 s), for its table is then too large for the cache; by shuffle-hash it takes 107 s.
SAME_WAY = DemoJoin(
    title="Flights followed within 15 minutes by another carrier's to the same destination",
    picture_title="(b) flights 15 minutes apart to one place",
    sql="""\
SELECT a.departed, a.carrier, a.flight, a.dest,
       b.departed AS next_departed, b.carrier AS next_carrier, b.flight AS next_flight
FROM (SELECT *, departed + INTERVAL 15 MINUTES AS until FROM flights) a
JOIN flights b
  ON a.dest = b.dest
 AND b.departed > a.departed
 AND b.departed <= a.until
 AND a.carrier <> b.carrier""",
    first="departed, carrier, flight, next_departed, next_carrier, next_flight",
    rows=79_827,
    sides=("first flights", "next flights"),
    held=(328_521, "departures"),  # 336,776 flights less 8,255 cancelled
    stock_hint="SHUFFLE_HASH(b)",
)

JOINS = (WEATHER_BEFORE, SAME_WAY)


def summary(sql: str) -> str:
    """Return the query that runs a join in full and gives one row: its row count and a checksum.

    Equal multisets of rows have equal summaries, in whatever order they come.

    >>> print(summary("SELECT 1"))
    SELECT count(*) AS n, sum(CAST(xxhash64(*) AS DECIMAL(20, 0))) AS checksum
    FROM (
    SELECT 1
    )
    """
    return (
        "SELECT count(*) AS n, sum(CAST(xxhash64(*) AS DECIMAL(20, 0))) AS checksum\n"
        f"FROM (\n{sql}\n)"
    )


def hinted(sql: str, hint: str) -> str:
    """Return the query with a hint behind its first SELECT; without a hint, as it is.

    >>> hinted("SELECT a.x FROM a", "BROADCAST(a)")
    'SELECT /*+ BROADCAST(a) */ a.x FROM a'
    """
    return sql.replace("SELECT", f"SELECT /*+ {hint} */", 1) if hint else sql


def first_rows(join: DemoJoin) -> str:
    """Return the query for the first rows of a join, in an order that leaves no choice."""
    return f"SELECT * FROM (\n{join.sql}\n)\nORDER BY {join.first}\nLIMIT {FIRST_ROWS}"
