# SPDX-License-Identifier: Apache-2.0
"""Examples: an as-of join picks the same row however the rows come.

Also among rows that no order tells apart: of equal values that look different, as 0.0 and -0.0, and
of types that have no order.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.python.conftest import QUICK
from tests.python.queries import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Values that are equal, or have no order; the last by the rule, then the others.
ALIKE = {
    "double": ["0.0D", "-0.0D"],
    "float": ["CAST(0 AS FLOAT)", "CAST('-0' AS FLOAT)"],
    "text": ["'b' COLLATE UTF8_LCASE", "'B' COLLATE UTF8_LCASE"],
    "struct": ["struct(1, 0.0D)", "struct(1, -0.0D)"],
    "array": ["array('x' COLLATE UTF8_LCASE)", "array('X' COLLATE UTF8_LCASE)"],
    "map": ["map('k', 3)", "map('k', 2)", "map('j', 2)"],
    "variant": ["parse_json('[2]')", "parse_json('[1]')"],
    "interval": [f"CAST('{n} months {n} days' AS INTERVAL)" for n in (2, 1)],
}
JOINS = [
    "SELECT l.id, r.m, r.v FROM l LEFT ASOF JOIN r MATCH_CONDITION (l.m >= r.m) ON l.k = r.k",
    "SELECT l.id, r.m, r.v FROM l FULL ASOF JOIN r MATCH_CONDITION (NEAREST (l.m, r.m))",
    "SELECT l.id, r.m, r.v FROM l FULL ASOF JOIN r MATCH_CONDITION (l.m <= r.m) ON l.id >= r.m",
    "SELECT /*+ VERSIONED(r, m) */ l.id, r.m, r.v FROM l LEFT JOIN r "
    "FOR SYSTEM_TIME AS OF l.m AS r ON l.k = r.k",
]


@pytest.mark.parametrize("kind", ALIKE)
def test_which_row_is_picked_does_not_depend_on_how_rows_come(
    spark: SparkSession, kind: str
) -> None:
    alike = ALIKE[kind]
    match = ["0.0D", "-0.0D"] if kind == "double" else ["1"]
    rights = [f"({m}, 1, {value})" for m in match for value in alike]
    rights.append(f"({match[0]}, 2, {alike[0]})")
    lefts = ["(1, 1, 0.0D)", "(2, 1, 5.0D)", "(3, 2, -1.0D)", "(4, NULL, NULL)"]
    found: dict[str, set[str]] = {}
    for seed in range(4):
        rng = Random(seed)
        for name, rows in (("r(m, k, v)", rights), ("l(id, k, m)", lefts)):
            values = ", ".join(rng.sample(rows, len(rows)))
            table = spark.sql(f"SELECT * FROM VALUES {values} AS {name}")
            table.repartition(1 + seed % 3).createOrReplaceTempView(name[0])
        with settings(spark, QUICK | {"spark.sql.shuffle.partitions": 1 + seed % 2}):
            for sql in JOINS:
                df = spark.sql(sql).selectExpr("id", "CAST(m AS STRING)", "CAST(v AS STRING)")
                found.setdefault(sql, set()).add(str(sorted(map(str, df.collect()))))
    assert {sql: len(answers) for sql, answers in found.items()} == dict.fromkeys(found, 1)


def test_of_values_that_are_equal_the_last_by_their_text_or_bytes_is_picked(
    spark: SparkSession,
) -> None:
    for values in ALIKE.values():
        for first, second in (values[:2], values[1::-1]):
            with settings(spark, QUICK):
                [[picked, expected]] = spark.sql(
                    f"SELECT CAST(r.v AS STRING), CAST({values[0]} AS STRING) FROM VALUES 1 AS l(m)"
                    f" ASOF JOIN VALUES (1, {first}), (1, {second}) AS r(m, v)"
                    " MATCH_CONDITION (l.m >= r.m)"
                ).collect()
            assert picked == expected


def test_columns_with_an_order_come_first(spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT r.* FROM VALUES 1 AS l(m) ASOF JOIN VALUES (1, 0.0D, 1), (1, -0.0D, 2) "
        "AS r(m, v, id) MATCH_CONDITION (l.m >= r.m)"
    ).collect()
    assert [row.id for row in rows] == [2]


def test_a_column_that_is_not_selected_is_not_read_to_tell_rows_apart(spark: SparkSession) -> None:
    spark.sql("CREATE TEMP VIEW wide AS SELECT id AS m, id * 2 AS a, id / 2 AS b FROM range(9)")
    spark.sql("CREATE TEMP VIEW semi AS SELECT id AS m, id * 2 AS c FROM range(9)")
    for sql, unread in (
        ("SELECT l.m FROM semi l ASOF JOIN wide r MATCH_CONDITION (l.m >= r.m)", "AS [abc]#"),
        ("SELECT l.m, r.a FROM semi l ASOF JOIN wide r MATCH_CONDITION (l.m >= r.m)", "AS [bc]#"),
        ("SELECT * FROM semi l LEFT SEMI ASOF JOIN wide r MATCH_CONDITION (l.m > r.m)", "AS [ab]#"),
        ("SELECT * FROM semi l LEFT ANTI ASOF JOIN wide r MATCH_CONDITION (l.m > r.m)", "AS [ab]#"),
    ):
        plan = spark.sql(sql)._jdf.queryExecution().optimizedPlan().toString()
        assert not re.search(unread, plan), plan
