# SPDX-License-Identifier: Apache-2.0
"""A client of a Plait server: SQL in, rows or Arrow out. It needs no Spark and no JVM.

from plait.client import Client

with Client("db.example:15110", token="plait_...", tls=True) as client:
    for row in client.sql("SELECT :a + 1 AS b", a=1):
        print(row.b)
"""

try:
    from plait.client.client import Client
    from plait.client.cursor import Cursor
    from plait.client.prepared import Prepared
    from plait.client.row import Row
    from plait.client.statements import RemoteExplanation, Validation
    from plait.client.status import OperationStatus
    from plait.client.stream import Stream, StreamProgress
    from plait.client.streams import StreamRecord, StreamSide, StreamStatus
    from plait.client.submitted import Submitted
    from plait.client.tables import Column, Table
    from plait.client.tls import Tls
except ModuleNotFoundError as error:
    if error.name is None or error.name.startswith("plait"):
        raise
    from plait.errors import PlaitError
    from plait.extras import how_to_get

    raise PlaitError(f"The client needs {error.name}: {how_to_get('client')}.") from error
from plait.errors import PlaitError, RemoteError

__all__ = [
    "Client",
    "Column",
    "Cursor",
    "OperationStatus",
    "PlaitError",
    "Prepared",
    "RemoteError",
    "RemoteExplanation",
    "Row",
    "Stream",
    "StreamProgress",
    "StreamRecord",
    "StreamSide",
    "StreamStatus",
    "Submitted",
    "Table",
    "Tls",
    "Validation",
]
