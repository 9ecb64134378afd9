# SPDX-License-Identifier: Apache-2.0
"""An operation that was submitted: it runs without its client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait._proto import plait_pb2
from plait.client import asked

if TYPE_CHECKING:
    from plait.client.cursor import Cursor
    from plait.client.questions import Questions
    from plait.client.status import OperationStatus


class Submitted:
    """An operation by its id, in a session; any client of the same token may hold one.

    The server ends it when nobody has asked for its status or read it for `submitted_seconds`.
    """

    def __init__(self, client: Questions, session: str, operation: str) -> None:
        """Hold the operation of that id; nothing is asked yet."""
        self._client = client
        self.session = session
        self.id = operation

    def status(self) -> OperationStatus:
        """Ask where it is."""
        return self._client._ask(asked.status(self.session, self.id))

    def attach(self, *, timeout: float | None = None) -> Cursor:
        """Read its result, from the start.

        It comes while it is made; of a long result that has been read before only the last batches
        are kept. Leaving the cursor leaves the operation as it is.
        """
        request = plait_pb2.AttachRequest(session=self.session, operation=self.id)
        return self._client._cursor(request, timeout)

    def cancel(self) -> None:
        """End it and its jobs; one that has ended is forgotten."""
        self._client._ask(asked.cancel(self.session, self.id))

    def __repr__(self) -> str:
        """Show the id."""
        return f"Submitted({self.id!r})"
