# SPDX-License-Identifier: Apache-2.0
"""A join of streams in a process of its own, to be killed.

``python stream_process.py FOLDER CORES KIND``

It waits for a line on its input once Spark is there, runs over what the folder's feeds have, and
ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from tests.python.streams import Feeds

ROOT = Path(__file__).parents[2]
HOW, CONDITION = "FULL", "l.k = r.k AND r.s BETWEEN l.s - 5 AND l.s + 8"
# How it is known how far the sides have come, and where rows wait.
WATERMARKS, DECLARED = "watermarks", "declared orders, on RocksDB"
AS_OF = "as of, by watermarks"
# No more batches than have to be kept, so that what grows is seen.
KEEP_LITTLE = {
    "spark.sql.streaming.minBatchesToRetain": 2,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
}


class StreamProcess:
    """A process that has Spark and waits, with as many cores as it is told."""

    def __init__(self, folder: Path, cores: int, kind: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(cores), kind],
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'python'}"},
            stdin=subprocess.PIPE,
            stderr=(folder / "log").open("a"),
            start_new_session=True,
            text=True,
        )

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Kill it and its JVM."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None


def feeds_of(kind: str, folder: Path) -> Feeds:
    from tests.python.streams import Feeds

    return Feeds(folder, (None, None)) if kind == DECLARED else Feeds(folder)


def query(kind: str, session: SparkSession, feeds: Feeds) -> DataFrame:
    if kind == WATERMARKS:
        return feeds.join(session, HOW, CONDITION)
    if kind == AS_OF:
        hints = ""
        join = """LEFT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts TIES ORDER BY r.id)
            ON l.k = r.k"""
    else:
        hints = "/*+ ORDERED(l, s, 10), ORDERED(r, s, 10) */"
        join = f"{HOW} JOIN {{r}} r ON {CONDITION}"
    sql = f"SELECT {hints} l.id AS l, r.id AS r FROM {{l}} l {join}"
    return session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))


def main(folder: Path, cores: int, kind: str) -> None:
    from tests.python.conftest import QUICK
    from tests.python.streams import ROCKS, run

    import plait

    spark = plait.session(master=f"local[{cores}]", **{"spark.ui.enabled": False})
    store = ROCKS if kind == DECLARED else {}
    keys = QUICK | KEEP_LITTLE | {"spark.sql.shuffle.partitions": 2} | store
    for key, value in keys.items():
        spark.conf.set(key, value)
    df = query(kind, spark, feeds_of(kind, folder))
    sys.stdin.readline()
    run(df, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
