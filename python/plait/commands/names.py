# SPDX-License-Identifier: Apache-2.0
"""The tables and columns that a prompt completes, asked for by SQL when they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from plait.errors import PlaitError, RemoteError
from plait.sql import quote

Ask = Callable[[str], list[tuple[Any, ...]]]

# Parts of what may be names of tables, with and without backquotes.
WORD = re.compile(r"[\w.]+|`[^`]+`")


class Names:
    """Names of the session; those that cannot be had are left out."""

    def __init__(self, ask: Ask) -> None:
        """Ask by ``ask``, which runs a query and gives its rows."""
        self._ask = ask
        self._tables: list[str] | None = None
        self._columns: dict[str, list[str]] = {}
        self._ended: RemoteError | None = None

    def of(self, text: str) -> list[str]:
        """Give all tables, and the columns of those that ``text`` speaks of.

        >>> rows = {"SHOW TABLES": [("", "t", True)], "SHOW COLUMNS IN `t`": [("a",), ("b",)]}
        >>> Names(rows.__getitem__).of("SELECT  FROM T")
        ['t', 'a', 'b']
        """
        words = {word.strip("`").upper() for word in WORD.findall(text)}
        tables = self.tables()
        return tables + [
            column
            for table in tables
            if table.upper() in words
            for column in self._columns_of(table)
        ]

    def tables(self) -> list[str]:
        """Give the tables and views."""
        if self._tables is None:
            self._tables = [str(row[1]) for row in self._asked("SHOW TABLES")]
        return self._tables

    def check(self) -> None:
        """Raise that the session has ended, if a question here was the first to hear it.

        The server says so once, to whoever asks: not to people who type, if to their completion.
        """
        ended, self._ended = self._ended, None
        if ended is not None:
            raise ended

    def forget(self) -> None:
        """Ask anew: a statement has run, and may have changed them."""
        self._tables = None
        self._columns.clear()

    def _columns_of(self, table: str) -> list[str]:
        if table not in self._columns:
            rows = self._asked(f"SHOW COLUMNS IN {quote(table)}")
            self._columns[table] = [str(row[0]) for row in rows]
        return self._columns[table]

    def _asked(self, query: str) -> list[tuple[Any, ...]]:
        try:
            return self._ask(query)
        except PlaitError as error:
            if isinstance(error, RemoteError) and error.condition == "SESSION_ENDED":
                self._ended = error
            return []
