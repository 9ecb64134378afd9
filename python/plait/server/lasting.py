# SPDX-License-Identifier: Apache-2.0
r"""Whether a statement may leave something in its session: a setting, a temporary view, a variable.

>>> may_last("SELECT 1"), may_last("-- zone\nSET spark.sql.session.timeZone = UTC")
(False, True)

It decides whether a client is told that a session has ended, and nothing else: by the first word,
without Spark. What is not known to leave nothing may leave something.
"""

from __future__ import annotations

import re

# What rows are read or written by; none of it leaves anything in a session.
FLEETING = frozenset(
    ("SELECT", "WITH", "VALUES", "TABLE", "FROM", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "INSERT")
)

# Spaces, brackets and comments. Of comments those alone that end where they seem to: Spark takes
# one within another, and goes on behind a backslash at the end of a line.
BEFORE = re.compile(r"(?:[\s(]|--[^\r\n\\]*(?:[\r\n]|$)|/\*(?:(?!/\*|\*/).)*\*/)*", re.DOTALL)
WORD = re.compile(r"[A-Za-z]*")


def may_last(sql: str) -> bool:
    """Whether the session may be another one after the statement.

    >>> may_last("/* a */ (SELECT 1)"), may_last("/* a /* b */ SELECT 1 */ SET x = 1")
    (False, True)
    """
    before = BEFORE.match(sql)
    word = WORD.match(sql, before.end() if before else 0)
    return word is None or word[0].upper() not in FLEETING
