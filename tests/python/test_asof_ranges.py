# SPDX-License-Identifier: Apache-2.0
"""Examples, and an oracle: as-of joins without an equality, cut into ranges of the match value.

Oracle of rows that nothing tells apart: the definition in Python.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import count, spark_partition_id
from tests.python.asof_definition import HOW, OPERATORS, AsOf, Row, arrow
from tests.python.cases import cases
from tests.python.queries import answer, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MATCH = "MATCH_CONDITION (l.t >= r.t)"
ALWAYS = {"spark.plait.join.strategy": "always"}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    """Of 4,000 and 3,000 rows: a value has 4 left rows, and every third right row has the same."""
    spark.sql(
        "SELECT id, CAST(id % 1000 AS BIGINT) AS t, CAST(id AS STRING) AS s, id % 7 AS v, "
        "IF(id % 5 = 0, NULL, id) AS n FROM range(4000)"
    ).createOrReplaceTempView("l")
    spark.sql(
        "SELECT id, IF(id % 3 = 0, 500, id % 1500) AS t, CAST(id AS STRING) AS s, id % 11 AS v, "
        "struct(id) AS st FROM range(3000)"
    ).createOrReplaceTempView("r")


def explained(df: DataFrame) -> str:
    return str(plait.explain(df))


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("how", ["", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_ranges_give_the_rows_of_one_task(spark: SparkSession, how: str, adaptive: bool) -> None:
    columns = "l.id" if how in ("LEFT SEMI", "LEFT ANTI") else "l.id, r.id, r.v"
    for match in (MATCH, "MATCH_CONDITION (NEAREST (l.t, r.t) TOLERANCE 20)"):
        df = f"SELECT {columns} FROM l {how} ASOF JOIN r {match}"
        with settings(spark, {"spark.sql.adaptive.enabled": adaptive}):
            whole = spark.sql(df)
            expected = answer(whole)
            assert "in one task" in explained(whole)
            with settings(spark, ALWAYS):
                ranges = spark.sql(df)
                assert answer(ranges) == expected
                assert "in 4 ranges" in explained(ranges)


def test_explain_tells_that_it_is_cut(spark: SparkSession) -> None:
    with settings(spark, ALWAYS):
        lines = explained(spark.sql(f"SELECT * FROM l ASOF JOIN r {MATCH}")).splitlines()
    assert lines[1].endswith("in 4 ranges")
    assert lines[2].endswith("in 4 ranges")


@pytest.mark.parametrize(
    ("join", "code"),
    [
        (f"l ASOF JOIN r {MATCH}", "[FEW_ROWS]"),
        (f"l ASOF JOIN r {MATCH} ON l.v < r.v", "[REFUSES_PAIRS]"),
        ("l ASOF JOIN r MATCH_CONDITION (struct(l.id) >= r.st)", "[UNRANKED_MATCH]"),
    ],
)
def test_explain_tells_why_all_rows_are_in_one_task(
    spark: SparkSession, join: str, code: str
) -> None:
    keys = {} if "FEW" in code else ALWAYS
    with settings(spark, keys):
        assert code in explained(spark.sql(f"SELECT l.id FROM {join}"))


def test_a_plan_that_shares_no_subqueries_is_not_cut(spark: SparkSession) -> None:
    with settings(spark, ALWAYS | {"spark.sql.execution.reuseSubquery": False}):
        assert "[CUTS_NOT_SHARED]" in explained(
            spark.sql(f"SELECT l.id FROM l ASOF JOIN r {MATCH}")
        )


@pytest.mark.parametrize("of", ["left", "right"])
def test_each_task_gets_its_share_of_both_sides(spark: SparkSession, of: str) -> None:
    # One side lies in a tenth of the other's line: both count for where it is cut.
    narrow, wide = "id % 10000", "id"
    left, right = (narrow, wide) if of == "left" else (wide, narrow)
    df = spark.sql(
        f"SELECT l.t, l.p FROM (SELECT {left} AS t, id AS p FROM range(100000)) l "
        f"LEFT ASOF JOIN (SELECT {right} AS t FROM range(100000)) r MATCH_CONDITION (l.t <= r.t)"
    )
    with settings(spark, ALWAYS | {"spark.sql.adaptive.enabled": False}):
        sizes = [
            row.n for row in df.groupBy(spark_partition_id()).agg(count("*").alias("n")).collect()
        ]
    assert len(sizes) >= 3
    assert max(sizes) < 60000


def test_joins_above_and_below_and_repeated_parts(spark: SparkSession) -> None:
    inner = f"SELECT l.id, l.t, r.v FROM l ASOF JOIN r {MATCH}"
    query = (
        f"WITH c AS ({inner}) SELECT a.id, b.id, x.v FROM c a LEFT ASOF JOIN c b "
        "MATCH_CONDITION (a.t > b.t TIES ORDER BY b.id) JOIN r x ON x.id = a.id WHERE a.id % 3 = 0"
    )
    for adaptive in (True, False):
        with settings(spark, {"spark.sql.adaptive.enabled": adaptive}):
            expected = answer(spark.sql(query))
            with settings(spark, ALWAYS):
                df = spark.sql(query)
                assert answer(df) == expected
                assert explained(df).count("in 4 ranges") >= 4


@pytest.mark.parametrize("empty", ["l", "r"])
def test_an_empty_side_is_no_trouble(spark: SparkSession, empty: str) -> None:
    for where in ("id < 0", "id + rand() < 0"):
        sides = {name: f"(SELECT * FROM {name} WHERE {where})" for name in empty}
        query = (
            f"SELECT l.id, r.id FROM {sides.get('l', 'l')} l FULL ASOF JOIN "
            f"{sides.get('r', 'r')} r {MATCH}"
        )
        with settings(spark, ALWAYS):
            rows = spark.sql(query).collect()
        assert len(rows) == (3000 if empty == "l" else 4000)


def test_where_to_cut_is_found_without_running_the_joins_below(spark: SparkSession) -> None:
    chain = "l LEFT ASOF JOIN r MATCH_CONDITION (l.t >= r.t)"
    for i in range(3):
        chain += f" LEFT ASOF JOIN r AS r{i} MATCH_CONDITION (l.t >= r{i}.t)"
    query = f"SELECT l.id, r.v, r0.v, r1.v, r2.v FROM {chain}"
    expected = answer(spark.sql(query))
    with settings(spark, ALWAYS):
        df = spark.sql(query)
        assert answer(df) == expected
        nodes = [row for row in plait.explain(df) if row.node.startswith("AsOfJoin")]
        assert [row.side for row in nodes].count("left") == 4, "each join is in the plan once"
        assert explained(df).count("in 4 ranges") == 8


def test_sides_that_are_computed_are_not_computed_twice_for_the_cuts(spark: SparkSession) -> None:
    spark.range(400_000).selectExpr("id % 300000 AS k", "id AS t").createOrReplaceTempView("big")
    latest = "(SELECT k, max(t) AS m FROM big GROUP BY k)"
    both = f"SELECT a.k FROM {latest} a ASOF JOIN {latest} b MATCH_CONDITION (a.m >= b.m)"
    assert "[COSTLY_CUTS]" in explained(spark.sql(both))
    with settings(spark, ALWAYS):
        assert "in 4 ranges" in explained(spark.sql(both))
    one = f"SELECT a.k FROM {latest} a ASOF JOIN big b MATCH_CONDITION (a.m >= b.t)"
    assert "in 4 ranges" in explained(spark.sql(one)), "the cuts are those of the table"


def rows_often_alike(rng: Random) -> list[Row]:
    """Rows of few values, each several times: most are the same as another in every column."""
    spread = rng.choice([1, 3, 10])
    table: list[Row] = []
    for _ in range(rng.choice([1, 4, 12])):
        m = None if rng.random() < 0.2 else rng.randint(-spread, spread)
        row = {"pair": 0, "k": 0, "v": rng.choice([None, 1, 2]), "m": m, "w": None}
        table += [row | {"id": rng.randrange(2)}] * rng.randint(1, 4)
    table = [dict(row) for row in table]
    rng.shuffle(table)
    return table


@pytest.mark.parametrize("seed", range(cases(24, soak=2_000)))
def test_rows_that_nothing_tells_apart_come_out_as_often_as_they_are_there(
    spark: SparkSession, seed: int
) -> None:
    rng = Random(seed)
    sides = rows_often_alike(rng), rows_often_alike(rng)
    join = AsOf(
        "int",
        rng.choice(("RIGHT", "FULL", *HOW)),
        [*OPERATORS, None][seed % 5],
        rng.choice([None, ("1", 1)]),
        rng.choice([None, "r.v DESC"]),
        "",
        rng.choice([None, "r.v <> 2"]),
        False,
        *sides,
        is_keyless=True,
    )
    for name, table in zip(("ls", "rs"), sides, strict=True):
        df = spark.createDataFrame(arrow("int", table)).repartition(rng.randint(1, 3))
        df.createOrReplaceTempView(name)
    ranges = 1 + seed % 7
    with settings(spark, ALWAYS | {"spark.sql.shuffle.partitions": ranges}):
        df = spark.sql(join.sql)
        assert Counter(map(tuple, df.collect())) == join.rows(), f"{ranges} ranges: {join.sql}"
        assert f"in {ranges} ranges" in explained(df) or ranges == 1
