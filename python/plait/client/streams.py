# SPDX-License-Identifier: Apache-2.0
"""Streams as a client asks for them and as a server tells of them; nothing here calls anybody.

>>> request("s", "SELECT * FROM STREAM t", path="/data/out", checkpoint="/data/c").files.format
'parquet'
>>> request("s", "SELECT * FROM STREAM t", trigger="once")
Traceback (most recent call last):
    ...
plait.errors.PlaitError: There is no trigger 'once', which would end in the middle of what is \
there: say trigger="available now".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from plait._proto import plait_pb2
from plait.client.call import Parameters, fill, statement
from plait.client.failure import from_detail
from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.errors import RemoteError

MODES = ("append", "update", "complete")
NOW = "available now"
INTERVAL = re.compile(r"(\d+(?:\.\d+)?) *(ms|milliseconds?|s|seconds?|min|minutes?|h|hours?)")
MILLIS = {"m": 60_000, "s": 1000, "h": 3_600_000}


@dataclass(frozen=True)
class StreamSide:
    """One side of one of Plait's joins in one micro-batch, in the words of `plait.stream_report`.

    ``frontier`` and ``bound`` are numbers, microseconds of a time, and None if nothing is known.
    """

    join: int
    side: str
    rows_in: int
    rows_late: int
    rows_stored: int
    rows_pruned: int
    pairs: int
    frontier: int | None
    state_bytes: int
    bound: int | None
    bytes_stored: int


@dataclass(frozen=True)
class StreamRecord:
    """What a stream did in one micro-batch.

    ``number`` grows with each record since the stream was ``started``; ``progress`` is Spark's, as
    its JSON says, so that a list of them makes a `plait.stream_report`.
    """

    number: int
    batch: int
    time: datetime
    rows_in: int
    duration: timedelta
    sides: tuple[StreamSide, ...]
    progress: Mapping[str, Any] = field(repr=False)
    started: datetime

    @classmethod
    def of(cls, told: plait_pb2.StreamRecord) -> StreamRecord:
        """Read the server's message."""
        return cls(
            told.number,
            told.batch,
            datetime.fromtimestamp(told.time / 1000, UTC),
            told.rows_in,
            timedelta(milliseconds=told.milliseconds),
            tuple(map(_side, told.sides)),
            json.loads(told.json) if told.json else {},
            datetime.fromtimestamp(told.started / 1000, UTC),
        )


@dataclass(frozen=True)
class StreamStatus:
    """A stream: ``state`` is running, finished, stopped or failed.

    ``sink`` says where its rows go, for people; ``table`` is that of a CREATE STREAMING TABLE, else
    empty; ``last`` is its newest record, without Spark's progress; ``error`` is why it failed.
    """

    name: str
    query: str
    state: str
    started: datetime
    ended: datetime | None
    sink: str
    mode: str
    table: str
    last: StreamRecord | None
    error: RemoteError | None

    @property
    def is_end(self) -> bool:
        """Whether it runs no more."""
        return self.state != "running"

    @classmethod
    def of(cls, told: plait_pb2.Stream) -> StreamStatus:
        """Read the server's message."""
        error = told.error
        return cls(
            told.stream,
            told.query,
            plait_pb2.StreamState.Name(told.state).removeprefix("STREAM_STATE_").lower(),
            datetime.fromtimestamp(told.started / 1000, UTC),
            datetime.fromtimestamp(told.ended / 1000, UTC) if told.ended else None,
            told.sink,
            plait_pb2.OutputMode.Name(told.mode).removeprefix("OUTPUT_MODE_").lower(),
            told.table,
            StreamRecord.of(told.last) if told.HasField("last") else None,
            from_detail(error.detail, error.message, error.status)
            if told.HasField("error")
            else None,
        )


class StreamSettings(TypedDict, total=False):
    """What a client may say of a stream; see `plait.client.Client.start_stream`."""

    name: str
    table: str
    path: str
    format: str
    options: Mapping[str, object]
    nowhere: bool
    checkpoint: str
    trigger: str | timedelta
    mode: str
    stack: bool


