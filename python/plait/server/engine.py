# SPDX-License-Identifier: Apache-2.0
"""Statements on Spark: sessions of the JVM, and the frames of what runs in them.

The JVM admits a statement, runs it, and writes Arrow to a socket of its own on the loopback
interface; this module only reads there. No row becomes a Python object.
"""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from plait import _jvm
from plait.server.analysis import Explained, Page, Validated, Wanted
from plait.server.failure import from_json
from plait.server.frames import Frame, frames

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from plait.server.config import Server
    from plait.server.items import Source
    from plait.server.stream_order import StreamOrder

# A parameter as the JVM reads it: {"type": "long", "value": "3"}; None is NULL.
Parameter: TypeAlias = Mapping[str, str] | None

# A session of the JVM.
JvmSession: TypeAlias = Any

# What the JVM tells of a stream: see RunningStream.scala.
StreamTold: TypeAlias = Mapping[str, Any]

# {"records": [{"number": 1, "progress": {...}}], "over": False, "stream": StreamTold}
StreamNews: TypeAlias = Mapping[str, Any]

# Seconds within which the JVM answers at its own socket.
PATIENCE = 10.0


@dataclass(frozen=True)
class Statement:
    """What is to be run, and what its caller may do."""

    operation: str
    sql: str
    named: Mapping[str, Parameter]
    positional: Sequence[Parameter]
    scopes: Sequence[str]
    stack: bool = False
    owner: str = ""  # tells callers apart


class Engine(Protocol):
    """What the service needs of Spark; tests bring one of their own."""

    def open_session(self) -> Any:
        """Make a session: temporary views, variables and settings of its own."""
        ...

    def close_session(self, session: Any) -> None:
        """Let go of a session that nothing runs in."""
        ...

    def start(self, session: Any, statement: Statement) -> Source:
        """Run a statement in a session; returns at once."""
        ...

    def validate(self, session: Any, statement: Statement) -> Validated:
        """Tell what a statement is; raises its ``Failure``."""
        ...

    def explain(self, session: Any, statement: Statement) -> Explained:
        """Tell how a statement would run; raises its ``Failure``."""
        ...

    def catalog(self, session: Any, wanted: Wanted) -> Page:
        """Tell of tables; raises a ``Failure``."""
        ...

    def cancel_inquiry(self, operation: str) -> None:
        """End what runs for a statement that is looked at, or a stream that starts, if it does."""
        ...

    def start_stream(self, session: Any, order: StreamOrder) -> StreamTold:
        """Start a stream that lives on without the session; raises its ``Failure``."""
        ...

    def streams(self, owner: str) -> list[StreamTold]:
        """Tell of the streams of an owner, the newest first."""
        ...

    def stream_news(self, owner: str, name: str, after: int, seconds: float) -> StreamNews:
        """Tell what a stream has done since the record ``after``; waits so long for a record."""
        ...

    def stop_stream(self, owner: str, name: str) -> StreamTold:
        """End a stream; one that has ended is forgotten."""
        ...

    def running_streams(self) -> int:
        """Count the streams of all owners that run."""
        ...

    def open_streams(self) -> list[StreamTold]:
        """Take streams from now on, and tell of those of continuous tables, which start again."""
        ...

    def close_streams(self) -> None:
        """End all streams, and take no more."""
        ...

    def versions(self) -> tuple[str, str]:
        """Tell the versions of Plait and Spark."""
        ...

    def is_alive(self) -> bool:
        """Whether it can run statements still; does not raise."""
        ...

    def kill(self) -> None:
        """End the engine, whether it answers or not; who waits for an answer gets an error."""
        ...


