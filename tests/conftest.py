# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: one Spark session with Plait, and the root of the repository."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Modules whose doctests start Spark.
SPARK_DOCTESTS = ("plait.session", "plait.explain")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        uses_spark = "spark" in getattr(item, "fixturenames", ())
        if uses_spark or item.name.startswith(SPARK_DOCTESTS):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    session = plait.session(
        master="local[2]",
        app_name="plait tests",
        **{
            "spark.ui.enabled": False,
            "spark.sql.shuffle.partitions": 4,
            "spark.sql.session.timeZone": "UTC",
            "spark.plait.planning.on-error": "fail",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        },
    )
    yield session
    session.stop()
