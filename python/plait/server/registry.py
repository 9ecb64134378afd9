# SPDX-License-Identifier: Apache-2.0
"""The operations and the sessions of all callers, and the limits that they share.

1. At most ``running`` operations run; others wait in the order in which they came, at most
   ``queued`` of them and each at most ``queue_seconds``. One that waits for a reader who is not
   there takes nobody's place, nor does it wait for one when its reader comes. Of those whose
   clients have gone at most ``parked`` wait so, and ``caller_parked`` of one caller: where there
   are more, the one that has waited longest is cancelled. So it is where a client is there and
   takes nothing, but that these keep their places where there are more.
2. An operation that nobody reads ends after ``reattach_seconds``, a submitted one after
   ``submitted_seconds``; what has ended is forgotten then. One whose reader takes nothing of what
   waits ends after ``unread_seconds``; a call that takes nothing of one that has ended is cut off
   after ``reattach_seconds`` more, for it has a thread. Where more than KEPT_BYTES of ended
   results are held, the rows of the oldest go earlier. Of what is forgotten earlier, by Cancel or
   with its session, the name is kept so long, see `Forgotten`: it does not begin again.
3. A session that has had nothing to do for ``session_seconds`` ends. There are at most
   ``sessions``, and ``caller_sessions`` of one caller: a new one takes the place of the one that
   has been idle longest. Who has been told of a session, for it has settings or views, is told of
   its end too: none of its name is opened in silence.
4. A caller finds only operations, sessions and prepared statements of their own; names of two
   callers may be the same. A caller has at most ``submitted`` submitted operations that have not
   ended, and as many that have; a session has at most ``prepared`` prepared statements.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from plait.server import sentences
from plait.server.failure import Failure, missing
from plait.server.forgotten import Forgotten
from plait.server.items import Room, State, Terms, Way
from plait.server.operation import Operation
from plait.server.sessions import Session, Sessions
from plait.server.tally import Tally

if TYPE_CHECKING:
    from plait.server.callers import Caller
    from plait.server.config import Server

log = logging.getLogger("plait.server")

# Of results that have ended and may still be attached to.
KEPT_BYTES = 64 << 20

# Bytes that a message has around its batch, at most.
ENVELOPE = 1024

# Seconds between two looks for what is over its time.
TICK = 0.2

S = TypeVar("S")


class Registry(Generic[S]):
    """Who runs what; see the conventions above. All methods may be called from any thread."""

    def __init__(
        self, limits: Server, open_session: Callable[[], S], close_session: Callable[[S], None]
    ) -> None:
        """Begin with nothing; ``open_session`` makes what statements run in."""
        self.tally = Tally()
        self.incarnation = uuid.uuid4().hex
        self._limits = limits
        self._changed = threading.Condition()
        self._open_session = open_session
        self._close_session = close_session
        self._sessions: Sessions[S] = Sessions(limits)
        self._forgotten = Forgotten(limits.reattach_seconds)
        self._queue: deque[Operation] = deque()
        self._running: set[Operation] = set()
        self._closing = False
        self._clock = threading.Thread(target=self._watch, name="plait-registry", daemon=True)
        self._clock.start()

    def create(
        self, caller: Caller, session: str, operation: str, deadline: float | None
    ) -> tuple[S, Operation]:
        """Open the session if it is new, and put a new operation into the queue."""
        terms = Terms(Way.EXECUTED, self._limits.reattach_seconds, deadline)
        return self._create(caller, session, operation, terms)

    def submit(self, caller: Caller, session: str, operation: str) -> tuple[S, Operation]:
        """Do as `create` does, for an operation that nobody reads yet."""
        terms = Terms(Way.SUBMITTED, self._limits.submitted_seconds)
        return self._create(caller, session, operation, terms)

    def _make_room(self, caller: Caller) -> None:
        """Let the oldest submitted operations go that have ended; refuse if too many have not."""
        mine = [
            (name, o)
            for name, o in self._sessions.operations_of(caller)
            if o.terms.way is Way.SUBMITTED
        ]
        if sum(not o.state.is_end for _, o in mine) >= self._limits.submitted:
            raise sentences.too_many_submitted(self._limits)
        ended = [(name, o) for name, o in mine if o.state.is_end and o.detached_since is not None]
        ended.sort(key=lambda entry: entry[1].began, reverse=True)
        for name, operation in ended[self._limits.submitted - 1 :]:
            self.forget(caller, name, operation)

    def _create(
        self, caller: Caller, session: str, operation: str, terms: Terms
    ) -> tuple[S, Operation]:
        with self._opened(caller, session) as found:
            if terms.way is Way.SUBMITTED:
                self._make_room(caller)
            if (caller.key, session, operation) in self._forgotten:
                raise sentences.operation_forgotten(operation)
            if operation in found.operations:
                raise sentences.operation_exists(operation)
            self._refuse_if_full()
            limits = self._limits
            room = Room(
                max(limits.batch_bytes * 4, 1 << 20),
                limits.replay_bytes,
                limits.message_bytes - ENVELOPE,
            )
            made = Operation(operation, room, terms, self._ended)
            found.operations[operation] = made
            self._queue.append(made)
            self._changed.notify_all()
            return found.spark, made

    @contextmanager
    def _opened(self, caller: Caller, session: str) -> Iterator[Session[S]]:
        """Give a session, opened if it is new, and hold the lock meanwhile.

        The engine is asked without it: one that does not answer keeps its caller waiting, and
        nobody else.
        """
        spare: S | None = None
        try:
            # Invariant: the lock is not held, and there is a spare after the first turn.
            while True:
                with self._changed:
                    self._refuse_if_closing()
                    found = self._sessions.open(caller, session, spare)
                    if found is not None:
                        if found.spark is spare:
                            spare = None
                        yield found
                        return
                spare = self._open_session()
        finally:
            self._close_dropped(() if spare is None else (spare,))

    def _close_dropped(self, spares: Iterable[S] = ()) -> None:
        with self._changed:
            dropped = self._sessions.take_dropped()
        for spark in (*dropped, *spares):
            try:
                self._close_session(spark)
            except Exception:
                log.exception("a session that has ended was not closed")

    @contextmanager
    def using(self, caller: Caller, session: str) -> Iterator[S]:
        """Give Spark's session, opened if it is new; it does not end meanwhile."""
        with self._opened(caller, session) as found:
            found.calls += 1
        try:
            yield found.spark
        finally:
            with self._changed:
                found.calls -= 1

    def note(self, caller: Caller, session: str, sql: str) -> str:
        """Keep in mind that a statement runs there; gives which session the caller may count on.

        That is "" as long as it has nothing to lose: then another one of its name does as well.
        """
        with self._changed:
            return self._sessions.note(caller, session, sql)

    def close_session(self, caller: Caller, session: str) -> None:
        """End a session, and cancel what runs in it, but for what was submitted."""
        with self._changed:
            found = self._sessions.find(caller, session)
            operations = [] if found is None else [*found.operations.values()]
        for operation in operations:
            if operation.terms.way is Way.EXECUTED:
                operation.stop(sentences.cancelled())
                self.forget(caller, session, operation)
        with self._changed:
            self._sessions.leave(caller, session)
        self._close_dropped()

    def prepare(self, caller: Caller, session: str, name: str, sql: str) -> None:
        """Keep a statement in the session, in the place of one of the same name."""
        with self._opened(caller, session):
            self._sessions.prepare(caller, session, name, sql)

    def prepared(self, caller: Caller, session: str, name: str) -> str:
        """Give the text of a statement that the session keeps."""
        with self._changed:
            return self._sessions.prepared(caller, session, name)

    def unprepare(self, caller: Caller, session: str, name: str) -> None:
        """Forget a statement, if the session keeps it."""
        with self._changed:
            self._sessions.unprepare(caller, session, name)

    def list_of(self, caller: Caller, session: str = "") -> list[tuple[str, Operation]]:
        """Give the caller's operations with the names of their sessions, the newest first."""
        with self._changed:
            found = [
                (name, o)
                for name, o in self._sessions.operations_of(caller)
                if session in ("", name)
            ]
        return sorted(found, key=lambda entry: entry[1].began, reverse=True)

    def wait_for_place(self, operation: Operation) -> bool:
        """Wait until the operation may start; False where it was stopped before that."""
        end = time.monotonic() + self._limits.queue_seconds
        with self._changed:
            # Invariant: those before it in the queue came before it.
            while not self._may_start(operation):
                if operation.state.is_end:
                    self._leave_queue(operation)
                    return False
                if (left := end - time.monotonic()) <= 0:
                    self._leave_queue(operation)
                    break
                self._changed.wait(left)
            else:
                self._queue.popleft()
                self._running.add(operation)
                self._changed.notify_all()
                return True
        operation.stop(sentences.waited_too_long(self._limits))
        return False

    def find(self, caller: Caller, session: str, operation: str) -> Operation:
        """Give an operation of this caller's."""
        with self._changed:
            found = self._sessions.find(caller, session)
            if found is None or operation not in found.operations:
                if (caller.key, session, operation) in self._forgotten:
                    raise sentences.operation_forgotten(operation)
                raise missing(operation, self._forgotten.remembered_seconds)
            found.used = time.monotonic()
            return found.operations[operation]

    def forget(self, caller: Caller, session: str, operation: Operation) -> None:
        """Drop an operation that has ended; its name is kept for ``reattach_seconds``."""
        with self._changed:
            found = self._sessions.find(caller, session)
            if found is not None and found.operations.get(operation.name) is operation:
                del found.operations[operation.name]
                self._forgotten.add((caller.key, session, operation.name), operation.began)
        operation.forget()

    def operations(self) -> list[Operation]:
        """Give all operations of all callers."""
        with self._changed:
            return self._sessions.operations()

    def counts(self) -> dict[str, int]:
        """Count sessions and operations, running and queued."""
        with self._changed:
            self._let_go()
            return {
                "sessions": len(self._sessions),
                "running": len(self._running),
                "queued": len(self._queue),
                "operations": len(self._sessions.operations()),
                "kept_bytes": sum(
                    operation.kept_bytes for operation in self._sessions.operations()
                ),
            }

    def states(self) -> dict[State, int]:
        """Count the operations in each state."""
        states = [operation.state for operation in self.operations()]
        return {state: states.count(state) for state in State}

    def close(self, seconds: float) -> None:
        """Take nothing new, let what runs end for so many seconds, then cancel it."""
        end = time.monotonic() + seconds
        with self._changed:
            self._closing = True
            while self._live() and time.monotonic() < end:
                self._changed.wait(TICK)
            live = self._live()
        for operation in live:
            operation.stop(sentences.server_stops())

    def _ended(self, operation: Operation) -> None:
        self.tally.ended(operation.snapshot(), time.monotonic() - operation.began)
        with self._changed:
            self._leave_queue(operation)  # who waited for its place may be gone
            self._changed.notify_all()

    def _refuse_if_closing(self) -> None:
        if self._closing:
            raise sentences.server_stops()

    def _refuse_if_full(self) -> None:
        waiting, running = len(self._queue), self._busy()
        if waiting >= self._limits.queued and running >= self._limits.running:
            raise sentences.queue_full(running, waiting)

    def _may_start(self, operation: Operation) -> bool:
        return (
            not operation.state.is_end
            and bool(self._queue)
            and self._queue[0] is operation
            and self._busy() < self._limits.running
        )

    def _busy(self) -> int:
        """Count the places that are taken; one too many that is parked keeps its own."""
        self._let_go()
        parked = sum(operation.is_parked for operation in self._running)
        left = sum(
            operation.is_parked and operation.terms.way is Way.EXECUTED
            for operation in self._running
        )
        return len(self._running) - parked + max(0, left - self._limits.parked)

    def _leave_queue(self, operation: Operation) -> None:
        if operation in self._queue:
            self._queue.remove(operation)
            self._changed.notify_all()

    def _let_go(self) -> None:
        ended = {operation for operation in self._running if operation.state.is_end}
        if ended:
            self._running -= ended
            self._changed.notify_all()

    def _live(self) -> list[Operation]:
        return [
            operation for operation in self._sessions.operations() if not operation.state.is_end
        ]

    def _watch(self) -> None:
        while not self._is_over():
            time.sleep(TICK)
            try:
                self._look()
            except Exception:  # the clock must not stop: all that is over its time would stay
                log.exception("the registry's clock goes on after an error")

    def _is_over(self) -> bool:
        with self._changed:
            return self._closing and not self._live()

    def _look(self) -> None:
        with self._changed:
            self._let_go()
            if self._queue:  # a place may be free: who waits for a reader gives theirs away
                self._changed.notify_all()
            late = self._over_time()
            stuck = self._stuck()
            self._drop_ended()
        for operation, failure in late:
            operation.stop(failure)
        for operation in stuck:
            operation.cut()
        with self._changed:
            self._sessions.drop_idle()
        self._close_dropped()

    def _over_time(self) -> list[tuple[Operation, Failure]]:
        now = time.monotonic()
        late = []
        for operation in self._live():
            since, terms = operation.detached_since, operation.terms
            if terms.deadline is not None and now >= terms.deadline:
                late.append((operation, sentences.past_deadline()))
            elif since is not None and now - since >= terms.patience:
                late.append((operation, sentences.left_alone(terms)))
            elif 0 < self._limits.unread_seconds <= operation.unread_seconds:
                late.append((operation, sentences.unread(self._limits)))
        return late + self._over_parked()

    def _stuck(self) -> list[Operation]:
        """Give those that have ended and whose reader does not take the rest, nor the reason."""
        most = self._limits.unread_seconds
        return [
            operation
            for operation in self._sessions.operations()
            if operation.state.is_end
            and 0 < most <= operation.unread_seconds - self._limits.reattach_seconds
        ]

    def _over_parked(self) -> list[tuple[Operation, Failure]]:
        """Give those that wait for clients who have gone, and are too many: the oldest."""
        parked: list[tuple[float, str, Operation]] = []
        for caller, operation in self._sessions.by_caller():
            since = operation.detached_since
            is_left = operation.terms.way is Way.EXECUTED and not operation.state.is_end
            if is_left and operation.is_parked and since is not None:
                parked.append((since, caller, operation))
        over = []
        # Invariant: of those that are younger as many are kept as may be.
        of_caller: Counter[str] = Counter()
        for place, (_, caller, operation) in enumerate(
            sorted(parked, key=lambda entry: entry[0], reverse=True)
        ):
            of_caller[caller] += 1
            if place >= self._limits.parked or of_caller[caller] > self._limits.caller_parked:
                over.append((operation, sentences.too_many_parked()))
        return over

    def _drop_ended(self) -> None:
        now = time.monotonic()
        ended = []
        for session in self._sessions:
            for operation in list(session.operations.values()):
                since = operation.detached_since
                if not operation.state.is_end or since is None:
                    continue
                if now - since >= operation.terms.patience:
                    del session.operations[operation.name]
                    operation.forget()
                else:
                    ended.append((since, operation))
        kept = sum(operation.kept_bytes for _, operation in ended)
        for _, operation in sorted(ended, key=lambda entry: entry[0]):
            if kept <= KEPT_BYTES:
                break
            kept -= operation.kept_bytes
            operation.forget()
