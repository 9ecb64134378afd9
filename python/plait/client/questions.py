# SPDX-License-Identifier: Apache-2.0
"""The calls of a client that do not wait for rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from plait.client import asked
from plait.client.call import Parameters, call_of, of_words
from plait.client.prepared import Prepared
from plait.client.submitted import Submitted

if TYPE_CHECKING:
    from plait.client.asked import Question, T
    from plait.client.cursor import Cursor
    from plait.client.dialogue import Met, Request
    from plait.client.statements import RemoteExplanation, Validation
    from plait.client.status import OperationStatus
    from plait.client.tables import Table


class Questions(ABC):
    """What a `Client` can ask, over the connection that it has."""

    session: str
    _met: Met

    def submit(self, text: str, /, *positional: object, **named: object) -> Submitted:
        """Start a statement that runs on by itself; its result is read by `Submitted.attach`."""
        return self._submit(text, "", of_words(positional, named))

    def operation(self, operation: str) -> Submitted:
        """Come back to an operation of this session by its id."""
        return Submitted(self, self.session, operation)

    def operations(self, *, session: str = "", limit: int = 100) -> list[OperationStatus]:
        """Tell of the caller's operations, the newest first: in one session, or in all of them."""
        return self._ask(asked.operations(session, limit))

    def validate(self, text: str, /, *positional: object, **named: object) -> Validation:
        """Tell what a statement is, without running it; raises the error that it would have.

        Parameters without values are taken as NULL, or 1 where NULL cannot stand.
        """
        return self._ask(asked.validate(self.session, text, of_words(positional, named)))

    def explain(self, text: str, /, *positional: object, **named: object) -> RemoteExplanation:
        """Tell how each join of a statement would prune, without running it.

        The answer is to be printed or iterated as that of `plait.explain`; its ``plan`` is Spark's.
        """
        return self._ask(asked.explain(self.session, text, of_words(positional, named)))

    def prepare(self, text: str, /, *positional: object, **named: object) -> Prepared:
        """Keep a statement on the server, to be called with values.

        The values given here serve to find its columns, and are not kept.
        """
        question = asked.prepare(self.session, text, of_words(positional, named))
        return Prepared(self, *self._ask(question))

    def close_session(self) -> None:
        """End the session with its views, variables and settings; the next call opens it anew.

        What was submitted, and streams, go on. A client whose session has no name does this when it
        is closed.
        """
        self._ask(asked.close_session(self.session))
        self._met.session = ""

    def catalog(self, pattern: str = "", *, database: str = "", catalog: str = "") -> list[Table]:
        """Tell of the tables and views whose names are like ``pattern``, all if it is empty.

        `%` is any text, `_` any character. They are those of one database, or of all in the catalog
        and the session's temporary views.
        """
        found: list[Table] = []
        page = ""
        # Invariant: the tables of all pages before this one are found.
        while True:
            tables, page = self._ask(asked.catalog(self.session, pattern, database, catalog, page))
            found += tables
            if not page:
                return found

    def _submit(self, text: str, prepared: str, parameters: Parameters) -> Submitted:
        question = asked.submit(self.session, parameters, text=text, prepared=prepared)
        return Submitted(self, self.session, self._ask(question))

    def _run_prepared(self, name: str, parameters: Parameters) -> Cursor:
        return self._cursor(call_of(self.session, name, parameters), None)

    @abstractmethod
    def _ask(self, question: Question[T]) -> T:
        """Send the request, and give the answer; a failure is a `RemoteError`."""

    @abstractmethod
    def _cursor(self, request: Request, timeout: float | None) -> Cursor:
        """Begin to read."""
