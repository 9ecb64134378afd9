# SPDX-License-Identifier: Apache-2.0
"""Sessions of both kinds, classic and Spark Connect, and two DataFrames to join.

The Connect server runs in the JVM of the classic session: pyspark allows one process to have both
as long as the remote session is built by its own class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from benchmarks.endpoint import connect_port
from tests.python.frames import frame
from tests.python.queries import settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python import streams

# To compile and to adapt takes longer than to run queries of a few rows.
QUICK = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
    # Checkpoints whose files start no process each to get their permissions.
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming"
    ".checkpointing.FileSystemBasedCheckpointFileManager",
}


@pytest.fixture(scope="session")
def connect(spark: SparkSession) -> Iterator[SparkSession]:
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    session = RemoteSession.builder.remote(f"sc://localhost:{connect_port(spark)}").getOrCreate()
    for key, value in QUICK.items():
        session.conf.set(key, value)
    yield session
    session.stop()


@pytest.fixture
def feeds(tmp_path: Path) -> streams.Feeds:
    """Two folders, to be read as streams."""
    from tests.python.streams import Feeds

    return Feeds(tmp_path)


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    if request.param == "connect":
        yield request.getfixturevalue("connect")
    else:
        with settings(spark, QUICK):
            yield spark


@pytest.fixture
def trades(session: SparkSession) -> DataFrame:
    rows = [("a", 1, 10), ("a", 5, 20), ("b", 5, 30), (None, 5, 40), ("a", None, 50)]
    return frame(session, rows, "k string, ts int, price int")


@pytest.fixture
def quotes(session: SparkSession) -> DataFrame:
    rows = [("a", 3, 1), ("a", 5, 2), ("a", 5, 3), ("a", 8, 4), ("b", 6, 5), (None, 1, 6)]
    return frame(session, rows, "k string, ts int, bid int")
