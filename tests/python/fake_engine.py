# SPDX-License-Identifier: Apache-2.0
"""An engine without Spark: statements are small programs that say which frames come, and when.

rows N        N batches of three rows each
large N       N batches of a row of 100 kB each
wide N        a row of N bytes
hang          nothing, until it is cancelled
fail          a failure of a statement
break         the connection to the JVM ends
burst         what reads the frames has a fault
do            first of all: the columns come last, as those of a command
never         the engine itself raises

A stream is a program too, of which each step is a micro-batch: `rows N` has N rows, `fail` ends it
with a failure; behind the last step it ends, unless that is `wait`.

Validated, `stay` waits until ``engine.go`` is set, `fail` fails, `never` raises, `hang` goes on
until it is cancelled, `do` is a command; each word with a colon is a parameter. A stream that has
`hang` starts for as long.
The catalog has 250 tables, `t000` to `t249`.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plait.server.analysis import Explained, Page, Validated
from plait.server.failure import Failure, Place, from_json
from plait.server.frames import BrokenResult, Columns, Ended, Failed, Frame, Progressed, Rows

if TYPE_CHECKING:
    from plait.server.analysis import Wanted
    from plait.server.engine import Statement
    from plait.server.stream_order import StreamOrder

SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])
PROGRESS = {"stages": 1, "stagesDone": 0, "tasks": 2, "tasksDone": 1, "tasksFailed": 0}

# When streams are started, each at another time.
STARTS = itertools.count(1_772_359_200_000)

FAILURE = {
    "kind": "statement",
    "condition": "UNRESOLVED_COLUMN",
    "sqlState": "42703",
    "message": "There is no column x.",
    "parameters": {"objectName": "`x`"},
    "position": {"line": 1, "column": 8, "start": 7, "stop": 7, "fragment": "x"},
}
SIDES = [
    {
        "join": "Join on a < b",
        "node": "Join",
        "side": "left",
        "prunedBy": "(a < b)",
        "text": "ordered by a",
    },
    {
        "join": "Join on a < b",
        "node": "Join",
        "side": "right",
        "code": "ENDLESS_REACH",
        "arguments": ["right", "b"],
        "sentence": "no comparison ends its reach",
        "text": "ordered by b",
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
    is_deaf: bool = False  # to `cancel`, which raises
    cancelled: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)

    def __iter__(self) -> Iterator[Frame]:
        columns = Columns(SCHEMA.serialize().to_pybytes())
        is_command = self.statement.sql.startswith("do")
        if not is_command:
            yield columns
        rows = 0
        for step in self.statement.sql.split(";"):
            match step.split():
                case ["rows", count]:
                    for number in range(int(count)):
                        self.made += 1
                        rows += 3
                        yield Rows(3, batch(number).serialize().to_pybytes())
                case ["large", count]:
                    large = pa.record_batch([[0], ["x" * 100_000]], schema=SCHEMA)
                    for _ in range(int(count)):
                        rows += 1
                        yield Rows(1, large.serialize().to_pybytes())
                case ["wide", size]:
                    yield Rows(1, b"x" * int(size))
                case ["hang"]:
                    yield Progressed(PROGRESS)
                    self.cancelled.wait(60)
                    raise BrokenResult("closed")
                case ["fail"]:
                    yield Failed(FAILURE)
                    return
                case ["break"]:
                    raise BrokenResult("The JVM is gone.")
                case ["burst"]:
                    raise KeyError("stages")
        if is_command:
            yield columns
        yield Ended({"rows": rows, "bytes": rows * 8, "joins": []})

    def cancel(self) -> None:
        if self.is_deaf:
            raise RuntimeError("the JVM is gone")
        self.cancelled.set()

    def close(self) -> None:
        self.closed.set()


JOIN = {
    "operatorName": "plaitSymmetricHashJoin",
    "memoryUsedBytes": 320,
    "customMetrics": {
        **{
            f"{side}Rows{what}": place
            for side in ("left", "right")
            for place, what in enumerate(("In", "Late", "Stored", "Pruned"))
        },
        **{"pairsByProbingLeft": 8, "pairsByProbingRight": 9, "leftFrontier": 77},
        **{"leftBound": 55, "leftBytesStored": 1000},
    },
}


@dataclass
class FakeStream:
    """A stream, and the newest records of its progress; its steps run when it is told to."""

    order: StreamOrder
    most: int
    records: deque[Mapping[str, Any]] = field(default_factory=deque)
    state: str = "running"
    number: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    started: int = field(default_factory=lambda: next(STARTS))

    def run(self, steps: str) -> None:
        for step in steps.split(";"):
            match step.split():
                case ["rows", count]:
                    self.add(int(count))
                case ["fail"]:
                    self.end("failed")

    def add(self, rows: int) -> None:
        with self.changed:
            self.number += 1
            progress = {
                "batchId": self.number - 1,
                "timestamp": "2026-03-01T10:00:00.000Z",
                "sources": [{"numInputRows": rows}],
                "durationMs": {"addBatch": 9, "triggerExecution": 12},
                "stateOperators": [JOIN],
            }
            self.records.append({"number": self.number, "progress": progress})
            while len(self.records) > self.most:
                self.records.popleft()
            self.changed.notify_all()

    def end(self, state: str) -> None:
        with self.changed:
            if self.state == "running":
                self.state = state
            self.changed.notify_all()

    def told(self) -> dict[str, Any]:
        told = {
            "name": self.order.name,
            "query": "q",
            "state": self.state,
            "started": self.started,
            "ended": 0 if self.state == "running" else 1_772_359_260_000,
            "sink": str((self.order.sink or {}).get("kind", "")),
            "mode": self.order.mode,
            "table": "",
        }
        last = {"last": self.records[-1]} if self.records else {}
        failure = {"failure": FAILURE} if self.state == "failed" else {}
        return told | last | failure

    def news(self, after: int, seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        with self.changed:
            while self.number <= after and self.state == "running" and time.monotonic() < end:
                self.changed.wait(seconds)
            fresh = [record for record in self.records if record["number"] > after]
            return {"records": fresh, "over": self.state != "running", "stream": self.told()}


@dataclass
class FakeEngine:
    """Keeps what it was asked for."""

    stream_records: int = 100
    started: dict[tuple[str, str], FakeStream] = field(default_factory=dict)
    asked: int = 0  # for news of streams
    sources: list[FakeSource] = field(default_factory=list)
    sessions: int = 0
    closed: list[int] = field(default_factory=list)
    looked_at: list[Statement | Wanted] = field(default_factory=list)
    alive: bool = True
    go: threading.Event = field(default_factory=threading.Event)
    hanging: dict[str, threading.Event] = field(default_factory=dict)  # what is looked at for long
    cancelled: list[str] = field(default_factory=list)  # of those

    def open_session(self) -> int:
        self.sessions += 1
        return self.sessions

    def close_session(self, session: int) -> None:
        if not self.alive:
            raise RuntimeError("the JVM is gone")
        self.closed.append(session)

    def start(self, session: int, statement: Statement) -> FakeSource:
        del session
        if statement.sql == "never":
            raise RuntimeError("the engine is broken")
        self.sources.append(FakeSource(statement, is_deaf=not self.alive))
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
        if not (wanted.after or "0").isdecimal():
            raise Failure("request", "INVALID_REQUEST", "`page_token` is none of this server's.")
        first = int(wanted.after or 0)
        tables = [_table(number) for number in range(first, min(250, first + wanted.limit))]
        after = first + wanted.limit
        return Page(tables, str(after) if after < 250 else "")

    def cancel_inquiry(self, operation: str) -> None:
        self.cancelled.append(operation)
        if operation in self.hanging:
            self.hanging[operation].set()

    def _look(self, statement: Statement) -> None:
        if "hang" in statement.sql:
            self.hanging[statement.operation] = threading.Event()
            assert self.hanging[statement.operation].wait(60)
            raise Failure("cancelled", "OPERATION_CANCELED", "The operation was cancelled.")
        if "never" in statement.sql:
            raise RuntimeError("the engine is broken")
        self.looked_at.append(statement)
        if "stay" in statement.sql:
            self.go.wait(10)
        if "fail" in statement.sql:
            raise from_json(FAILURE)

    def start_stream(self, session: int, order: StreamOrder) -> dict[str, Any]:
        del session
        if "hang" in order.statement.sql:
            self._look(order.statement)
        key = (order.statement.owner, order.name)
        if key in self.started and self.started[key].state == "running":
            raise Failure("exists", "STREAM_EXISTS", "A stream of this name runs already.")
        self.started[key] = FakeStream(order, self.stream_records)
        self.started[key].run(order.statement.sql)
        if not order.statement.sql.endswith("wait"):
            self.started[key].end("finished")
        return self.started[key].told()

    def streams(self, owner: str) -> list[dict[str, Any]]:
        return [found.told() for (of, _), found in reversed(self.started.items()) if of == owner]

    def stream_news(self, owner: str, name: str, after: int, seconds: float) -> dict[str, Any]:
        self.asked += 1
        return self._stream(owner, name).news(after, seconds)

    def stop_stream(self, owner: str, name: str) -> dict[str, Any]:
        stream = self._stream(owner, name)
        if stream.state != "running":
            del self.started[owner, name]
        stream.end("stopped")
        return stream.told()

    def running_streams(self) -> int:
        return sum(stream.state == "running" for stream in self.started.values())

    def open_streams(self) -> list[dict[str, Any]]:
        return []

    def close_streams(self) -> None:
        for stream in self.started.values():
            stream.end("stopped")

    def _stream(self, owner: str, name: str) -> FakeStream:
        if (owner, name) not in self.started:
            raise Failure("missing", "STREAM_NOT_FOUND", f"There is no stream {name!r}.")
        return self.started[owner, name]

    def is_alive(self) -> bool:
        return self.alive

    def kill(self) -> None:
        self.alive = False

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
