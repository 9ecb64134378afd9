# SPDX-License-Identifier: Apache-2.0
"""The errors of DB-API 2.0, and which of them an error of a server's is.

Warning
Error                     a PlaitError too; has what the server's error has
InterfaceError          the client was called wrongly
DatabaseError
DataError             SQLSTATE 21, 22: a value is none of its type, or out of range
OperationalError      the connection, limits, deadlines, tokens; SQLSTATE 08, 53, 54, 57, 58
IntegrityError        SQLSTATE 23, 27, 44
InternalError         the server or Spark failed; SQLSTATE XX
ProgrammingError      the statement is wrong or not allowed
NotSupportedError     SQLSTATE 0A
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from plait.errors import PlaitError, RemoteError


class Warning(Exception):
    """Something that is worth knowing; Plait raises none."""


class Error(PlaitError):
    """Any error; what a server told of it is that of ``RemoteError``, empty if it told nothing."""

    def __init__(self, message: str, told: RemoteError | None = None) -> None:
        """Keep what the server told."""
        super().__init__(message)
        told = told or RemoteError(message, status="")
        self.status = told.status
        self.condition = told.condition
        self.sql_state = told.sql_state
        self.parameters = told.parameters
        self.position = told.position
        self.operation = told.operation
        self.stack = told.stack


class InterfaceError(Error):
    """The client was called wrongly."""


class DatabaseError(Error):
    """The server says so."""


class DataError(DatabaseError):
    """A value is none of its type, or out of range."""


class OperationalError(DatabaseError):
    """Nothing is wrong with the statement: the connection, a limit, a deadline, the token."""


class IntegrityError(DatabaseError):
    """A constraint does not hold."""


class InternalError(DatabaseError):
    """The server, or its Spark, failed."""


class ProgrammingError(DatabaseError):
    """The statement is wrong, or not allowed; or there is no result to fetch from."""


class NotSupportedError(DatabaseError):
    """Spark or Plait cannot do this."""


# By the first two characters of SQLSTATE; the others are errors of the statement.
CLASSES: dict[str, type[DatabaseError]] = {
    "08": OperationalError,
    "0A": NotSupportedError,
    "21": DataError,
    "22": DataError,
    "23": IntegrityError,
    "27": IntegrityError,
    "44": IntegrityError,
    "53": OperationalError,
    "54": OperationalError,
    "57": OperationalError,
    "58": OperationalError,
    "XX": InternalError,
}

# By gRPC's status, where it says more than SQLSTATE; the others tell of the connection.
STATUSES: dict[str, type[DatabaseError]] = {
    "PERMISSION_DENIED": ProgrammingError,
    "INTERNAL": InternalError,
    "DATA_LOSS": InternalError,
    "UNIMPLEMENTED": NotSupportedError,
}


def kind_of(error: RemoteError) -> type[DatabaseError]:
    """Say which error it is.

    >>> kind_of(RemoteError("1 / 0", status="INVALID_ARGUMENT", sql_state="22012")).__name__
    'DataError'
    >>> kind_of(RemoteError("nobody is there", status="UNAVAILABLE")).__name__
    'OperationalError'
    """
    if error.status == "INVALID_ARGUMENT":
        return CLASSES.get(error.sql_state[:2], ProgrammingError)
    return STATUSES.get(error.status, OperationalError)


@contextmanager
def translated() -> Iterator[None]:
    """Raise errors of Plait's as those of DB-API, with the first as their cause."""
    try:
        yield
    except Error:
        raise
    except RemoteError as error:
        raise kind_of(error)(str(error), error) from error
    except PlaitError as error:
        raise InterfaceError(str(error)) from error
