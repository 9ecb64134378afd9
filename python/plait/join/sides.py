# SPDX-License-Identifier: Apache-2.0
"""The two sides of a join: their columns and keys, and the query that is written of them.

    left  k, ts, price       right  k, ts, bid        by k, how "left"
    SELECT l.`k`, l.`ts` AS `ts_x`, l.`price`, r.`ts` AS `ts_y`, r.`bid` FROM ...

The sides are ``l`` and ``r`` in the query; ``{l}`` and ``{r}`` are where Spark puts the DataFrames,
so all other braces of a query's text are doubled: names by ``name`` and ``of``, the rest by
``distance`` and ``braced``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from plait import _connect, _jvm
from plait.errors import PlaitError
from plait.sql import literal, quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

Names: TypeAlias = str | Sequence[str]
Distance: TypeAlias = int | float | timedelta | str
Suffixes: TypeAlias = tuple[str | None, str | None]

# How a join is called in pandas' words, and in SQL.
HOW = {
    "inner": "INNER",
    "left": "LEFT",
    "right": "RIGHT",
    "full": "FULL",
    "semi": "LEFT SEMI",
    "anti": "LEFT ANTI",
}
# The same in other words of pandas and Spark; case, `_` and spaces do not count.
SAME_HOW = {"outer": "full", "fullouter": "full", "leftouter": "left", "rightouter": "right"}
SAME_HOW |= {"leftsemi": "semi", "leftanti": "anti"}
OF_LEFT = ("semi", "anti")
# By `closed`: what a value is of its lower end, and of its upper one.
ENDS = {"both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "neither": (">", "<")}


# Lengths of time as people and pandas write them, in microseconds.
UNITS = {
    **dict.fromkeys(("us", "µs", "microsecond", "microseconds"), 1),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86_400_000_000),
}
AMOUNT = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*([^\W\d_]+)\s*")
LENGTH = re.compile(rf"\s*(?:{AMOUNT.pattern})+")
# SQL's own: the type of a number, as 5L, and lengths that are no number of microseconds.
OF_NUMBERS = ("L", "S", "Y", "D", "F", "BD")
OF_CALENDAR = ("month", "months", "year", "years")
CLOCK = re.compile(r"\s*[+-]?\d+:\d+(?::\d+(?:\.\d+)?)?\s*")
ONE_NUMBER = re.compile(r"\s*[+-]?\d+(?:\.\d+)?[A-Z]+\s*", re.IGNORECASE)


def braced(text: str) -> str:
    """Return text as it stands in a query in which Spark replaces ``{l}`` and ``{r}``."""
    return text.replace("{", "{{").replace("}", "}}")


def name(column: str) -> str:
    """Return a column's name as a query's text has it."""
    return braced(quote(column))


def of(side: str, column: str) -> str:
    """Return a column of ``l`` or ``r`` as a query's text has it.

    >>> of("l", "a b")
    'l.`a b`'
    """
    return f"{side}.{name(column)}"


def choice(parameter: str, value: str, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices, or else say what they are.

    >>> choice("how", "left", HOW)
    'left'
    """
    if value not in (known := list(choices)):
        raise PlaitError(f"{parameter} is {value!r}: it may be {', '.join(known)}.")
    return value


def kind(how: str, kinds: Mapping[str, str] = HOW) -> str:
    """Return the join type in our word, or say what the types are.

    >>> kind("outer"), kind("left_semi"), kind("Left")
    ('full', 'semi', 'left')
    """
    plain = how.casefold().replace("_", "").replace(" ", "") if isinstance(how, str) else ""
    found = SAME_HOW.get(plain, plain)
    return found if found in kinds else choice("how", how, kinds)


def distance(parameter: str, value: Distance) -> str:
    """Return a distance as SQL; texts are lengths of time, or SQL already.

    >>> print(distance("tolerance", 5), distance("tolerance", "INTERVAL 5 SECONDS"))
    5 INTERVAL 5 SECONDS
    >>> distance("tolerance", "2ms")
    "INTERVAL '0.002000' SECOND"
    """
    if isinstance(value, str):
        if not value.strip():
            raise PlaitError(f"{parameter} is empty: write '5 seconds' or 'INTERVAL 5 SECONDS'.")
        if CLOCK.fullmatch(value):
            raise PlaitError(
                f"{parameter} is {value!r}: write '2 s' or '1 hour 30 min', or in SQL "
                "\"INTERVAL '00:00:02' HOUR TO SECOND\"."
            )
        return length(parameter, value) or braced(value)
    if not _is_distance(value):
        raise no_distance(parameter, value)
    try:
        return literal(value)
    except PlaitError as error:
        raise PlaitError(f"{parameter} is no distance: {error}") from None


def _is_distance(value: object) -> bool:
    if type(value).__module__ == "numpy":
        return not getattr(value, "shape", ())
    is_bool = isinstance(value, bool)
    return isinstance(value, int | float | Decimal | timedelta | date) and not is_bool


