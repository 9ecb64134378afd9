# SPDX-License-Identifier: Apache-2.0
"""What a server tells of statements and tables without running anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from plait._proto import plait_pb2
from plait.client.call import of_words
from plait.client.closing import Closing
from plait.client.failure import place
from plait.explanation import ExplainedSide, Explanation

if TYPE_CHECKING:
    from plait.client.cursor import Cursor
    from plait.client.questions import Questions
    from plait.client.submitted import Submitted


@dataclass(frozen=True)
class Parameter:
    """A `:name`, or a `?` with the name ``""``; ``position`` is as in a `RemoteError`."""

    name: str
    position: dict[str, int | str]


@dataclass(frozen=True)
class Validation:
    """What a statement is: ``kind`` is query or command, ``schema`` its columns."""

    kind: str
    schema: pa.Schema
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, told: plait_pb2.ValidateResponse) -> Validation:
        """Read the server's message."""
        kind = plait_pb2.StatementKind.Name(told.kind).removeprefix("STATEMENT_KIND_").lower()
        parameters = tuple(Parameter(p.name, place(p.position)) for p in told.parameters)
        return cls(kind, pa.ipc.read_schema(pa.py_buffer(told.schema.arrow)), parameters)


@dataclass(frozen=True)
class RemoteExplanation(Explanation):
    """An `Explanation` that has Spark's ``plan`` too, a text."""

    plan: str = ""

    @classmethod
    def of(cls, told: plait_pb2.ExplainResponse) -> RemoteExplanation:
        """Read the server's message."""
        return cls(told.report, tuple(_side(side) for side in told.sides), told.plan)


def _side(told: plait_pb2.ExplainedSide) -> ExplainedSide:
    why = told.why_not
    return ExplainedSide(
        told.join,
        told.node,
        told.side,
        told.pruned_by or None,
        why.code or None,
        tuple(why.arguments),
        why.sentence or None,
    )


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
        request = plait_pb2.UnprepareRequest(session=self._client.session, prepared=self.name)
        self._client._ask(self._client._stub.Unprepare, request)
