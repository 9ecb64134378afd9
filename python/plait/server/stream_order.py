# SPDX-License-Identifier: Apache-2.0
"""A stream that is to be started, as the JVM reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plait.server.engine import Statement


@dataclass(frozen=True)
class StreamOrder:
    """A query and where its rows go; see StreamRequest.scala.

    ``sink`` is as the JVM reads it, None if there is none; ``every`` is in milliseconds, None for
    what is there now.
    """

    statement: Statement
    name: str
    sink: Mapping[str, Any] | None
    checkpoint: str
    every: int | None
    mode: str

    def told(self) -> dict[str, Any]:
        """Give what a statement does not have."""
        return {
            "name": self.name,
            "sink": self.sink,
            "checkpoint": self.checkpoint,
            "every": self.every,
            "mode": self.mode,
        }
