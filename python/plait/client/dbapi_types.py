# SPDX-License-Identifier: Apache-2.0
"""The types of DB-API 2.0: objects that a column's type code equals, and constructors of values."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyarrow import types

# Name, type code, display size, internal size, precision, scale, whether NULLs may come.
Column = tuple[str, pa.DataType, None, int | None, int | None, int | None, bool]

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
DateFromTicks = datetime.date.fromtimestamp
TimestampFromTicks = datetime.datetime.fromtimestamp
Binary = bytes


def TimeFromTicks(ticks: float) -> datetime.time:
    """Give the local time of day, so many seconds after the epoch."""
    return datetime.datetime.fromtimestamp(ticks).time()


class TypeObject:
    """Some of Arrow's types; equals each of them, and itself.

    >>> pa.int32() == NUMBER, NUMBER == pa.int32(), pa.string() == NUMBER, NUMBER == NUMBER
    (True, True, False, True)
    """

    def __init__(self, name: str, *holds: Callable[[pa.DataType], bool]) -> None:
        """Take the types that one of ``holds`` is true of."""
        self.name = name
        self._holds = holds

    def __eq__(self, other: object) -> bool:
        if isinstance(other, pa.DataType):
            return any(holds(other) for holds in self._holds)
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return self.name


STRING = TypeObject("STRING", types.is_string, types.is_large_string)
BINARY = TypeObject("BINARY", types.is_binary, types.is_large_binary)
NUMBER = TypeObject(
    "NUMBER", types.is_integer, types.is_floating, types.is_decimal, types.is_boolean
)
DATETIME = TypeObject(
    "DATETIME", types.is_date, types.is_time, types.is_timestamp, types.is_duration
)
ROWID = TypeObject("ROWID")


def column(field: Any) -> Column:
    """Describe a column of a result.

    >>> column(pa.field("price", pa.decimal128(10, 2), nullable=False))
    ('price', Decimal128Type(decimal128(10, 2)), None, 16, 10, 2, False)
    """
    kind = field.type
    is_decimal = types.is_decimal(kind)
    precision, scale = (kind.precision, kind.scale) if is_decimal else (None, None)
    is_fixed = types.is_primitive(kind) and not types.is_boolean(kind)
    size = kind.bit_width // 8 if is_fixed or is_decimal else None
    return field.name, kind, None, size, precision, scale, field.nullable
