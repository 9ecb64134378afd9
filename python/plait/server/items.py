# SPDX-License-Identifier: Apache-2.0
"""What an operation is made of: its states, what it reads and gives, how long it may last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from plait.server.frames import Columns, Frame, Progressed

if TYPE_CHECKING:
    from plait.server.failure import Failure


class State(Enum):
    """Where an operation is; the last three are its end."""

    QUEUED = 1
    RUNNING = 2
    FINISHED = 3
    FAILED = 4
    CANCELLED = 5

    @property
    def is_end(self) -> bool:
        """Whether nothing comes after it."""
        return self in (State.FINISHED, State.FAILED, State.CANCELLED)


@dataclass(frozen=True)
class Batch:
    """Rows, and their place among the batches of the result."""

    offset: int
    rows: int
    arrow: bytes


@dataclass(frozen=True)
class Finished:
    """The end of a whole result."""

    batches: int
    seconds: float
    counts: dict[str, Any]


Item = Columns | Batch | Progressed | Finished


class Source(Protocol):
    """Where the frames of a result come from."""

    def __iter__(self) -> Iterator[Frame]:
        """Give the frames, up to the last."""
        ...

    def cancel(self) -> None:
        """End the statement and its jobs."""
        ...

    def close(self) -> None:
        """Let go of the connection to the JVM."""
        ...


@dataclass(frozen=True)
class Room:
    """How many bytes of batches are held: waiting for the reader, and kept for another one.

    ``batch_bytes`` is the most that one may have, so that it fits into a message.
    """

    ahead_bytes: int
    replay_bytes: int
    batch_bytes: int


class Way(Enum):
    """How an operation came."""

    EXECUTED = 1
    SUBMITTED = 2


@dataclass(frozen=True)
class Terms:
    """How long an operation may last: to its deadline, and so many seconds without a reader.

    ``deadline`` is by the clock `time.monotonic`, None for none.
    """

    way: Way
    patience: float
    deadline: float | None = None


@dataclass(frozen=True)
class Snapshot:
    """An operation at one moment; times are seconds since 1970, 0 where it has not come to that."""

    name: str
    state: State
    created: float
    started: float
    ended: float
    batches: int
    progress: Progressed | None
    end: Finished | Failure | None
