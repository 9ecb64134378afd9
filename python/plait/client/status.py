# SPDX-License-Identifier: Apache-2.0
"""Where an operation is, as the server told at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from plait._proto import plait_pb2
from plait.client.failure import from_detail

if TYPE_CHECKING:
    from plait.errors import RemoteError

ENDS = ("finished", "failed", "cancelled")


@dataclass(frozen=True)
class OperationStatus:
    """An operation: ``state`` is queued, running, finished, failed or cancelled.

    Times are None where it has not come to that. ``batches`` have been made so far; ``progress``
    are numbers of stages and tasks by name, empty if none were told; ``counters`` are those of
    `Cursor.counters`, once it has finished; ``error`` is why it failed or was cancelled.
    """

    session: str
    id: str
    state: str
    created: datetime | None
    started: datetime | None
    ended: datetime | None
    batches: int
    progress: dict[str, int]
    counters: dict[str, Any] | None
    error: RemoteError | None

    @property
    def is_end(self) -> bool:
        """Whether nothing comes after it."""
        return self.state in ENDS

    @classmethod
    def of(cls, told: plait_pb2.Operation) -> OperationStatus:
        """Read the server's message."""
        state = plait_pb2.OperationState.Name(told.state).removeprefix("OPERATION_STATE_")
        return cls(
            told.session,
            told.operation,
            state.lower(),
            _moment(told.created),
            _moment(told.started),
            _moment(told.ended),
            told.batches,
            _progress(told.progress) if told.HasField("progress") else {},
            counted(told.finished) if told.HasField("finished") else None,
            _error(told.error) if told.HasField("error") else None,
        )


def counted(told: plait_pb2.Finished) -> dict[str, Any]:
    """Give what was counted, by name.

    >>> counted(plait_pb2.Finished(rows=3, batches=1, bytes=240, milliseconds=9))
    {'rows': 3, 'batches': 1, 'bytes': 240, 'milliseconds': 9, 'joins': []}
    """
    return {
        "rows": told.rows,
        "batches": told.batches,
        "bytes": told.bytes,
        "milliseconds": told.milliseconds,
        "joins": [{"join": j.join, "metrics": dict(j.metrics)} for j in told.joins],
    }


def _progress(told: plait_pb2.Progress) -> dict[str, int]:
    return {field.name: getattr(told, field.name) for field in told.DESCRIPTOR.fields}


def _moment(milliseconds: int) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _error(told: plait_pb2.OperationError) -> RemoteError:
    return from_detail(told.detail, told.message, told.status)
