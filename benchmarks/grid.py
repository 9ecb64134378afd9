# SPDX-License-Identifier: Apache-2.0
"""A hostile grid for `spark.plait.join.strategy=auto`: joins from which pruning has little to gain.

    tiny tables              a band over 1,000 rows
    <> only                  nothing bounds a reach
    one-sided >              a reach has one end, and half of all pairs come out
    reach as wide as table   nothing dies before the end
    near-unique keys         a small side; one row a key, so there is nothing to look up in order
    buckets in key order     nothing to shuffle; rows come as a merge join wants them, told or not
    an OR of bands           a reach that is computed by cases
    a square                 a reach that is solved for each row
    a wide reach             of many rows a key most, or some, are within it; no footers tell of it
    a thousand columns       the rows that are held and sorted are wide

Claim: with Plait no case takes more than 1.1 times as long as without, Spark choosing the join.

Peers: Plait and stock Spark, under the setting that a case names, for a minute a case or
as many rounds as were asked for, whichever is longer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks.contest import Contest
from benchmarks.options import Extent
from benchmarks.peer import Join
from benchmarks.result import Result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

LIMIT = 1.1
ENOUGH = 60.0
OFF, ON = "broadcasting off", "broadcasting on"
UNTOLD = "broadcasting off, no footers"
NOT_ADAPTIVE = "broadcasting on, not adaptive"
TOLD = "broadcasting off, told of the order of buckets"
SUMS = "count(*) AS c, sum(l.s) AS l, sum(r.s) AS r"
WIDE_SUMS = "count(*) AS c, bit_xor(xxhash64(l.*)) AS l, bit_xor(xxhash64(r.*)) AS r"
SEMI = "LEFT SEMI JOIN"
SEMI_SUMS = "count(*) AS c, sum(l.s) AS l"
WIDE = 1_000


@dataclass(frozen=True)
class Hostile:
    """A case: its tables by the rows and rows a key of each, the condition, the setting."""

    title: str
    left: tuple[int, int]
    right: tuple[int, int]
    condition: str
    setting: str
    columns: int = 2
    sums: str = SUMS
    buckets: int = 0  # of the key, whose rows are sorted by it; none if 0
    how: str = "JOIN"

    @property
    def name(self) -> str:
        """The title with the rows of both sides."""
        return f"{self.title} ({self.left[0]:,} x {self.right[0]:,})"

    @property
    def join(self) -> Join:
        """The join of its tables l and r."""
        columns = "l.k, l.s" if self.how == SEMI else "l.k, l.s, r.s AS rs"
        return Join(f"FROM l {self.how} r ON {self.condition}", columns, self.sums)


def cases(rows: int) -> Sequence[Hostile]:
    """Return the grid for tables of ``rows``, some of them a part of that."""
    big, nested = (rows, 10), (min(rows, 3_000), 10)
    band = "l.s BETWEEN r.s - 5 AND r.s + 5"
    near_unique, small = (5 * rows, 1), (max(rows // 20, 1), 1)
    few, some = (5 * rows, 2), (5 * rows, 30)
    thousand = (max(rows // 20, 1), 10)
    return (
        Hostile("tiny tables", (1_000, 10), (1_000, 10), f"l.k = r.k AND {band}", ON),
        Hostile("tiny tables", (1_000, 10), (1_000, 10), f"l.k = r.k AND {band}", OFF),
        Hostile("tiny tables, no key", (1_000, 10), (1_000, 10), band, ON),
        Hostile("<> only", big, big, "l.k = r.k AND l.s <> r.s", OFF),
        Hostile("<> only, no key", nested, nested, "l.s <> r.s", ON),
        Hostile("one-sided >", big, big, "l.k = r.k AND l.s > r.s", OFF),
        Hostile("one-sided >, no key", nested, nested, "l.s > r.s", ON),
        Hostile("reach as wide as the table", big, big, _as_wide(rows), OFF),
        Hostile("reach as wide as the table", big, big, _as_wide(rows), UNTOLD),
        Hostile("reach as wide as the table, a small side", big, small, _as_wide(rows), ON),
        Hostile("near-unique keys, a small side", near_unique, small, f"l.k = r.k AND {band}", ON),
        Hostile("near-unique keys, a small side", near_unique, small, f"l.k = r.k AND {band}", OFF),
        Hostile(
            "near-unique keys, a small side",
            near_unique,
            small,
            f"l.k = r.k AND {band}",
            NOT_ADAPTIVE,
        ),
        Hostile(
            "near-unique keys, buckets in key order",
            few,
            few,
            _as_wide(rows),
            OFF,
            buckets=8,
        ),
        Hostile(
            "30 rows a key, buckets in key order",
            some,
            some,
            _as_wide(rows // 10),
            OFF,
            buckets=8,
        ),
        *(
            Hostile(
                f"{title}, buckets in key order", rows_a_key, rows_a_key, within, TOLD, buckets=8
            )
            for title, rows_a_key, within in (
                ("near-unique keys", few, _as_wide(rows)),
                ("30 rows a key", some, _as_wide(rows // 10)),
            )
        ),
        *(
            Hostile(f"{title}, {reach}", both, both, f"l.k = r.k AND {within}", OFF)
            for title, both in (("near-unique keys", few), ("10 rows a key", big))
            for reach, within in (
                ("an OR of bands", f"({band} OR l.s BETWEEN r.s + 100 AND r.s + 900)"),
                ("a square", "pow(l.s - r.s, 2) <= 25"),
            )
        ),
        *(
            Hostile(
                f"{a_key:,} rows a key, {share:.0%} reached",
                (5 * rows, a_key),
                (5 * rows, a_key),
                _reached(5 * rows, share),
                UNTOLD,
            )
            for a_key, share in ((30, 0.7), (200, 0.7), (200, 0.1), (1_000, 0.1))
        ),
        *(
            Hostile(
                f"1,000 rows a key, {share:.1%} reached, of a semi join",
                (5 * rows, 1_000),
                (9 * rows // 2, 900),
                _reached(5 * rows, share),
                UNTOLD,
                sums=SEMI_SUMS,
                how=SEMI,
            )
            for share in (0.7, 0.005)
        ),
        Hostile(
            "a thousand columns",
            thousand,
            thousand,
            f"l.k = r.k AND {band}",
            OFF,
            WIDE,
            WIDE_SUMS,
        ),
    )


def _reached(rows: int, share: float) -> str:
    """Return a condition by which a row reaches a share of its key; a few of those come out."""
    reach = round(rows * (1 - math.sqrt(1 - share)))
    return f"l.k = r.k AND l.s BETWEEN r.s - {reach} AND r.s + {reach} AND (l.s + r.s) % 97 = 0"


def _as_wide(rows: int) -> str:
    return f"l.k = r.k AND l.s BETWEEN r.s - {rows} AND r.s + {rows}"


def make_tables(spark: SparkSession, folder: Path, case: Hostile) -> Mapping[str, Path]:
    """Write the two sides of a case: key k, order s in random sequence, further columns."""
    tables = {}
    for name, seed, (rows, a_key) in (("l", 1, case.left), ("r", 2, case.right)):
        columns = [
            f"CAST(floor(rand({seed}) * {max(rows // a_key, 1)}) AS BIGINT) AS k",
            f"CAST(floor(rand({seed + 10}) * {rows}) AS BIGINT) AS s",
            *(f"id + {n} AS c{n}" for n in range(2, case.columns)),
        ]
        path = f"{name}_{rows}_{a_key}_{case.columns}"
        tables[name] = sparks.write(spark, folder, path, rows, columns)
    sparks.name_tables(spark, tables)
    return {
        n: _in_buckets(spark, t, case.buckets) if case.buckets else t for n, t in tables.items()
    }


def _in_buckets(spark: SparkSession, table: Path, buckets: int) -> Path:
    """Write a table once more, in buckets of its key, each a file in key order; name it so too."""
    bucketed = table.with_name(f"{table.name}_in_{buckets}_buckets")
    name = bucketed.name
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    rows = spark.read.parquet(str(table)).repartition(buckets, "k")
    writer = rows.write.mode("overwrite").option("path", str(bucketed))
    writer.bucketBy(buckets, "k").sortBy("k").saveAsTable(name)
    spark.table(name).createOrReplaceTempView(table.name[0])
    return bucketed


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run the grid and keep its result."""
    title = "Joins from which pruning has little to gain, with Plait and without"
    result = Result("grid", title, sparks.jdk(spark), options)
    enough = 0.0 if options.extent is Extent.QUICK else ENOUGH
    for rows in options.sizes(300_000, quick=2_000):
        for case in cases(rows):
            tables = make_tables(spark, folder, case)
            contest = Contest(spark, case.join, None, tables, None, enough=enough)
            setting = (case.name, case.setting)
            contest.hold(result, setting, {"stock Spark": LIMIT}, without=("DuckDB",))
    print("\n".join(result.judged))
