# SPDX-License-Identifier: Apache-2.0
"""What the tests of joins by name share: small DataFrames, and their rows as multisets."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON = datetime(2026, 3, 1, 12)
Rows = Counter[tuple[Any, ...]]
TYPES = {
    "int": pa.int32(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def frame(session: SparkSession, rows: list[tuple[Any, ...]], columns: str) -> DataFrame:
    """Return a DataFrame by way of Arrow, which needs no Python on the other side."""
    fields = [column.rsplit(" ", 1) for column in columns.split(", ")]
    schema = pa.schema([(name, TYPES[kind]) for name, kind in fields])
    table = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return session.createDataFrame(pa.Table.from_pylist(table, schema))


def rows(df: DataFrame) -> Rows:
    return Counter(map(tuple, df.collect()))
