# SPDX-License-Identifier: Apache-2.0
"""Examples: ``plait.temporal_join``, in a classic session and over Spark Connect."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.python.frames import Rows, at, frame, rows

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_a_temporal_join_takes_the_version_that_is_valid(session: SparkSession) -> None:
    orders = [("EUR", 4, 1), ("EUR", 5, 2), ("EUR", 9, 3), ("EUR", 0, 4), ("USD", 9, 5)]
    rates = [("EUR", 1, 0, 110, "+"), ("EUR", 5, 1, 120, "+"), ("EUR", 5, 0, 99, "+")]
    left = frame(session, orders, "c string, t int, id int")
    right = frame(
        session,
        [*rates, ("EUR", 8, 0, 130, "-D")],
        "c string, valid_from int, seq int, rate int, op string",
    )

    def joined(how: str, ties: str = "seq", **options: Any) -> Rows:
        df = plait.temporal_join(
            left,
            right,
            "c",
            left_time="t",
            version_time="valid_from",
            ties=ties,
            how=how,
            **options,
        )
        return rows(df.select("id", "rate"))

    deleted = "op = '-D'"
    assert joined("inner", deleted=deleted) == Counter([(1, 110), (2, 120)])
    assert joined("left", deleted=deleted) == Counter(
        [(1, 110), (2, 120), (3, None), (4, None), (5, None)]
    )
    assert joined("inner") == Counter([(1, 110), (2, 120), (3, 130)])
    assert joined("inner", ties="seq desc") == Counter([(1, 110), (2, 99), (3, 130)])


def test_what_is_not_given_is_what_the_right_side_says(session: SparkSession) -> None:
    left = frame(session, [("EUR", 4, 1), ("EUR", 5, 2), ("EUR", 9, 3)], "c string, t int, id int")
    versions = [("EUR", 1, 110, "+"), ("EUR", 5, 120, "+"), ("EUR", 8, 130, "-D")]
    right = frame(session, versions, "c string, since int, rate int, op string")
    hinted = right.hint("VERSIONED", "since").hint("VERSION_DELETED", "op = '-D'")
    df = plait.temporal_join(left, hinted, "c", left_time="t")
    assert rows(df.select("id", "rate")) == Counter([(1, 110), (2, 120), (3, None)])
    df = plait.temporal_join(left, hinted, "c", left_time="t", deleted="false", how="inner")
    assert rows(df.select("id", "rate")) == Counter([(1, 110), (2, 120), (3, 130)])
    timed = frame(session, [("EUR", at(0), 1), ("EUR", at(5), 2)], "c string, t timestamp, id int")
    rates = frame(session, [("EUR", at(2), 7)], "c string, since timestamp, rate int")
    df = plait.temporal_join(timed, rates, "c", left_time="t")
    assert rows(df.select("id", "rate")) == Counter([(1, None), (2, 7)])


def test_proctime_takes_the_newest_version(session: SparkSession) -> None:
    left = frame(session, [("EUR", 1), ("USD", 2)], "c string, id int")
    versions = [("EUR", 1, 110), ("EUR", 5, 120), ("USD", 3, 98)]
    right = frame(session, versions, "c string, since int, rate int")
    df = plait.temporal_join(left, right, "c", left_time="PROCTIME()", version_time="since")
    assert rows(df.select("id", "rate")) == Counter([(1, 120), (2, 98)])
