# SPDX-License-Identifier: Apache-2.0
"""Examples: each file of `tests/spec`, under every strategy and with 1 and 5 partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spec.runner import STRATEGIES, parse, run, runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = sorted((Path(__file__).parents[1] / "spec").glob("*.test"))


CASES = [
    pytest.param(file, strategy, id=f"{file.stem}-{strategy}")
    for file in FILES
    for strategy in STRATEGIES
    if runs(parse(file.read_text()), strategy)
]


@pytest.mark.parametrize(("file", "strategy"), CASES)
def test_spec(spark: SparkSession, file: Path, strategy: str) -> None:
    run(spark.newSession(), parse(file.read_text()), strategy)
