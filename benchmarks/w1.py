# SPDX-License-Identifier: Apache-2.0
"""W1: a narrow band on a sequence number, over few keys.

    SELECT count(*), sum(l.key), sum(l.s), sum(r.s)
    FROM l JOIN r ON l.key = r.key AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10

Keys are uniform, the sides independent, s is the row number or, with probability 0.3, one less.

Claims:
  1. Memory: at 1M x 1M rows with 8, 64 and 1024 keys a task holds at most 64 rows, both sides.
  2. Time: at 10M x 10M rows with 8 keys, warm and with broadcasting off, the join takes at most 1.3
     times the floor: the time in which Spark alone shuffles both sides by key and sorts them by s.

Peers in the same run: the usual hand-made bins, stock Spark and DuckDB, the last two stopped after
120 s. Whoever ends must give the same rows.

    python -m benchmarks.w1 [--rows 10000000] [--runs 5]
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession

import plait
from benchmarks import machine

RESULTS = Path(__file__).parent / "results"
STOPPED_AFTER = 120.0
BIN = 16

JOIN = """SELECT count(*) AS c, sum(l.key) AS k, sum(l.s) AS ls, sum(r.s) AS rs
FROM l JOIN r ON l.key = r.key AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10"""

FLOOR = """SELECT sum(key), sum(s) FROM (
  SELECT * FROM (SELECT * FROM l DISTRIBUTE BY key SORT BY s)
  UNION ALL SELECT * FROM (SELECT * FROM r DISTRIBUTE BY key SORT BY s))"""

# One side goes into every bin that its reach meets, the other into its own.
BINS = f"""SELECT count(*) AS c, sum(l.key) AS k, sum(l.s) AS ls, sum(r.s) AS rs
FROM (SELECT *, s div {BIN} AS bin FROM l) l
JOIN (SELECT *, explode(sequence((s + 4) div {BIN}, (s + 7) div {BIN})) AS bin FROM r) r
ON l.key = r.key AND l.bin = r.bin AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10"""

Rows = tuple[Any, ...]


def make_tables(spark: SparkSession, folder: Path, rows: int, keys: int) -> None:
    """Write both sides as Parquet and name them l and r."""
    for name, seed in (("l", 1), ("r", 2)):
        path = str(folder / f"{name}_{rows}_{keys}")
        if not Path(path).exists():
            spark.range(rows).selectExpr(
                f"CAST(floor(rand({seed}) * {keys}) AS BIGINT) AS key",
                f"id - CAST(rand({seed + 10}) < 0.3 AS BIGINT) AS s",
            ).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


def timed(run: Callable[[], Rows]) -> tuple[float, Rows]:
    """Return the seconds of one run and its row."""
    start = time.perf_counter()
    row = run()
    return time.perf_counter() - start, row


def sql(spark: SparkSession, text: str) -> Rows:
    """Run a query that gives one row."""
    return tuple(spark.sql(text).collect()[0])


def peaks(spark: SparkSession, folder: Path, rows: int) -> list[str]:
    """Claim 1, a line a number of keys."""
    lines = [f"{'keys':>6} {'rows out':>10} {'held at peak, both sides':>26}"]
    for keys in (8, 64, 1024):
        make_tables(spark, folder, rows, keys)
        df = spark.sql(JOIN)
        out = df.collect()[0].c
        peak = plait.counters(df)[0].metrics["peakBuffered"]
        lines.append(f"{keys:>6} {out:>10,} {peak:>26}")
        assert peak <= 64, f"{peak} rows held at {keys} keys"
    return lines


def stock(spark: SparkSession) -> str:
    """Stock Spark's time, or that it was stopped."""
    spark.conf.set("spark.plait.enabled", "false")
    tag = "plait-bench-stock"
    watch = threading.Timer(STOPPED_AFTER, lambda: spark.sparkContext.cancelJobsWithTag(tag))
    spark.sparkContext.addJobTag(tag)
    watch.start()
    try:
        seconds, _ = timed(lambda: sql(spark, JOIN))
        return f"{seconds:.1f} s"
    except Exception:  # the cancelled job comes back as Spark's own error
        if watch.is_alive():
            raise
        return f"> {STOPPED_AFTER:.0f} s"
    finally:
        watch.cancel()
        spark.sparkContext.removeJobTag(tag)
        spark.conf.set("spark.plait.enabled", "true")