def no_distance(parameter: str, given: object) -> PlaitError:
    """Say that a distance is wanted."""
    instead = (
        f"write its SQL as a text, as {parameter}='INTERVAL 2 SECONDS'"
        if is_column(given)
        else "a number, a timedelta or a text as '5 minutes' is needed"
    )
    return PlaitError(f"{parameter} is {given!r}: {instead}.")


def length(parameter: str, text: str) -> str | None:
    """Return a length of time as SQL, or None if the text is written otherwise.

    >>> print(length("size", "1 hour 30 min"), length("size", "1 month"), length("size", "5"))
    INTERVAL '5400.000000' SECOND INTERVAL '1 month' None
    """
    if not LENGTH.fullmatch(text):
        return None
    found = AMOUNT.findall(text)
    of_number = [unit for _, unit in found if unit.upper() in OF_NUMBERS and unit not in UNITS]
    if of_number and not ONE_NUMBER.fullmatch(text):
        raise PlaitError(
            f"{parameter} is {text!r}, and {of_number[0]} after a number is a type of SQL's: of "
            "lengths of time the short units are small, us, ms, s, min, h, d, w."
        )
    if of_number:
        return None
    if any(unit.casefold() in OF_CALENDAR for _, unit in found):
        return f"INTERVAL {literal(text.strip())}"
    for _, unit in found:
        if unit.casefold() not in UNITS:
            raise PlaitError(
                f"{parameter} is {text!r}, and {unit!r} is no unit of time: it may be "
                "us, ms, s, min, h, d, w, or a word as minutes."
            )
    micros = sum(Decimal(number) * UNITS[unit.casefold()] for number, unit in found)
    if micros != int(micros):
        raise PlaitError(f"{parameter} is {text!r}: Spark's times end at microseconds.")
    return literal(timedelta(microseconds=int(micros)))


def names(parameter: str, value: Names | None) -> list[str]:
    """Return one name, several or none as a list."""
    if value is None or isinstance(value, str):
        return [] if value is None else [value]
    if is_column(value) or not isinstance(value, Iterable):
        raise no_name(parameter, value)
    for one in (found := list(value)):
        if not isinstance(one, str):
            raise no_name(parameter, one)
    return found


def is_column(value: object) -> bool:
    """Whether it is a Column of Spark, classic or of Spark Connect."""
    return type(value).__name__ == "Column"


def no_name(parameter: str, given: object) -> PlaitError:
    """Say that a name is wanted."""
    instead = ": give its name, and compute what is no column before, by withColumn"
    return PlaitError(
        f"{parameter} takes names of columns as texts, and {given!r} is of type "
        f"{type(given).__name__}{instead if is_column(given) else ''}."
    )


def join(conditions: Iterable[str]) -> str:
    """Return the ON clause of these conditions, or nothing."""
    found = " AND ".join(conditions)
    return f" ON {found}" if found else ""


@dataclass(frozen=True)
class Key:
    """Two columns that are joined by; they come out as one if ``merged``."""

    left: str
    right: str
    merged: bool


def _no_data_frame(side: str, given: object) -> str:
    kind = f"{type(given).__module__}.{type(given).__name__}".removeprefix("builtins.")
    hint = ": make one by spark.createDataFrame" if kind.startswith("pandas.") else ""
    if isinstance(given, str):
        hint = f": a table is spark.table({given!r})"
    return f"{side} is no DataFrame of Spark, but of type {kind}{hint}."


