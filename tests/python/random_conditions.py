# SPDX-License-Identifier: Apache-2.0
"""Random join conditions, each with three meanings: Spark SQL, DuckDB SQL, and its definition.

A *term* is an expression over a left row and a right row, a *condition* a comparison of terms or a
combination of such. The definition computes with the integers that stand behind the values:

    kind        columns          the integer is            step
    int         s, i, b          itself                    1      (SMALLINT, INT, BIGINT)
    date        d, d2            days since 1970           1
    timestamp   t, t2            microseconds since 1970   3600000000
    ntz         n, n2            microseconds since 1970   3600000000
    interval    v, v2            microseconds              3600000000
    double      x, y             a number, itself          0.5        (sums of these are exact)
    decimal     m, q             a number, itself          0.5
    text        w, w2            a number in it            1          (ten of them begin alike)

Numbers of two kinds meet as Spark's and DuckDB's casts make them of one. A value and a literal are
multiples of the step, so that ends are met exactly. NULL is None, and a comparison with NULL is
None too: neither TRUE nor FALSE. NaN is equal to itself and above all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, isnan
from operator import add, eq, ge, gt, le, lt, sub
from random import Random
from typing import TypeVar

HOUR = 3_600_000_000
DAY = 24 * HOUR

COLUMNS = {
    "int": ("s", "i", "b"),
    "date": ("d", "d2"),
    "timestamp": ("t", "t2"),
    "ntz": ("n", "n2"),
    "interval": ("v", "v2"),
    "double": ("x", "y"),
    "decimal": ("m", "q"),
    "text": ("w", "w2"),
}
NUMBERS = ("int", "double", "decimal")
# Of these, sums and negations are of the same kind.
SIGNED = ("interval", *NUMBERS)
OPERATORS: dict[str, Callable[[float, float], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}

# The shape of each comparison that a condition joins by AND: whether it bounds the rows that a row
# may match at one end or at both, has a term of both sides compared with one of either, so that it
# may bound nothing, or is one half of an OR, which bounds nothing.
END, BAND, MIXED, EITHER = "one end", "both ends", "mixed", "either"

Row = Mapping[str, float | None]
T = TypeVar("T")


@dataclass(frozen=True)
class Term:
    kind: str
    spark: str
    duckdb: str
    value: Callable[[Row, Row], float | None]

    def __add__(self, other: Term) -> Term:
        return self._combined("+", add, other, self.kind)

    def __sub__(self, other: Term) -> Term:
        if self.kind != other.kind or self.kind in SIGNED:
            return self._combined("-", sub, other, self.kind)
        if self.kind != "date":
            return self._combined("-", sub, other, "interval")
        # Spark's difference of dates is an interval of days, DuckDB's is a number.
        days = self._combined("-", sub, other, "interval")
        value = _lifted(lambda x: x * DAY, days.value)
        return Term("interval", days.spark, f"to_days(({days.duckdb})::INTEGER)", value)

    def __neg__(self) -> Term:
        negated = _lifted(lambda x: -x, self.value)
        return Term(self.kind, f"(- {self.spark})", f"(- {self.duckdb})", negated)

    def _combined(
        self, symbol: str, apply: Callable[[float, float], float], other: Term, kind: str
    ) -> Term:
        return Term(
            kind,
            f"({self.spark} {symbol} {other.spark})",
            f"({self.duckdb} {symbol} {other.duckdb})",
            _lifted(apply, self.value, other.value),
        )


@dataclass(frozen=True)
class Condition:
    spark: str
    duckdb: str
    holds: Callable[[Row, Row], bool | None]
    shapes: tuple[str, ...]

    def __and__(self, other: Condition) -> Condition:
        def holds(left: Row, right: Row) -> bool | None:
            both = (self.holds(left, right), other.holds(left, right))
            return False if False in both else None if None in both else True

        return Condition(
            f"{self.spark} AND {other.spark}",
            f"{self.duckdb} AND {other.duckdb}",
            holds,
            self.shapes + other.shapes,
        )

    def __or__(self, other: Condition) -> Condition:
        def holds(left: Row, right: Row) -> bool | None:
            both = (self.holds(left, right), other.holds(left, right))
            return True if True in both else None if None in both else False

        return Condition(
            f"({self.spark} OR {other.spark})",
            f"({self.duckdb} OR {other.duckdb})",
            holds,
            (EITHER,),
        )


def column(side: str, kind: str, name: str) -> Term:
    def value(left: Row, right: Row) -> float | None:
        return (left if side == "l" else right)[name]

    return Term(kind, f"{side}.{name}", f"{side}.{name}", value)


def literal(kind: str, steps: int) -> Term:
    """Return a number of so many steps, or an interval of so many hours."""
    if kind == "double":
        number = steps / 2
        return Term(
            kind, f"CAST({number} AS DOUBLE)", f"({number})::DOUBLE", lambda left, right: number
        )
    if kind == "decimal":
        half = steps / 2
        return Term(kind, f"({half})", f"({half})", lambda left, right: half)
    if kind == "int":
        text = f"({steps})" if steps < 0 else str(steps)
        return Term(kind, text, text, lambda left, right: steps)
    return Term(
        "interval",
        f"INTERVAL '{steps}' HOUR",
        f"to_hours({steps})",
        lambda left, right: steps * HOUR,
    )


def compare(symbol: str, x: Term, y: Term) -> Condition:
    apply = (OPERATORS | {"=": eq})[symbol]

    def holds(a: float, b: float) -> bool:
        # There is no infinity among the values, so it can stand for NaN, which is above all.
        return apply(inf if isnan(a) else a, inf if isnan(b) else b)

    return Condition(
        f"{x.spark} {symbol} {y.spark}",
        f"{x.duckdb} {symbol} {y.duckdb}",
        _lifted(holds, x.value, y.value),
        (BAND if symbol == "=" else END,),
    )


def between(x: Term, low: Term, high: Term) -> Condition:
    return Condition(
        f"{x.spark} BETWEEN {low.spark} AND {high.spark}",
        f"{x.duckdb} BETWEEN {low.duckdb} AND {high.duckdb}",
        (compare(">=", x, low) & compare("<=", x, high)).holds,
        (BAND,),
    )


def random_condition(rng: Random) -> Condition:
    """Return one to three comparisons between the sides, and sometimes an OR of two."""
    parts = [_across(rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    if rng.random() < 0.25:
        parts.append(_across(rng) | compare("<", column("l", "int", "i"), literal("int", 2)))
    rng.shuffle(parts)
    return reduce(Condition.__and__, parts)


def _across(rng: Random) -> Condition:
    """Return a comparison between the sides, in one of the forms that people write."""
    one, other = rng.sample("lr", 2)
    if rng.random() < 0.15:
        return _mixed(rng, one, other)
    is_of_texts = rng.randrange(len(COLUMNS)) == 0
    return _of_texts(rng, one, other) if is_of_texts else _of_one_kind(rng, one, other)


def _of_one_kind(rng: Random, one: str, other: str) -> Condition:
    kind = rng.choice([kind for kind in COLUMNS if kind != "text"])
    signed = kind if kind in SIGNED else rng.choice(SIGNED)
    low = rng.randint(-6, 4)
    step = kind if kind in SIGNED else "interval"
    match rng.randrange(6):
        case 0:
            return compare(_operator(rng), _term(rng, one, kind), _term(rng, other, kind))
        case 1:  # a band around an expression
            middle = _sum_of_columns(rng, one, kind)
            ends = [_shifted(middle, steps) for steps in (low, low + rng.randint(0, 8))]
            return between(_term(rng, other, kind), *ends)
        case 2:  # each row brings its own two ends
            start, stop = (column(one, kind, name) for name in COLUMNS[kind][-2:])
            return between(_term(rng, other, kind), start, stop)
        case 3:
            difference = _term(rng, one, kind) - _term(rng, other, kind)
            return _within(rng, difference, step, low)
        case 4:  # one side descends
            total = _term(rng, one, signed) + _term(rng, other, signed)
            return _within(rng, total, signed, low)
        case _:  # one side descends
            return compare(_operator(rng), _term(rng, one, signed), -_term(rng, other, signed))


def _of_texts(rng: Random, one: str, other: str) -> Condition:
    """Return a comparison of columns: nothing is added to a text."""
    mine, theirs = (column(side, "text", rng.choice(COLUMNS["text"])) for side in (one, other))
    if rng.random() < 0.5:
        return compare(_operator(rng), mine, theirs)
    return between(theirs, *(column(one, "text", name) for name in COLUMNS["text"]))


def _mixed(rng: Random, one: str, other: str) -> Condition:
    """Return a comparison of a sum over both sides with a column of another type."""
    kinds = [rng.choice(NUMBERS) for _ in range(3)]
    x, y, z = (
        column(side, kind, rng.choice(COLUMNS[kind]))
        for side, kind in zip((one, other, rng.choice([one, other])), kinds, strict=True)
    )
    found = compare(rng.choice([*OPERATORS, "="]), x - y if rng.random() < 0.7 else x + y, z)
    return replace(found, shapes=(MIXED,))


def _within(rng: Random, term: Term, step: str, low: int) -> Condition:
    if rng.random() < 0.5:
        return between(term, literal(step, low), literal(step, low + rng.randint(0, 8)))
    return compare(rng.choice([*OPERATORS, "="]), term, literal(step, low))


def _term(rng: Random, side: str, kind: str) -> Term:
    term = _sum_of_columns(rng, side, kind)
    return _shifted(term, rng.randint(-5, 5)) if rng.random() < 0.4 else term


def _sum_of_columns(rng: Random, side: str, kind: str) -> Term:
    term = column(side, kind, rng.choice(COLUMNS[kind]))
    if kind in SIGNED and rng.random() < 0.25:
        term = -term
    if rng.random() < 0.6:
        return term
    # Spark adds no BIGINT to a date.
    addends = {"int": ("int", "i"), "date": ("int", rng.choice("si")), "double": ("double", "y")}
    addends["decimal"] = ("decimal", "q")
    addend = addends.get(kind, ("interval", "v"))
    summand = column(side, *addend)
    if kind == "interval" and rng.random() < 0.5:
        of = rng.choice(["date", "timestamp", "ntz"])
        summand = column(side, of, COLUMNS[of][1]) - column(side, of, COLUMNS[of][0])
    return term + summand if rng.random() < 0.5 else term - summand


def _shifted(term: Term, steps: int) -> Term:
    kind = {"date": "int", "timestamp": "interval", "ntz": "interval"}.get(term.kind, term.kind)
    by = literal(kind, abs(steps))
    return term + by if steps >= 0 else term - by


def _operator(rng: Random) -> str:
    return rng.choice(list(OPERATORS))


def _lifted(
    apply: Callable[..., T], *values: Callable[[Row, Row], int | None]
) -> Callable[[Row, Row], T | None]:
    """Return the function on rows that gives None where any of its arguments is None."""

    def value(left: Row, right: Row) -> T | None:
        arguments = [v(left, right) for v in values]
        return None if None in arguments else apply(*arguments)

    return value
