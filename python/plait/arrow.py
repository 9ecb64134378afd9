# SPDX-License-Identifier: Apache-2.0
"""Arrow's messages and record batches as Python can have them.

An interval of years and months comes as the number of its months, an int32: pyarrow cannot read
Arrow's own type for it, whose bytes are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa


def schema_of(message: bytes) -> pa.Schema:
    """Read the schema of an IPC message.

    >>> schema_of(pa.schema({"n": pa.int64()}).serialize().to_pybytes())
    n: int64
    """
    schema = pa.ipc.read_schema(pa.py_buffer(message))
    return pa.schema(map(_readable, schema), schema.metadata)


def batch_of(message: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """Read the record batch of an IPC message, whose schema ``schema_of`` gave."""
    return pa.ipc.read_record_batch(pa.py_buffer(message), schema)


def values_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Give the values of each row of a batch.

    >>> list(values_of(pa.record_batch({"n": [1, 2], "t": ["a", None]})))
    [(1, 'a'), (2, None)]
    """
    columns = [column.to_pylist() for column in batch.columns]
    return iter(zip(*columns, strict=True) if columns else [()] * batch.num_rows)


def _readable(field: pa.Field) -> pa.Field:
    return field.with_type(pa.int32()) if str(field.type) == "month_interval" else field
