# SPDX-License-Identifier: Apache-2.0
"""Oracle: as-of joins whose pairs Spark's generated code takes up, and whose key is one text.

SELECT l.id, r.id      columns are read off the two rows of a pair, or of one row alone
SELECT *               one row is made of both
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import pytest
from tests.python.asof_definition import COLUMNS, HOW, AsOf, arrow, random_join
from tests.python.queries import plan_of, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERPRETED = {
    "spark.sql.shuffle.partitions": 3,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
COMPILED = INTERPRETED | {
    "spark.sql.codegen.wholeStage": True,
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
}
EITHER_ID = (COLUMNS.index("id"), len(COLUMNS) + COLUMNS.index("id"))


def joins() -> list[AsOf]:
    found = []
    for number, (how, sign) in enumerate(product(HOW, (">=", "<", None))):
        join = random_join(9 * number)  # of integers
        found.append(replace(join, how=how, operator=sign, is_mirrored=False, key="l.k = r.k"))
    return found


def by_text(sql: str) -> str:
    key = "l.pair = r.pair AND l.k = r.k"
    assert key in sql
    return sql.replace(key, "concat(l.pair, ' ', l.k) = concat(r.pair, ' ', r.k)")


@pytest.mark.parametrize("join", joins(), ids=lambda join: f"{join.how} {join.operator}")
def test_it_gives_the_rows_of_the_definition(spark: SparkSession, join: AsOf) -> None:
    for name, table in (("ls", join.left), ("rs", join.right)):
        spark.createDataFrame(arrow(join.kind, table)).createOrReplaceTempView(name)
    expected = join.rows()
    sql = by_text(join.sql)
    with settings(spark, INTERPRETED):
        assert Counter(map(tuple, spark.sql(sql).collect())) == expected, sql
    with settings(spark, COMPILED):
        df = spark.sql(sql)
        plan = plan_of(df)
        assert re.search(r"\*\(\d+\) AsOfJoin", plan), plan
        assert Counter(map(tuple, df.collect())) == expected, sql
        rows = spark.sql(re.sub("SELECT l.id(, r.id)?", "SELECT *", sql)).collect()
        ids = Counter(tuple(row[i] for i in EITHER_ID if i < len(row)) for row in rows)
        assert ids == expected, sql
