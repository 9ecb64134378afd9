# SPDX-License-Identifier: Apache-2.0
"""Examples of what footers of Parquet files narrow; oracle: random tables joined by Spark alone."""

from __future__ import annotations

import math
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.python.cases import cases
from tests.python.queries import answer, joins_planned, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# To compile takes longer than to join a few rows.
QUICK: dict[str, str | int | bool] = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
NEAR = "l.k = r.k AND r.t BETWEEN l.t AND l.t + 5"
NOON = datetime(2026, 1, 1, 12, 0)


def write(folder: Path, *files: dict[str, Any]) -> str:
    """Write one file for each, and return the folder."""
    folder.mkdir(exist_ok=True)
    for i, columns in enumerate(files):
        file = folder / f"part-{i}.parquet"
        pq.write_table(pa.table(columns), file, row_group_size=50)
        # One file in a thousand says a whole second, and is not trusted while it is that new.
        if file.stat().st_mtime_ns // 1_000_000 % 1000 == 0:
            os.utime(file, ns=(file.stat().st_mtime_ns + 1_000_000,) * 2)
    return str(folder)


def ints(values: range, *, k: int = 3) -> dict[str, Any]:
    return {"k": pa.array([i % k for i in values]), "t": pa.array(values, pa.int64())}


@pytest.fixture(autouse=True)
def always(spark: SparkSession) -> Iterator[None]:
    with settings(spark, {**QUICK, "spark.plait.join.strategy": "always"}):
        yield


@pytest.fixture
def view(spark: SparkSession) -> Callable[[str, str], None]:
    def of(name: str, folder: str) -> None:
        spark.read.parquet(folder).createOrReplaceTempView(name)

    return of


View = Callable[[str, str], None]


def told(df: DataFrame, side: str) -> str:
    """What EXPLAIN says of the footers that end the reach of a side's rows."""
    lines = str(plait.explain(df)).splitlines()
    text = next(line for line in lines if line.split()[:1] == [side])
    _, found, facts = text.partition("; footers: ")
    return facts if found else ""


def most_held(df: DataFrame) -> int:
    """How many rows of the right side a task held at most."""
    return plait.counters(df)[0].metrics["rightPeakBuffered"]


