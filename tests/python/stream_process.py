# SPDX-License-Identifier: Apache-2.0
"""A join of streams in a process of its own, to be killed: ``python stream_process.py FOLDER``.

It waits for a line on its input once Spark is there, runs over what the folder's feeds have, and
ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOW, CONDITION = "FULL", "l.k = r.k AND r.s BETWEEN l.s - 5 AND l.s + 8"
# No more batches than have to be kept, so that what grows is seen.
KEEP_LITTLE = {
    "spark.sql.streaming.minBatchesToRetain": 2,
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": 2,
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
}


class StreamProcess:
    """A process that has Spark and waits, with as many cores as it is told."""

    def __init__(self, folder: Path, cores: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(folder), str(cores)],
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


def main(folder: Path, cores: int) -> None:
    from tests.python.conftest import QUICK
    from tests.python.streams import Feeds, run

    import plait

    spark = plait.session(master=f"local[{cores}]", **{"spark.ui.enabled": False})
    for key, value in (QUICK | KEEP_LITTLE | {"spark.sql.shuffle.partitions": 2}).items():
        spark.conf.set(key, value)
    df = Feeds(folder).join(spark, HOW, CONDITION)
    sys.stdin.readline()
    run(df, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