def duck(folder: Path, rows: int, keys: int) -> tuple[str, Rows | None]:
    """DuckDB's time over the same files with two threads, and its row, unless it was stopped."""
    with duckdb.connect() as db:
        db.execute("SET threads = 2; SET prefer_range_joins = true")
        for name in ("l", "r"):
            files = folder / f"{name}_{rows}_{keys}" / "*.parquet"
            db.execute(f"CREATE VIEW {name} AS SELECT * FROM '{files}'")
        watch = threading.Timer(STOPPED_AFTER, db.interrupt)
        watch.start()
        try:
            seconds, row = timed(lambda: db.execute(JOIN).fetchall()[0])
            return f"{seconds:.1f} s", row
        except duckdb.InterruptException:
            return f"> {STOPPED_AFTER:.0f} s", None
        finally:
            watch.cancel()


def compare(spark: SparkSession, runs: int) -> tuple[dict[str, list[float]], set[Rows]]:
    """Claim 2: floor, Plait and bins in turn, the first round being the warm-up."""
    cases = {"floor": FLOOR, "Plait": JOIN, "bins": BINS}
    times: dict[str, list[float]] = {name: [] for name in cases}
    answers: set[Rows] = set()
    for round_ in range(runs + 1):
        for name, text in cases.items():
            seconds, row = timed(lambda text=text: sql(spark, text))  # type: ignore[misc]
            if name != "floor":
                answers.add(row)
            if round_:
                times[name].append(seconds)
            print(f"  round {round_} {name:<6} {seconds:6.2f} s", flush=True)
    return times, answers


def report(times: dict[str, list[float]], stock_time: str, duck_time: str) -> list[str]:
    """Lines of medians and of ratios to the floor, pair by pair."""
    lines = [f"{'':<8} {'median':>9} {'of the floor (median of pairs, min to max)':>46}"]
    for name, seconds in times.items():
        ratios = [s / f for s, f in zip(seconds, times["floor"], strict=True)]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"{name:<8} {statistics.median(seconds):>7.2f} s {spread:>46}")
    return [*lines, f"{'stock':<8} {stock_time:>9}", f"{'DuckDB':<8} {duck_time:>9}"]


def draw(times: dict[str, list[float]], title: str, path: Path) -> None:
    """Draw a bar a peer, medians in seconds."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 2.4), layout="constrained")
    names = list(times)[::-1]
    bars = axes.barh(names, [statistics.median(times[n]) for n in names], color="#3b6ea5")
    axes.bar_label(bars, fmt="%.1f s", padding=3)
    axes.set_xlabel("seconds, median")
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
    figure.savefig(path, dpi=150)


def main(argv: list[str] | None = None) -> None:
    """Run W1 and keep its result."""
    parser = argparse.ArgumentParser(description="W1: a narrow band over few keys")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(argv)
    spark = plait.session(
        master="local[2]",
        app_name="plait-bench",
        **{
            "spark.ui.enabled": "false",
            "spark.driver.memory": "6g",
            "spark.sql.autoBroadcastJoinThreshold": "-1",
        },
    )
    spark.sparkContext.setLogLevel("ERROR")
    jdk = str(spark._jvm.java.lang.System.getProperty("java.version"))  # type: ignore[union-attr]
    with tempfile.TemporaryDirectory(prefix="plait-w1-") as temporary:
        folder = Path(temporary)
        held = peaks(spark, folder, min(options.rows, 1_000_000))
        print("\n".join(held), flush=True)
        make_tables(spark, folder, options.rows, 8)
        times, answers = compare(spark, options.runs)
        duck_time, duck_row = duck(folder, options.rows, 8)
        if duck_row is not None:
            answers.add(tuple(int(x) for x in duck_row))
        assert len(answers) == 1, f"the peers disagree: {answers}"
        stock_time = stock(spark)
    title = f"W1, {options.rows:,} x {options.rows:,} rows, 8 keys, {options.runs} rounds"
    text = [
        title,
        machine.described(jdk),
        f"python -m benchmarks.w1 --rows {options.rows} --runs {options.runs}",
        "",
        *report(times, stock_time, duck_time),
        "",
        f"rows held at {min(options.rows, 1_000_000):,} x {min(options.rows, 1_000_000):,} rows",
        *held,
    ]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "w1.txt").write_text("\n".join(text) + "\n")
    draw(times, title, RESULTS / "w1.png")
    print("\n".join(text))


if __name__ == "__main__":
    main()
