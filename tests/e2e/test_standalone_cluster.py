# SPDX-License-Identifier: Apache-2.0
"""Examples: executors in processes of their own, on a standalone cluster of two workers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.e2e.daemons import daemon, exit_on_terminate, wait_for

SESSION = """
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
"""

# Rows are told apart by sums of all columns. The 20,000 rows a side have 100 keys; of a key, every
# row of the left side has 3 partners, but for the first and the last of a key.
TABLES = """
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

# Three micro-batches of 1,000 rows a side, one a second, 50 keys; every third right row is missing.
# A last row of either side, much later, lets all others out. A left row's partners are those of its
# key up to 100 s after it: its own second's and the two after that. The query is stopped after two
# of them and goes on as a new one.
STREAMS = """
folder = sys.argv[2]
spark.conf.set("spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
schema = "id LONG, k LONG, ts TIMESTAMP"

def fill(*batches):
    for batch in batches:
        for side, kept in (("l", "true"), ("r", "id % 3 != 1")):
            rows = f"SELECT id, id % 50 AS k, timestamp_seconds(id) AS ts FROM {batch} WHERE {kept}"
            spark.sql(rows).coalesce(1).write.mode("append").parquet(f"{folder}/{side}")

def joined(read):
    for side in "lr":
        read(side).createOrReplaceTempView(side)
    return spark.sql(
        "SELECT l.id AS l, r.id AS r FROM l LEFT JOIN r "
        "ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 100 SECONDS"
    )

def run():
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    out = joined(lambda side: reader.parquet(f"{folder}/{side}").withWatermark("ts", "1 second"))
    query = (
        out.writeStream.format("parquet").option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True).start(f"{folder}/out")
    )
    query.awaitTermination()
    (operator,) = query.lastProgress["stateOperators"]
    return operator

fill("range(0, 1000)", "range(1000, 2000)")
print(run()["numRowsTotal"])
fill("range(2000, 3000)", "range(9000, 9001)")
operator = run()
print(operator["operatorName"], operator["numShufflePartitions"])
spark.conf.set("spark.plait.enabled", False)
sums = "count(*)", "count(r)", "sum(l * 7 + coalesce(r, 3) * 11)", "sum(xxhash64(l, r) % 1000003)"
wanted = joined(lambda side: spark.read.parquet(f"{folder}/{side}"))
for df in (spark.read.parquet(f"{folder}/out"), wanted):
    print(*df.where("l < 9000").selectExpr(*sums).first())
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a master and two workers of one core each on free ports, and stop them in the end."""
    tmp_path = tmp_path_factory.mktemp("cluster")
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


def run(program: str, *arguments: str | Path) -> list[str]:
    """Run a program as a driver, and give the lines that it prints."""
    command = [sys.executable, "-c", SESSION + program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.spark
def test_executors_in_other_processes_run_the_join(cluster: str) -> None:
    partitioned, collected, plait_off, executors = run(TABLES, cluster)
    # 100 keys, each with 200 rows of 3 partners less one at either end.
    assert partitioned.split()[:2] == ["1", str(100 * (200 * 3 - 2))]
    assert partitioned == collected == plait_off
    assert executors == "2 executors"


@pytest.mark.spark
def test_a_join_of_streams_goes_on_with_its_rows_on_executors_in_other_processes(
    cluster: str, tmp_path: Path
) -> None:
    waiting, operator, streamed, wanted = run(STREAMS, cluster, tmp_path)
    assert int(waiting) > 0
    assert operator == "plaitSymmetricHashJoin 4"
    assert streamed == wanted
    rows, pairs, *_ = map(int, streamed.split())
    assert rows > pairs > 3000