def test_explain_says_what_the_footers_of_the_other_side_say(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    view("l", write(tmp_path / "l", ints(range(1000))))
    view("r", write(tmp_path / "r", ints(range(900, 950)), ints(range(950, 960))))
    query = f"SELECT l.t, r.t FROM l LEFT JOIN r ON {NEAR}"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert re.fullmatch(r"t#\d+L in \[900, 959\]", told(df, "left"))
    assert re.fullmatch(r"t#\d+L in \[0, 999\]", told(df, "right"))
    with settings(spark, {"spark.plait.join.footers": 0}):
        without = spark.sql(query)
        assert answer(without) == rows_of_spark(spark, query)
    assert told(without, "left") == ""


def test_a_side_is_pruned_by_what_footers_say_of_a_column_beside_the_order(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    widths = {**ints(range(2000)), "w": pa.array([i % 61 for i in range(2000)], pa.int64())}
    view("l", write(tmp_path / "l", widths))
    view("r", write(tmp_path / "r", ints(range(1000, 3000))))
    # How far a right row reaches is up to the width of the left one.
    query = "SELECT l.t, l.w, r.t FROM l JOIN r ON l.k = r.k AND abs(l.t - r.t) <= l.w"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert ", 60]" in told(df, "right")
    assert "not pruned" not in str(plait.explain(df))
    with settings(spark, {"spark.plait.join.footers": 0}):
        without = spark.sql(query)
        assert answer(without) == rows_of_spark(spark, query)
    assert "not pruned" in str(plait.explain(without))
    assert most_held(df) < 150
    assert most_held(without) > 900


def test_a_join_that_footers_narrow_is_part_of_generated_code(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    view("l", write(tmp_path / "l", ints(range(300))))
    view("r", write(tmp_path / "r", ints(range(200, 400))))
    query = f"SELECT count(*) AS c, sum(l.t) AS s FROM l JOIN r ON {NEAR}"
    compiled = {"spark.sql.codegen.wholeStage": True, "spark.sql.codegen.factoryMode": "FALLBACK"}
    with settings(spark, compiled):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
    plan = plan_of(df)
    assert "; footers: " in plan
    assert re.search(r"\*\(\d+\) SymmetricHashJoin", plan), plan


@pytest.mark.parametrize("known", ["by footers", "by a filter", "by a filter, collected"])
def test_what_is_solved_is_pruned_wherever_the_rows_are_known_to_lie(
    spark: SparkSession, view: View, tmp_path: Path, known: str
) -> None:
    days = [date(2031, 1, 1) + timedelta(days=i) for i in range(100)]
    rows = {"k": pa.array([i % 3 for i in range(100)]), "t": pa.array(days)}
    for name in "lr":
        view(name, write(tmp_path / name, rows))
    hint = "/*+ BROADCAST(r) */" if known.endswith("collected") else ""
    filtered = "(SELECT * FROM {} WHERE t >= DATE'2031-01-01' AND t < DATE'2031-06-01') {}"
    left, right = (name if known == "by footers" else filtered.format(name, name) for name in "lr")
    keys = "true" if hint else "l.k = r.k"
    near = "datediff(r.t, l.t) BETWEEN 0 AND 6"
    query = f"SELECT {hint} l.t, r.t FROM {left} JOIN {right} ON {keys} AND {near}"
    # By bucket nothing is solved: so few rows are compared with all of their key.
    read = {"spark.plait.join.footers": 32 if known == "by footers" else 0}
    with settings(spark, read | {"spark.plait.join.radix": "never"}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
    if hint:
        # There is an interval, but of so few rows it is not worth solving.
        assert str(plait.explain(df)).endswith("[FEW_PARTNERS]")
    else:
        assert "not pruned" not in str(plait.explain(df))
        assert most_held(df) < 20


@pytest.mark.parametrize("condition", ["abs(l.t - r.t) <= 90", "abs(datediff(l.d, r.d)) <= 90"])
def test_adaptive_execution_does_not_forget_what_filters_say(
    spark: SparkSession, view: View, tmp_path: Path, condition: str
) -> None:
    days = [date(2031, 1, 1) + timedelta(days=i) for i in range(200)]
    for name in "lr":
        view(name, write(tmp_path / name, {**ints(range(200)), "d": pa.array(days)}))
    of_days = "t BETWEEN 0 AND 90 AND d BETWEEN DATE'2031-01-01' AND DATE'2031-04-01'"
    sides = [f"(SELECT * FROM {name} WHERE {of_days}) {name}" for name in "lr"]
    query = f"SELECT l.t, r.t FROM {sides[0]} JOIN {sides[1]} ON l.k = r.k AND {condition}"
    adaptive = {
        "spark.plait.join.strategy": "auto",
        "spark.plait.join.footers": 0,
        "spark.sql.adaptive.enabled": True,
        "spark.sql.autoBroadcastJoinThreshold": -1,
    }
    with settings(spark, adaptive):
        df = spark.sql(query)
        assert "[ALL_REACHED]" in str(plait.explain(df))
        assert answer(df) == rows_of_spark(spark, query)
        assert "[ALL_REACHED]" in str(plait.explain(df))


def test_a_join_whose_reaches_hold_the_whole_of_the_other_side_is_sparks(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    view("l", write(tmp_path / "l", ints(range(100))))
    view("r", write(tmp_path / "r", ints(range(50, 151))))

    def planned(width: int) -> str:
        query = f"SELECT l.t, r.t FROM l JOIN r ON l.k = r.k AND abs(l.t - r.t) <= {width}"
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        return str(plait.explain(df))

    # The furthest two are 0 and 150.
    with settings(spark, {"spark.plait.join.strategy": "auto"}):
        assert "[ALL_REACHED]" in planned(150)
        assert "SymmetricHashJoin" in planned(149)
    assert "SymmetricHashJoin" in planned(150)


def rewritten(folder: str, columns: dict[str, Any]) -> None:
    """Write the one file of a folder anew, under its name."""
    pq.write_table(pa.table(columns), Path(folder) / "part-0.parquet")


ABOVE = {
    "GROUP BY": "SELECT k, count(*), max(rt) FROM ({}) GROUP BY k",
    "DISTINCT": "SELECT DISTINCT k, rt FROM ({})",
    "a window": "SELECT *, rank() OVER (PARTITION BY k ORDER BY t, rt) FROM ({})",
    "ORDER BY": "SELECT * FROM ({}) ORDER BY t, rt",
    "a join": "SELECT * FROM ({}) a JOIN l b USING (k, t)",
}


@pytest.mark.parametrize("generated", [True, False])
@pytest.mark.parametrize("how", ["JOIN", "LEFT JOIN", "FULL JOIN"])
def test_a_plan_that_knows_of_files_goes_to_the_tasks(
    spark: SparkSession, view: View, tmp_path: Path, how: str, generated: bool
) -> None:
    view("l", write(tmp_path / "l", ints(range(300))))
    view("r", write(tmp_path / "r", ints(range(100, 200))))
    joined = f"SELECT l.k, l.t, r.t AS rt FROM l {how} r ON {NEAR}"
    keys = {
        "spark.sql.codegen.wholeStage": generated,
        "spark.sql.codegen.factoryMode": "FALLBACK",
        "spark.sql.autoBroadcastJoinThreshold": -1,
    }
    with settings(spark, keys):
        for above in ABOVE.values():
            df = spark.sql(above.format(joined))
            assert answer(df) == rows_of_spark(spark, above.format(joined))
            assert "footers: " in str(plait.explain(df))


def long_and_short(view: View, tmp_path: Path) -> str:
    """Make l of the times up to 3,000, and r of those up to 300; return the folder of r."""
    view("l", write(tmp_path / "l", ints(range(0, 3000, 3))))
    folder = write(tmp_path / "r", ints(range(0, 300, 3)))
    view("r", folder)
    return folder


def test_a_file_written_anew_after_the_query_was_planned_is_read_as_it_is(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    folder = long_and_short(view, tmp_path)
    query = f"SELECT l.t, r.t AS rt FROM l JOIN r ON {NEAR}"
    df = spark.sql(query)
    assert ", 297]" in told(df, "left")
    rewritten(folder, ints(range(1500, 1800, 3)))
    # The plan is that of the old footer, and the rows are those of the new file.
    assert ", 297]" in told(df, "left")
    assert answer(df) == rows_of_spark(spark, query)
    assert sum(answer(df).values()) == 200
    # A list that does not know of it costs pruning for some seconds, and no rows.
    assert answer(spark.sql(query)) == rows_of_spark(spark, query)
    view("r", folder)
    again = spark.sql(query)
    assert "[1500, " in told(again, "left")
    assert answer(again) == rows_of_spark(spark, query)


def test_nothing_is_known_of_a_file_that_was_written_anew_since_it_was_listed(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    # The rows of a stage that has run may be those of the file before.
    folder = long_and_short(view, tmp_path)
    rewritten(folder, ints(range(1500, 1800, 3)))
    query = f"SELECT l.t, r.t AS rt FROM l JOIN r ON {NEAR}"
    df = spark.sql(query)
    assert told(df, "left") == ""
    assert answer(df) == rows_of_spark(spark, query)


def test_where_times_are_whole_seconds_nothing_is_known_of_a_file_of_this_very_second(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    view("l", write(tmp_path / "l", ints(range(100))))
    folder = write(tmp_path / "r", ints(range(50)))
    view("r", folder)
    query = f"SELECT l.t, r.t FROM l JOIN r ON {NEAR}"
    soon = int(time.time()) + 3600
    os.utime(Path(folder) / "part-0.parquet", (soon, soon))
    view("r", folder)
    assert told(spark.sql(query), "left") == ""
    os.utime(Path(folder) / "part-0.parquet", (soon - 7200, soon - 7200))
    view("r", folder)
    assert ", 49]" in told(spark.sql(query), "left")


def test_a_table_that_is_overwritten_is_read_as_spark_reads_it(spark: SparkSession) -> None:
    query = "SELECT l.id, r.id FROM footers_l l JOIN footers_r r ON l.id BETWEEN r.id AND r.id + 2"
    query += " AND l.id % 2 = r.id % 2"
    spark.range(100).write.saveAsTable("footers_l")
    spark.range(50).write.saveAsTable("footers_r")
    try:
        df = spark.sql(query)
        assert ", 49]" in told(df, "left")
        spark.range(60, 90).write.insertInto("footers_r", overwrite=True)
        assert answer(spark.sql(query)) == rows_of_spark(spark, query)
        assert "[60, " in told(spark.sql(query), "left")
    finally:
        spark.sql("DROP TABLE footers_l")
        spark.sql("DROP TABLE footers_r")


@pytest.mark.parametrize(
    "side",
    [
        # What a UNION gives has the first branch's name, and rows of both.
        "SELECT k, t FROM r UNION ALL SELECT k, t + 500 FROM r",
        "SELECT k, t + 500 AS t FROM r",
        "SELECT k, explode(array(t, t + 500)) AS t FROM r",
        "SELECT k, max(t) AS t FROM r GROUP BY k",
        "SELECT k, t FROM r CROSS JOIN (SELECT 1)",
        "SELECT DISTINCT k, t AS t FROM r",
        "SELECT k, t FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY t) AS n FROM r) "
        "WHERE n < 40",
        "SELECT o.k, r.t FROM (SELECT DISTINCT id % 5 AS k FROM range(20)) o "
        "LEFT JOIN r ON o.k = r.k",
    ],
)
@pytest.mark.parametrize("kind", ["LEFT JOIN", "FULL JOIN"])
def test_what_a_query_makes_of_columns_is_not_taken_for_what_files_hold(
    spark: SparkSession, view: View, tmp_path: Path, side: str, kind: str
) -> None:
    view("l", write(tmp_path / "l", ints(range(0, 900, 20))))
    view("r", write(tmp_path / "r", ints(range(0, 120))))
    condition = NEAR if kind == "LEFT JOIN" else f"l.k = r.k AND ({NEAR} OR r.t IS NULL)"
    query = f"SELECT l.*, r.t AS rt FROM l {kind} ({side}) r ON {condition}"
    assert answer(spark.sql(query)) == rows_of_spark(spark, query)


def test_of_more_files_than_the_setting_says_none_is_opened(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    view("l", write(tmp_path / "l", ints(range(100))))
    view("r", write(tmp_path / "r", ints(range(50)), ints(range(50, 100))))
    query = f"SELECT l.t FROM l JOIN r ON {NEAR}"
    with settings(spark, {"spark.plait.join.footers": 1}):
        df = spark.sql(query)
        assert told(df, "left") == ""
        assert told(df, "right") != ""
    with (
        settings(spark, {"spark.plait.join.footers": "few"}),
        pytest.raises(
            Exception, match=r"spark\.plait\.join\.footers is 'few', but must be a whole"
        ),
    ):
        spark.sql(query).collect()


# Type of the file, value of i, what EXPLAIN shows of the values 10 to 29 (None: not known).
COLUMNS: dict[str, tuple[pa.DataType, Callable[[int], Any], str | None]] = {
    "tinyint": (pa.int8(), lambda i: i, "[10, "),
    "unsigned": (pa.uint32(), lambda i: 2**31 + i, None),
    "bigint": (pa.int64(), lambda i: i, ", 29]"),
    "day": (pa.date32(), lambda i: date(2026, 1, 1) + timedelta(days=i), ", 2026-01-30]"),
    "old day": (pa.date32(), lambda i: date(1582, 1, 1) + timedelta(days=20 * i), ", 1583-08-04]"),
    "short decimal": (pa.decimal128(9, 2), lambda i: Decimal(i) / 4, None),
    "instant": (
        pa.timestamp("us", "UTC"),
        lambda i: NOON + timedelta(0, i),
        "[2026-01-01 12:00:10, ",
    ),
    "millis": (
        pa.timestamp("ms", "UTC"),
        lambda i: NOON + timedelta(0, i),
        ", 2026-01-01 12:00:29]",
    ),
    "local": (pa.timestamp("us"), lambda i: NOON + timedelta(0, i), "[2026-01-01 12:00:10, "),
    "double": (pa.float64(), lambda i: i / 4, "[2.5, "),
    "float": (pa.float32(), lambda i: i / 4, "[2.5, "),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_known_of_a_column_by_its_type_in_the_file(
    spark: SparkSession, view: View, tmp_path: Path, name: str
) -> None:
    kind, value, shown = COLUMNS[name]

    def table(values: range) -> dict[str, Any]:
        odd = [None] if "double" not in name else [None, math.nan, -0.0, math.inf]
        found = [value(i) for i in values] + (odd if values.start == 0 else [None])
        return {"k": pa.array([1] * len(found)), "t": pa.array(found, kind)}

    view("l", write(tmp_path / "l", table(range(60))))
    view("r", write(tmp_path / "r", table(range(10, 20)), table(range(20, 30))))
    query = "SELECT l.t, r.t FROM l FULL JOIN r ON l.k = r.k AND l.t >= r.t"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    if shown is None:
        assert told(df, "left") == ""
    else:
        assert shown in told(df, "left")
    # Nothing is above NaN, and footers do not tell of it; nothing before 1582 is sure.
    assert told(df, "left").endswith("+inf)") == (name in ("double", "float"))
    assert ("(-inf" in told(df, "left")) == (name == "old day")


def random_table(chance: random.Random, kind: str) -> dict[str, Any]:
    """A file: keys, an order t and a width w, of which all, some or none are NULL."""
    n = chance.choice([1, 7, 60])
    base = chance.choice([0, 0, 40, 200])
    share = chance.choice([0.0, 0.2, 1.0])

    def numbers(low: int, high: int) -> list[Any]:
        found: list[Any] = [chance.randint(low, high) for _ in range(n)]
        return [None if chance.random() < share else x for x in found]

    def odd(values: list[Any]) -> list[Any]:
        return [
            chance.choice([math.nan, math.inf, -math.inf, -0.0]) if chance.random() < 0.1 else x
            for x in values
        ]

    t = numbers(base, base + 50)
    if kind == "double":
        column = pa.array(odd([None if x is None else x / 2 for x in t]), pa.float64())
    elif kind == "timestamp":
        moments = [None if x is None else NOON.replace(tzinfo=UTC) + timedelta(0, x) for x in t]
        column = pa.array(moments, pa.timestamp("us", "UTC"))
    elif kind == "date":
        days = [None if x is None else date(1582, 9, 1) + timedelta(x) for x in t]
        column = pa.array(days, pa.date32())
    else:
        column = pa.array(t, pa.int32())
    return {
        "k": pa.array([chance.choice([None, 1, 2]) for _ in range(n)], pa.int32()),
        "t": column,
        "w": pa.array(numbers(0, 20), pa.int32()),
    }


CONDITIONS = {
    "int": [
        "r.t BETWEEN l.t AND l.t + 5",
        "l.t + l.w > r.t AND l.t <= r.t",
        "l.t - r.w <= r.t AND r.t - l.w < l.t + r.w",
        "l.t < r.t",
        "abs(l.t - r.t) <= l.w",
        "r.t BETWEEN l.t AND l.t + 5 OR r.t IS NULL",
        "coalesce(l.t, 45) < r.t AND r.t < coalesce(l.t, 45) + l.w",
        "l.t * 2 <= r.t + r.w AND r.t <= l.t * 3",
    ],
    "double": ["r.t >= l.t - 1 AND r.t <= l.t + 5", "l.t > r.t", "l.t + l.w >= r.t AND l.t < r.t"],
    "timestamp": [
        "r.t BETWEEN l.t AND l.t + INTERVAL 5 SECONDS",
        "l.t + make_dt_interval(0, 0, 0, l.w) > r.t AND l.t <= r.t",
        "CAST(r.t AS DATE) = CAST(l.t AS DATE) AND r.t >= l.t",
    ],
    "date": ["r.t BETWEEN l.t AND date_add(l.t, 5)", "l.t < r.t", "datediff(l.t, r.t) <= l.w"],
}
KINDS = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"]


@pytest.mark.parametrize("seed", range(cases(24, soak=2000)))
def test_random_files_joined_give_the_rows_of_spark(
    spark: SparkSession, view: View, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    kind = list(CONDITIONS)[seed % len(CONDITIONS)]
    for name in ("l", "r"):
        files = [random_table(chance, kind) for _ in range(chance.choice([1, 2, 3]))]
        view(name, write(tmp_path / name, *files))
    for condition in chance.sample(CONDITIONS[kind], 2):
        join = chance.choice(KINDS)
        what = "l.*" if "SEMI" in join or "ANTI" in join else "l.*, r.*"
        query = f"SELECT {what} FROM l {join} r ON l.k = r.k AND ({condition})"
        df = spark.sql(query)
        assert joins_planned(df) == 1
        assert answer(df) == rows_of_spark(spark, query), query


def test_a_file_with_more_digits_than_its_decimals_have_is_no_error_of_planning(
    spark: SparkSession, view: View, tmp_path: Path
) -> None:
    # Neither pyarrow nor Spark looks whether a number fits: 21474836.47 has ten digits, not nine.
    unscaled = b"".join(n.to_bytes(16, "little", signed=True) for n in (100, 2**31 - 1))
    numbers = pa.Array.from_buffers(pa.decimal128(9, 2), 2, [None, pa.py_buffer(unscaled)])
    file = tmp_path / "digits.parquet"
    pq.write_table(pa.table({"k": [1, 1], "t": numbers}), file, store_decimal_as_integer=True)
    view("digits", str(file))
    query = "SELECT l.k FROM digits l LEFT JOIN digits r ON l.k = r.k AND l.t >= r.t"
    df = spark.sql(query)
    assert answer(df) == rows_of_spark(spark, query)
    assert told(df, "left") == ""
