# SPDX-License-Identifier: Apache-2.0
"""One join, run by Plait or by stock Spark, with the time it took."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING

import plait
from plait.demo.joins import DemoJoin, first_rows, hinted, summary
from plait.errors import PlaitError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

HEARTBEAT_SECONDS = 30.0


class Engine(Enum):
    """Who plans a join; both do so in one and the same session."""

    PLAIT = "Plait"
    STOCK = "stock Spark"


@dataclass(frozen=True)
class Result:
    """What a join gave: ``checksum`` is the same for the same rows in any order."""

    rows: int
    checksum: Decimal | None


@dataclass(frozen=True)
class Run:
    """One measured run, from the SQL text to the last row."""

    result: Result
    seconds: float


@dataclass(frozen=True)
class PlaitRun(Run):
    """A run by Plait, and what it says of itself."""

    pruning: str
    counters: plait.JoinCounters


def run_plait(spark: SparkSession, join: DemoJoin) -> PlaitRun:
    """Run the join to its end with Plait; fail with a sentence if Spark planned it after all."""
    with planned_by(spark, Engine.PLAIT):
        df, ran = _measure(spark, join.sql)
        counters = plait.counters(df)
        if len(counters) != 1:
            raise PlaitError(f"{join.title}: Plait was to run this join, and left it to Spark.")
        return PlaitRun(ran.result, ran.seconds, str(plait.explain(df)), counters[0])


def run_stock(spark: SparkSession, join: DemoJoin) -> Run:
    """Run the join to its end as Spark plans it without Plait, with the hint that suits it best."""
    with planned_by(spark, Engine.STOCK):
        df, ran = _measure(spark, hinted(join.sql, join.stock_hint))
        if plait.counters(df):
            raise PlaitError(f"{join.title}: stock Spark was to run this join, and Plait did.")
        return ran


def _measure(spark: SparkSession, sql: str) -> tuple[DataFrame, Run]:
    began = time.perf_counter()
    df = spark.sql(summary(sql))
    (row,) = df.collect()
    return df, Run(Result(row.n, row.checksum), time.perf_counter() - began)


def show_first(spark: SparkSession, join: DemoJoin) -> list[Row]:
    """Return the first rows of the join as text, as Plait gives them.

    Spark writes the times, in the session's zone: in Python they would be in the machine's.
    """
    from pyspark.sql import functions as sql

    with planned_by(spark, Engine.PLAIT):
        df = spark.sql(first_rows(join))
        texts = [
            sql.date_format(name, "yyyy-MM-dd HH:mm") if kind == "timestamp" else sql.col(name)
            for name, kind in df.dtypes
        ]
        return df.select(
            *(text.cast("string").alias(name) for text, name in zip(texts, df.columns, strict=True))
        ).collect()


def check_same(join: DemoJoin, plait_gave: Result, stock_gave: Result) -> None:
    """Fail with a sentence unless both engines gave the same rows."""
    if plait_gave.rows != stock_gave.rows:
        raise PlaitError(
            f"{join.title}: Plait gave {plait_gave.rows:,} rows, stock Spark {stock_gave.rows:,}."
        )
    if plait_gave != stock_gave:
        raise PlaitError(
            f"{join.title}: Plait and stock Spark gave {plait_gave.rows:,} rows each, "
            "but not the same ones."
        )


def check_rows(join: DemoJoin, gave: Result) -> None:
    """Fail with a sentence unless the join gave as many rows as the data is known to hold."""
    if gave.rows != join.rows:
        raise PlaitError(
            f"{join.title}: {gave.rows:,} rows came out where {join.rows:,} were expected."
        )


@contextmanager
def planned_by(spark: SparkSession, engine: Engine) -> Iterator[None]:
    """Let one engine plan what is run inside, and leave the session as it was.

    Both sides are dealt to tasks by key, so that it is seen how few rows such a join holds: by its
    size alone, the weather would be sent to every executor.
    """
    wanted = {
        "spark.plait.enabled": str(engine is Engine.PLAIT).lower(),
        "spark.plait.join.strategy": "always",
    }
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


@contextmanager
def heartbeat(line: str, every: float = HEARTBEAT_SECONDS) -> Iterator[None]:
    """Print the line again and again, with the seconds passed, while what is inside runs."""
    done = threading.Event()

    def beat() -> None:
        began = time.perf_counter()
        while not done.wait(every):
            print(line.format(seconds=time.perf_counter() - began), flush=True)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
