# SPDX-License-Identifier: Apache-2.0
"""Oracle: joins in ranges whose preserved side has stretches, against a nested loop in Python.

A home row lies in the range of its low end; or afar, if it reaches much farther than the others.
Its partners go to every range in which a row ends late enough, and afar if something is there.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.python.cases import cases
from tests.python.queries import answer, joins_planned, rows_of, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALWAYS = {"spark.plait.join.strategy": "always"}
FARTHEST = (-(2**63), 2**63 - 1)

# What a partner p of a home row h must do, in SQL and as a function of (lo, hi) of both.
CONDITIONS = {
    "points, ends taken in": ("p.x BETWEEN h.lo AND h.hi", lambda a, b, x, _: a <= x <= b),
    "points, ends left out": ("p.x > h.lo AND h.hi > p.x", lambda a, b, x, _: a < x < b),
    "overlaps": ("h.lo <= p.y AND p.x <= h.hi", lambda a, b, x, y: a <= y and x <= b),
    "overlaps, ends left out": ("h.lo < p.y AND p.x < h.hi", lambda a, b, x, y: a < y and x < b),
    "a part": ("p.x >= h.lo AND p.y <= h.hi", lambda a, b, x, y: a <= x and y <= b),
    "and more": (
        "h.lo <= p.y AND p.x <= h.hi AND pmod(h.lo, 3) <> pmod(p.x, 3)",
        lambda a, b, x, y: a <= y and x <= b and a % 3 != x % 3,
    ),
}
QUERIES = {
    "LEFT": "SELECT h.id, p.id FROM homes h LEFT JOIN partners p ON {}",
    "RIGHT": "SELECT h.id, p.id FROM partners p RIGHT JOIN homes h ON {}",
    "SEMI": "SELECT h.id FROM homes h LEFT SEMI JOIN partners p ON {}",
    "ANTI": "SELECT h.id FROM homes h LEFT ANTI JOIN partners p ON {}",
    "EXISTS": "SELECT h.id FROM homes h WHERE EXISTS (SELECT 1 FROM partners p WHERE {})",
    "NOT EXISTS": "SELECT h.id FROM homes h WHERE NOT EXISTS (SELECT 1 FROM partners p WHERE {})",
    "EXISTS OR": "SELECT h.id FROM homes h "
    "WHERE h.id % 3 = 0 OR EXISTS (SELECT 1 FROM partners p WHERE {})",
}

Row = tuple[int, int | None, int | None]


@lru_cache(maxsize=4)
def matches(
    condition: str, homes: tuple[Row, ...], partners: tuple[Row, ...]
) -> list[tuple[int, list[int]]]:
    """The partners of each home row."""
    holds = CONDITIONS[condition][1]
    if condition.startswith("points"):
        partners = tuple((partner, x, x) for partner, x, _ in partners)
    return [
        (
            home,
            [
                partner
                for partner, x, y in partners
                if lo is not None
                and hi is not None
                and x is not None
                and y is not None
                and holds(lo, hi, x, y)
            ],
        )
        for home, lo, hi in homes
    ]


def expected(how: str, condition: str, homes: list[Row], partners: list[Row]) -> Counter[str]:
    """The definition of the join."""
    rows: list[tuple[int | None, ...]] = []
    for home, found in matches(condition, tuple(homes), tuple(partners)):
        if how in ("LEFT", "RIGHT"):
            rows += [(home, partner) for partner in found or [None]]
        elif how == "EXISTS OR":
            rows += [(home,)] if found or home % 3 == 0 else []
        else:
            rows += [(home,)] if bool(found) != (how in ("ANTI", "NOT EXISTS")) else []
    return Counter(repr(row) for row in rows)


def stretches(rng: Random, rows: int, far: float, ends: bool) -> list[Row]:
    """Mostly short, some crossed, of one point, NULL or twice; some far, to the end of the line."""
    found: list[Row] = []
    for i in range(rows):
        lo = rng.choice([rng.randint(-500, 500), 7])
        hi = lo + rng.choice([0, 1, 5, rng.randint(-9, 40)])
        if rng.random() < far:
            lo, hi = rng.choice([(lo, lo + rng.randint(100, 999)), (lo, 900), (-900, hi)])
            if ends:
                lo, hi = rng.choice([(lo, FARTHEST[1]), (FARTHEST[0], hi), FARTHEST])
        row = (i, None if rng.random() < 0.05 else lo, None if rng.random() < 0.05 else hi)
        found += [row] * (1 + (rng.random() < 0.1))
    return found


def register(spark: SparkSession, homes: list[Row], partners: list[Row]) -> None:
    """As values, which Spark may read twice."""
    for name, columns, rows in (("homes", "lo, hi", homes), ("partners", "x, y", partners)):
        values = ", ".join(
            f"({i}L, {'NULL' if a is None else long(a)}, {'NULL' if b is None else long(b)})"
            for i, a, b in rows
        )
        table = f"VALUES {values}" if rows else "SELECT 0L, 0L, 0L WHERE false"
        spark.sql(
            f"SELECT id, CAST(c1 AS LONG) AS {columns.split(', ')[0]}, "
            f"CAST(c2 AS LONG) AS {columns.split(', ')[1]} FROM ({table}) AS t(id, c1, c2)"
        ).createOrReplaceTempView(name)


def long(value: int) -> str:
    return f"{value + 1}L - 1L" if value == FARTHEST[0] else f"{value}L"


def is_in_ranges(df: DataFrame) -> bool:
    text = str(plait.explain(df))
    return "range#" in text and "in one task" not in text and joins_planned(df) == 1


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("how", QUERIES)
def test_a_preserved_side_of_stretches_is_cut_into_ranges(
    spark: SparkSession, how: str, condition: str
) -> None:
    rng = Random(f"{how} {condition}")
    homes, partners = stretches(rng, 300, 0.1, False), stretches(rng, 300, 0.1, False)
    register(spark, homes, partners)
    for partitions, adaptive in ((7, False), (16, True)):
        keys = {"spark.sql.shuffle.partitions": partitions, "spark.sql.adaptive.enabled": adaptive}
        with settings(spark, ALWAYS | keys):
            df = spark.sql(QUERIES[how].format(CONDITIONS[condition][0]))
            assert answer(df) == expected(how, condition, homes, partners)
            assert is_in_ranges(df)


@pytest.mark.parametrize("seed", range(cases(40, soak=2_000)))
def test_random_stretches_find_the_partners_of_the_definition(
    spark: SparkSession, seed: int
) -> None:
    rng = Random(seed)
    sizes = [0, 1, 5, 40, 150]
    far = rng.choice([0, 0.05, 0.5, 1])
    homes = stretches(rng, rng.choice(sizes), far, rng.random() < 0.3)
    partners = stretches(rng, rng.choice(sizes), rng.choice([0, 0.1]), rng.random() < 0.2)
    register(spark, homes, partners)
    how, condition = rng.choice(list(QUERIES)), rng.choice(list(CONDITIONS))
    keys = {
        "spark.sql.shuffle.partitions": rng.choice([1, 2, 3, 8, 30]),
        "spark.sql.adaptive.enabled": seed % 4 == 0,
        "spark.sql.codegen.wholeStage": seed % 2 == 0,
        "spark.sql.ansi.enabled": False,
    }
    with settings(spark, ALWAYS | keys):
        df = spark.sql(QUERIES[how].format(CONDITIONS[condition][0]))
        assert answer(df) == expected(how, condition, homes, partners), (how, condition)


def test_each_task_gets_its_share_of_the_home_rows(spark: SparkSession) -> None:
    spark.range(20000).createOrReplaceTempView("numbers")
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": False}):
        tasks = spark.sql(
            "SELECT task, count(*) FROM (SELECT a.id, spark_partition_id() AS task FROM numbers a "
            "LEFT JOIN numbers b ON b.id * 3 BETWEEN a.id AND a.id + 5) GROUP BY task"
        ).collect()
    assert len(tasks) == 4
    assert max(rows for _, rows in tasks) < 2 * 2 * 20000 / 4


@pytest.mark.parametrize("how", QUERIES)
@pytest.mark.parametrize("far", [20, 1])
def test_rows_that_reach_far_do_not_draw_all_partners_to_each_range(
    spark: SparkSession, how: str, far: int
) -> None:
    """Of 16 ranges of 125 home rows each, every ``far``-th row reaches to the end."""
    homes: list[Row] = [(i, i * 10, 99999 if i % far == 0 else i * 10 + 9) for i in range(2000)]
    partners: list[Row] = [(i, i * 20, i * 20) for i in range(1000)]
    register(spark, homes, partners)
    condition = "points, ends taken in"
    keys = {"spark.sql.shuffle.partitions": 16, "spark.sql.adaptive.enabled": False}
    with settings(spark, ALWAYS | keys):
        df = spark.sql(QUERIES[how].format(CONDITIONS[condition][0]))
        assert answer(df) == expected(how, condition, homes, partners)
        # Whether or not the join has read them.
        copies = sum(rows_of(df, "Generate")) / 1000
    # Where all of a range reach far and make pairs, a partner goes there: to 8 ranges on average.
    assert 1 <= copies < (10 if far == 1 and how in ("LEFT", "RIGHT") else 2.3)
