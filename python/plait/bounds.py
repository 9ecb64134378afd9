# SPDX-License-Identifier: Apache-2.0
"""What the variables of a SQL condition may be: the solver of the joins, asked by people."""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from plait import _jvm
from plait.errors import PlaitError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Value: TypeAlias = int | Fraction | float | Decimal | date | datetime | timedelta | str

EPOCH = datetime(1970, 1, 1)
UTC_EPOCH = EPOCH.replace(tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1
DECIMAL_DIGITS = 38


@dataclass(frozen=True)
class Interval:
    """All values between two ends; an end that is missing is None.

    >>> Interval(3, None, lower_open=True)
    (3, +inf)
    """

    lower: Any
    upper: Any
    lower_open: bool = False
    upper_open: bool = False

    def __contains__(self, value: Any) -> bool:
        above: Callable[[Any, Any], bool] = operator.gt if self.lower_open else operator.ge
        below: Callable[[Any, Any], bool] = operator.lt if self.upper_open else operator.le
        return (self.lower is None or above(value, self.lower)) and (
            self.upper is None or below(value, self.upper)
        )

    def __repr__(self) -> str:
        if self.lower is not None and self.lower == self.upper:
            return f"{{{_shown(self.lower)}}}"
        first = "(-inf" if self.lower is None else f"{'[('[self.lower_open]}{_shown(self.lower)}"
        last = "+inf)" if self.upper is None else f"{_shown(self.upper)}{'])'[self.upper_open]}"
        return f"{first}, {last}"


@dataclass(frozen=True)
class Bounds:
    """What a variable may be: a value in one of the intervals, NULL, NaN; false if nothing at all.

    The intervals are at most four, disjoint, and from low to high. ``lower``, ``upper`` and whether
    they are open are those of the first and of the last.

    >>> both = Bounds((Interval(0, 2), Interval(8, 9)), null=True)
    >>> both, both.upper, 5 in both
    ([0, 2] ∪ [8, 9] or NULL, 9, False)
    """

    intervals: tuple[Interval, ...]
    null: bool = False
    nan: bool = False

    @property
    def lower(self) -> Any:
        """The least end, or None."""
        return self.intervals[0].lower if self.intervals else None

    @property
    def upper(self) -> Any:
        """The greatest end, or None."""
        return self.intervals[-1].upper if self.intervals else None

    @property
    def lower_open(self) -> bool:
        """Whether ``lower`` itself is left out."""
        return bool(self.intervals) and self.intervals[0].lower_open

    @property
    def upper_open(self) -> bool:
        """Whether ``upper`` itself is left out."""
        return bool(self.intervals) and self.intervals[-1].upper_open

    def __contains__(self, value: Any) -> bool:
        if value is None:
            return self.null
        if isinstance(value, float) and math.isnan(value):
            return self.nan
        return any(value in interval for interval in self.intervals)

    def __bool__(self) -> bool:
        return bool(self.intervals) or self.null or self.nan

    def __repr__(self) -> str:
        numbers = [" ∪ ".join(map(repr, self.intervals))] if self.intervals else []
        specials = ["NULL"] * self.null + ["NaN"] * self.nan
        return " or ".join(numbers + specials) or "nothing"


class Narrowed(dict[str, Bounds]):
    """The bounds of every variable by its name; false if the condition is never TRUE.

    Of a condition that is never TRUE all bounds are ``nothing``.
    """

    def __init__(self, bounds: Mapping[str, Bounds], *, feasible: bool) -> None:
        """Of a condition that can be TRUE, as far as is known, or cannot."""
        super().__init__(bounds)
        self.feasible = feasible

    def __bool__(self) -> bool:
        return self.feasible


@dataclass(frozen=True)
class Trace:
    """How the solver came to its bounds: a table of its sweeps, and the graph of the condition."""

    text: str
    mermaid: str
    bounds: Narrowed

    def __str__(self) -> str:
        return self.text


# A pair of closed ends, one value, or what an earlier call gave.
Given: TypeAlias = tuple[Value | None, Value | None] | Value | Bounds


def bounds(
    condition: str, /, *, types: Mapping[str, str] | None = None, **known: Given
) -> Narrowed:
    """Narrow what each variable of a SQL condition may be, given that the condition is TRUE.

    A keyword tells what is known of a variable: a pair of closed ends, None for a missing one; or
    one value; or the ``Bounds`` of an earlier call. What is named in the condition only is
    unbounded. For a name that is no Python name, write ``**{"l.start": (1, None)}``.

    >>> found = bounds("a > b - 3 AND a < b + 10", a=(1, None), b=(6, None))
    >>> found
    {'a': (3, +inf), 'b': [6, +inf)}
    >>> found["a"].lower, found["a"].lower_open
    (3, True)
    >>> bounds("pow(x, 2) + y = 4", x=(1, 2), y=(-3, 1))
    {'x': [1.7320508075688772, 2], 'y': [0, 1]}
    >>> bounds("3 * x = 1")["x"].lower
    Fraction(1, 3)

    Numbers are exact and real: no type, no rounding, no overflow, no NULL. Their ends come back as
    int or Fraction; an irrational end is a Fraction next to it, outside, which a double can hold.

    With ``types``, names of Spark's types, or where times, truth values or texts are known, the
    condition means what it means to Spark in the session's time zone; a variable without a type has
    that of the others. A datetime without a time zone is a wall clock's in the session's zone, and
    so are the answers, unless one with a zone was given.

    >>> from datetime import datetime
    >>> bounds("l > r - INTERVAL 8 MINUTES", r=datetime(2026, 1, 1, 12, 34))["l"]
    [2026-01-01 12:26:00.000001, +inf)

    The bounds may be too wide, never too narrow. A condition found never to be TRUE gives bounds
    that are all ``nothing``, and the answer is false:

    >>> bounds("a > 3 AND a < 2"), bool(bounds("a > 3 AND a < 2"))
    ({'a': nothing}, False)
    """
    return _solve(condition, types, known, is_traced=False).bounds


def trace(condition: str, /, *, types: Mapping[str, str] | None = None, **known: Given) -> Trace:
    """Tell how ``bounds`` comes to its answer: sweep by sweep, and as a Mermaid flowchart.

    >>> found = trace("a > b - 3", b=(6, None))
    >>> for line in found.text.splitlines()[:3]:
    ...     print(" ".join(line.split()))
    given upward downward upward downward
    b [6, +inf) [6, +inf) [6, +inf) [6, +inf) [6, +inf)
    a (-inf, +inf) (-inf, +inf) (3, +inf) (3, +inf) (3, +inf)
    >>> found.mermaid.splitlines()[0]
    'flowchart BT'
    """
    return _solve(condition, types, known, is_traced=True)


def _solve(
    condition: str,
    types: Mapping[str, str] | None,
    known: Mapping[str, Given],
    *,
    is_traced: bool,
) -> Trace:
    check_condition(condition)
    types = _checked_types(types)
    known = {name: _checked(name, given) for name, given in known.items()}
    ends = {name: _ends(given) for name, given in known.items()}
    is_real = not types and all(_is_number(x) for values in ends.values() for x in values)
    names = [*known, *(name for name in types if name not in known)]
    answer = ask(
        active_session(),
        "bounds",
        {
            "condition": condition,
            "real": is_real,
            "trace": is_traced,
            "variables": [
                {
                    "name": name,
                    "type": None if is_real else types.get(name) or _type(ends.get(name, [])),
                    "possible": _encoded(known[name]) if name in known else None,
                }
                for name in names
            ],
        },
    )
    is_aware = any(
        isinstance(x, datetime) and x.tzinfo is not None for values in ends.values() for x in values
    )
    found = {one["name"]: _decoded(one["possible"], is_aware) for one in answer["variables"]}
    narrowed = Narrowed(found, feasible=answer["feasible"])
    return Trace(answer.get("text", ""), answer.get("mermaid", ""), narrowed)


def active_session() -> SparkSession:
    """Return the session at hand, or start one."""
    from plait.session import session

    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        return session()  # says what is missing
    return SparkSession.getActiveSession() or session()


def ask(spark: SparkSession, what: str, question: Mapping[str, Any]) -> Any:
    """Put a question to the solver in Spark's JVM."""
    solver = _jvm.solver(spark)
    answer = json.loads(str(getattr(solver, what)(_jvm.session(spark), json.dumps(question))))
    if "error" in answer:
        raise PlaitError(answer["error"])
    return answer


def check_condition(condition: object) -> None:
    """Raise an error that shows a condition for what is none."""
    if not isinstance(condition, str) or not condition.strip():
        raise PlaitError(
            f"A condition is a text in SQL, such as 'a > b - 3 AND a < 10', not {condition!r}."
        )


def _checked_types(types: object) -> Mapping[str, str]:
    if types is None:
        return {}
    if not isinstance(types, Mapping) or not all(isinstance(t, str) for t in types.values()):
        raise PlaitError(
            "types names Spark's type of each variable, as in {'price': 'int', 't': 'timestamp'}, "
            f"not {types!r}."
        )
    return types


def _checked(name: str, given: Any) -> Any:
    """Return what is known of a variable, or say what is wrong with its form."""
    if isinstance(given, Bounds):
        return given
    if isinstance(given, Narrowed):
        raise PlaitError(
            f"These are the bounds of all variables: give one of them, found[{name!r}]."
        )
    if isinstance(given, list):
        raise PlaitError(f"The ends of {name} are a pair: write {tuple(given)!r}, not {given!r}.")
    if not isinstance(given, tuple):
        return _plain(given)
    if len(given) != 2:
        raise PlaitError(
            f"The ends of {name} are a pair, a lower and an upper one, with None for one that is "
            f"missing: (1, None), not {given!r}."
        )
    lower, upper = map(_plain, given)
    try:
        is_wrong = lower is not None and upper is not None and lower > upper
    except TypeError:
        is_wrong = False  # they are of two types, which the condition's type will settle
    if is_wrong:
        raise PlaitError(
            f"The ends of {name} are the wrong way round: write ({upper!r}, {lower!r})."
        )
    return lower, upper


def _plain(value: Any) -> Any:
    """Return a number of NumPy as Python's."""
    return value.item() if type(value).__module__ == "numpy" else value


def _ends(given: Given) -> list[Any]:
    if isinstance(given, Bounds):
        ends = [end for interval in given.intervals for end in (interval.lower, interval.upper)]
    elif isinstance(given, tuple):
        ends = list(given)
    else:
        ends = [given]
    return [end for end in ends if end is not None]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)


