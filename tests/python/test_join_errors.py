# SPDX-License-Identifier: Apache-2.0
"""Examples: what the joins of Python say of wrong arguments, in both kinds of session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import functions as F
from tests.python.frames import NOON

import plait
from plait.join.amounts import require_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda t, q: t.plait.asof_join(q, on="tz"),
            r"no column 'tz'.* on names: it has k, ts, price",
        ),
        (lambda t, q: t.plait.asof_join(q, on="bid"), r"left side has no column 'bid'"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", by=["k", "x"]),
            r"no column 'x', which by names",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", how="cross"),
            r"how is 'cross': it may be inner, .*full",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", direction="up"),
            r"'up'.* backward, forward, nearest",
        ),
        (lambda t, q: t.plait.asof_join(q), r"not 0: give on, or left_on and right_on"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", left_on="ts"),
            r"either on, or left_on and right_on",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", left_by="k"),
            r"left_by names 1 columns and right_by 0",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=True),
            r"tolerance is True: a number",
        ),
        (lambda t, q: t.plait.asof_join(q, on="ts", tolerance=" "), r"tolerance is empty"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=F.expr("INTERVAL 2 SECONDS")),
            r"tolerance is Column.*: write its SQL as a text, as tolerance='INTERVAL 2 S",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="2 S"),
            r"tolerance is '2 S', and S after a number is a type of SQL's",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="1 s 2 BD"),
            r"tolerance is '1 s 2 BD', and BD after",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="00:00:02"),
            r"tolerance is '00:00:02': write '2 s' or",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="-2 s"),
            r"tolerance is '-2 s', and no distance is negative: direction",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=-2),
            r"tolerance is -2, and no",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=[2]),
            r"tolerance is \[2\]: a number, a timedelta or a text",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=b"2"),
            r"tolerance is b'2': a number",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=NOON),
            r"tolerance is datetime.*: a number",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=pd.DateOffset(seconds=2)),
            r"tolerance is <DateOffset.*: a number, a timedelta",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=pd.offsets.Second(2)),
            r"tolerance is <2 \* Seconds>: a number",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="2 secs"),
            r"tolerance is '2 secs', a length of time, and ts is of type INT: write a number",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=pd.Timedelta(7, "ns")),
            r"tolerance is no distance: .*has nanoseconds",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", ties="price"),
            r"'price', which ties names: it has k, ts, bid",
        ),
        (
            lambda t, q: t.plait.asof_join(
                q, left_on="ts", right_on="bid", by="k", suffixes=("", "")
            ),
            r"Both sides have ts",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=None, upper=None
            ),
            r"needs one of them",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower="3s", upper="-2s"
            ),
            r"wrong way round.*lower='-2s', upper='3s'",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=5, upper=2
            ),
            r"write lower=2, upper=5",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=timedelta(0), upper="INTERVAL -2 SECONDS"
            ),
            r"upper=datetime.timedelta\(0\)",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=np.timedelta64(1, "m"), upper="59.5 s"
            ),
            r"lower='59.5 s'",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower="5L", upper=Decimal("-0.5")
            ),
            r"upper='5L'",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=0, upper=1, closed="all"
            ),
            r"both, left, right, neither",
        ),
        (
            lambda t, q: t.plait.range_join(q, point="ts", low=("a", "b"), high="bid"),
            r"each one column of the right side",
        ),
        (
            lambda t, q: t.plait.range_join(q, low=("a", "b", "c"), high="bid"),
            r"low is a column that both sides have, .* or a pair .* not \('a', 'b', 'c'\)",
        ),
        (
            lambda t, q: t.plait.range_join(q, low=t.ts, high="bid"),
            r"low is a column .* Column",
        ),
        (lambda t, q: t.plait.range_join(q, low="ts", high=3), r"high is a column .* and not 3"),
        (
            lambda t, q: t.plait.window_join(q, left_time="ts", right_time="ts", size=5),
            r"size is 5: a timedelta or a text",
        ),
        (
            lambda t, q: t.plait.window_join(
                q, left_time="ts", right_time="ts", size=np.timedelta64("NaT")
            ),
            r"NaT.* has no literal",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=np.timedelta64("NaT", "ns")),
            r"NaT.* has no literal",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=np.timedelta64(1, "ns")),
            r"times end at microseconds",
        ),
        (
            lambda t, q: t.plait.temporal_join(q, left_time="ts", version_time="ts"),
            r"needs the key of the versions",
        ),
        (
            lambda t, q: t.plait.temporal_join(
                q, "k", left_time="ts", version_time="ts", how="full"
            ),
            r"how is 'full', and a temporal join is inner or left: a version is looked up",
        ),
        (
            lambda t, q: t.plait.temporal_join(q, "k", left_time="ts", how="left_anti"),
            r"inner or left: take how='left' and filter",
        ),
        (
            lambda t, q: t.plait.temporal_join(q, "k", left_time="ts", ties="bid"),
            r"give version_time too, or say both by the hint",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on=t.ts),
            r"on takes names of columns as texts.* Column",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", by=[t.k]),
            r"by takes names of columns as texts.* Column: give its name",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", left_by=t.k, right_by=q.k),
            r"left_by takes names of columns as texts",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time=t.ts, right_time="ts", lower=0, upper=1
            ),
            r"left_time takes names of columns as texts",
        ),
        (lambda t, q: t.plait.asof_join(q, on="ts", by=3), r"by takes names .*of type int"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", suffixes="_r"),
            r"suffixes is '_r': it is a pair of texts",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", suffixes=("_a", "_b", "_c")),
            r"it is a pair of texts",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="5 parsecs"),
            r"'parsecs' is no unit of time: it may be us, ms,",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="5 ns"),
            r"'ns' is no unit of time",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance="0.5 us"),
            r"times end at microseconds",
        ),
        (
            lambda t, q: plait.asof_join(t, q.toPandas(), on="ts"),
            r"right is no DataFrame of Spark, but of type pandas.*: make one by",
        ),
        (
            lambda t, q: plait.asof_join("trades", q, on="ts"),
            r"left is no DataFrame of Spark, but of type str: a table is spark.table\('trades'\)",
        ),
        (
            lambda t, q: plait.asof_join(t, 3, on="ts"),
            r"right is no DataFrame of Spark, but of type int\.",
        ),
        (
            lambda t, q: t.plait.temporal_join(q, "k", left_time="ts", deleted=q.bid == 3),
            r"deleted takes a column's name or .* as a text, as deleted=\"op = 'D'\", and Column",
        ),
        (
            lambda t, q: t.plait.window_join(q, left_time="k", right_time="ts", size="5 min"),
            r"left_time names k, which is of type STRING, and .*: cast it .*, by withColumn\.",
        ),
        (
            lambda t, q: t.selectExpr("*", "now() AS at").plait.window_join(
                q.selectExpr("*", "now() AS at"), left_time="at", right_time="bid", size="5 min"
            ),
            r"right_time names bid, which is of type INT, .*, or take at\.",
        ),
        (
            lambda t, q: plait.asof_join(t.select("ts", "ts"), q, on="ts"),
            r"Two columns of the left side are called ts",
        ),
    ],
)
def test_an_error_says_what_was_wrong_and_what_there_is(
    trades: DataFrame,
    quotes: DataFrame,
    call: Callable[[DataFrame, DataFrame], DataFrame],
    said: str,
) -> None:
    with pytest.raises(plait.PlaitError, match=said):
        call(trades, quotes)


@pytest.mark.parametrize("of_time", ["timestamp", "timestamp_ntz"])
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda t: t.plait.asof_join(t, on="at", tolerance=2),
            r"tolerance is the number 2, and at is of type TIMESTAMP.*: write .*tolerance='2s'",
        ),
        (
            lambda t: t.plait.asof_join(t, on="at", tolerance="2S"),
            r"tolerance is the number '2S', and at",
        ),
        (
            lambda t: t.plait.interval_join(t, left_time="at", right_time="at", lower=-2, upper=3),
            r"lower is the number -2, and at is of type TIMESTAMP.*: write .*lower='-2s'",
        ),
        (
            lambda t: t.plait.interval_join(
                t, left_time="at", right_time="at", lower=None, upper=np.float64(1.5)
            ),
            r"upper is the number .*, and at is .*upper='1.5s'",
        ),
    ],
)
def test_times_are_as_far_apart_as_a_length_of_time_and_not_as_a_number(
    session: SparkSession, call: Callable[[DataFrame], DataFrame], said: str, of_time: str
) -> None:
    times = session.sql(f"SELECT CAST('2026-03-01' AS {of_time}) AS at")
    with pytest.raises(plait.PlaitError, match=said):
        call(times)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(2, 2), (-2, "3"), ("3", "-2 + 9"), ("1 day", "1 month"), (float("-inf"), float("inf"))],
)
def test_bounds_that_are_equal_or_that_spark_reads_are_no_wrong_way_round(
    lower: Any, upper: Any
) -> None:
    require_order(lower, upper)


def test_data_frames_of_two_sessions_are_not_joined(spark: SparkSession) -> None:
    other = spark.newSession().range(3)
    with pytest.raises(plait.PlaitError, match="of two Spark sessions"):
        plait.asof_join(spark.range(3), other, on="id")


def test_data_frames_of_both_kinds_of_session_are_not_joined(
    spark: SparkSession, connect: SparkSession
) -> None:
    with pytest.raises(plait.PlaitError, match="of two Spark sessions"):
        plait.asof_join(connect.range(3), spark.range(3), on="id")
    assert plait.asof_join(connect.range(3), connect.range(2), on="id").count() == 3
