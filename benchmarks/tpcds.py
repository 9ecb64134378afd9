# SPDX-License-Identifier: Apache-2.0
"""The 99 queries of TPC-DS at scale 1: Plait costs nothing where it has no part.

Claims: the same rows for every query; in total at most 1.05 times the time.

Few of the queries have a join that Plait runs; the result says how many. The data come from
tpcgen-cli; the query texts from DuckDB's extension, read with the DuckDB that it requires in an
environment of its own. In them double quotes stand around names, which Spark is told
(`spark.sql.ansi.doubleQuotedIdentifiers`).

Not compared: the order of rows, and floats beyond the eighth digit. `--rows n` takes the first n
queries; `--quick` three of them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import environment, machine
from benchmarks import spark as sparks
from benchmarks.options import ROOT, Options
from benchmarks.peer import Query
from benchmarks.race import Disagreement, Laps, race, ratio
from benchmarks.spark import NODES, STOCK, SparkPeer
from benchmarks.table import total, verdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCALE = 1
LIMIT = 1.05
# Not in python/constraints.txt, which has another DuckDB.
EXTENSION = ("duckdb-extension-tpcds==1.5.5", "duckdb==1.5.5")
READ_QUERIES = """
import json, pathlib, duckdb, duckdb_extension_tpcds as package
extension, = pathlib.Path(package.__file__).parent.rglob("tpcds.duckdb_extension")
db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
db.execute(f"LOAD '{extension}'")
print(json.dumps(db.execute("SELECT query_nr, query FROM tpcds_queries() ORDER BY 1").fetchall()))
"""


def queries() -> dict[int, str]:
    """Return the texts by number."""
    programs = environment.made("tpcds-queries", *EXTENSION)
    printed = subprocess.run(
        [programs / "python", "-c", READ_QUERIES], check=True, capture_output=True, text=True
    ).stdout
    return {number: text.strip().rstrip(";") for number, text in json.loads(printed)}


def make_tables(spark: SparkSession) -> None:
    """Make the tables, unless an earlier run has, and name them."""
    folder = ROOT / "build" / f"tpcds-{SCALE}"
    if not folder.exists():
        programs = environment.made("tpcds-data", "-c", environment.CONSTRAINTS, "tpcgen-cli")
        unfinished = folder.with_suffix(".unfinished")
        words = ["tpcds", "parquet", "-s", str(SCALE), "--overwrite", "-o", str(unfinished)]
        subprocess.run([programs / "tpcgen-cli", *words], check=True)
        unfinished.rename(folder)
    sparks.name_tables(spark, {path.stem: path for path in folder.glob("*.parquet")})


@dataclass(frozen=True)
class Raced:
    """What came of the queries: their times, and those whose rows were not the same."""

    laps: Mapping[int, Laps]
    differing: Sequence[int]

    def seconds(self, peer: str) -> float:
        """Return the sum of a peer's medians."""
        return sum(laps[peer].median for laps in self.laps.values())

    def judged(self) -> list[str]:
        """Return the claims."""
        by = self.seconds("Plait") / self.seconds("stock Spark")
        stopped = [
            number
            for number, laps in self.laps.items()
            if any(lap.stopped_after is not None for lap in laps.values())
        ]
        return [
            verdict(by, LIMIT, "total, Plait by stock Spark", f"{by:.3f}"),
            verdict(len(self.differing), 0, f"queries whose rows differ {self.differing}"),
            verdict(len(stopped), 0, f"queries stopped, whose rows are not compared {stopped}"),
        ]

    def lines(self) -> list[str]:
        """Return a line a query, and the total."""
        head = f"{'query':>6} {'Plait':>10} {'stock Spark':>12}   Plait's by stock Spark's"
        whole = (
            f"{'total':>6} {self.seconds('Plait'):>8.1f} s {self.seconds('stock Spark'):>10.1f} s"
        )
        return [
            head,
            *(_line(number, laps) for number, laps in self.laps.items()),
            whole,
            "",
            self._ran(),
        ]

    def _ran(self) -> str:
        last = {number: laps["Plait"].last for number, laps in self.laps.items()}
        joins = {number: measured.joins for number, measured in last.items() if measured}
        ours = {n: sum(join.startswith(NODES) for join in found) for n, found in joins.items()}
        queries = [str(number) for number, count in ours.items() if count]
        return (
            f"{sum(ours.values())} of {sum(map(len, joins.values()))} joins ran on nodes of "
            f"Plait's, in queries {', '.join(queries)}"
        )


def _line(number: int, laps: Laps) -> str:
    plait, stock = total(laps["Plait"]), total(laps["stock Spark"])
    return f"{number:>6} {plait:>10} {stock:>12}   {ratio(laps, 'Plait', 'stock Spark') or '-'}"


def race_all(spark: SparkSession, texts: Mapping[int, str], runs: int) -> Raced:
    """Race both over every query."""
    laps, differing = {}, []
    for number, text in texts.items():
        print(f"query {number}", flush=True)
        peers = [
            SparkPeer("Plait", spark, Query(text)),
            SparkPeer("stock Spark", spark, Query(text), STOCK),
        ]
        try:
            # Who goes first in a round may find files in the system's memory: turn about.
            laps[number] = race(peers if number % 2 else peers[::-1], runs)
        except Disagreement as error:
            print(f"  {error}", flush=True)
            differing.append(number)
    return Raced(laps, differing)


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run the queries and keep the result."""
    del folder
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    make_tables(spark)
    count = min(99, options.sizes(99, quick=3)[0])
    texts = {number: text for number, text in queries().items() if number <= count}
    if len(texts) != count:
        raise ValueError(f"of {count} queries only {sorted(texts)} were found")
    raced = race_all(spark, texts, options.runs)
    title = f"TPC-DS, scale {SCALE}, {len(texts)} queries, with Plait and without"
    text = [
        *machine.head(title, sparks.jdk(spark), options.command("tpcds")),
        *(f"  {line}" for line in raced.judged()),
        "",
        *raced.lines(),
    ]
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "tpcds.txt").write_text("\n".join(text) + "\n")
    draw(raced, title, options.folder / "tpcds.png")
    print("\n".join(raced.judged()), flush=True)


def draw(raced: Raced, title: str, path: Path) -> None:
    """Draw a point a query: its time with Plait above its time without."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    stock = [laps["stock Spark"].median for laps in raced.laps.values()]
    plait = [laps["Plait"].median for laps in raced.laps.values()]
    figure, axes = plt.subplots(figsize=(4.8, 4.8), layout="constrained")
    ends = [min(stock + plait) * 0.8, max(stock + plait) * 1.25]
    axes.plot(ends, ends, color="#b8b8b8", linewidth=1)
    axes.scatter(stock, plait, s=14, color="#3b6ea5")
    axes.set(xscale="log", yscale="log", xlabel="seconds without", ylabel="seconds with Plait")
    axes.set_title(title, fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)
