# SPDX-License-Identifier: Apache-2.0
"""What the variables of a SQL condition may be: the solver of the joins, asked by people."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from plait import _jvm
from plait.errors import PlaitError
from plait.interval import DECIMAL_DIGITS, Bounds, Narrowed, Trace
from plait.sql import of_numpy
from plait.values import Given, decoded_bounds, encoded_bounds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GREATEST_FLOAT = (2 - 2**-23) * 2.0**127
LEAST_LONG, GREATEST_LONG = -(2**63), 2**63 - 1


def bounds(
    condition: str, /, *, types: Mapping[str, str] | None = None, **known: Given
) -> Narrowed:
    """Narrow what each variable of a SQL condition may be, given that the condition is TRUE.

    A keyword tells what is known of a variable: a pair of closed ends, None for a missing one; or
    one value; or the ``Bounds`` of an earlier call. What is named in the condition only is
    unbounded. What a pair or a value is given for is not NULL. For a name that is no Python name,
    write ``**{"l.start": (1, None)}``.

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
    A float is exactly what Python holds, and 0.1 in the condition is 1/10: so ``x = 0.1`` is never
    TRUE of ``x=0.1``; write ``x=Decimal("0.1")``. Where a variable is a decimal, a float
    given for it is read as it is written; where it is a float of 32 bits, as the nearest of those.

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
    known = {
        name: _as_type(_checked(name, given), types.get(name, "")) for name, given in known.items()
    }
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
                    "possible": encoded_bounds(known[name]) if name in known else None,
                }
                for name in names
            ],
        },
    )
    is_aware = any(
        isinstance(x, datetime) and x.tzinfo is not None for values in ends.values() for x in values
    )
    found = {
        one["name"]: decoded_bounds(one["possible"], is_aware=is_aware, zone=_zone(answer["zone"]))
        for one in answer["variables"]
    }
    narrowed = Narrowed(found, feasible=answer["feasible"])
    return Trace(answer.get("text", ""), answer.get("mermaid", ""), narrowed)


def _zone(name: str) -> tzinfo | None:
    """Return a time zone; None for an offset, in which no time comes twice."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # brings much along

    try:
        return ZoneInfo(name)
    except (ValueError, ZoneInfoNotFoundError):
        return None


def active_session() -> SparkSession:
    """Return the session at hand, or start one."""
    from plait.session import session

    return running_session() or session()  # which says what is missing


def running_session() -> SparkSession | None:
    """Return the session at hand, if there is one."""
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        return None
    return SparkSession.getActiveSession()


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
    if given is None:
        raise PlaitError(
            f"{name}=None may mean two things: write {name}=plait.Bounds((), null=True) if {name} "
            "is NULL, and leave it out, or name its type in types, if it is unknown."
        )
    if isinstance(given, list):
        pair = repr(tuple(given)) if len(given) == 2 else "(1, None)"
        raise PlaitError(f"The ends of {name} are a pair: write {pair}, not {given!r}.")
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


def _as_type(given: Any, type_: str) -> Any:
    """Return Python's floats as values of a type that cannot hold them all."""
    if isinstance(given, tuple):
        return tuple(_as_type(end, type_) for end in given)
    if not isinstance(given, float) or not math.isfinite(given):
        return given
    name = type_.strip().lower()
    if name.startswith(("dec", "numeric")):
        return Decimal(repr(given))
    if name in ("float", "real") and abs(given) <= GREATEST_FLOAT:
        nearest: float = struct.unpack("f", struct.pack("f", given))[0]
        return nearest
    return given


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as Python's."""
    if type(value).__module__ != "numpy":
        return value
    if getattr(value, "shape", ()) != ():
        raise PlaitError(f"A bound is one value, not an array: {value!r}.")
    return of_numpy(value)


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
