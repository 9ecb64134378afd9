# SPDX-License-Identifier: Apache-2.0
"""Examples: results that are larger than a server allows, over a real Spark in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from plait.client import Client, RemoteError
from plait.server.app import serve
from plait.server.config import Config, Server
from plait.server.engine import SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@contextmanager
def client_of(spark: SparkSession, **limits: Any) -> Iterator[Client]:
    server = Server(port=0, drain_seconds=0.2, **limits)
    served = serve(Config(server), SparkEngine(spark, server))
    with Client(f"localhost:{served.port}") as client:
        yield client
    served.stop()


def too_large(client: Client, sql: str) -> tuple[int, str]:
    """Give how many rows came before the error, and its sentence."""
    rows = 0
    with pytest.raises(RemoteError) as caught:
        for batch in client.sql(sql).batches():
            rows += batch.num_rows
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "RESULT_TOO_LARGE",
    )
    return rows, str(caught.value)


def test_a_result_has_so_many_rows_at_most(spark: SparkSession) -> None:
    with client_of(spark, rows=1000, batch_bytes=1 << 10) as client:
        assert client.sql("SELECT id FROM range(1000)").arrow().num_rows == 1000
        rows, told = too_large(client, "SELECT id FROM range(100000)")
        assert rows <= 1000
        assert "1000" in told


def test_a_result_has_so_many_bytes_at_most(spark: SparkSession) -> None:
    with client_of(spark, bytes=100_000, batch_bytes=1 << 12) as client:
        assert client.sql("SELECT repeat('x', 40000)").arrow().num_rows == 1
        rows, told = too_large(client, "SELECT repeat('x', 1000) FROM range(1000)")
        assert rows * 1000 <= 100_000
        assert "100000" in told


def test_a_row_that_fits_into_no_message_is_told_in_our_words(spark: SparkSession) -> None:
    with client_of(spark) as client:
        rows, told = too_large(client, "SELECT repeat('x', 70000000)")
        assert rows == 0
        assert "A row of the result makes a message of 7" in told
        assert client.sql("SELECT 1 AS a").arrow().num_rows == 1
