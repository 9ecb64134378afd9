# SPDX-License-Identifier: Apache-2.0
"""Examples: ``plait.window_join``, in a classic session and over Spark Connect."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.python.frames import at, frame, rows
from tests.python.queries import settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_rows_of_a_window_join_lie_in_the_same_window(session: SparkSession) -> None:
    left = frame(session, [("a", at(1), 1), ("a", at(9), 2)], "k string, t timestamp, x int")
    right = frame(session, [("a", at(3), 7), ("b", at(9), 8)], "k string, t timestamp, y int")

    def joined(**options: Any) -> DataFrame:
        return plait.window_join(left, right, "k", left_time="t", right_time="t", **options)

    for size in (timedelta(minutes=5), np.timedelta64(300_000_000_000, "ns"), pd.Timedelta("5min")):
        df = joined(size=size)
        assert df.columns == ["k", "t_x", "x", "window_start", "window_end", "t_y", "y"]
        assert rows(df) == Counter([("a", at(1), 1, at(0), at(5), at(3), 7)])
    moved = joined(size="5 minutes", offset="2 minutes")
    assert rows(moved.select("x", "y")) == Counter()
    hopping = joined(size="10 minutes", slide=timedelta(minutes=5), how="full")
    assert rows(hopping.select("k", "window_start", "x", "y")) == Counter(
        {
            ("a", at(-5), 1, 7): 1,
            ("a", at(0), 1, 7): 1,
            ("a", at(0), 2, 7): 1,
            ("a", at(5), 2, None): 1,
            ("b", at(0), None, 8): 1,
            ("b", at(5), None, 8): 1,
        }
    )
    assert rows(joined(size="5 minutes", how="anti").select("x")) == Counter([(2,)])


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti"])
def test_a_row_without_a_time_or_between_windows_is_in_none_and_never_comes_out(
    session: SparkSession, how: str
) -> None:
    left = frame(session, [("a", None, 1), ("a", at(4), 2)], "k string, t timestamp, x int")
    right = frame(session, [("a", None, 7), ("a", at(14), 8)], "k string, t timestamp, y int")
    df = plait.window_join(
        left,
        right,
        "k",
        left_time="t",
        right_time="t",
        size="INTERVAL 3 MINUTES",
        slide="10 minutes",
        how=how,
    )
    assert rows(df) == Counter()


@pytest.mark.parametrize(("how", "x"), [("left", [1, 2]), ("semi", [2]), ("anti", [1])])
def test_a_key_that_is_null_matches_nothing(session: SparkSession, how: str, x: list[int]) -> None:
    left = frame(session, [(None, at(1), 1), ("a", at(1), 2)], "k string, t timestamp, x int")
    right = frame(session, [(None, at(1), 7), ("a", at(1), 8)], "k string, t timestamp, y int")
    size = pd.Timedelta("5min")
    df = left.plait.window_join(right, "k", left_time="t", right_time="t", size=size, how=how)
    assert rows(df.select("x")) == Counter((one,) for one in x)


def test_windows_lie_on_the_clock_of_the_session(session: SparkSession) -> None:
    # 22:30 and 23:30 UTC are on the first of January in Berlin, where the day begins at 23:00.
    times = [datetime(2026, 1, 1, hour, 30, tzinfo=UTC) for hour in (22, 23)]
    df = frame(session, [(1, times[0]), (2, times[1])], "x int, t timestamp")
    with settings(session, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        day = timedelta(days=1)
        joined = plait.window_join(df, df, left_time="t", right_time="t", size=day)
        starts = joined.selectExpr("x_x", "x_y", "CAST(window_start AS STRING)")
        assert rows(starts) == Counter(
            [(1, 1, "2026-01-01 00:00:00"), (2, 2, "2026-01-02 00:00:00")]
        )
