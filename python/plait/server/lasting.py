# SPDX-License-Identifier: Apache-2.0
r"""Whether a statement may leave something in its session: a setting, a temporary view, a variable.

>>> may_last("SELECT 1"), may_last("-- zone\nSET spark.sql.session.timeZone = UTC")
(False, True)

It decides whether a client is told that a session has ended, and nothing else: by the first word,
without Spark. What is not known to leave nothing may leave something.
"""

from __future__ import annotations

import re

# What reads and writes rows, and what changes the catalog, which all sessions share.
FLEETING = frozenset(
    (
        *("SELECT", "WITH", "VALUES", "TABLE", "FROM", "SHOW", "DESCRIBE", "DESC", "EXPLAIN"),
        *("INSERT", "MERGE", "UPDATE", "DELETE", "TRUNCATE"),
        *("ALTER", "DROP", "ANALYZE", "REFRESH", "MSCK"),
    )
)

# Of what CREATE makes, that which is not a session's own: no TEMPORARY view, variable or function.
SHARED = re.compile(
    r"\s+(?:OR\s+REPLACE\s+)?"
    r"(?:TABLE|STREAMING|MATERIALIZED|VIEW|SCHEMA|DATABASE|NAMESPACE)\s",
    re.IGNORECASE,
)

# The first word, behind spaces, brackets and comments. Of comments those alone that end where they
# seem to: Spark takes one within another, and goes on behind a backslash at the end of a line.
FIRST = re.compile(
    r"(?:[\s(]|--[^\r\n\\]*(?:[\r\n]|$)|/\*(?:(?!/\*|\*/).)*\*/)*([A-Za-z]*)", re.DOTALL
)


def may_last(sql: str) -> bool:
    """Whether the session may be another one after the statement.

    >>> may_last("/* a */ (SELECT 1)"), may_last("/* a /* b */ SELECT 1 */ SET x = 1")
    (False, True)
    """
    first = FIRST.match(sql)
    word = first[1].upper() if first else ""
    if first and word == "CREATE":
        return SHARED.match(sql, first.end()) is None
    return word not in FLEETING
