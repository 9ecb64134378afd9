# SPDX-License-Identifier: Apache-2.0
"""W2: trades as of quotes, 1000 symbols over one day.

    SELECT count(*), count(q.bid), sum(t.price - q.bid)
    FROM trades t LEFT ASOF JOIN quotes q MATCH_CONDITION (t.ts >= q.ts) ON t.symbol = q.symbol

10M trades, 20M quotes, uniform over the day and the symbols. Quotes of one symbol and time have one
bid, so that the sums do not depend on which of them a peer takes.

Claim: Plait takes at most 0.4 times as long as the window form, which people write today: both
tables in one UNION ALL, by symbol and time, and the last quote that is not NULL.

Peers: the window form, DuckDB's ASOF JOIN.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks.duck import DuckPeer
from benchmarks.peer import Join
from benchmarks.race import race
from benchmarks.result import Case, Result
from benchmarks.spark import BROADCASTING_OFF, STOCK, SparkPeer
from benchmarks.table import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options
    from benchmarks.peer import Peer

START = 1_770_000_000_000_000  # microseconds
DAY = 86_400_000_000
SYMBOLS = 1000

COLUMNS = "t.symbol, t.price, q.bid"
SUMS = "count(*) AS c, count(q.bid) AS b, sum(t.price - q.bid) AS d"
JOIN = Join(
    "FROM trades t LEFT ASOF JOIN quotes q MATCH_CONDITION (t.ts >= q.ts) ON t.symbol = q.symbol",
    COLUMNS,
    SUMS,
)
DUCK = Join(
    "FROM trades t ASOF LEFT JOIN quotes q ON t.symbol = q.symbol AND t.ts >= q.ts", COLUMNS, SUMS
)

# A quote of a trade's own time counts: quotes come first. What is no trade is left out in the end.
WINDOW = Join(
    """FROM (SELECT symbol, price, is_trade,
         last_value(bid) IGNORE NULLS OVER (PARTITION BY symbol ORDER BY ts, is_trade
           ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS bid
       FROM (SELECT symbol, ts, price, NULL AS bid, 1 AS is_trade FROM trades
             UNION ALL SELECT symbol, ts, NULL, bid, 0 FROM quotes)) q WHERE is_trade = 1""",
    "symbol, price, bid",
    "count(*) AS c, count(bid) AS b, sum(price - bid) AS d",
)


def make_tables(spark: SparkSession, folder: Path, rows: int) -> dict[str, Path]:
    """Write trades, and twice as many quotes."""

    def columns(seed: int, *prices: str) -> tuple[str, ...]:
        return (
            f"concat('S', CAST(floor(rand({seed}) * {SYMBOLS}) AS INT)) AS symbol",
            f"timestamp_micros({START} + CAST(rand({seed + 10}) * {DAY} AS BIGINT)) AS ts",
            *prices,
        )

    price = columns(1, "CAST(rand(21) * 10000 AS BIGINT) AS price")
    # Of symbol and time alone.
    bid_and_ask = columns(
        2,
        "CAST(pmod(hash(symbol, ts), 10000) AS BIGINT) AS bid",
        "CAST(rand(23) * 10000 AS BIGINT) AS ask",
    )
    tables = {
        "trades": sparks.write(spark, folder, f"trades_{rows}", rows, price),
        "quotes": sparks.write(spark, folder, f"quotes_{rows}", 2 * rows, bid_and_ask),
    }
    sparks.name_tables(spark, tables)
    return tables


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run W2 and keep its result."""
    result = Result(
        "w2", "W2: trades as of quotes, 1000 symbols over one day", sparks.jdk(spark), options
    )
    for rows in options.sizes(10_000_000):
        tables = make_tables(spark, folder, rows)
        title = f"{rows:,} trades, {2 * rows:,} quotes"
        print(title, flush=True)
        peers: list[Peer] = [
            SparkPeer("Plait", spark, JOIN, BROADCASTING_OFF),
            SparkPeer("window form", spark, WINDOW, {**BROADCASTING_OFF, **STOCK}),
            DuckPeer(DUCK, tables),
        ]
        laps = race(peers, options.runs)
        result.add(Case(title, laps, ()), Claim(title, "Plait", "window form", 0.4))
    print("\n".join(result.judged))
