# SPDX-License-Identifier: Apache-2.0
"""Python's values as parameters of a statement.

| Python | Spark |
|---|---|
| None | NULL |
| bool, int, float, str, bytes | BOOLEAN, BIGINT, DOUBLE, STRING, BINARY |
| Decimal | DECIMAL |
| date | DATE |
| datetime with a zone | TIMESTAMP |
| datetime without one | TIMESTAMP_NTZ |
| timedelta | INTERVAL DAY TO SECOND |
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal

from plait._proto import plait_pb2
from plait.errors import PlaitError

LONG = 1 << 63


def value(name: str, given: object) -> plait_pb2.Value:  # noqa: PLR0911 - one a type
    """Convert one parameter.

    >>> value("n", 3).long
    3
    >>> value("n", 1 << 80)
    Traceback (most recent call last):
        ...
    plait.errors.PlaitError: The parameter n is beyond 64 bits: send it as a Decimal.
    """
    match given:
        case None:
            return plait_pb2.Value()
        case bool():
            return plait_pb2.Value(boolean=given)
        case int():
            if not -LONG <= given < LONG:
                raise PlaitError(f"The parameter {name} is beyond 64 bits: send it as a Decimal.")
            return plait_pb2.Value(long=given)
        case float():
            return plait_pb2.Value(double=given)
        case str():
            return plait_pb2.Value(string=given)
        case bytes():
            return plait_pb2.Value(binary=given)
        case Decimal():
            return plait_pb2.Value(decimal=f"{given:f}")
        case datetime():
            if given.tzinfo is None:
                return plait_pb2.Value(timestamp_ntz=given.isoformat())
            return plait_pb2.Value(timestamp=given.isoformat())
        case date():
            return plait_pb2.Value(date=given.isoformat())
        case timedelta():
            return plait_pb2.Value(interval_microseconds=given // timedelta(microseconds=1))
    raise PlaitError(
        f"The parameter {name} is a {type(given).__name__}: parameters are None, bool, int, "
        "float, str, bytes, Decimal, date, datetime and timedelta."
    )