def request(
    session: str, text: str, parameters: Parameters = (), **settings: Unpack[StreamSettings]
) -> plait_pb2.StartStreamRequest:
    """Make the request to start a stream."""
    if unknown := set(settings) - set(StreamSettings.__annotations__):
        raise PlaitError(
            f"A stream has no {', '.join(sorted(unknown))}; it takes "
            f"{', '.join(StreamSettings.__annotations__)}."
        )
    mode = settings.get("mode", "append")
    if mode not in MODES:
        raise PlaitError(f"There is no mode {mode!r}: modes are {', '.join(MODES)}.")
    made = plait_pb2.StartStreamRequest(
        session=session,
        sql=statement(text),
        stream=settings.get("name", ""),
        checkpoint=settings.get("checkpoint", ""),
        mode=f"OUTPUT_MODE_{mode.upper()}",
        stack=settings.get("stack", False),
    )
    _set_sink(made, settings)
    _set_trigger(made, settings.get("trigger"))
    fill(made, parameters)
    return made


def progress_request(
    stream: str, after: int | StreamRecord, *, kept_only: bool
) -> plait_pb2.StreamProgressRequest:
    """Make the request for the records after one, which may be of the stream as it was before."""
    if not isinstance(after, StreamRecord) and (not isinstance(after, int) or after < 0):
        raise PlaitError(f"after is a record, or its number, 0 for all that are kept: not {after}.")
    if isinstance(after, int):
        return plait_pb2.StreamProgressRequest(stream=stream, after=after, kept_only=kept_only)
    return plait_pb2.StreamProgressRequest(
        stream=stream,
        after=after.number,
        kept_only=kept_only,
        started=round(after.started.timestamp() * 1000),
    )


def millis(interval: str | timedelta) -> int:
    """Read an interval.

    >>> millis("1.5 seconds"), millis("2 min"), millis("200ms"), millis(timedelta(hours=1))
    (1500, 120000, 200, 3600000)
    """
    if isinstance(interval, timedelta):
        return interval // timedelta(milliseconds=1)
    found = INTERVAL.fullmatch(interval.strip().lower())
    if found is None:
        raise PlaitError(
            f"There is no trigger {interval!r}: say an interval as '5 seconds', or '{NOW}'."
        )
    unit = 1 if found[2].startswith(("ms", "mill")) else MILLIS[found[2][0]]
    return round(float(found[1]) * unit)


def _set_sink(made: plait_pb2.StartStreamRequest, settings: StreamSettings) -> None:
    table, path = settings.get("table"), settings.get("path")
    nowhere = settings.get("nowhere", False)
    if sum((bool(table), bool(path), nowhere)) > 1:
        raise PlaitError("The rows of a stream go to a table, to a path, or nowhere: say one.")
    if table:
        made.table = table
    elif path:
        options = {key: _option(value) for key, value in settings.get("options", {}).items()}
        files = plait_pb2.FileSink(
            format=settings.get("format", "parquet"), path=path, options=options
        )
        made.files.CopyFrom(files)
    elif nowhere:
        made.nowhere.SetInParent()


def _set_trigger(made: plait_pb2.StartStreamRequest, trigger: str | timedelta | None) -> None:
    if trigger == "once":
        raise PlaitError(
            "There is no trigger 'once', which would end in the middle of what is there: "
            f'say trigger="{NOW}".'
        )
    if trigger == NOW:
        made.trigger.available_now.SetInParent()
    elif trigger is not None:
        made.trigger.every_milliseconds = millis(trigger)


def _option(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _side(told: plait_pb2.StreamSide) -> StreamSide:
    return StreamSide(
        told.join,
        told.side,
        told.rows_in,
        told.rows_late,
        told.rows_stored,
        told.rows_pruned,
        told.pairs,
        told.frontier or None,
        told.state_bytes,
        told.bound or None,
        told.bytes_stored,
    )
