# SPDX-License-Identifier: Apache-2.0
"""One operation: its result on the way from the JVM to whoever reads it.

    JVM  --frames-->  pump thread  --batches-->  [ kept | waiting ]  --items-->  the one reader
                                                        ^ next offset

1. The pump stops taking frames while batches of ``ahead_bytes`` wait for the reader, and with it
   the JVM stops making them: a reader who is slow, or away, makes the server hold no more.
2. Batches that were handed out are kept, up to ``replay_bytes``, the newest in any case: a reader
   whose connection broke takes up at the offset it has not seen.
3. There is one reader at a time; a new one displaces the old one. One that has taken nothing for
   STILL seconds, though the pump stands for it, is as good as away: `is_parked`.
4. What ends first decides: the result's last frame, a failure, or `stop`. A failure of the
   statement comes after the rows before it, one by `stop` at once. Afterwards nothing changes but
   that the batches are dropped by `forget`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from plait.errors import PlaitError
from plait.server.failure import Failure, from_json
from plait.server.frames import Columns, Ended, Failed, Frame, Progressed, Rows
from plait.server.items import Batch, Finished, Item, Room, Snapshot, Source, State, Terms, Way

log = logging.getLogger("plait.server")

# Seconds after which a reader who takes nothing is no longer one who is just slow.
STILL = 5.0


@dataclass(frozen=True)
class Reading:
    """One reader's turn; `close` may come from another thread than the one that iterates."""

    operation: Operation
    reader: int

    def __iter__(self) -> Iterator[Item]:
        """Give the items, up to the end; a failure of the operation is raised."""
        return self.operation.items(self.reader)

    def close(self) -> None:
        """End the turn."""
        self.operation.leave(self.reader)


