# SPDX-License-Identifier: Apache-2.0
"""A contest: one join, the peers that can run it, and what is claimed, under one setting.

What W1, W3, W4 and W5 share: the floor, Plait, bins and stock Spark under the same
setting of broadcasts and footers, and DuckDB, are raced, profiled if asked, and judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import flight
from benchmarks.duck import RANGE_JOINS, DuckPeer
from benchmarks.race import race
from benchmarks.result import Case, Result
from benchmarks.spark import BROADCASTING_OFF, BROADCASTING_ON, STOCK, SparkPeer, floor
from benchmarks.table import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.peer import Join, Peer

SETTINGS = {
    "broadcasting off": BROADCASTING_OFF,
    "broadcasting on": BROADCASTING_ON,
    # As where a table is no Parquet file, or is computed.
    "broadcasting off, no footers": {**BROADCASTING_OFF, "spark.plait.join.footers": "0"},
    "broadcasting off, told of the order of buckets": {
        **BROADCASTING_OFF,
        "spark.sql.legacy.bucketedTableScan.outputOrdering": "true",
    },
    "broadcasting on, not adaptive": {**BROADCASTING_ON, "spark.sql.adaptive.enabled": "false"},
}


@dataclass(frozen=True)
class Contest:
    """A join in two spellings, and its tables.

    ``sides`` names for each table what a floor shuffles by, what it sorts by, and what else it
    carries; None where no key is there to shuffle by. ``bins`` is None where nobody would bin.
    ``duck`` is what DuckDB is told before; ``enough`` is how many seconds a race should take.
    """

    spark: SparkSession
    join: Join
    bins: Join | None
    tables: Mapping[str, Path]
    sides: Mapping[str, Sequence[str]] | None
    duck: str = RANGE_JOINS
    enough: float = 0.0

    def peers(self, setting: str, without: Sequence[str] = ()) -> list[Peer]:
        """Return those who can run the join under a setting, DuckDB only without broadcasting."""
        settings = SETTINGS[setting]
        stock = {**settings, **STOCK}
        found: list[Peer] = []
        if self.sides is not None:
            found.append(floor(self.spark, self.sides, settings))
        found.append(SparkPeer("Plait", self.spark, self.join, settings))
        if self.bins is not None:
            found.append(SparkPeer("bins", self.spark, self.bins, stock))
        found.append(SparkPeer("stock Spark", self.spark, self.join, stock))
        if settings == BROADCASTING_OFF:
            found.append(DuckPeer(self.join, self.tables, settings=self.duck))
        return [peer for peer in found if peer.name not in without]

    def hold(
        self,
        result: Result,
        case: tuple[str, str],
        limits: Mapping[str, float],
        *,
        without: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        """Race the peers of a case, size and setting, and judge Plait by those in ``limits``."""
        title = ", ".join(case)
        print(title, flush=True)
        peers = self.peers(case[1], without)
        laps = race(peers, result.options.runs, enough=self.enough)
        if result.options.profile:
            plait = next(peer for peer in peers if peer.name == "Plait")
            name = "".join(c if c.isalnum() else "-" for c in f"{result.name} {title}")
            notes = [*notes, *flight.hottest(self.spark, name, plait.run)]
        ran = laps["Plait"].last
        if ran is not None:
            notes = [*notes, f"  Plait ran {', '.join(sorted(set(ran.joins)))}"]
        claims = [Claim(title, "Plait", peer, limit) for peer, limit in limits.items()]
        result.add(Case(title, laps, notes), *claims)
