# SPDX-License-Identifier: Apache-2.0
"""Why an operation failed, and the gRPC status that says so.

| kind | status | SQLSTATE | is |
|---|---|---|---|
| statement | INVALID_ARGUMENT | 42000 | it cannot be parsed or analysed, or a value made it fail |
| refused | PERMISSION_DENIED | 42501 | the caller's token does not allow it |
| limit | RESOURCE_EXHAUSTED | 54000 | the result or the queue is too long |
| cancelled | CANCELLED | 57014 | its client, or the server's end, has stopped it |
| deadline | DEADLINE_EXCEEDED | 57014 | the call's deadline has passed |
| request | INVALID_ARGUMENT | 22023 | the request itself is wrong |
| unauthenticated | UNAUTHENTICATED | 28000 | no token, or one that the server does not know |
| missing | NOT_FOUND | 42704 | there is no such operation |
| exists | ALREADY_EXISTS | 42710 | there is one of that id already |
| other | FAILED_PRECONDITION | 55000 | it is meant for another server or session than there is |
| behind | OUT_OF_RANGE | 24000 | the batch that is asked for is not kept any more |
| displaced | ABORTED | 55006 | another call reads the operation now |
| ending | UNAVAILABLE | 57P01 | the server is shutting down |
| internal | INTERNAL | XX000 | anything else |

An error of Spark's has its own SQLSTATE, and only one without has that of its kind: up to 42 of the
standard, from 54 on as in Db2 and PostgreSQL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plait.errors import PlaitError

STATES = {
    "statement": "42000",
    "refused": "42501",
    "limit": "54000",
    "cancelled": "57014",
    "deadline": "57014",
    "request": "22023",
    "unauthenticated": "28000",
    "missing": "42704",
    "exists": "42710",
    "other": "55000",
    "behind": "24000",
    "displaced": "55006",
    "ending": "57P01",
    "internal": "XX000",
}


@dataclass(frozen=True)
class Place:
    """A place in a statement: line and column from 1 (0: not known), characters from 0."""

    line: int = 0
    column: int = 0
    start: int = 0
    stop: int = 0
    fragment: str = ""


@dataclass(eq=False)
class Failure(PlaitError):
    """What an operation or a call failed with; ``condition`` is the error's name."""

    kind: str
    condition: str
    message: str
    sql_state: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    place: Place | None = None
    stack: str = ""

    def __str__(self) -> str:
        return self.message


def from_json(told: dict[str, Any]) -> Failure:
    """Make a failure of what the JVM tells.

    >>> from_json({"kind": "refused", "condition": "PATH_NOT_ALLOWED", "message": "no"}).kind
    'refused'
    """
    place = told.get("position")
    return Failure(
        told["kind"],
        told.get("condition", ""),
        told["message"],
        told.get("sqlState", ""),
        {name: _text(value) for name, value in told.get("parameters", {}).items()},
        None if place is None else Place(**place),
        told.get("stack", ""),
    )


def _text(parameter: str | None) -> str:
    """Write a parameter that has no value as Spark's messages do."""
    return "null" if parameter is None else parameter


def request(message: str) -> Failure:
    """Say what is wrong with a request."""
    return Failure("request", "INVALID_REQUEST", message)


def missing(operation: str, remembered_seconds: float) -> Failure:
    """Say that there is no such operation, to this caller, and how long one is known at least."""
    return Failure(
        "missing",
        "OPERATION_NOT_FOUND",
        f"There is no operation {operation!r} in this session: it never began here, it was ended "
        "and forgotten, or the server has been restarted.",
        parameters={"remembered_seconds": f"{remembered_seconds:g}"},
    )