class Sides:
    """The columns of two DataFrames, and which of them the join is by."""

    def __init__(self, left: DataFrame, right: DataFrame) -> None:
        """Look at the columns of both, which no row is read for."""
        for side, df in (("left", left), ("right", right)):
            if not hasattr(df, "sparkSession") or not hasattr(df, "columns"):
                raise PlaitError(_no_data_frame(side, df))
        _jvm.require(left.sparkSession)
        if not _jvm.is_same(left.sparkSession, right.sparkSession):
            raise PlaitError(
                "left and right are DataFrames of two Spark sessions, and Spark joins those of "
                "one: make both with the same session, or write one to a table and read it in "
                "the other."
            )
        self.left, self.right = left, right
        self.columns = {"left": list(left.columns), "right": list(right.columns)}
        self.keys: list[Key] = []
        is_sensitive = left.sparkSession.conf.get("spark.sql.caseSensitive", "false")
        self._fold = str if is_sensitive == "true" else str.casefold
        for side, columns in self.columns.items():
            twice = [x for x, number in Counter(map(self._fold, columns)).items() if number > 1]
            if twice:
                raise PlaitError(
                    f"Two columns of the {side} side are called {', '.join(twice)}: "
                    "rename one of them by withColumnRenamed or toDF."
                )

    def has(self, side: str, called: str) -> bool:
        """Whether a column of the side is called so."""
        return self._fold(called) in map(self._fold, self.columns[side])

    def column(self, side: str, called: str, parameter: str) -> str:
        """Return the name as the side writes it, or say which columns there are."""
        if not isinstance(called, str):
            raise no_name(parameter, called)
        columns = self.columns[side]
        for column in columns:
            if self._fold(called) == self._fold(column):
                return column
        raise PlaitError(
            f"The {side} side has no column {called!r}, which {parameter} names: "
            f"it has {', '.join(columns)}."
        )

    def type_of(self, side: str, column: str) -> DataType:
        """Return the type of a column, by its name as the side writes it."""
        return (self.left if side == "left" else self.right).schema[column].dataType

    def pairs(
        self, parameter: str, both: Names | None, left: Names | None, right: Names | None
    ) -> list[Key]:
        """Return the pairs of columns that ``by``, or ``left_by`` and ``right_by``, name."""
        if both is not None and (left is not None or right is not None):
            raise PlaitError(
                f"{parameter} names columns of both sides: give either {parameter}, or "
                f"left_{parameter} and right_{parameter}."
            )
        of_left = names(f"left_{parameter}", left)
        of_right = names(f"right_{parameter}", right)
        if len(of_left) != len(of_right):
            raise PlaitError(
                f"left_{parameter} names {len(of_left)} columns and right_{parameter} "
                f"{len(of_right)}: each column of one has its partner in the other."
            )
        keys = [
            Key(self.column("left", x, parameter), self.column("right", x, parameter), merged=True)
            for x in names(parameter, both)
        ]
        for x, y in zip(of_left, of_right, strict=True):
            a = self.column("left", x, f"left_{parameter}")
            b = self.column("right", y, f"right_{parameter}")
            keys.append(Key(a, b, merged=self._fold(a) == self._fold(b)))
        return keys

    def key_by(self, by: Names | None, left_by: Names | None, right_by: Names | None) -> None:
        """Take these columns as the key."""
        self.keys += self.pairs("by", by, left_by, right_by)

    def equal_keys(self) -> list[str]:
        """Return the conditions that the keys are equal."""
        return [f"{of('l', key.left)} = {of('r', key.right)}" for key in self.keys]

    def selected(self, how: str, suffixes: Suffixes, also: Iterable[Key] = ()) -> str:
        """Return the columns that come out.

        Of the pairs in ``also`` comes one column too, if they are ``merged``: the left row's, or
        where there is none the right row's.
        """
        _require_pair(suffixes)
        if how in OF_LEFT:
            return ", ".join(of("l", column) for column in self.columns["left"])
        merged = {key.left: key.right for key in (*self.keys, *also) if key.merged}
        of_right = [x for x in self.columns["right"] if x not in merged.values()]
        of_left = [x for x in self.columns["left"] if x not in merged]
        clashes = set(map(self._fold, of_left)) & set(map(self._fold, of_right))
        if clashes and suffixes[0] == suffixes[1]:
            raise PlaitError(
                f"Both sides have {', '.join(sorted(clashes))}: give two suffixes that differ."
            )

        def named(side: str, column: str, suffix: str | None) -> tuple[str, str]:
            is_plain = self._fold(column) not in clashes or not suffix
            out = column if is_plain else f"{column}{suffix}"
            return f"{of(side, column)} AS {name(out)}", out

        found = [
            (_merged(how, column, merged[column]), column)
            if column in merged
            else named("l", column, suffixes[0])
            for column in self.columns["left"]
        ]
        found += [named("r", column, suffixes[1]) for column in of_right]
        out = Counter(self._fold(column) for _, column in found)
        if twice := [column for column, number in out.items() if number > 1]:
            raise PlaitError(
                f"Two columns would come out as {', '.join(twice)}: give other suffixes."
            )
        return ", ".join(text for text, _ in found)

    def run(self, query: str) -> DataFrame:
        """Let Spark read a query in which ``{l}`` and ``{r}`` are the DataFrames."""
        spark = self.left.sparkSession
        with _connect.telling(spark):
            return spark.sql(query, l=self.left, r=self.right)


def _require_pair(suffixes: Any) -> None:
    is_pair = isinstance(suffixes, tuple | list) and len(suffixes) == len(("left", "right"))
    if not is_pair or not all(suffix is None or isinstance(suffix, str) for suffix in suffixes):
        raise PlaitError(
            f"suffixes is {suffixes!r}: it is a pair of texts, for the left side's columns and the "
            "right side's, as ('_x', '_y'); one of them may be None."
        )


def _merged(how: str, left: str, right: str) -> str:
    # Where the left side has it, COALESCE would only hide from Spark whose column it is.
    if how in ("inner", "left"):
        return f"{of('l', left)} AS {name(left)}"
    return f"coalesce({of('l', left)}, {of('r', right)}) AS {name(left)}"
