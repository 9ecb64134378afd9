# SPDX-License-Identifier: Apache-2.0
"""What a server tells of statements and tables without running anything."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from plait._proto import plait_pb2
from plait.client.failure import place
from plait.explanation import ExplainedSide, Explanation


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
        told.text,
    )
