# SPDX-License-Identifier: Apache-2.0
"""The two sides of a join: their columns and keys, and the query that is written of them.

    left  k, ts, price       right  k, ts, bid        by k, how "left"
    SELECT l.`k`, l.`ts` AS `ts_x`, l.`price`, r.`ts` AS `ts_y`, r.`bid` FROM ...

The sides are ``l`` and ``r`` in the query; ``{l}`` and ``{r}`` are where Spark puts the DataFrames,
so all other braces of a query's text are doubled: names by ``name`` and ``of``, the rest by
``distance`` and ``braced``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from plait import _jvm
from plait.errors import PlaitError
from plait.sql import literal, quote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
OF_LEFT = ("semi", "anti")
# By `closed`: what a value is of its lower end, and of its upper one.
ENDS = {"both": (">=", "<="), "left": (">=", "<"), "right": (">", "<="), "neither": (">", "<")}


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


def distance(parameter: str, value: Distance) -> str:
    """Return a distance as SQL; texts are SQL already.

    >>> print(distance("tolerance", 5), distance("tolerance", "INTERVAL 5 SECONDS"))
    5 INTERVAL 5 SECONDS
    """
    if isinstance(value, str):
        if not value.strip():
            raise PlaitError(f"{parameter} is empty: write SQL as 'INTERVAL 5 SECONDS'.")
        return braced(value)
    if value is None or isinstance(value, bool):
        raise PlaitError(f"{parameter} is {value!r}: a number, a timedelta or SQL text is needed.")
    return literal(value)


def names(value: Names | None) -> list[str]:
    """Return one name, several or none as a list."""
    return [value] if isinstance(value, str) else list(value or ())


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
    kind = f"{type(given).__module__}.{type(given).__name__}"
    hint = ": make one by spark.createDataFrame" if kind.startswith("pandas.") else ""
    return f"{side} is no DataFrame of Spark, but of type {kind}{hint}."


class Sides:
    """The columns of two DataFrames, and which of them the join is by."""

    def __init__(self, left: DataFrame, right: DataFrame) -> None:
        """Look at the columns of both, which no row is read for."""
        for side, df in (("left", left), ("right", right)):
            if not hasattr(df, "sparkSession") or not hasattr(df, "columns"):
                raise PlaitError(_no_data_frame(side, df))
        _jvm.require(left.sparkSession)
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

    def column(self, side: str, called: str, parameter: str) -> str:
        """Return the name as the side writes it, or say which columns there are."""
        columns = self.columns[side]
        for column in columns:
            if self._fold(called) == self._fold(column):
                return column
        raise PlaitError(
            f"The {side} side has no column {called!r}, which {parameter} names: "
            f"it has {', '.join(columns)}."
        )

    def pairs(
        self, parameter: str, both: Names | None, left: Names | None, right: Names | None
    ) -> list[Key]:
        """Return the pairs of columns that ``by``, or ``left_by`` and ``right_by``, name."""
        if both is not None and (left is not None or right is not None):
            raise PlaitError(
                f"{parameter} names columns of both sides: give either {parameter}, or "
                f"left_{parameter} and right_{parameter}."
            )
        of_left, of_right = names(left), names(right)
        if len(of_left) != len(of_right):
            raise PlaitError(
                f"left_{parameter} names {len(of_left)} columns and right_{parameter} "
                f"{len(of_right)}: each column of one has its partner in the other."
            )
        keys = [
            Key(self.column("left", x, parameter), self.column("right", x, parameter), merged=True)
            for x in names(both)
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
        return self.left.sparkSession.sql(query, l=self.left, r=self.right)


def _merged(how: str, left: str, right: str) -> str:
    # Where the left side has it, COALESCE would only hide from Spark whose column it is.
    if how in ("inner", "left"):
        return f"{of('l', left)} AS {name(left)}"
    return f"coalesce({of('l', left)}, {of('r', right)}) AS {name(left)}"
