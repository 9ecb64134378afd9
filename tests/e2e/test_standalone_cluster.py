# SPDX-License-Identifier: Apache-2.0
"""Example: executors in processes of their own, on a standalone cluster of two workers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.daemons import daemon, exit_on_terminate, wait_for

# Rows are told apart by sums of all columns. The 20,000 rows a side have 100 keys; of a key, every
# row of the left side has 3 partners, but for the first and the last of a key.
PROGRAM = """
import os
import sys
import plait
from pyspark.sql import SparkSession

builder = SparkSession.builder.master(sys.argv[1]).appName("plait")
for key, value in {
    "spark.ui.enabled": False,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"],
    "spark.sql.shuffle.partitions": 4,
}.items():
    builder = builder.config(key, value)
spark = plait.register(builder).getOrCreate()
columns = "id, id % 100 AS k, id DIV 100 AS s, repeat(string(id), 3) AS x"
table = f"(SELECT {columns} FROM range(0, 20000, 1, 2))"
sums = "count(*), sum(l.id), sum(r.id), sum(xxhash64(l.x, r.x) % 1000003)"
near = "l.k = r.k AND r.s BETWEEN l.s - 1 AND l.s + 1"
join = f"SELECT {sums} FROM {table} l JOIN {table} r ON {near}"
for enabled, small, node in (
    (True, -1, "SymmetricHashJoin"),
    (True, "10MB", "CollectedJoin"),
    (False, -1, "SortMergeJoin"),
):
    spark.conf.set("spark.plait.enabled", enabled)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", small)
    df = spark.sql(join)
    rows = df.collect()
    print(str(plait.explain(df)).count(node), *rows[0])
print(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1, "executors")
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """Start a master and two workers of one core each on free ports, and stop them in the end."""
    log = tmp_path / "master.log"
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    with exit_on_terminate(), ExitStack() as daemons:
        daemons.enter_context(daemon("master.Master", log, *local, "--port", "0"))
        url = wait_for(
            lambda: re.search(r"spark://127\.0\.0\.1:\d+", log.read_text()),
            "the master has not started",
        )[0]
        for number in (1, 2):
            folder = tmp_path / f"worker{number}"
            worker = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder), url)
            daemons.enter_context(
                daemon("worker.Worker", tmp_path / f"worker{number}.log", *local, *worker)
            )
        wait_for(
            lambda: log.read_text().count("Registering worker") == 2 or None,
            "two workers have not registered",
        )
        yield url


@pytest.mark.spark
def test_executors_in_other_processes_run_the_join(cluster: str, tmp_path: Path) -> None:
    with (tmp_path / "driver.log").open("w") as log:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, cluster],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, (tmp_path / "driver.log").read_text()[-3000:]
    partitioned, collected, plait_off, executors = done.stdout.splitlines()
    # 100 keys, each with 200 rows of 3 partners less one at either end.
    assert partitioned.split()[:2] == ["1", str(100 * (200 * 3 - 2))]
    assert partitioned == collected == plait_off
    assert executors == "2 executors"