class SparkEngine:
    """The engine over a classic PySpark session that has Plait's jar."""

    def __init__(self, spark: SparkSession, limits: Server) -> None:
        """Take ``spark`` as the parent of all sessions; it stays the caller's to stop."""
        self._spark = spark
        self._remote = _jvm.remote(spark)
        self._limits = limits

    def open_session(self) -> JvmSession:
        """Make a session of the JVM: the catalog is shared, all else its own."""
        return _jvm.session(self._spark).newSession()

    def close_session(self, session: JvmSession) -> None:
        """Let the JVM forget a session.

        It would when Python collects the last reference; of those that errors hold in cycles that
        may be never, where nothing else happens.
        """
        _jvm.forget(self._spark, session)

    def start(self, session: JvmSession, statement: Statement) -> Source:
        """Run a statement in the JVM; returns when its frames can be read."""
        # Clients choose their operations' ids, two of them perhaps the same one.
        number = uuid.uuid4().hex
        request = self._request(statement) | {"operation": number}
        port, secret = str(self._remote.start(session, json.dumps(request))).split()
        return JvmSource(self._remote, number, int(port), secret)

    def validate(self, session: JvmSession, statement: Statement) -> Validated:
        """Let the JVM parse, admit and analyse a statement."""
        request = json.dumps(self._request(statement))
        return Validated.of(_answer(self._remote.validate(session, request)))

    def explain(self, session: JvmSession, statement: Statement) -> Explained:
        """Let the JVM plan a statement."""
        request = json.dumps(self._request(statement))
        return Explained(**_answer(self._remote.explain(session, request)))

    def catalog(self, session: JvmSession, wanted: Wanted) -> Page:
        """Let the JVM read its catalog."""
        return Page(**_answer(self._remote.catalog(session, json.dumps(asdict(wanted)))))

    def cancel_inquiry(self, operation: str) -> None:
        """Let the JVM cancel its jobs, and interrupt its thread."""
        self._remote.cancelInquiry(operation)

    def versions(self) -> tuple[str, str]:
        """Tell the versions of Plait and Spark."""
        from plait.extras import version

        return version(), str(self._spark.version)

    def is_alive(self) -> bool:
        """Ask the JVM whether its Spark runs; a JVM that does not answer is as good as dead."""
        try:
            return not self._spark.sparkContext._jsc.sc().isStopped()
        except Exception:
            return False

    def kill(self) -> None:
        """End the JVM."""
        _jvm.kill(self._spark)

    def start_stream(self, session: JvmSession, order: StreamOrder) -> StreamTold:
        """Let the JVM start a stream."""
        request = self._request(order.statement) | order.told()
        return _answer(self._remote.startStream(session, json.dumps(request)))

    def streams(self, owner: str) -> list[StreamTold]:
        """Ask the JVM, which keeps them."""
        return list(_answer(self._remote.streams(owner))["streams"])

    def stream_news(self, owner: str, name: str, after: int, seconds: float) -> StreamNews:
        """Let the JVM wait for a record."""
        millis = round(seconds * 1000)
        return _answer(self._remote.streamNews(owner, name, after, millis))

    def stop_stream(self, owner: str, name: str) -> StreamTold:
        """Let the JVM end a stream."""
        return _answer(self._remote.stopStream(owner, name))

    def running_streams(self) -> int:
        """Let the JVM count them."""
        return int(self._remote.runningStreams())

    def open_streams(self) -> list[StreamTold]:
        """Let the JVM take up the continuous tables of the state folder."""
        request = json.dumps(self._request(Statement("", "", {}, [], [])))
        session = _jvm.session(self._spark)
        return list(_answer(self._remote.openStreams(session, request))["streams"])

    def close_streams(self) -> None:
        """Let the JVM end them."""
        self._remote.closeStreams()

    def running(self) -> int:
        """Count the operations that the JVM runs."""
        return int(self._remote.running())

    def _request(self, statement: Statement) -> dict[str, Any]:
        limits = self._limits
        return {
            "operation": statement.operation,
            "sql": statement.sql,
            "named": dict(statement.named),
            "positional": list(statement.positional),
            "scopes": list(statement.scopes),
            "folders": list(limits.allow_paths),
            "confKeys": list(limits.allow_conf),
            "batchBytes": limits.batch_bytes,
            "maxRows": limits.rows,
            "maxBytes": limits.bytes,
            "stack": statement.stack and limits.stacks,
            "owner": statement.owner,
            "state": limits.state,
            "streams": limits.streams,
            "records": limits.stream_records,
            "running": limits.running,
            "patience": round(limits.queue_seconds * 1000),
        }


def _answer(told: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(told)
    if "failure" in answer:
        raise from_json(answer["failure"])
    return dict(answer["answer"])


class JvmSource:
    """The frames of one operation of the JVM."""

    def __init__(self, remote: Any, operation: str, port: int, secret: str) -> None:
        """Connect, and say the secret."""
        self._remote = remote
        self._operation = operation
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.settimeout(None)
        self._socket.sendall(secret.encode("ascii"))
        self._stream = self._socket.makefile("rb", buffering=1 << 16)

    def __iter__(self) -> Iterator[Frame]:
        """Give the frames, up to the last; waits where the JVM works."""
        return frames(self._stream)

    def cancel(self) -> None:
        """End the statement and its jobs."""
        self._remote.cancel(self._operation)

    def close(self) -> None:
        """End the connection; a thread that reads from it is woken."""
        with suppress(OSError):  # it is closed already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
