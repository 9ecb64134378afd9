# SPDX-License-Identifier: Apache-2.0
"""Examples: ``plait.interval_join``, ``plait.range_join``, classic and over Spark Connect."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.frames import Rows, at, frame, rows

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_an_interval_join_is_flinks(session: SparkSession) -> None:
    left = frame(session, [("a", at(10), 1), ("a", at(60), 2)], "k string, o timestamp, x int")
    right = frame(
        session,
        [("a", at(5), 1), ("a", at(12), 2), ("a", at(15), 3), ("b", at(10), 4)],
        "k string, s timestamp, x int",
    )

    def joined(**options: Any) -> Rows:
        df = plait.interval_join(left, right, "k", left_time="o", right_time="s", **options)
        return rows(df.select(*[c for c in df.columns if c.startswith("x")]))

    five = timedelta(minutes=5)
    assert joined(lower=-five, upper=five) == Counter([(1, 1), (1, 2), (1, 3)])
    assert joined(lower=-five, upper="INTERVAL 5 MINUTES", closed="left") == Counter(
        [(1, 1), (1, 2)]
    )
    assert joined(lower=0 * five, upper=five, how="left") == Counter([(1, 2), (1, 3), (2, None)])
    assert joined(lower=-five, upper=None, how="semi") == Counter([(1,)])
    assert joined(lower=-five, upper=five, how="anti") == Counter([(2,)])


def test_the_columns_of_an_interval_join_are_the_key_once_and_both_times(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.interval_join(
        trades, quotes, "k", left_time="ts", right_time="ts", lower=-2, upper=0
    )
    assert df.columns == ["k", "ts_x", "price", "ts_y", "bid"]
    assert rows(df) == Counter([("a", 5, 20, ts, bid) for ts, bid in ((3, 1), (5, 2), (5, 3))])


@pytest.mark.parametrize(
    ("closed", "points"),
    [("both", [1, 2, 3]), ("left", [1, 2]), ("right", [2, 3]), ("neither", [2])],
)
def test_points_lie_in_ranges_with_the_ends_that_are_closed(
    session: SparkSession, closed: str, points: list[int]
) -> None:
    left = frame(session, [(x,) for x in range(5)], "x int")
    right = frame(session, [(1, 3)], "a int, b int")
    df = plait.range_join(left, right, point="x", low="a", high="b", closed=closed)
    assert rows(df) == Counter((x, 1, 3) for x in points)


@pytest.mark.parametrize(("closed", "found"), [("both", [7, 8, 9]), ("left", [8])])
def test_ranges_overlap_if_they_share_a_point(
    session: SparkSession, closed: str, found: list[int]
) -> None:
    left = frame(session, [("k", 10, 20)], "k string, a int, b int")
    others = [
        ("k", 5, 10, 7),
        ("k", 12, 13, 8),
        ("k", 20, 30, 9),
        ("k", 21, 22, 0),
        ("z", 10, 20, 1),
    ]
    right = frame(session, others, "k string, a int, b int, v int")
    df = plait.range_join(left, right, "k", low="a", high="b", closed=closed)
    assert df.columns == ["k", "a_x", "b_x", "a_y", "b_y", "v"]
    assert rows(df.select("v")) == Counter((v,) for v in found)
    renamed = right.toDF("k", "c", "d", "v")
    df = plait.range_join(left, renamed, "k", low=("a", "c"), high=("b", "d"), closed=closed)
    assert rows(df.select("v")) == Counter((v,) for v in found)
