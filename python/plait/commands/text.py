# SPDX-License-Identifier: Apache-2.0
r"""Values of a result as text for people, as `plait sql` and `plait shell` show them.

1. NULL is ``NULL``; a text that reads so is ``'NULL'``.
2. What would move the cursor of a terminal is shown as an escape, ``\\n``.
3. Binary values are hexadecimal, intervals ``2 03:04:05.000006``, structs ``{a: 1}``, maps
   ``{k -> 1}``.
"""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import date, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any
from unicodedata import category, combining, east_asian_width

import pyarrow as pa
from pyarrow import types


def written(value: Any, kind: pa.DataType) -> str:  # noqa: PLR0911 - one a type
    r"""Write one value.

    >>> written(None, pa.string()), written("NULL", pa.string()), written("a\nb", pa.string())
    ('NULL', "'NULL'", 'a\\nb')
    >>> written([1, None], pa.list_(pa.int64()))
    '[1, NULL]'
    >>> written([("k", True)], pa.map_(pa.string(), pa.bool_()))
    '{k -> true}'
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case bytes():
            return f"0x{value.hex()}"
        case timedelta():
            return interval(value)
        case str():
            return "'NULL'" if value == "NULL" else _shown(value)
        case dict():
            parts = (f"{f.name}: {written(value[f.name], f.type)}" for f in kind)
            return f"{{{', '.join(parts)}}}"
        case list() if types.is_map(kind):
            pairs = (
                f"{written(key, kind.key_type)} -> {written(item, kind.item_type)}"
                for key, item in value
            )
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{', '.join(written(item, kind.value_type) for item in value)}]"
    return str(value)


def interval(value: timedelta) -> str:
    """Write an interval of days and less.

    >>> interval(timedelta(days=2, microseconds=5)), interval(-timedelta(minutes=5))
    ('2 00:00:00.000005', '-0 00:05:00')
    """
    size = abs(value)
    rest = size - timedelta(days=size.days)
    hours, below = divmod(rest.seconds, 3600)
    fraction = f".{rest.microseconds:06d}" if rest.microseconds else ""
    clock = f"{hours:02}:{below // 60:02}:{below % 60:02}{fraction}"
    return f"{'-' if value < timedelta() else ''}{size.days} {clock}"


def jsonable(value: Any, kind: pa.DataType) -> Any:  # noqa: PLR0911 - one a type
    """Give a value as JSON has it: decimals, times and intervals are texts, binary is base64.

    >>> jsonable(Decimal("1.50"), pa.decimal128(3, 2)), jsonable(float("nan"), pa.float64())
    ('1.50', 'NaN')
    """
    match value:
        case bytes():
            return b64encode(value).decode()
        case timedelta():
            return interval(value)
        case Decimal() | date() | time():
            return str(value)
        case float() if not isfinite(value):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
        case dict():
            return {f.name: jsonable(value[f.name], f.type) for f in kind}
        case list() if types.is_map(kind):
            return {_key(key): jsonable(item, kind.item_type) for key, item in value}
        case list():
            return [jsonable(item, kind.value_type) for item in value]
    return value


def width(text: str) -> int:
    """Count the columns of a terminal that a text takes.

    >>> width("ab"), width("名前"), width("e\u0301")
    (2, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def cut(text: str, columns: int) -> str:
    """Shorten a text to so many columns, the last of which says that it was longer.

    >>> cut("abcdef", 4), cut("abcd", 4)
    ('abc…', 'abcd')
    """
    if width(text) <= columns:
        return text
    kept, left = "", columns - 1
    for character in text:
        left -= width(character)
        if left < 0:
            break
        kept += character
    return f"{kept}…"


def _shown(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _moves(c) else c for c in text)


def _moves(character: str) -> bool:
    return category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key, default=str)
