# SPDX-License-Identifier: Apache-2.0
"""Examples: filters above as-of joins, which make them narrower or go below, and those that do not.

Oracle: the rows of the join by its definition, then the filter.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import plait

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

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


Row = tuple[int | None, int | None]
KEYS = {
    "l": lambda row: LEFT[row[0]][0] if row[0] else None,
    "r": lambda row: RIGHT[row[1]][0] if row[1] else None,
}
TIMES = {
    "l": lambda row: LEFT[row[0]][1] if row[0] else None,
    "r": lambda row: RIGHT[row[1]][1] if row[1] else None,
}


def key(row: Row) -> int | None:
    """Return the key of USING."""
    return KEYS["l"](row) or KEYS["r"](row)


# What a filter says, of which rows it is TRUE, and the types in which a scan of each side asks it.
BELOW: dict[str, tuple[Callable[[Row], bool], dict[str, tuple[str, ...]]]] = {
    "k = 1": (lambda row: key(row) == 1, {"l": (*TYPES, "INNER"), "r": (*TYPES, "INNER")}),
    "k > 1": (lambda row: (key(row) or 0) > 1, {"l": (*TYPES, "INNER"), "r": (*TYPES, "INNER")}),
    "k IS NULL": (lambda row: key(row) is None, {}),
    "r.k = 1": (
        lambda row: KEYS["r"](row) == 1,
        {"l": ("RIGHT", "INNER"), "r": ("RIGHT", "INNER")},
    ),
    "l.k = 1": (lambda row: KEYS["l"](row) == 1, {"l": ("LEFT", "INNER"), "r": ("LEFT", "INNER")}),
    "k + r.k = 2": (lambda row: (key(row) or 0) + (KEYS["r"](row) or 9) == 2, {}),
    "l.t <= 6": (lambda row: (TIMES["l"](row) or 9) <= 6, {"l": ("LEFT",), "r": ("LEFT", "INNER")}),
    "l.t < 9": (lambda row: (TIMES["l"](row) or 9) < 9, {"l": ("LEFT",), "r": ("LEFT", "INNER")}),
    "l.t = 9": (lambda row: TIMES["l"](row) == 9, {"l": ("LEFT",), "r": ("LEFT", "INNER")}),
    "l.t >= 6": (lambda row: (TIMES["l"](row) or 0) >= 6, {"l": ("LEFT",)}),
    "r.t > 4": (lambda row: (TIMES["r"](row) or 0) > 4, {}),
}


@pytest.fixture(scope="module")
def stored(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataFrame]:
    folder = tmp_path_factory.mktemp("filters")
    for name in "lr":
        spark.table(name).coalesce(1).write.parquet(str(folder / name))
    return {name: spark.read.parquet(str(folder / name)) for name in "lr"}


@pytest.mark.parametrize("where", BELOW)
@pytest.mark.parametrize("how", [*TYPES, "INNER"])
def test_what_is_said_of_keys_and_match_values_is_asked_of_both_sides(
    spark: SparkSession, stored: dict[str, DataFrame], where: str, how: str
) -> None:
    holds, asked = BELOW[where]
    query = f"""SELECT l.id, r.id FROM {{l}} l {how} ASOF JOIN {{r}} r
      MATCH_CONDITION (l.t >= r.t) USING (k) WHERE {where}"""
    df = spark.sql(query, l=stored["l"], r=stored["r"])
    rows = [row for row in defined("LEFT" if how == "INNER" else how) if holds(row)]
    if how == "INNER":
        rows = [row for row in rows if row[1]]
    assert Counter(map(tuple, df.collect())) == Counter(rows)
    lines = df._jdf.queryExecution().optimizedPlan().toString().splitlines()
    scans = [i for i, line in enumerate(lines) if "Relation [" in line]
    assert len(scans) == 2
    for name, scan in zip("lr", scans, strict=True):
        if how in asked.get(name, ()):
            assert re.search(r"Filter .* (=|<|<=|>|>=) ", lines[scan - 1]), lines


def test_of_a_left_key_that_is_compared_twice_a_filter_asks_the_right_column_it_names(
    spark: SparkSession,
) -> None:
    right = spark.createDataFrame(
        [(11, 1, 1, 4), (12, 2, 1, 4), (13, 1, 2, 4)], "id INT, k INT, j INT, t INT"
    )
    for column, alone in (("k", 13), ("j", 12)):
        df = spark.sql(
            f"""SELECT l.id, r.id FROM l FULL ASOF JOIN {{right}} r MATCH_CONDITION (l.t >= r.t)
            ON l.k = r.k AND l.k = r.j WHERE coalesce(l.k, r.{column}) = 1""",
            right=right,
        )
        # Both left rows of key 1 pick 11; of the right rows that nobody picks one has the key 1.
        expected = [(1, 11), (2, 11), (None, alone)]
        assert Counter(map(tuple, df.collect())) == Counter(expected)


def test_a_limit_of_a_left_join_is_one_of_the_left_rows(spark: SparkSession) -> None:
    query = "FROM l {} ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k LIMIT 2"
    limited = spark.sql(f"SELECT l.id, r.id AS rid {query.format('LEFT')}")
    rows = [tuple(row) for row in limited.collect()]
    assert len(rows) == 2
    assert set(rows) <= set(defined("LEFT"))
    plan = limited._jdf.queryExecution().optimizedPlan().toString()
    assert re.search(r"AsOfJoin LeftOuter.*\n.*LocalLimit 2", plan)
    for how in ("", "RIGHT", "FULL"):
        plan = spark.sql(f"SELECT * {query.format(how)}")._jdf.queryExecution().optimizedPlan()
        assert plan.toString().count("LocalLimit") == 1
