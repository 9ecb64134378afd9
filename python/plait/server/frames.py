# SPDX-License-Identifier: Apache-2.0
"""The frames in which the JVM hands a result over: kind, length and payload of each.

Examples, with an empty payload and with a batch of three rows:

>>> import io
>>> list(frames(io.BytesIO(b"E" + (2).to_bytes(4, "big") + b"{}")))
[Ended(counts={})]
>>> batch = (3).to_bytes(8, "big") + b"arrow"
>>> next(frames(io.BytesIO(b"B" + len(batch).to_bytes(4, "big") + batch)))
Rows(rows=3, arrow=b'arrow')
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from plait.errors import PlaitError


@dataclass(frozen=True)
class Columns:
    """The schema of the result, an Arrow IPC message."""

    arrow: bytes


@dataclass(frozen=True)
class Rows:
    """So many rows of the result, an Arrow IPC message."""

    rows: int
    arrow: bytes


@dataclass(frozen=True)
class Progressed:
    """How far the jobs are: numbers by name."""

    counts: dict[str, int]


@dataclass(frozen=True)
class Ended:
    """The result is whole; what was counted."""

    counts: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """There is no more of the result; why."""

    failure: dict[str, Any]


Frame = Columns | Rows | Progressed | Ended | Failed


class BrokenResult(PlaitError):
    """The JVM stopped in the middle of a result."""


class Readable(Protocol):
    """Something that bytes are read from; fewer than asked for only at its end."""

    def read(self, length: int, /) -> bytes | None:
        """Read so many bytes."""
        ...


def frames(stream: Readable) -> Iterator[Frame]:
    """Read frames up to the one that ends the result; raise ``BrokenResult`` if none does."""
    while True:
        head = _exactly(stream, 5)
        frame = _frame(head[:1], _exactly(stream, int.from_bytes(head[1:], "big")))
        yield frame
        if isinstance(frame, Ended | Failed):
            return


def _exactly(stream: Readable, length: int) -> bytes:
    read = stream.read(length)
    if read is None or len(read) < length:
        raise BrokenResult("The connection to Spark's JVM broke in the middle of a result.")
    return read


def _frame(kind: bytes, payload: bytes) -> Frame:
    match kind:
        case b"S":
            return Columns(payload)
        case b"B":
            return Rows(int.from_bytes(payload[:8], "big"), payload[8:])
        case b"P":
            return Progressed(json.loads(payload))
        case b"E":
            return Ended(json.loads(payload))
        case b"F":
            return Failed(json.loads(payload))
    raise BrokenResult(f"The JVM sent a frame of an unknown kind, {kind!r}.")
