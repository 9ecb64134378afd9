# SPDX-License-Identifier: Apache-2.0
"""DuckDB over the files that Spark reads, with as many threads.

Times of Spark's are cast to DuckDB's own of no zone: the session's zone is UTC, so nothing moves.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.peer import Join, Measured, Query, alike, timed, watched

THREADS = 2
# Else it hashes by the equality and compares all that share a key, which is best where few do.
RANGE_JOINS, AS_IT_COMES = "SET prefer_range_joins = true", ""


@dataclass(frozen=True)
class DuckPeer:
    """A join as DuckDB runs it.

    ``tables`` are the folders of Parquet files by the name that ``join`` has for them, ``settings``
    statements that come first.
    """

    join: Join | Query
    tables: Mapping[str, Path]
    name: str = "DuckDB"
    settings: str = RANGE_JOINS

    def run(self) -> Measured:
        """Run the join to its end, in a database of its own."""
        with self._open() as db:
            db.execute("SET enable_profiling = 'no_output'")
            db.execute("SET tracked_metrics = ['system.*']")
            before = time.process_time()
            seconds, row = self._timed(db, lambda: db.execute(self.join.whole).fetchall()[0])
            cpu = time.process_time() - before
            peaks = json.loads(db.get_profiling_information(format="json"))["system"]
        return Measured(
            seconds,
            alike([[int(value) for value in row]]),
            cpu,
            memory=int(peaks["peak_buffer_memory"]),
            spill=int(peaks["peak_temp_dir_size"]),
        )

    def first(self) -> float | None:
        """Run the join up to its first row."""
        text = self.join.one_row
        if text is None:
            return None
        with self._open() as db:
            return self._timed(db, lambda: db.execute(text).fetchall())[0]

    def _open(self) -> duckdb.DuckDBPyConnection:
        db = duckdb.connect()
        db.execute(f"SET threads = {THREADS}; {self.settings}")
        db.execute(f"SET temp_directory = '{next(iter(self.tables.values())).parent / 'duck'}'")
        for name, folder in self.tables.items():
            files = f"'{folder / '*.parquet'}'"
            columns = db.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()
            times = [c[0] for c in columns if c[1] == "TIMESTAMP WITH TIME ZONE"]
            replaced = ", ".join(f"make_timestamp(epoch_us({t})) AS {t}" for t in times)
            star = f"* REPLACE ({replaced})" if times else "*"
            db.execute(f"CREATE VIEW {name} AS SELECT {star} FROM {files}")
        return db

    @staticmethod
    def _timed(db: duckdb.DuckDBPyConnection, run: Callable[[], Any]) -> tuple[float, Any]:
        with watched(db.interrupt):
            return timed(run)
