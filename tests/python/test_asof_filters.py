# SPDX-License-Identifier: Apache-2.0
"""Examples: filters above outer as-of joins that make them narrower, and those that do not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEFT = {1: (1, 5), 2: (1, 9), 3: (2, 5), 4: (None, 7)}
RIGHT = {11: (1, 4), 12: (1, 7), 13: (3, 1), 14: (1, 8)}
PICKED = {1: 11, 2: 14}
TYPES = ("LEFT", "RIGHT", "FULL")


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    for name, table in (("l", LEFT), ("r", RIGHT)):
        rows = [(number, *row) for number, row in table.items()]
        spark.createDataFrame(rows, "id INT, k INT, t INT").createOrReplaceTempView(name)


def defined(how: str) -> list[tuple[int | None, int | None]]:
    """Return the ids of the join's rows, before the filter."""
    rows = [(left, PICKED.get(left)) for left in LEFT]
    if how == "RIGHT":
        rows = [row for row in rows if row[1]]
    if how != "LEFT":
        rows += [(None, right) for right in RIGHT if right not in PICKED.values()]
    return rows


@pytest.mark.parametrize(
    ("where", "holds", "narrowed"),
    [
        ("r.id > 0", lambda _, r: r is not None, ("Inner", "RightOuter", "RightOuter")),
        ("l.id < 9", lambda a, _: a is not None, ("LeftOuter", "Inner", "LeftOuter")),
        ("l.id < 9 AND r.id > 0", lambda a, r: bool(a and r), ("Inner", "Inner", "Inner")),
        ("r.id IS NULL", lambda _, r: r is None, ("LeftOuter", "RightOuter", "FullOuter")),
        ("l.id <=> NULL", lambda a, _: a is None, ("LeftOuter", "RightOuter", "FullOuter")),
        (
            "coalesce(r.id, 1) < 14",
            lambda _, r: (r or 1) < 14,
            ("LeftOuter", "RightOuter", "FullOuter"),
        ),
        (
            "(r.id = 11 OR l.id = 3)",
            lambda a, r: r == 11 or a == 3,
            ("LeftOuter", "RightOuter", "FullOuter"),
        ),
    ],
)
def test_a_filter_that_drops_padded_rows_narrows_the_join(
    spark: SparkSession, where: str, holds: object, narrowed: tuple[str, str, str]
) -> None:
    for how, expected in zip(TYPES, narrowed, strict=True):
        df = spark.sql(
            f"SELECT l.id, r.id FROM l {how} ASOF JOIN r MATCH_CONDITION (l.t >= r.t) "
            f"ON l.k = r.k WHERE {where}"
        )
        assert f"AsOfJoin {expected} " in str(plait.explain(df)), how
        rows = Counter(row for row in defined(how) if holds(*row))  # type: ignore[operator]
        assert Counter(map(tuple, df.collect())) == rows, how
