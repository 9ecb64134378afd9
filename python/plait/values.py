# SPDX-License-Identifier: Apache-2.0
"""Values between Python and the solver in Spark's JVM: exact, as JSON.

    7                             {"number": "7"}
    Fraction(1, 3)                {"number": "1/3"}
    date(1970, 1, 3)              {"days": "2"}
    (1, None)                     {"spans": [[{"number": "1"}, false, null, false]], ...}

Not promised: that a time which Python's types cannot hold comes back; the last one outward does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from plait.errors import PlaitError
from plait.interval import DECIMAL_DIGITS, Bounds, Interval

Value: TypeAlias = int | Fraction | float | Decimal | date | datetime | timedelta | str

# A pair of closed ends, one value, or what an earlier call gave.
Given: TypeAlias = tuple[Value | None, Value | None] | Value | Bounds

EPOCH = datetime(1970, 1, 1)
UTC_EPOCH = EPOCH.replace(tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def encoded_bounds(given: Given) -> dict[str, Any]:
    """Write what is known of a variable as the JVM's side reads it."""
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


def decoded_bounds(
    possible: Mapping[str, Any], *, is_aware: bool, zone: tzinfo | None = None
) -> Bounds:
    """Read what a variable may be; timestamps with an offset if ``is_aware``, else of ``zone``."""
    return Bounds(
        tuple(
            Interval(
                lower := _value(low, is_aware, "lower"),
                upper := _value(high, is_aware, "upper"),
                lower_open or lower is None,
                upper_open or upper is None,
                None if is_aware or not _is_instant(low, high) else zone,
            )
            for low, lower_open, high, upper_open in possible["spans"]
        ),
        null=possible["null"],
        nan=possible["nan"],
    )


def _is_instant(*ends: Mapping[str, Any] | None) -> bool:
    return any(end is not None and "offset" in end for end in ends)


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
