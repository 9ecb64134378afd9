# SPDX-License-Identifier: Apache-2.0
"""What distances of constants are worth, where Python can tell before Spark is asked.

5, "5", "5L"                               the number 5
"2 s", "INTERVAL 2 SECONDS", timedelta(seconds=2)     2,000,000 microseconds
"INTERVAL '2' SECOND", "1 month", "l.x"    not told: Spark reads them
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from plait.errors import PlaitError
from plait.join.sides import AMOUNT, LENGTH, OF_NUMBERS, UNITS, no_distance

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

MICROSECOND = timedelta(microseconds=1)
INTERVAL = re.compile(r"\s*INTERVAL\b(?=\s*[+-]?\d)", re.IGNORECASE)
NUMBER = re.compile(rf"\s*([+-]?\d+(?:\.\d+)?)(?:{'|'.join(OF_NUMBERS)})?\s*", re.IGNORECASE)


class Amount(NamedTuple):
    """A number, or a length of time in microseconds."""

    size: Fraction
    is_time: bool


def amount(value: Any) -> Amount | None:
    """Return what a distance is worth, or None if that is not plain.

    >>> amount("-2 s")
    Amount(size=Fraction(-2000000, 1), is_time=True)
    >>> amount("INTERVAL 1 MONTH") is None
    True
    """
    if type(value).__module__ == "numpy":
        value = _of_numpy(value)
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, timedelta):
        return Amount(Fraction(value // MICROSECOND), is_time=True)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    try:
        return Amount(Fraction(value), is_time=False)
    except (OverflowError, ValueError):  # infinite, or NaN
        return None


def _of_numpy(value: Any) -> Any:
    try:
        return (value.astype("m8[us]") if value.dtype.kind == "m" else value).item()
    except TypeError:  # months have no one length
        return None


def _of_text(text: str) -> Amount | None:
    bare = INTERVAL.sub("", text, count=1)
    found = [(number, unit) for number, unit in AMOUNT.findall(bare) if LENGTH.fullmatch(bare)]
    is_number = any(unit.upper() in OF_NUMBERS and unit not in UNITS for _, unit in found)
    if found and not is_number and all(unit.casefold() in UNITS for _, unit in found):
        micros = sum(Fraction(number) * UNITS[unit.casefold()] for number, unit in found)
        return Amount(Fraction(micros), is_time=True)
    number = NUMBER.fullmatch(text)
    return Amount(Fraction(number[1]), is_time=False) if number else None


def require_order(lower: Any, upper: Any) -> None:
    """Raise if nothing lies between both, for sure."""
    low, high = amount(lower), amount(upper)
    if low and high and low.is_time == high.is_time and low.size > high.size:
        raise PlaitError(
            "lower and upper are the wrong way round, and no row would match: "
            f"write lower={upper!r}, upper={lower!r}."
        )


def require_tolerance(value: Any) -> None:
    """Raise if it is a distance that no two rows have."""
    found = amount(value)
    if found and found.size < 0:
        raise PlaitError(
            f"tolerance is {value!r}, and no distance is negative: direction says on which side "
            "of the left row's value to look."
        )
    if isinstance(value, date):
        raise no_distance("tolerance", value)


def require_fit(parameter: str, value: Any, column: str, kind: DataType) -> None:
    """Raise if a number is added to times, or a length of time to numbers."""
    from pyspark.sql.types import NumericType

    found = amount(value)
    if found is None:
        return
    type_name = kind.simpleString().upper()
    if not found.is_time and is_timestamp(kind):
        raise PlaitError(
            f"{parameter} is the number {value!r}, and {column} is of type {type_name}: write a "
            f"length of time, as {parameter}='{float(found.size):g}s' or a timedelta."
        )
    if found.is_time and isinstance(kind, NumericType):
        raise PlaitError(
            f"{parameter} is {value!r}, a length of time, and {column} is of type {type_name}: "
            "write a number, or make times of the column before, as by timestamp_seconds."
        )


def is_timestamp(kind: DataType) -> bool:
    """Whether it is a type of timestamps, with a time zone or without."""
    return kind.typeName().startswith("timestamp")
