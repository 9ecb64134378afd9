# SPDX-License-Identifier: Apache-2.0
"""Examples: ``plait.asof_join``, in a classic session and over Spark Connect."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.python.frames import at, frame, rows

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_an_as_of_join_keeps_each_left_row_with_the_last_right_row_at_or_before_it(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.asof_join(trades, quotes, on="ts", by="k")
    assert df.columns == ["k", "ts", "price", "bid"]
    assert rows(df) == Counter(
        {
            ("a", 1, 10, None): 1,
            ("a", 5, 20, 3): 1,
            ("b", 5, 30, None): 1,
            (None, 5, 40, None): 1,
            ("a", None, 50, None): 1,
        }
    )


def test_without_exact_matches_an_equal_value_is_none(trades: DataFrame, quotes: DataFrame) -> None:
    df = plait.asof_join(trades, quotes, "ts", "k", how="inner", allow_exact_matches=False)
    assert rows(df) == Counter([("a", 5, 20, 1)])


def test_forward_takes_the_first_at_or_after(trades: DataFrame, quotes: DataFrame) -> None:
    df = plait.asof_join(trades, quotes, "ts", "k", how="inner", direction="forward")
    assert rows(df) == Counter([("a", 1, 10, 1), ("a", 5, 20, 3), ("b", 5, 30, 5)])


def test_nearest_takes_the_nearest(trades: DataFrame, quotes: DataFrame) -> None:
    near = plait.asof_join(trades, quotes, "ts", "k", how="inner", direction="nearest")
    assert rows(near) == Counter([("a", 1, 10, 1), ("a", 5, 20, 3), ("b", 5, 30, 5)])


def test_nearest_without_exact_matches_takes_the_nearest_other_value(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.asof_join(
        trades,
        quotes,
        "ts",
        "k",
        how="inner",
        direction="nearest",
        allow_exact_matches=False,
        tolerance=2,
    )
    assert rows(df) == Counter([("a", 1, 10, 1), ("a", 5, 20, 1), ("b", 5, 30, 5)])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("right", [(5, 20, 3), (3, None, 1), (5, None, 2), (8, None, 4), (6, None, 5)]),
        (
            "full",
            [
                *[(5, 20, 3), (3, None, 1), (5, None, 2), (8, None, 4), (6, None, 5)],
                *[(1, 10, None), (5, 30, None), (None, 50, None)],
            ],
        ),
        ("semi", [(5, 20)]),
        ("anti", [(1, 10), (5, 30), (None, 50)]),
        ("left_semi", [(5, 20)]),
        ("LeftAnti", [(1, 10), (5, 30), (None, 50)]),
        (
            "outer",
            [
                *[(5, 20, 3), (3, None, 1), (5, None, 2), (8, None, 4), (6, None, 5)],
                *[(1, 10, None), (5, 30, None), (None, 50, None)],
            ],
        ),
    ],
)
def test_how_says_whose_rows_without_a_partner_come_out(
    trades: DataFrame, quotes: DataFrame, how: str, expected: list[tuple[Any, ...]]
) -> None:
    df = plait.asof_join(
        trades.where("k IS NOT NULL"), quotes.where("k IS NOT NULL"), on="ts", by="k", how=how
    )
    assert rows(df.drop("k")) == Counter(expected)
    is_filled = len(df.columns) == 2 or not df.where("k IS NULL").count()
    assert is_filled, "a right row has its key in the one column of both"


def test_ties_are_the_callers_to_order(trades: DataFrame, quotes: DataFrame) -> None:
    for ties, bid in (("bid", 3), ("bid DESC", 2), (["k", "bid desc nulls last"], 2)):
        df = plait.asof_join(trades, quotes, "ts", "k", how="inner", ties=ties)
        assert rows(df.select("bid")) == Counter([(bid,)])


def test_a_column_that_is_called_as_an_order_is_written_is_that_column(
    session: SparkSession,
) -> None:
    left = frame(session, [(5,)], "ts int")
    right = frame(session, [(5, 1, 8), (5, 2, 9)], "ts int, id int, id desc int")
    for ties, picked in (("id desc", 2), ("ID DESC", 2), ("id desc desc", 1), ("id DESC ", 2)):
        df = plait.asof_join(left, right, "ts", ties=ties)
        assert rows(df.select("id")) == Counter([(picked,)])


@pytest.mark.parametrize(
    ("tolerance", "found"),
    [
        (timedelta(minutes=5), True),
        (timedelta(minutes=5, microseconds=-1), False),
        (pd.Timedelta("5min"), True),
        (np.timedelta64(5, "m").astype("timedelta64[ns]"), True),
        (np.timedelta64(4, "m"), False),
        ("INTERVAL 4 MINUTES", False),
        ("INTERVAL '5' MINUTE", True),
        ("5 minutes", True),
        ("5min", True),
        ("5 mins", True),
        ("299 secs", False),
        ("299999ms", False),
        ("4 min 59.999999 s", False),
        (None, True),
    ],
)
def test_a_tolerance_of_time_is_a_timedelta_or_sql(
    session: SparkSession, tolerance: Any, found: bool
) -> None:
    left = frame(session, [(at(5),)], "ts timestamp")
    right = frame(session, [(at(0), 1)], "ts timestamp, v int")
    df = plait.asof_join(left, right, on="ts", tolerance=tolerance)
    assert rows(df) == Counter([(at(5), 1 if found else None)])


def test_a_tolerance_of_dates_is_days_in_every_unit_of_numpy(session: SparkSession) -> None:
    left = frame(session, [(date(2026, 3, 9),)], "d date")
    right = frame(session, [(date(2026, 3, 6), 1)], "d date, v int")
    for days, v in ((2, None), (3, 1)):
        for unit in ("D", "ns"):
            tolerance = np.timedelta64(days, "D").astype(f"timedelta64[{unit}]")
            df = plait.asof_join(left, right, on="d", tolerance=tolerance)
            assert rows(df.select("v")) == Counter([(v,)])


def test_a_tolerance_of_numbers_is_a_number(trades: DataFrame, quotes: DataFrame) -> None:
    for tolerance, bids in ((0, [3]), (0.5, [3]), (1, [3])):
        df = plait.asof_join(trades, quotes, "ts", "k", how="inner", tolerance=tolerance)
        assert rows(df.select("bid")) == Counter((bid,) for bid in bids)


def test_columns_of_different_names_both_come_out(trades: DataFrame, quotes: DataFrame) -> None:
    other = quotes.withColumnsRenamed({"k": "sym", "ts": "at"})
    df = plait.asof_join(
        trades, other, left_on="ts", right_on="at", left_by="k", right_by="sym", how="inner"
    )
    assert df.columns == ["k", "ts", "price", "sym", "at", "bid"]
    assert rows(df) == Counter([("a", 5, 20, "a", 5, 3)])


def test_columns_of_both_sides_get_suffixes_as_in_pandas(
    trades: DataFrame, quotes: DataFrame
) -> None:
    left, right = trades.withColumnRenamed("price", "v"), quotes.withColumnRenamed("bid", "v")
    shown = [
        plait.asof_join(left, right, "ts", "k", suffixes=suffixes).columns[2:]
        for suffixes in (("_x", "_y"), ("_l", None), (None, "_r"), ("", "_quote"))
    ]
    assert shown == [["v_x", "v_y"], ["v_l", "v"], ["v", "v_r"], ["v", "v_quote"]]
    frames = [df.dropna().sort_values("ts").astype({"ts": int}) for df in _pandas(left, right)]
    assert list(pd.merge_asof(*frames, on="ts", by="k").columns) == ["k", "ts", "v_x", "v_y"]


def _pandas(*dfs: DataFrame) -> list[pd.DataFrame]:
    return [df.toPandas() for df in dfs]


def test_odd_names_of_columns_are_names(session: SparkSession) -> None:
    odd = "a.b `c` {d} ö"
    left = frame(session, [(1, 5, 0)], f"select int, {odd} int, l int")
    right = frame(session, [(1, 4, 7)], f"SELECT int, {odd} int, {{r}} int")
    df = plait.asof_join(left, right, odd, "select", ties=f"{odd} DESC")
    assert (df.columns, rows(df)) == (["select", odd, "l", "{r}"], Counter([(1, 5, 0, 7)]))


def test_a_frame_joins_itself(quotes: DataFrame) -> None:
    df = plait.asof_join(quotes, quotes, "ts", "k", how="inner", allow_exact_matches=False)
    assert rows(df.select("bid_x", "bid_y")) == Counter([(2, 1), (3, 1), (4, 3)])
