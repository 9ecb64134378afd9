# SPDX-License-Identifier: Apache-2.0
"""Errors of statements as people read them: the sentence, and a caret under the place.

plait: [UNRESOLVED_COLUMN] A column with name `x` cannot be resolved. SQLSTATE: 42703
report.sql, line 3
SELECT x FROM t
^
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.errors import PlaitError

# Where Spark's own message begins to tell the place, and then shows the text or the plan.
PLACE = re.compile(r"[;\s(]*line \d+,? pos(ition)? \d+\)?[;.]?\s*(\n|\Z)|\s*\n\s*== SQL")


def describe(error: PlaitError, text: str, where: str = "", first_line: int = 1) -> str:
    """Tell an error of the statement ``text``, which begins in line ``first_line`` of a script."""
    position: Mapping[str, Any] | None = getattr(error, "position", None)
    at = None if position is None else offset(text, position)
    if position is None or at is None:
        return f"plait: {error}"
    sentence = PLACE.split(str(error), maxsplit=1)[0].strip()
    line_number = text.count("\n", 0, at) + first_line
    place = f"{where}, line {line_number}" if where else f"line {line_number}"
    return f"plait: {sentence}\n{place}\n{marked(text, at, len(position.get('fragment') or 'x'))}"


def offset(text: str, position: Mapping[str, Any]) -> int | None:
    r"""Say which character of a text a position names; None if none.

    >>> offset("SELECT\n  x", {"start": 9, "fragment": "x"})
    9
    >>> offset("a\nbc", {"line": 2, "column": 2})
    3
    """
    if position.get("fragment"):
        return min(int(position.get("start", 0)), len(text))
    if not position.get("line"):
        return None
    lines = text.splitlines(keepends=True)[: int(position["line"]) - 1]
    return min(sum(map(len, lines)) + int(position.get("column") or 1) - 1, len(text))


def marked(text: str, at: int, length: int) -> str:
    r"""Give the line of a text in which ``at`` is, with carets under so many of its characters.

    >>> marked("SELECT 1,\n\tabc", 11, 2)
    '    \tabc\n    \t^^'
    """
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:].partition("\n")[0].rstrip("\r")
    space = "".join("\t" if character == "\t" else " " for character in line[: at - begin])
    carets = "^" * max(1, min(length, len(line) - (at - begin)))
    return f"    {line}\n    {space}{carets}"
