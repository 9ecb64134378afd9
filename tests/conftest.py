# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: one Spark session with Plait, and the root of the repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests import quick_files
from tests.class_archive import quick_start

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK_START = quick_start()
os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_START)
os.environ.setdefault("SPARK_DAEMON_JAVA_OPTS", QUICK_START)

# The property of a test's report under which it has what is shown at the end.
SAID = "said"

# Modules whose doctests start Spark.
SPARK_DOCTESTS = ("plait.session", "plait.explain", "plait.bounds", "plait.files")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        uses_spark = "spark" in getattr(item, "fixturenames", ())
        if uses_spark or item.name.startswith(SPARK_DOCTESTS):
            item.add_marker(pytest.mark.spark)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests have said, whichever process they ran in."""
    reports = [each for found in terminalreporter.stats.values() for each in found]
    lines = [
        text
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == SAID and report.when == "call"
    ]
    if lines:
        terminalreporter.section("counts")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture
def say(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Show a line at the end of all tests, where pytest keeps back what a test prints."""

    def said(text: str) -> None:
        record_property(SAID, text)

    return said


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[1]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(quick_files.ON_CLASS_PATH, str(quick_files.JAR), prepend=os.pathsep)
        session = plait.session(
            master="local[2]",
            app_name="plait tests",
            **{
                "spark.ui.enabled": False,
                # What is over would fill the heap.
                "spark.ui.retainedJobs": 100,
                "spark.ui.retainedStages": 100,
                "spark.ui.retainedTasks": 1000,
                "spark.sql.ui.retainedExecutions": 100,
                # Nobody looks at the text of each plan.
                "spark.sql.ui.explainMode": "simple",
                "spark.sql.shuffle.partitions": 4,
                "spark.sql.session.timeZone": "UTC",
                # Tables of tests are small: with their size alone, each would be broadcast.
                "spark.sql.autoBroadcastJoinThreshold": -1,
                "spark.plait.planning.on-error": "fail",
                # Spark would run a stage whose generated code is wrong without it, and log that.
                "spark.sql.codegen.fallback": False,
                "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
                **quick_files.settings(),
            },
        )
    yield session
    session.stop()