class Operation:
    """A statement that runs, and its result; see the conventions above."""

    def __init__(
        self,
        name: str,
        room: Room,
        terms: Terms,
        when_ended: Callable[[Operation], None],
    ) -> None:
        """Make one that is queued; ``when_ended`` is called once, by any thread."""
        self.name = name
        self.terms = terms
        self.began = time.monotonic()
        # Since when nobody has read.
        self.detached_since = self.began if terms.way is Way.SUBMITTED else None
        self._created, self._started, self._ended = time.time(), 0.0, 0.0
        self._room = room
        self._when_ended = when_ended
        self._state = State.QUEUED
        self._changed = threading.Condition()
        self._source: Source | None = None
        self._columns: Columns | None = None
        self._batches: deque[Batch] = deque()  # of consecutive offsets
        self._bytes = 0  # of them all
        self._waiting_bytes = 0  # of those from _handed on
        self._next = 0  # the offset of the next batch from the JVM
        self._handed = 0  # the offset of the next batch for the reader
        self._progress: Progressed | None = None
        self._end: Finished | Failure | None = None
        self._reader = 0  # the number of the reader
        # When the reader got what it has; None where it waits for more, and where there is none.
        self._given: float | None = None
        self._cut: Callable[[], None] = _nothing  # ends the reader's call

    @property
    def state(self) -> State:
        """Where it is."""
        return self._state

    @property
    def kept_bytes(self) -> int:
        """How many bytes of batches it holds."""
        return self._bytes

    @property
    def is_parked(self) -> bool:
        """Whether it waits for a reader, and there is none, or one who does not read."""
        is_full = self._waiting_bytes >= self._room.ahead_bytes
        return is_full and (self.detached_since is not None or self.unread_seconds >= STILL)

    @property
    def unread_seconds(self) -> float:
        """For how long there has been more for the reader than what it has, and it took nothing."""
        given = self._given
        has_more = self._handed < self._next or self._end is not None
        return time.monotonic() - given if given is not None and has_more else 0.0

    def status(self) -> Snapshot:
        """Tell where it is."""
        with self._changed:
            if self.terms.way is Way.SUBMITTED and self.detached_since is not None:
                self.detached_since = time.monotonic()
            return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Tell where it is, to somebody who does not ask for this one."""
        with self._changed:
            return Snapshot(
                self.name,
                self._state,
                self._created,
                self._started,
                self._ended,
                self._next,
                self._progress,
                self._end,
            )

    def start(self, source: Source) -> None:
        """Take the frames of ``source`` from now on, in a thread of its own."""
        with self._changed:
            if self._end is not None:  # stopped while it was queued
                self._end_source(source)
                return
            self._source = source
            self._state = State.RUNNING
            self._started = time.time()
        threading.Thread(
            target=self._pump, args=(source,), name=f"plait-pump-{self.name}", daemon=True
        ).start()

    def stop(self, failure: Failure) -> None:
        """End it with ``failure``, unless it has ended; its jobs end too."""
        with self._changed:
            if self._end is not None:
                return
            self._finish(failure)
            self._handed, self._waiting_bytes = self._next, 0
            source = self._source
        self._when_ended(self)
        if source is not None:
            self._end_source(source)

    def _end_source(self, source: Source) -> None:
        """End the jobs, and the connection in any case: the JVM may be gone."""
        try:
            source.cancel()
        except Exception:
            log.exception("the jobs of the operation %s could not be cancelled", self.name)
        finally:
            source.close()

    def forget(self) -> None:
        """Drop the batches; whoever still asks for one is told that it is not kept."""
        with self._changed:
            self._batches.clear()
            self._bytes = self._waiting_bytes = 0

    def cut(self) -> None:
        """End the call of a reader who does not read; who attaches may go on."""
        self._cut()

    def read(self, offset: int = 0, cut: Callable[[], None] | None = None) -> Reading:
        """Begin to read: the schema, the batches from ``offset`` on, and the end.

        Displaces the reader before; one who asks for what is not kept displaces nobody. ``cut``
        ends the reader's call.
        """
        with self._changed:
            self._rewind(offset)
            self._reader += 1
            reader = self._reader
            self.detached_since = self._given = None
            self._cut = cut or _nothing
            self._changed.notify_all()
        return Reading(self, reader)

    def leave(self, reader: int) -> None:
        """Let go of a reader, who may be waiting; nothing happens if another one reads."""
        with self._changed:
            if reader == self._reader:
                self._reader += 1
                self.detached_since = time.monotonic()
                self._given, self._cut = None, _nothing
                self._changed.notify_all()

    def items(self, reader: int) -> Iterator[Item]:
        """Give what the reader of that number has not seen; a failure is raised."""
        told_columns = False
        progress: Progressed | None = None
        try:
            # Invariant: the reader has seen all batches below _handed that it asked for.
            while True:
                with self._changed:
                    self._note(reader, None)
                    while not self._news(reader, told_columns, progress):
                        self._changed.wait()
                    item = self._take(reader, told_columns, progress)
                    self._note(reader, time.monotonic())
                if isinstance(item, Failure):
                    raise item
                told_columns = told_columns or isinstance(item, Columns)
                progress = item if isinstance(item, Progressed) else progress
                yield item
                if isinstance(item, Finished):
                    return
        finally:
            self.leave(reader)

    def _note(self, reader: int, given: float | None) -> None:
        if reader == self._reader:
            self._given = given

    def _news(self, reader: int, told_columns: bool, progress: Progressed | None) -> bool:
        return (
            reader != self._reader
            or self._end is not None
            or (self._columns is not None and not told_columns)
            or self._handed < self._next
            or self._progress is not progress
        )

    def _take(self, reader: int, told_columns: bool, progress: Progressed | None) -> Item | Failure:
        if reader != self._reader:
            return Failure(
                "displaced",
                "OPERATION_TAKEN_UP",
                f"Another call reads the operation {self.name!r} now.",
            )
        if self._columns is not None and not told_columns:
            return self._columns
        if self._handed < self._next:
            return self._hand_out()
        if self._end is not None:
            return self._end
        assert self._progress is not None
        return self._progress

    def _hand_out(self) -> Batch | Failure:
        if not self._batches:
            return self._not_kept(self._handed)
        batch = self._batches[self._handed - self._batches[0].offset]
        self._handed += 1
        self._waiting_bytes -= len(batch.arrow)
        # The batch that was handed out last is kept however large it is.
        while (
            self._bytes - self._waiting_bytes > self._room.replay_bytes
            and self._batches[0].offset < self._handed - 1
        ):
            self._bytes -= len(self._batches.popleft().arrow)
        self._changed.notify_all()
        return batch

    def _rewind(self, offset: int) -> None:
        first = self._batches[0].offset if self._batches else self._next
        if not first <= offset <= self._next:
            raise self._not_kept(offset)
        self._handed = offset
        self._waiting_bytes = sum(
            len(batch.arrow) for batch in self._batches if batch.offset >= offset
        )

    def _not_kept(self, offset: int) -> Failure:
        first = self._batches[0].offset if self._batches else self._next
        return Failure(
            "behind",
            "BATCH_NOT_KEPT",
            f"Batch {offset} of the operation {self.name!r} is not kept: it can be taken up at "
            f"batch {first} to {self._next}. Run the statement again.",
        )

    def _pump(self, source: Source) -> None:
        try:
            with closing(source):
                for frame in source:
                    if isinstance(frame, Rows) and len(frame.arrow) > self._room.batch_bytes:
                        self._took(Failed(_too_large(len(frame.arrow), self._room.batch_bytes)))
                        source.cancel()
                        break
                    if not self._took(frame):
                        break
        except (OSError, ValueError, PlaitError) as error:
            self._break_off(f"The result broke off: {error}")
        except Exception:
            # Whatever it was: an operation that nobody feeds any more would be read for ever.
            log.exception("the result of the operation %s broke off", self.name)
            self._break_off("The result broke off; the server's log tells why. Please report it.")

    def _break_off(self, message: str) -> None:
        with self._changed:
            stopped = self._end is not None
            if not stopped:
                self._finish(Failure("internal", "RESULT_BROKEN", message))
        if not stopped:
            self._when_ended(self)

    def _took(self, frame: Frame) -> bool:
        """Take a frame in, and wait until there is room for another; False where none comes."""
        with self._changed:
            if self._end is not None:  # stopped
                return False
            self._take_in(frame)
            while self._waiting_bytes >= self._room.ahead_bytes and self._end is None:
                self._changed.wait()
            last = isinstance(frame, Ended | Failed)
        if last:
            self._when_ended(self)
        return not last

    def _take_in(self, frame: Frame) -> None:
        match frame:
            case Columns():
                self._columns = frame
            case Rows(rows, arrow):
                self._batches.append(Batch(self._next, rows, arrow))
                self._next += 1
                self._bytes += len(arrow)
                self._waiting_bytes += len(arrow)
            case Progressed():
                self._progress = frame
            case Ended(counts):
                seconds = time.monotonic() - self.began
                self._finish(Finished(self._next, seconds, counts))
            case Failed(told):
                self._finish(from_json(told))
        self._changed.notify_all()

    def _finish(self, end: Finished | Failure) -> None:
        self._end = end
        self._ended = time.time()
        if isinstance(end, Finished):
            self._state = State.FINISHED
        else:
            cancelled = end.kind in ("cancelled", "deadline", "ending")
            self._state = State.CANCELLED if cancelled else State.FAILED
        self._changed.notify_all()


def _nothing() -> None:
    """End no call: there is none."""


def _too_large(size: int, most: int) -> dict[str, Any]:
    """Tell of a batch as the JVM tells of failures: it is one row, or nearly."""
    return {
        "kind": "limit",
        "condition": "RESULT_TOO_LARGE",
        "message": f"A row of the result makes a message of {size} bytes, and one may have {most}: "
        "select less of it at a time, or raise the server's message_bytes.",
    }
