# SPDX-License-Identifier: Apache-2.0
"""What both cursors do without waiting: send what their `Dialogue` says, take in what comes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar, Unpack

from grpc import aio

from plait._proto import plait_pb2
from plait.client.dialogue import Dialogue, Met, Request
from plait.client.farewell import CLOSER
from plait.client.progress import ProgressLine, Show

T = TypeVar("T")
Metadata = tuple[tuple[str, str], ...]

# Seconds that the call may take which tells the server that nothing more is asked for.
FAREWELL = 5.0


class Told(TypedDict):
    """What a cursor is told by its client, beside the request."""

    metadata: Metadata
    address: str
    timeout: float | None
    progress: Show
    met: Met


class Reading:
    """A statement that runs, and how far its result has been read."""

    def __init__(self, stub: Any, request: Request, **told: Unpack[Told]) -> None:
        """Send the statement, or attach to the operation of the request."""
        self._stub = stub
        self._metadata = told["metadata"]
        self._dialogue = Dialogue(request, told["address"], told["timeout"], told["met"])
        self._line = ProgressLine(told["progress"])
        self._closed = False
        # Of sending and leaving; an RLock, for a signal may come while one has it.
        self._turn = threading.RLock()
        CLOSER.expect()
        self._call: Any = None  # should Ctrl-C come while it is sent, it is cancelled all the same
        self._call = self._send(request)

    @property
    def id(self) -> str:
        """The operation's id."""
        return self._dialogue.id

    @property
    def counters(self) -> dict[str, Any]:
        """What was counted: rows, batches, bytes, milliseconds, joins; known at the end."""
        return self._dialogue.counters()

    def _send(self, request: Request) -> Any:
        is_new = isinstance(request, plait_pb2.ExecuteRequest)
        call = self._stub.Execute if is_new else self._stub.Attach
        metadata = (*self._metadata, *self._dialogue.metadata)
        seconds = self._dialogue.seconds_left
        return self._calling(lambda: call(request, metadata=metadata, timeout=seconds))

    def _calling(self, act: Callable[[], T]) -> T:
        """Call gRPC, where that may be done."""
        return act()

    def _send_again(self, request: Request) -> None:
        """Send what comes next, unless the cursor or its client was closed since the last call."""
        with self._turn:
            if self._closed:
                return
            try:
                self._call = self._send(request)
            except (ValueError, aio.UsageError):  # the channel is closed
                self._leave()
            if self._closed:  # by a signal, while it was sent
                self._calling(self._call.cancel)

    def _show(self, message: Any) -> bool:
        """Take a message in; whether it was the last."""
        self._dialogue.take(message)
        if self._dialogue.progress is not None:
            self._line.show(self._dialogue.progress)
        else:
            self._line.clear()  # rows may go to the same terminal
        return self._dialogue.finished is not None

    def _leave(self) -> None:
        """Read no more."""
        with self._turn:
            self._closed = True
            call = self._call
        self._line.clear()
        if call is not None:
            self._calling(call.cancel)
