# SPDX-License-Identifier: Apache-2.0
"""Examples: the ways in which Spark finds the extension."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import NODE

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOIN = "SELECT * FROM range(9) l JOIN range(9) r ON l.id % 2 = r.id % 2 AND l.id < r.id"

# Prints how often the join stands in the plan and how many rows it gives. That the extension is
# named and found as a service loads it twice.
BY_NAME = """
import sys
import plait
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
builder = builder.config("spark.sql.extensions", "plait.spark.PlaitExtensions")
spark = plait.register(builder).config("spark.plait.enabled", False).getOrCreate()
for enabled in (False, True):
    spark.conf.set("spark.plait.enabled", enabled)
    df = spark.sql(sys.argv[1])
    print(plait.explain(df).count("SymmetricHashJoin"), len(df.collect()))
"""


def test_the_jar_on_the_class_path_is_enough(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.sql.extensions", None) is None
    assert str(plait.jar_path()) in (conf.get("spark.jars") or "")
    df = spark.sql(
        "SELECT * FROM range(9) l JOIN range(9) r ON l.id % 2 = r.id % 2 AND l.id < r.id"
    )
    assert NODE in plait.explain(df)


def test_another_session_of_the_same_context_has_it_too(spark: SparkSession) -> None:
    assert NODE in plait.explain(spark.newSession().sql(JOIN))


@pytest.mark.spark
def test_named_as_an_extension_too_it_plans_a_join_once_and_can_start_switched_off() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BY_NAME, JOIN], capture_output=True, text=True, check=False
    )
    # 5 even and 4 odd numbers: 10 + 6 pairs.
    assert done.stdout.splitlines() == ["0 16", "1 16"], done.stderr
