# SPDX-License-Identifier: Apache-2.0
"""Examples: real sessions, with the jar and without."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

import plait

INTERVAL_JOIN = """
    SELECT l.id AS l, r.id AS r FROM range(20) l JOIN range(20) r
    ON l.id % 2 = r.id % 2 AND r.id BETWEEN l.id AND l.id + 3
"""

# Prints the name of the error that each call raises in a session that stock Spark started.
WITHOUT_THE_JAR = """
import warnings
import plait
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
for call in (plait.session, lambda: plait.explain(spark.range(1)),
             lambda: plait.counters(spark.range(1)),
             lambda: plait.register(SparkSession.builder).getOrCreate().range(1).count()):
    try:
        print("returned", call())
    except plait.PlaitNotLoaded as error:
        print("PlaitNotLoaded", "plait.session()" in str(error), "\\n" not in str(error))
with warnings.catch_warnings(record=True) as caught:
    plait.register(SparkSession.builder)
    spark.stop()
    plait.register(SparkSession.builder)
for warning in caught:
    print(warning.message, warning.filename)
"""


@pytest.mark.spark
def test_a_session_that_runs_without_the_jar_names_the_fix() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_JAR], capture_output=True, text=True, check=True
    )
    *printed, warned, warned_after = done.stdout.splitlines()
    assert printed == ["PlaitNotLoaded True True"] * 3 + ["returned 1"]
    assert warned.startswith("A Spark session runs in this process already, without Plait's jar")
    assert warned_after.startswith("Spark's JVM runs in this process already, without Plait's jar")
    for warning in (warned, warned_after):
        assert warning.endswith("before the first session, in a new Python process. <string>")
    assert done.stderr.count("UserWarning") == 1, "plait.session() raises, and warns of nothing"


# The same of a server that this process starts, which Python reaches by Spark Connect.
WITHOUT_THE_JAR_ON_THE_SERVER = """
import plait
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[1]").getOrCreate()
asked, sql = [], spark.sql
spark.sql = lambda query, **sides: asked.append(query) or sql(query, **sides)
t = sql("SELECT 1 AS k, 2 AS t, now() AS at")
for call in (lambda: t.plait.asof_join(t, "t"), lambda: t.plait.asof_join(t, "t", tolerance=1),
             lambda: t.plait.temporal_join(t, "k", left_time="t", version_time="t"),
             lambda: t.plait.window_join(t, left_time="at", right_time="at", size="5 min")):
    try:
        print("returned", call())
    except plait.PlaitNotLoaded as error:
        print("PlaitNotLoaded", "server runs without Plait's jar: start it with" in str(error))
print(len(asked))
near = {"left_time": "t", "right_time": "t", "lower": 0, "upper": None}
print(t.plait.interval_join(t, **near).count())
"""


@pytest.mark.spark
def test_a_server_that_runs_without_the_jar_names_the_fix_and_is_asked_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_JAR_ON_THE_SERVER],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["PlaitNotLoaded True"] * 4 + ["5", "1"]


def test_an_error_of_a_server_that_has_the_jar_stays_sparks(connect: SparkSession) -> None:
    numbers = connect.range(3)
    for _ in range(2):
        with pytest.raises(ParseException, match="TOLERANCE"):
            plait.asof_join(numbers, numbers, "id", tolerance="INTERVAL 1 MONTH")


def test_the_session_keeps_the_configuration_it_was_given(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.shuffle.partitions") == "4"
    assert spark.sparkContext.master == "local[2]"


def test_a_second_call_returns_the_running_session(spark: SparkSession) -> None:
    assert plait.session() is spark


def test_registering_in_a_running_session_adds_the_jar_no_second_time(spark: SparkSession) -> None:
    (jar,) = plait.register(SparkSession.builder)._options["spark.jars"].split(",")
    assert jar.endswith(f"/{plait.jar_path().name}")


def test_explain_shows_how_an_interval_join_prunes(spark: SparkSession) -> None:
    assert "SymmetricHashJoin" in str(plait.explain(spark.sql(INTERVAL_JOIN)))


def test_counters_are_those_of_the_run(spark: SparkSession) -> None:
    df = spark.sql(INTERVAL_JOIN)
    rows = df.collect()
    (join,) = plait.counters(df)
    # For l < 18 the partners are l and l + 2, for 18 and 19 only the row itself.
    assert len(rows) == 18 * 2 + 2
    assert len(rows) in join.metrics.values()


def test_a_spark_connect_session_has_no_report_yet() -> None:
    df = SimpleNamespace(sparkSession=object(), schema=None)
    told = r"Spark Connect .*: df\.explain\(\) shows .*; EXPLAIN before the statement also why"
    with pytest.raises(plait.PlaitError, match=told):
        plait.explain(df)  # type: ignore[arg-type]
