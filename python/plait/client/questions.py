# SPDX-License-Identifier: Apache-2.0
"""The calls of a client that do not wait for rows."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.client.call import Parameters, fill, of_words
from plait.client.statements import Prepared, RemoteExplanation, Validation
from plait.client.status import OperationStatus
from plait.client.submitted import Submitted
from plait.client.tables import Table

if TYPE_CHECKING:
    from plait.client.cursor import Cursor
    from plait.client.dialogue import Request


class Questions(ABC):
    """What a `Client` can ask, over the connection that it has."""

    session: str
    _stub: plait_pb2_grpc.PlaitServiceStub

    def submit(self, text: str, /, *positional: object, **named: object) -> Submitted:
        """Start a statement that runs on by itself; its result is read by `Submitted.attach`."""
        return self._submit(text, "", of_words(positional, named))

    def operation(self, operation: str) -> Submitted:
        """Come back to an operation of this session by its id."""
        return Submitted(self, self.session, operation)

    def operations(self, *, session: str = "", limit: int = 100) -> list[OperationStatus]:
        """Tell of the caller's operations, the newest first: in one session, or in all of them."""
        request = plait_pb2.ListRequest(session=session, limit=limit)
        answer = self._ask(self._stub.List, request)
        return [OperationStatus.of(operation) for operation in answer.operations]

    def validate(self, text: str, /, *positional: object, **named: object) -> Validation:
        """Tell what a statement is, without running it; raises the error that it would have.

        Parameters without values are taken as NULL, or 1 where NULL cannot stand.
        """
        request = plait_pb2.ValidateRequest(session=self.session, sql=text)
        fill(request, of_words(positional, named))
        return Validation.of(self._ask(self._stub.Validate, request))

    def explain(self, text: str, /, *positional: object, **named: object) -> RemoteExplanation:
        """Tell how each join of a statement would prune, without running it.

        The answer is to be printed or iterated as that of `plait.explain`; its ``plan`` is Spark's.
        """
        request = plait_pb2.ExplainRequest(session=self.session, sql=text)
        fill(request, of_words(positional, named))
        return RemoteExplanation.of(self._ask(self._stub.Explain, request))

    def prepare(self, text: str, /, *positional: object, **named: object) -> Prepared:
        """Keep a statement on the server, to be called with values.

        The values given here serve to find its columns, and are not kept.
        """
        request = plait_pb2.PrepareRequest(session=self.session, sql=text)
        fill(request, of_words(positional, named))
        answer = self._ask(self._stub.Prepare, request)
        return Prepared(self, answer.prepared, Validation.of(answer.statement))

    def catalog(self, pattern: str = "", *, database: str = "", catalog: str = "") -> list[Table]:
        """Tell of the tables and views whose names are like ``pattern``, all if it is empty.

        `%` is any text, `_` any character. They are those of one database, or of all in the catalog
        and the session's temporary views.
        """
        request = plait_pb2.CatalogRequest(
            session=self.session, catalog=catalog, database=database, pattern=pattern
        )
        found: list[Table] = []
        # Invariant: the tables of all pages before the request's are found.
        while True:
            page = self._ask(self._stub.Catalog, request)
            found += [Table.of(table) for table in page.tables]
            if not page.next_page_token:
                return found
            request.page_token = page.next_page_token

    def _submit(self, text: str, prepared: str, parameters: Parameters) -> Submitted:
        request = plait_pb2.SubmitRequest(
            session=self.session, sql=text, prepared=prepared, operation=str(uuid.uuid4())
        )
        fill(request, parameters)
        answer = self._ask(self._stub.Submit, request)
        return Submitted(self, self.session, answer.operation)

    def _run_prepared(self, name: str, parameters: Parameters) -> Cursor:
        request = plait_pb2.ExecuteRequest(
            session=self.session, prepared=name, operation=str(uuid.uuid4()), reattachable=True
        )
        fill(request, parameters)
        return self._cursor(request, None)

    @abstractmethod
    def _ask(self, call: Callable[..., Any], request: object) -> Any:
        """Send a request, and give the answer; a failure is a `RemoteError`."""

    @abstractmethod
    def _cursor(self, request: Request, timeout: float | None) -> Cursor:
        """Begin to read."""
