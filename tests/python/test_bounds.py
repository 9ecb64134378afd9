# SPDX-License-Identifier: Apache-2.0
"""Examples: named conditions and the bounds of their variables; and an oracle for random ones."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import inf, nextafter, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.python.queries import shown

import plait
from plait import Interval, PlaitError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]


def test_an_interval_condition_with_two_starts() -> None:
    found = plait.bounds("a > b - 3 AND a < b + 10", a=(1, None), b=(6, None))
    assert (found["a"].lower, found["a"].lower_open, found["a"].upper) == (3, True, None)
    assert repr(found["b"]) == "[6, +inf)"


def test_the_latest_value_of_one_side_bounds_the_other() -> None:
    found = plait.bounds("left > right - 3 AND left < right + 10", right=1234)
    assert repr(found["left"]) == "(1231, 1244)"
    found = plait.bounds("left > right - 3 AND left < right + 10", right=(1234, None))
    assert repr(found["left"]) == "(1231, +inf)"


def test_eight_minutes_before_the_latest_timestamp() -> None:
    noon = datetime(2026, 1, 1, 12, 34)
    found = plait.bounds("l > r - INTERVAL 8 MINUTES", r=(noon, None))["l"]
    # The timestamps after 12:26 begin one microsecond later.
    assert found.lower == datetime(2026, 1, 1, 12, 26) + timedelta(microseconds=1)
    assert datetime(2026, 1, 1, 12, 26) not in found
    assert datetime(2026, 1, 1, 12, 27) in found
    assert found.upper is None


def test_the_roots_of_a_square() -> None:
    found = plait.bounds("pow(x, 2) + y = 4", x=(1, 2), y=(-3, 1))
    assert found["x"].lower in (sqrt(3), nextafter(sqrt(3), 0))
    assert found["x"].lower ** 2 <= 3
    assert (found["x"].upper, repr(found["y"])) == (2, "[0, 1]")
    assert shown("x * x = 9/4") == {"x": "{-1.5} ∪ {1.5}"}


# x once on each side, so that each is as tight as can be.
LINEAR = {
    "x + x <= 10": "[0, 5]",
    "2 * x - x <= 3": "[0, 3]",
    "x <= 10 - x": "[0, 5]",
    "3 * (x - 1) / 2 = x": "{3}",
    "-x - x > x - 6": "[0, 2)",
    "x + 1 > x": "[0, +inf)",
    "x > x + 1": "nothing",
    "x - x = 1": "nothing",
}


@pytest.mark.parametrize("condition", LINEAR)
def test_a_variable_that_stands_in_a_sum_twice_is_one(condition: str) -> None:
    assert shown(condition, x=(0, None))["x"] == LINEAR[condition]


def test_two_calls_of_a_function_that_is_not_known_are_two_numbers() -> None:
    assert shown("rand() * rand() < x AND rand() - rand() = x", x=-1) == {"x": "{-1}"}


@pytest.mark.parametrize("condition", ["x * x = x", "pow(x, 10) = x", "x * x * x < x / 3"])
def test_the_digits_of_ends_do_not_grow_without_end(condition: str) -> None:
    found = plait.bounds(condition, x=(0, 0.9))["x"]
    assert found.lower == 0
    assert 0 <= found.upper <= 0.9


REAL = {
    "3 * a = 1": "{1/3}",
    "abs(a - 7) <= 5": "[2, 12]",
    "NOT (a > 3)": "(-inf, 3]",
    "a BETWEEN -1 AND 0.1": "[-1, 1/10]",
    "a NOT BETWEEN 1 AND 2": "(-inf, 1) ∪ (2, +inf)",
    "a IN (1, 5, 2)": "{1} ∪ {2} ∪ {5}",
    "a < 3 OR a > 7": "(-inf, 3) ∪ (7, +inf)",
    "sqrt(a) <= 3": "[0, 9]",
    "floor(a) = 2": "[2, 3)",
    "1 / a > 2": "(0, 0.5)",
    "pow(a, -2) = 4": "{-0.5} ∪ {0.5}",
    "power(a, 3) = -8": "{-2}",
    "greatest(a, 3) <= 5": "(-inf, 5]",
    "if(a > 2, a, 10) < 5": "(2, 5)",
    "CASE WHEN a > 2 THEN a ELSE 10 END < 5": "(2, 5)",
    "a != a": "nothing",
    "a = 1e-1": "{0.1}",
    "a > 1 AND a < 0": "nothing",
    "sqrt(a) < 0": "nothing",
    "A > 1 AND a < 2": "(1, 2)",
}


@pytest.mark.parametrize("condition", REAL)
def test_a_condition_over_real_numbers(condition: str) -> None:
    assert [*shown(condition).values()] == [REAL[condition]]


def test_elementary_functions_are_enclosed() -> None:
    found = plait.bounds("exp(a) = 2")["a"]
    assert found.lower < Fraction(6931471805599453, 10**16) < found.upper
    assert found.upper - found.lower < 1e-14


def test_a_condition_that_is_never_true_says_so() -> None:
    found = plait.bounds("a > b AND b > a + 1", a=(0, 9), b=(0, 9))
    assert not found
    assert not found.feasible
    assert not found["a"]
    assert not plait.bounds("1 > 2")
    assert plait.bounds("1 < 2")


def test_ends_are_exact() -> None:
    assert plait.bounds("b = a / 3", a=(1, Fraction(7, 2)))["b"] == plait.Bounds(
        (Interval(Fraction(1, 3), Fraction(7, 6)),)
    )
    assert plait.bounds("b = a + 1", a=Decimal("0.1"))["b"].lower == Fraction(11, 10)
    assert plait.bounds("b = a", a=0.1)["b"].lower == 0.1
    assert plait.bounds("b = a", a=(-inf, 2.5))["b"] == plait.Bounds(
        (Interval(None, Fraction(5, 2), lower_open=True),)
    )


UNDERSTOOD = {
    "a logarithm": ("log(2, a) = 3", r"\[?\{?~?(7\.99999\d*|8)(, ~?8(\.0000\d*)?\])?\}?"),
    "a root": ("pow(a, 0.5) = 2", r"\{4\}"),
    "a power of a root": ("pow(a, 1.5) = 8", r"\{4\}"),
    "round": ("round(a) = 2", r"\[1\.5, 2\.5\)|\[3/2, 5/2\)"),
    "floor with a scale": ("floor(a, 1) = 2.5", r"\[2\.5, 13/5\)"),
    "coalesce": ("coalesce(a, 1) = 2", r"\{2\}"),
    "no NULL": ("a IS NULL", "nothing"),
    "no NULL, again": ("a IS NOT NULL AND a > 3", r"\(3, \+inf\)"),
    "a function of Spark's": ("a > 3 AND hash(a) > 2", r"\(3, \+inf\)"),
    "a truth of Spark's": ("a > 3 AND (a LIKE 'x%' OR rand() > a)", r"\(3, \+inf\)"),
    "any power": ("pow(a, a) > 2 AND a < 7", r"\(-inf, 7\)"),
}


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_what_real_numbers_do_not_know_narrows_nothing(name: str) -> None:
    condition, expected = UNDERSTOOD[name]
    assert re.fullmatch(expected, shown(condition)["a"])


def test_a_column_without_an_order_is_unknown_and_no_error() -> None:
    for other in ("string collate UTF8_LCASE", "binary", "array<int>"):
        found = shown("a > 3 AND s IS NOT NULL", types={"a": "int", "s": other})
        assert found == {"a": "[4, +inf)", "s": "(-inf, +inf) or NULL"}
    lower = {"a": "int", "s": "string collate UTF8_LCASE"}
    assert shown("a > 3 AND s = 'x'", types=lower)["a"] == "[4, +inf)"


def test_bounds_can_be_told_again() -> None:
    found = plait.bounds("a < 3 OR a > 7")
    assert repr(plait.bounds("a > 0", a=found["a"])["a"]) == "(0, 3) ∪ (7, +inf)"


def test_qualified_names() -> None:
    known: dict[str, Any] = {"r.s": (6, None)}
    assert shown("l.s > r.s - 3", **known) == {"r.s": "[6, +inf)", "l.s": "(3, +inf)"}
    assert shown("l.s > r.s - 3", types={"l.s": "int"}, **known)["l.s"] == "[4, +inf)"


WRONG = {
    "a >": "position",
    "a > 3 AND foo(a) > 2": r"foo\(a\).* at position 11 ",
    "a > 3 AND foo(a)": r"foo\(a\).* at position 11 ",
    "a + 1": "at position 1 is no condition",
    "a > 'x'": "at position 5 has no meaning for real numbers",
    "a > (SELECT 1)": "at position",
}


@pytest.mark.parametrize("condition", WRONG)
def test_a_wrong_condition_is_one_sentence_that_names_the_place(condition: str) -> None:
    with pytest.raises(plait.PlaitError, match=WRONG[condition]) as raised:
        plait.bounds(condition)
    assert "\n" not in str(raised.value)


WRONG_CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a name that is not there": ("a > 3", {"aa": 1}, "does not name aa: it names a"),
    "three ends": ("a > 3", {"a": (1, 2, 3)}, "pair"),
    "no value": ("a > 3", {"a": {1}}, "no value"),
    "nothing": ("a > 3", {"a": None}, r"write a=plait.Bounds\(\(\), null=True\) if a is NULL, and"),
    "a list": ("a > 3", {"a": [1, 5]}, r"write \(1, 5\)"),
    "ends the wrong way round": ("a > 3", {"a": (5, 1)}, r"write \(1, 5\)"),
    "a type that is none": ("a > 3", {"types": {"a": "nonsense"}}, "type of a is 'nonsense'"),
    "types that are one": ("a > 3", {"types": "int"}, "as in {'price': 'int'"),
    "a type of Python's": ("a > 3", {"types": {"a": int}}, "as in {'price': 'int'"),
    "no condition": ("  ", {}, "text in SQL, such as 'a > b - 3"),
    "None": (None, {}, "text in SQL, such as 'a > b - 3"),  # type: ignore[dict-item]
    "a type without order": ("a > 3", {"types": {"a": "binary"}}, "BINARY"),
    "a value of another type": ("a > 3", {"types": {"a": "date"}, "a": 3}, "DATE"),
    "no type": ("c > a", {"a": True, "b": 2, "types": {"b": "int"}}, "names c, a"),
    "two types, and a third unknown": ("c > a OR c > b", {"a": True, "b": 2}, "type of c"),
    "what Spark refuses": ("a + 1", {"types": {"a": "int"}}, "is not a boolean"),
    "a subquery": ("a > (SELECT 1)", {"types": {"a": "int"}}, "subqueries"),
    "NaN as an end": ("a > 1", {"a": (float("nan"), 2)}, "NaN"),
}


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_a_wrong_call_is_one_sentence(call: str) -> None:
    condition, arguments, expected = WRONG_CALLS[call]
    with pytest.raises(plait.PlaitError, match=expected) as raised:
        plait.bounds(condition, **arguments)
    assert "\n" not in str(raised.value)


def test_the_bounds_of_all_variables_are_not_those_of_one() -> None:
    with pytest.raises(plait.PlaitError, match=r"found\['a'\]"):
        plait.bounds("a > b", a=plait.bounds("a > 3"))  # type: ignore[arg-type]


def test_a_pair_rules_null_out_and_bounds_can_say_null() -> None:
    condition, types = "a > 3 OR a IS NULL", {"a": "int"}
    assert repr(plait.bounds(condition, types=types)["a"]) == "[4, +inf) or NULL"
    assert repr(plait.bounds(condition, types=types, a=(None, None))["a"]) == "[4, +inf)"
    null = plait.Bounds((), null=True)
    assert repr(plait.bounds(condition, types=types, a=null)["a"]) == "NULL"


def test_what_bounds_are_asked_for_that_they_have_not_is_told_in_words() -> None:
    found = plait.Narrowed({"a": plait.Bounds((plait.Interval(3, 7),))}, feasible=True)
    for kind in (plait.PlaitError, KeyError):
        with pytest.raises(kind) as raised:
            found["zz"]
        assert str(raised.value) == "The condition has no variable 'zz'; it has a."
    assert found.get("zz") is None
    with pytest.raises(plait.PlaitError, match=r"'x' cannot be compared with the ends of \[3, 7\]"):
        _ = "x" in found["a"]


def test_numbers_of_numpy_are_numbers() -> None:
    assert shown("a > b", a=np.int64(3))["b"] == "(-inf, 3)"
    assert shown("a > b", a=(np.float32(0.5), None))["a"] == "[0.5, +inf)"


def test_times_of_numpy_are_times_and_an_array_is_refused() -> None:
    moment = np.datetime64("2026-01-01T12:34:00.000000000")
    plain = shown("l >= r", r=datetime(2026, 1, 1, 12, 34))
    assert moment.dtype.name == "datetime64[ns]"
    assert shown("l >= r", r=moment) == plain
    with pytest.raises(plait.PlaitError, match="one value, not an array"):
        plait.bounds("a > 3", a=np.array([1, 5]))


def test_a_long_fraction_is_shown_short_and_kept_exact() -> None:
    found = plait.bounds("sin(x) = 0.5", x=(1, 3))["x"]
    assert re.fullmatch(r"\[~2\.61799\d*, ~2\.61799\d*\]", repr(found))
    assert isinstance(found.lower, Fraction)


def test_a_trace_shows_times_as_times() -> None:
    moment = datetime(2026, 1, 1, 12, 34, tzinfo=UTC)
    found = plait.trace("l > r - INTERVAL 8 MINUTES", r=moment)
    assert "{2026-01-01T12:34:00Z}" in found.text
    assert "{PT-8M}" in found.text
    assert "TRUE or FALSE or NULL" in found.text
    assert "9223372036854775807" not in found.text


def test_a_trace_is_a_table_and_a_graph() -> None:
    found = plait.trace("a > b - 3 AND a < b + 10", a=(1, None), b=(6, None))
    assert "(b - 3)" in found.text
    assert "downward" in str(found)
    assert found.mermaid.startswith("flowchart BT")
    assert "<br/>downward 1 to downward 2: (3, +inf)" in found.mermaid
    assert repr(found.bounds["a"]) == "(3, +inf)"


def test_explain_draws_the_condition_of_a_join(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT * FROM range(20) l JOIN range(20) r "
        "ON l.id % 2 = r.id % 2 AND r.id BETWEEN l.id AND l.id + 3"
    )
    found = str(plait.explain(df, graph=True))
    assert found.startswith(str(plait.explain(df)))
    assert "```mermaid\nflowchart BT" in found
    assert "AND" in found.split("flowchart BT")[1]
    assert "<pre>" not in plait.explain(df)._repr_html_()
    assert "```mermaid" in plait.explain(df, graph=True)._repr_html_()


def test_explain_draws_an_as_of_join_with_its_tolerance(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT * FROM range(20) l ASOF JOIN range(20) r "
        "MATCH_CONDITION (l.id >= r.id TOLERANCE 3) ON l.id % 2 = r.id % 2"
    )
    graph = str(plait.explain(df, graph=True)).split("flowchart BT")[1]
    assert "&gt;=" in graph
    assert "{3}" in graph


def _number(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(["a", "b", "c", str(chance.randint(-4, 9))])
    x, y = _number(chance, depth - 1), _number(chance, depth - 1)
    return chance.choice([f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"abs({x})", f"(- {x})"])


def _truth(chance: random.Random, depth: int) -> str:
    if depth == 0:
        op = chance.choice(["<", "<=", "=", ">", ">=", "<>"])
        return f"{_number(chance, 2)} {op} {_number(chance, 2)}"
    x, y = _truth(chance, depth - 1), _truth(chance, depth - 1)
    return chance.choice([f"({x} AND {y})", f"({x} OR {y})", f"(NOT ({x}))"])


@pytest.mark.parametrize("types", [None, {"a": "int", "b": "int", "c": "int"}])
def test_every_solution_is_within_the_bounds(types: dict[str, str] | None) -> None:
    chance = random.Random(42)
    solutions = 0
    for _ in range(60):
        condition = f"{_truth(chance, 2)} AND a + b + c < 100"
        program = condition.replace("<>", "!=").replace("NOT", "not").replace("AND", "and")
        program = program.replace("OR", "or").replace(" = ", " == ")
        known = {name: (low := chance.randint(-3, 3), low + 3) for name in "abc"}
        found = plait.bounds(condition, types=types, **known)
        spaces = [range(known[name][0], known[name][1] + 1) for name in "abc"]
        for values in ((a, b, c) for a in spaces[0] for b in spaces[1] for c in spaces[2]):
            if eval(program, dict(zip("abc", values, strict=True))):
                solutions += 1
                assert found, condition
                for name, value in zip("abc", values, strict=True):
                    assert value in found[name], (condition, known, name, value)
    assert solutions > 500


def test_truth_values_that_are_compared_are_conditions() -> None:
    assert shown("(a > 3) = TRUE AND (a < 9) <=> (1 < 2)") == {"a": "(3, 9)"}
    assert shown("(a > 3) = FALSE") == {"a": "(-inf, 3]"}


@pytest.mark.parametrize(
    "given", ["DATE'2026-01-01'", "TIMESTAMP'2026-01-01 12:00'", "'x'", "TRUE"]
)
def test_what_is_no_number_is_none_of_the_real_numbers(given: str) -> None:
    with pytest.raises(PlaitError, match=r"no meaning for real numbers here.* types="):
        plait.bounds(f"a >= {given}")


def test_a_power_is_no_exclusive_or() -> None:
    with pytest.raises(PlaitError, match=r"exclusive OR of bits; a power is pow\(x, 2\)"):
        plait.bounds("x^2 = 4")