def _type(ends: list[Any]) -> str | None:
    """Name the Spark type that holds these values, as Python's own are read by Spark."""
    if not ends:
        return None
    for kind, name in (
        (bool, "boolean"),
        (datetime, "timestamp"),
        (date, "date"),
        (timedelta, "interval day to second"),
        (str, "string"),
        (float | Fraction, "double"),
    ):
        if any(isinstance(end, kind) for end in ends):
            return name
    if any(isinstance(end, Decimal) for end in ends):
        # An int has the exponent 0.
        scale = max(-int(Decimal(end).as_tuple().exponent) for end in ends)
        return f"decimal({DECIMAL_DIGITS}, {min(max(scale, 0), DECIMAL_DIGITS)})"
    if not all(isinstance(end, int) for end in ends):
        raise PlaitError(f"{ends[0]!r} is no value that Plait can compare.")
    if all(LEAST_LONG <= end <= GREATEST_LONG for end in ends):
        return "bigint"
    return f"decimal({DECIMAL_DIGITS}, 0)"


def _encoded(given: Given) -> dict[str, Any]:
    if isinstance(given, Bounds):
        spans = [
            [_end(i.lower, -math.inf), i.lower_open, _end(i.upper, math.inf), i.upper_open]
            for i in given.intervals
        ]
        return {"spans": spans, "null": given.null, "nan": given.nan}
    lower, upper = given if isinstance(given, tuple) else (given, given)
    both = [_end(lower, -math.inf), False, _end(upper, math.inf), False]
    return {"spans": [both], "null": False, "nan": False}


