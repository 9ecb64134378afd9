# SPDX-License-Identifier: Apache-2.0
"""Examples: ``df.plait``, of DataFrames of both kinds of session."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.python.frames import rows

import plait
from plait.join import __all__ as joins

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def test_both_kinds_of_session_run_in_one_process(
    spark: SparkSession, connect: SparkSession
) -> None:
    kinds = [type(one.range(1)).__module__ for one in (spark, connect)]
    assert kinds == ["pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe"]


@pytest.mark.parametrize("name", joins)
def test_every_join_is_a_method_of_df_plait(trades: DataFrame, name: str) -> None:
    method = getattr(trades.plait, name)
    function = inspect.signature(getattr(plait, name))
    assert list(inspect.signature(method).parameters) == list(function.parameters)[1:]
    assert name in dir(trades.plait)


def test_the_method_is_the_function(trades: DataFrame, quotes: DataFrame) -> None:
    df = trades.plait.asof_join(quotes, "ts", by="k")
    assert rows(df) == rows(plait.asof_join(trades, quotes, "ts", by="k"))


@pytest.mark.spark
@pytest.mark.parametrize("order", [("plait", "pyspark.sql"), ("pyspark.sql", "plait")])
def test_the_accessor_is_there_whichever_is_imported_first(order: tuple[str, str]) -> None:
    program = f"""
import sys
import {order[0]}
assert {order[0]!r} != "plait" or "pyspark" not in sys.modules
import {order[1]}
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as Classic
print(isinstance(DataFrame.plait, property), Classic.plait is DataFrame.plait, len(
    [finder for finder in sys.meta_path if type(finder).__module__ == "plait.accessor"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["True", "True", "0"], "")
