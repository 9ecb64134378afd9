# SPDX-License-Identifier: Apache-2.0
"""A statement that the server keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.client import asked
from plait.client.call import of_words
from plait.client.closing import Closing

if TYPE_CHECKING:
    from plait.client.cursor import Cursor
    from plait.client.questions import Questions
    from plait.client.statements import Validation
    from plait.client.submitted import Submitted


class Prepared(Closing):
    """A statement that the server keeps, to be called with values of its parameters.

    with client.prepare("SELECT * FROM t WHERE k = :k") as find:
        for row in find(k="a"):
            ...
    """

    def __init__(self, client: Questions, name: str, validation: Validation) -> None:
        """Hold the statement of that name."""
        self._client = client
        self.name = name
        self.schema = validation.schema
        self.parameters = validation.parameters

    def __call__(self, *positional: object, **named: object) -> Cursor:
        """Run it, as `Client.sql` runs a text."""
        return self._client._run_prepared(self.name, of_words(positional, named))

    def submit(self, *positional: object, **named: object) -> Submitted:
        """Start it, as `Client.submit` starts a text."""
        return self._client._submit("", self.name, of_words(positional, named))

    def close(self) -> None:
        """Let the server forget it."""
        self._client._ask(asked.unprepare(self._client.session, self.name))
