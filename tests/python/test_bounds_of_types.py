# SPDX-License-Identifier: Apache-2.0
"""Examples: conditions over Spark's types, and the bounds of their variables."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import settings, shown

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


TYPED = {
    "integers": ("a > 3 AND a < 7.5", {"a": "int"}, "[4, 7]"),
    "integer division": ("a div 2 = 1", {"a": "int"}, "[2, 3]"),
    "decimals": ("a > 3 AND a < 4", {"a": "decimal(9, 1)"}, "[3.1, 3.9]"),
    "doubles": ("a >= 0.5 AND NOT isnan(a)", {"a": "double"}, "[0.5, +inf)"),
    "NaN is above all": ("a > 2", {"a": "double"}, "[2.0000000000000004, +inf) or NaN"),
    "NULL": ("a IS NULL OR a = 3", {"a": "bigint"}, "{3} or NULL"),
    "dates": ("a - DATE'2026-01-01' = INTERVAL 3 DAYS", {"a": "date"}, "{2026-01-04}"),
    "texts": ("a >= 'b' AND a < 'c'", {"a": "string"}, "['b', 'c')"),
    "truth": ("NOT a", {"a": "boolean"}, "{False}"),
    "between": ("a BETWEEN 1 AND 3", {"a": "int"}, "[1, 3]"),
    "intervals": ("a > INTERVAL 1 DAY", {"a": "interval day to second"},
                  "[1 day 0:00:00.000001, +inf)"),
    "days added": ("date_add(a, 3) = DATE'2026-07-04'", {"a": "date"}, "{2026-07-01}"),
    "days between": ("datediff(a, DATE'2026-07-01') = 5", {"a": "date"}, "{2026-07-06}"),
    "decimals rounded down": ("floor(a) = 2", {"a": "decimal(9, 2)"}, "[2, 2.99]"),
    "decimals rounded": ("round(a, 1) = 2.5", {"a": "decimal(9, 2)"}, "[2.45, 2.54]"),
    "windows": (
        "window(a, '10 minutes').start = TIMESTAMP_NTZ'2026-07-01 12:10:00'",
        {"a": "timestamp_ntz"}, "[2026-07-01 12:10:00, 2026-07-01 12:19:59.999999]"),
    "the ends of windows": (
        "window(a, '10 minutes').end <= TIMESTAMP_NTZ'2026-07-01 12:10:00'",
        {"a": "timestamp_ntz"}, "(-inf, 2026-07-01 12:09:59.999999]"),
    "months": ("a = INTERVAL 2 YEARS", {"a": "interval year to month"}, "{24}"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
def test_a_condition_over_spark_types(name: str) -> None:
    condition, types, expected = TYPED[name]
    assert shown(condition, types=types) == {"a": expected}


def test_types_are_those_of_the_values() -> None:
    assert shown("b > a", a=date(2026, 1, 1))["b"] == "[2026-01-02, +inf)"
    assert shown("b > a", a="x")["b"] == "('x', +inf)"
    assert shown("b <> a", a=True)["b"] == "{False}"
    assert shown("b < a + a", a=timedelta(hours=1))["b"] == "(-inf, 1:59:59.999999]"
    assert shown("b < a", types={"b": "int"}, a=(None, Decimal("2.5")))["b"] == "(-inf, 2]"


def test_the_clock_is_that_of_the_session(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        # In the night of 2026-03-29 the clock goes from 2 to 3.
        after = datetime(2026, 3, 29, 3, 30)
        assert shown("b = a - INTERVAL 1 HOUR", a=after)["b"] == "{2026-03-29 01:30:00}"
        aware = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
        assert shown("b = a - INTERVAL 1 HOUR", a=aware)["b"] == "{2026-03-29 01:30:00+01:00}"
        ntz = {"a": "timestamp_ntz", "b": "timestamp_ntz"}
        found = shown("b = a - INTERVAL 1 HOUR", types=ntz, a=after)
        assert found["b"] == "{2026-03-29 02:30:00}"
        # In the night of 2026-10-25 it shows half past two twice.
        for fold in (0, 1):
            twice = datetime(2026, 10, 25, 2, 30, fold=fold)
            (again,) = plait.bounds("b = a", a=twice)["b"].intervals
            assert (again.lower, again.lower.fold) == (twice, fold)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_time_that_python_cannot_hold_is_an_end_outward() -> None:
    found = plait.bounds("b > a + INTERVAL 9000 YEARS", a=datetime(2026, 1, 1))["b"]
    assert (found.lower, found.upper) == (datetime.max, None)


OF_DOUBLES = {
    "x * 2 > 5": "[2.5000000000000004, +inf) or NaN",
    "NOT isnan(x) AND x / 2 >= 3": "[6.0, +inf)",
    "x * x <= 4": "[-2.0, 2.0]",
}


@pytest.mark.parametrize("condition", OF_DOUBLES)
def test_products_of_doubles_are_nan_of_nan_and_of_zero_times_infinity_alone(
    condition: str,
) -> None:
    found = plait.bounds(condition, types={"x": "double"})["x"]
    assert repr(found) == OF_DOUBLES[condition]


@pytest.mark.parametrize("type_", ["int", "bigint", "decimal(5, 2)"])
def test_x_times_x_is_the_square_of_one_x(type_: str) -> None:
    assert repr(plait.bounds("x * x = 4", types={"x": type_})["x"]) == "{-2} ∪ {2}"


def test_a_year_is_its_days() -> None:
    days = plait.bounds("year(d) = 2026", types={"d": "date"})["d"]
    assert repr(days) == "[2026-01-01, 2026-12-31]"
    times = plait.bounds("year(t) < 2026", types={"t": "timestamp_ntz"})["t"]
    assert times.upper == datetime(2025, 12, 31, 23, 59, 59, 999999)
    assert repr(plait.bounds("year(d) > 2026", d=date(2026, 5, 1))) == "{'d': nothing}"


def test_a_float_for_a_decimal_is_what_is_written_and_for_a_float_the_nearest_one() -> None:
    cents = plait.bounds("x >= 0", types={"x": "decimal(5, 2)"}, x=(0.1, 0.3))["x"]
    assert repr(cents) == "[0.1, 0.3]"
    assert plait.bounds("x >= 0", types={"x": "float"}, x=0.1)["x"].lower == 0.10000000149011612


def test_of_the_hour_that_comes_twice_the_second_is_later(spark: SparkSession) -> None:
    with settings(spark, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        first = datetime(2026, 10, 25, 2, 30)
        x = plait.bounds("x < y + INTERVAL 45 MINUTES", y=first)["x"]
        # 45 minutes after the first 02:30 a clock shows 02:15 again.
        assert repr(x) == "(-inf, 2026-10-25 02:14:59.999999+01:00]"
        assert first in x
        assert datetime(2026, 10, 25, 2, 14, fold=1) in x
        assert datetime(2026, 10, 25, 2, 15, fold=1) not in x
        again = plait.bounds("x = y + INTERVAL 1 HOUR", y=first)["x"]
        assert first not in again
        assert first.replace(fold=1) in again
