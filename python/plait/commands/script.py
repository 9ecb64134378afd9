# SPDX-License-Identifier: Apache-2.0
"""What a command is given to run: the statements of a script, and the values of parameters."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from plait import sql
from plait.errors import PlaitError

INTEGER = re.compile(r"-?(0|[1-9]\d*)")
DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")
WORDS = {"NULL": None, "TRUE": True, "FALSE": False}


@dataclass(frozen=True)
class Statement:
    """One statement, and the line of its script in which it begins."""

    text: str
    line: int


def statements(script: str) -> list[Statement]:
    r"""Split a script.

    >>> statements("SELECT 1;\nSELECT 2;")
    [Statement(text='SELECT 1', line=1), Statement(text='SELECT 2', line=2)]
    """
    found = []
    end = 0
    # Invariant: the statements before are those of script[:end].
    for text in sql.split(script):
        start = script.index(text, end)
        end = start + len(text)
        found.append(Statement(text, script.count("\n", 0, start) + 1))
    return found


def read(file: str) -> str:
    """Read a script; ``-`` is the standard input."""
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise PlaitError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise PlaitError(f"{file} is not UTF-8: {error}.") from error


def parameter(entry: str) -> tuple[str, object]:
    """Read NAME=VALUE; the value is a number, NULL, TRUE, FALSE, or a text, perhaps in '...'.

    >>> parameter("a=3"), parameter("b=1.50"), parameter("c=null")
    (('a', 3), ('b', Decimal('1.50')), ('c', None))
    >>> parameter("d='3'"), parameter("e=2026-01-31"), parameter("f=007")
    (('d', '3'), ('e', '2026-01-31'), ('f', '007'))
    """
    name, equals, value = entry.partition("=")
    if not equals or not sql.PLAIN.fullmatch(name):
        raise ArgumentTypeError(f"{entry!r} is not NAME=VALUE")
    return name, _value(value)


def _value(text: str) -> object:
    if text.upper() in WORDS:
        return WORDS[text.upper()]
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text):
        return Decimal(text)
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text
