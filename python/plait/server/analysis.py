# SPDX-License-Identifier: Apache-2.0
"""What the JVM tells of statements and tables without running anything."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plait.server.failure import Place


@dataclass(frozen=True)
class Validated:
    """What a statement is; ``schema`` is an Arrow IPC message.

    ``parameters`` are in the order of the text, those by place without a name.
    """

    is_command: bool
    schema: bytes
    parameters: Sequence[tuple[str, Place]]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Validated:
        """Read the JVM's JSON."""
        places = (dict(entry) for entry in told["parameters"])
        parameters = [(place.pop("name"), Place(**place)) for place in places]
        return cls(told["command"], b64decode(told["schema"]), parameters)


@dataclass(frozen=True)
class Explained:
    """How a statement would run: Spark's plan, Plait's lines, and these as rows."""

    plan: str
    report: str
    sides: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Wanted:
    """Which tables are asked for, and what the caller may do."""

    catalog: str
    database: str
    pattern: str
    after: str
    limit: int
    scopes: Sequence[str]
    operation: str  # by which it can be cancelled


@dataclass(frozen=True)
class Page:
    """Tables, and where the next page begins."""

    tables: Sequence[Mapping[str, Any]]
    next: str
