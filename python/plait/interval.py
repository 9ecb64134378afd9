# SPDX-License-Identifier: Apache-2.0
"""Intervals, and what a variable may be: one or several of them, NULL, NaN."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from plait.errors import PlaitError

DECIMAL_DIGITS = 38


@dataclass(frozen=True)
class Interval:
    """All values between two ends; an end that is missing is None.

    >>> Interval(3, None, lower_open=True)
    (3, +inf)

    Datetimes without a time zone are compared as what they are in ``zone``, where that is known: of
    the hour that comes twice when the clocks go back, the second time (``fold=1``) is later.
    """

    lower: Any
    upper: Any
    lower_open: bool = False
    upper_open: bool = False
    zone: tzinfo | None = field(default=None, repr=False, compare=False)

    def __contains__(self, value: Any) -> bool:
        above: Callable[[Any, Any], bool] = operator.gt if self.lower_open else operator.ge
        below: Callable[[Any, Any], bool] = operator.lt if self.upper_open else operator.le
        lower, upper, at = map(self._moment, (self.lower, self.upper, value))
        return (lower is None or above(at, lower)) and (upper is None or below(at, upper))

    def __repr__(self) -> str:
        lower, upper = (self._shown(end) for end in (self.lower, self.upper))
        if self.lower is not None and self._moment(self.lower) == self._moment(self.upper):
            return f"{{{lower}}}"
        first = "(-inf" if self.lower is None else f"{'[('[self.lower_open]}{lower}"
        last = "+inf)" if self.upper is None else f"{upper}{'])'[self.upper_open]}"
        return f"{first}, {last}"

    def _moment(self, value: Any) -> Any:
        """Return a wall clock's time in UTC: with one zone of both Python compares clocks."""
        if self.zone is None or not isinstance(value, datetime) or value.tzinfo is not None:
            return value
        try:
            return value.replace(tzinfo=self.zone).astimezone(UTC)
        except OverflowError:  # within a day of the ends of Python's years
            return value.replace(tzinfo=UTC)

    def _shown(self, value: Any) -> str:
        """Write a wall clock's time with its offset if the clock shows it twice."""
        if isinstance(value, datetime) and self._moment(value) != self._moment(
            value.replace(fold=1 - value.fold)
        ):
            return str(value.replace(tzinfo=self.zone))
        return _shown(value)


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
        try:
            return any(value in interval for interval in self.intervals)
        except TypeError:
            raise PlaitError(
                f"{value!r} cannot be compared with the ends of {self!r}: ask for a value of "
                "their type."
            ) from None

    def __bool__(self) -> bool:
        return bool(self.intervals) or self.null or self.nan

    def __repr__(self) -> str:
        numbers = [" ∪ ".join(map(repr, self.intervals))] if self.intervals else []
        specials = ["NULL"] * self.null + ["NaN"] * self.nan
        return " or ".join(numbers + specials) or "nothing"


class NoSuchVariable(PlaitError, KeyError):
    """A condition has no variable of that name."""

    __str__ = Exception.__str__  # a KeyError's is a text in quotes


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

    def __missing__(self, name: object) -> Bounds:
        raise NoSuchVariable(
            f"The condition has no variable {name!r}; it has {', '.join(self) or 'none'}."
        )


@dataclass(frozen=True)
class Trace:
    """How the solver came to its bounds: a table of its sweeps, and the graph of the condition."""

    text: str
    mermaid: str
    bounds: Narrowed

    def __str__(self) -> str:
        return self.text


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
    if isinstance(value, timedelta):
        return str(value).replace(", ", " ")  # a comma stands between two ends
    return repr(value) if isinstance(value, str | float) else str(value)
