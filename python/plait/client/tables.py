# SPDX-License-Identifier: Apache-2.0
"""Tables and their columns, as a server tells of them."""

from __future__ import annotations

from dataclasses import dataclass

from plait._proto import plait_pb2


@dataclass(frozen=True)
class Column:
    """A column; ``type`` is written as in SQL."""

    name: str
    type: str
    nullable: bool
    comment: str


@dataclass(frozen=True)
class Table:
    """A table: ``kind`` is table, view or temporary_view.

    A temporary view of the session is in no catalog and no database: both are empty.
    """

    catalog: str
    database: str
    name: str
    kind: str
    comment: str
    columns: tuple[Column, ...]

    @classmethod
    def of(cls, told: plait_pb2.Table) -> Table:
        """Read the server's message."""
        kind = plait_pb2.TableKind.Name(told.kind).removeprefix("TABLE_KIND_").lower()
        columns = tuple(Column(c.name, c.type, c.nullable, c.comment) for c in told.columns)
        return cls(told.catalog, told.database, told.name, kind, told.comment, columns)
