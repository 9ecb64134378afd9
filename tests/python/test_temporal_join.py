# SPDX-License-Identifier: Apache-2.0
"""Examples: ``plait.temporal_join``, in a classic session and over Spark Connect."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.python.frames import Rows, frame, rows

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

    def joined(how: str, **options: Any) -> Rows:
        df = plait.temporal_join(
            left,
            right,
            "c",
            left_time="t",
            version_time="valid_from",
            ties="seq",
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
