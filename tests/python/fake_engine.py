# SPDX-License-Identifier: Apache-2.0
"""An engine without Spark: statements are small programs that say which frames come, and when.

rows N        N batches of three rows each
hang          nothing, until it is cancelled
fail          a failure of a statement
break         the connection to the JVM ends
never         the engine itself raises

Validated, `fail` fails, `never` raises, `do` is a command; each word with a colon is a parameter.
The catalog has 250 tables, `t000` to `t249`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from plait.server.analysis import Explained, Page, Validated
from plait.server.failure import Place, from_json
from plait.server.frames import BrokenResult, Columns, Ended, Failed, Frame, Progressed, Rows

if TYPE_CHECKING:
    from plait.server.analysis import Wanted
    from plait.server.engine import Statement

SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])
PROGRESS = {"stages": 1, "stagesDone": 0, "tasks": 2, "tasksDone": 1, "tasksFailed": 0}


FAILURE = {
    "kind": "statement",
    "condition": "UNRESOLVED_COLUMN",
    "sqlState": "42703",
    "message": "There is no column x.",
    "parameters": {"objectName": "`x`"},
    "position": {"line": 1, "column": 8, "start": 7, "stop": 7, "fragment": "x"},
}
SIDES = [
    {"join": "Join on a < b", "node": "Join", "side": "left", "prunedBy": "(a < b)"},
    {
        "join": "Join on a < b",
        "node": "Join",
        "side": "right",
        "code": "ENDLESS_REACH",
        "arguments": ["right", "b"],
        "sentence": "no comparison ends its reach",
    },
]


def batch(number: int) -> pa.RecordBatch:
    """Make the batch of that number: rows 3n, 3n + 1 and 3n + 2."""
    values = [number * 3 + place for place in range(3)]
    return pa.record_batch([values, [f"row {value}" for value in values]], schema=SCHEMA)


@dataclass
class FakeSource:
    """The frames of a program."""

    statement: Statement
    made: int = 0
    cancelled: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def __iter__(self) -> Iterator[Frame]:
        yield Columns(SCHEMA.serialize().to_pybytes())
        rows = 0
        for step in self.statement.sql.split(";"):
            match step.split():
                case ["rows", count]:
                    for number in range(int(count)):
                        self.made += 1
                        rows += 3
                        yield Rows(3, batch(number).serialize().to_pybytes())
                case ["hang"]:
                    yield Progressed(PROGRESS)
                    self.cancelled.wait(60)
                    raise BrokenResult("closed")
                case ["fail"]:
                    yield Failed(FAILURE)
                    return
                case ["break"]:
                    raise BrokenResult("The JVM is gone.")
        yield Ended({"rows": rows, "bytes": rows * 8, "joins": []})

    def cancel(self) -> None:
        self.cancelled.set()

    def close(self) -> None:
        self.closed.set()


@dataclass
class FakeEngine:
    """Keeps what it was asked for."""

    sources: list[FakeSource] = field(default_factory=list)
    sessions: int = 0
    looked_at: list[Statement | Wanted] = field(default_factory=list)

    def open_session(self) -> int:
        self.sessions += 1
        return self.sessions

    def start(self, session: int, statement: Statement) -> FakeSource:
        del session
        if statement.sql == "never":
            raise RuntimeError("the engine is broken")
        self.sources.append(FakeSource(statement))
        return self.sources[-1]

    def validate(self, session: int, statement: Statement) -> Validated:
        del session
        self._look(statement)
        names = [word[1:] for word in statement.sql.split() if word.startswith(":")]
        parameters = [(name, Place(1, 1, 0, len(name), f":{name}")) for name in names]
        is_command = statement.sql.startswith("do")
        return Validated(is_command, SCHEMA.serialize().to_pybytes(), parameters)

    def explain(self, session: int, statement: Statement) -> Explained:
        del session
        self._look(statement)
        return Explained("== Physical Plan ==", "Join on a < b ...", SIDES)

    def catalog(self, session: int, wanted: Wanted) -> Page:
        del session
        self.looked_at.append(wanted)
        first = int(wanted.after or 0)
        tables = [_table(number) for number in range(first, min(250, first + wanted.limit))]
        after = first + wanted.limit
        return Page(tables, str(after) if after < 250 else "")

    def _look(self, statement: Statement) -> None:
        if "never" in statement.sql:
            raise RuntimeError("the engine is broken")
        self.looked_at.append(statement)
        if "fail" in statement.sql:
            raise from_json(FAILURE)

    def versions(self) -> tuple[str, str]:
        return "0.1", "4.3.0"


def _table(number: int) -> dict[str, object]:
    column = {"name": "n", "type": "BIGINT", "nullable": True, "comment": "a number"}
    return {
        "catalog": "spark_catalog",
        "database": "default",
        "name": f"t{number:03}",
        "kind": "table",
        "comment": "",
        "columns": [column],
    }
