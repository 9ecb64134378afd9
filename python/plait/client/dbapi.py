# SPDX-License-Identifier: Apache-2.0
"""DB-API 2.0 (PEP 249) over a client: for programs that speak to any database.

import plait.client.dbapi as plait_db

with plait_db.connect("localhost:15110") as connection:
    frame = pandas.read_sql("SELECT * FROM t WHERE k = ?", connection, params=["a"])

1. Parameters are positional, for `?`, or a dict, for `:name`.
2. There are no transactions: each statement stands once it has run. `commit` does nothing,
   `rollback` raises ``NotSupportedError``.
3. Rows are read from the server while they are fetched; `rowcount` is -1 until the last one.
4. The code of a column's type in `description` is its Arrow type; it equals the type object that
   it belongs to, as in ``cursor.description[0][1] == NUMBER``.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from plait.client.client import Client
from plait.client.closing import Closing
from plait.client.dbapi_errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    translated,
)
from plait.client.dbapi_types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Column,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    TypeObject,
    column,
)
from plait.client.progress import Show

if TYPE_CHECKING:
    from plait.client import cursor as remote
    from plait.client.call import Parameters
    from plait.client.row import Row
    from plait.client.tls import Tls

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "TypeObject",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

apilevel = "2.0"
threadsafety = 2  # threads may share connections, and not cursors
paramstyle = "qmark"


def connect(
    address: str,
    *,
    token: str | None = None,
    tls: bool | Tls = False,
    session: str | None = None,
    timeout: float | None = None,
) -> Connection:
    """Connect to the server at ``address``, "host:port"; it is called at the first statement.

    The words are those of `plait.client.Client`.
    """
    with translated():
        client = Client(
            address, token=token, tls=tls, session=session, timeout=timeout, progress=Show.NEVER
        )
    return Connection(client)


class Connection(Closing):
    """A client's session. Left as a context, it is closed; there is nothing to commit."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(self, client: Client) -> None:
        """Own a client: it is closed with the connection."""
        self._client: Client | None = client

    @property
    def client(self) -> Client:
        """The client; raises ``InterfaceError`` once the connection is closed."""
        if self._client is None:
            raise InterfaceError("The connection is closed.")
        return self._client

    def cursor(self) -> Cursor:
        """Make a cursor."""
        _ = self.client
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: what has run stands."""
        _ = self.client

    def rollback(self) -> None:
        """Raise ``NotSupportedError``: what has run stands."""
        raise NotSupportedError("There are no transactions: what has run cannot be rolled back.")

    def close(self) -> None:
        """Close it; statements that still run are cancelled."""
        if self._client is not None:
            self._client.close()
            self._client = None


class Cursor(Closing):
    """Runs statements one after the other; a new one ends that before."""

    def __init__(self, connection: Connection) -> None:
        """Make a cursor that has run nothing."""
        self.connection = connection
        self.arraysize = 1
        self.description: list[Column] | None = None
        self.rowcount = -1
        self._result: remote.Cursor | None = None
        self._rows: Iterator[Row] = iter(())
        self._closed = False

    def execute(self, operation: str, parameters: Parameters | None = None) -> Cursor:
        """Run a statement, up to its columns; one that gives none has run to its end."""
        self._end()
        client = self._client()
        with translated():
            self._result = client.execute(operation, parameters or ())
            columns = [column(field) for field in self._result.schema]
        self._rows = iter(self._result)
        if columns:
            self.description = columns
        else:
            self._rest()
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Parameters]) -> Cursor:
        """Run a statement once for each set of parameters; rows that it gives are dropped."""
        for parameters in seq_of_parameters:
            self.execute(operation, parameters)
            self._rest()
        self._end()
        return self

    def fetchone(self) -> Row | None:
        """Give the next row, None after the last."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """Give the next ``size`` rows, ``arraysize`` if None; fewer only at the end."""
        self._has_rows()
        wanted = self.arraysize if size is None else size
        with translated():
            rows = list(itertools.islice(self._rows, wanted))
            if len(rows) < wanted:
                self._count()
        return rows

    def fetchall(self) -> list[Row]:
        """Give the rows that are left."""
        self._has_rows()
        return self._rest()

    def setinputsizes(self, sizes: object) -> None:
        """Do nothing: a value goes by its own type."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: values come whole."""

    def close(self) -> None:
        """Close it; a statement that still runs is cancelled."""
        self._end()
        self._closed = True

    def __iter__(self) -> Iterator[Row]:
        """Give the rows that are left, as they come."""
        while (row := self.fetchone()) is not None:
            yield row

    def _client(self) -> Client:
        if self._closed:
            raise InterfaceError("The cursor is closed.")
        return self.connection.client

    def _has_rows(self) -> None:
        self._client()
        if self.description is None:
            raise ProgrammingError("There are no rows to fetch: execute a query first.")

    def _rest(self) -> list[Row]:
        with translated():
            rows = list(self._rows)
            self._count()
        return rows

    def _count(self) -> None:
        if self._result is not None and self.description is not None:
            self.rowcount = self._result.counters["rows"]

    def _end(self) -> None:
        if self._result is not None:
            self._result.close()
        self._result, self._rows = None, iter(())
        self.description, self.rowcount = None, -1