def _end(value: Any, missing: float) -> dict[str, Any] | None:
    return None if value is None or value == missing else encoded(value)


def encoded(value: Any) -> dict[str, Any]:
    """Write a value as the JVM's side reads it."""
    match value:
        case bool():
            found: dict[str, Any] = {"boolean": str(int(value))}
        case float() | Decimal() if math.isnan(value):
            raise PlaitError("NaN is no end of an interval.")
        case float() | Decimal() if math.isinf(value):
            found = {"number": "inf" if value > 0 else "-inf"}
        case int() | float() | Decimal() | Fraction():
            found = {"number": _exact(value)}
        case datetime() if value.tzinfo is not None:
            found = {"instant": str((value - UTC_EPOCH) // MICROSECOND)}
        case datetime():
            micros = (value.replace(fold=0) - EPOCH) // MICROSECOND
            found = {"local": str(micros), "fold": value.fold}
        case date():
            found = {"days": str((value - EPOCH.date()).days)}
        case timedelta():
            found = {"micros": str(value // MICROSECOND)}
        case str():
            found = {"text": value}
        case _:
            raise PlaitError(f"{value!r} is no value that Plait can compare.")
    return found


def _exact(value: float | Decimal | Fraction) -> str:
    try:
        return str(Fraction(value))
    except ValueError as error:  # Python does not write numbers of more than 4300 digits
        raise PlaitError(f"A number that long is no end of an interval: {error}.") from error


def _decoded(possible: Mapping[str, Any], is_aware: bool) -> Bounds:
    return Bounds(
        tuple(
            Interval(
                lower := _value(low, is_aware, "lower"),
                upper := _value(high, is_aware, "upper"),
                lower_open or lower is None,
                upper_open or upper is None,
            )
            for low, lower_open, high, upper_open in possible["spans"]
        ),
        null=possible["null"],
        nan=possible["nan"],
    )


def _value(end: Mapping[str, Any] | None, is_aware: bool, side: str) -> Any:
    if end is None:
        return None
    for kind, read in READERS.items():
        if kind in end:
            return read(end[kind])
    if "days" in end:
        days = int(end["days"])
        return _within(date, lambda: EPOCH.date() + timedelta(days=days), days, side)
    micros = int(end["local"])
    return _within(datetime, lambda: _moment(end, is_aware), micros, side)


def _moment(end: Mapping[str, Any], is_aware: bool) -> datetime:
    local = EPOCH + timedelta(microseconds=int(end["local"]))
    if is_aware and "offset" in end:
        return local.replace(tzinfo=timezone(timedelta(seconds=end["offset"])))
    return local.replace(fold=end["fold"])


def _whole(text: str) -> int | Fraction:
    exact = Fraction(text)
    return exact.numerator if exact.denominator == 1 else exact


def _decimal(text: str) -> Decimal:
    exact = Fraction(text)
    context = Context(prec=4 * DECIMAL_DIGITS)
    return context.divide(Decimal(exact.numerator), Decimal(exact.denominator))


READERS: Mapping[str, Callable[[str], Any]] = {
    "boolean": lambda text: text == "1",
    "number": _whole,
    "decimal": _decimal,
    "float": float,
    "micros": lambda text: timedelta(microseconds=int(text)),
    "text": str,
}


def _within(kind: Any, moment: Callable[[], Any], number: int, side: str) -> Any:
    """Return a time that Python can hold, or else the last one outward, or none."""
    try:
        return moment()
    except OverflowError:
        if side == "lower":
            return None if number < 0 else kind.max
        return None if number > 0 else kind.min


def _short(value: Fraction) -> str:
    """Write a fraction as a number with a point where a double holds it, else in few digits."""
    with_point = float(value) if abs(value) < 1e300 else math.inf
    if with_point == value:
        return repr(with_point)
    if len(exact := str(value)) <= DECIMAL_DIGITS:
        return exact
    # The value itself stays exact; only this text is rounded.
    near = Context(prec=17).divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"~{near.normalize()}"


def _shown(value: Any) -> str:
    if isinstance(value, Fraction):
        return _short(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**DECIMAL_DIGITS:
        return _short(Fraction(value))
    return repr(value) if isinstance(value, str | float) else str(value)
