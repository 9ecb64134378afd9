# SPDX-License-Identifier: Apache-2.0
"""Makes ``build/spark.jsa``: the classes of Spark, parsed and verified, for JVMs to map at start.

    $ python -m tests.class_archive
    build/spark.jsa: 186 MB, in 30 s

The tests start some dozens of JVMs with Spark, each of which would spend most of its first ten
seconds on loading classes; with the archive, six. It holds what a session loads that joins tables
and a stream and ends. A JVM takes it only if it is the one that made it, over the same jars of
Spark; else it starts without, as it does where there is no archive.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = ROOT / "build" / "spark.jsa"
# A test's Spark is short-lived: its code is never hot enough to pay for the optimizing compiler,
# and two of them share the machine when the tests run in two processes. Without that compiler a
# JVM has 48 MB for code, full after some minutes of queries: then it drops code, and compiles it
# again. Most of what it makes is garbage at once, and its classes fill what it has for them at
# first. Hadoop starts a process for each file that it makes: by VFORK one, and not two.
QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC -XX:NewRatio=1 "
    "-XX:MetaspaceSize=256m -Djdk.lang.Process.launchMechanism=VFORK"
)
SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"
SETTINGS = {
    "spark.ui.enabled": False,
    "spark.ui.showConsoleProgress": False,
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.adaptive.enabled": False,
    "spark.plait.stream.unbounded-state": "allow",
}
JOIN = "SELECT l.id FROM {l} l JOIN {r} r ON l.k = r.k AND r.id BETWEEN l.id AND l.id + 3"


def quick_start() -> str:
    """Return the options of a JVM for tests."""
    return f'{QUICK} "-XX:SharedArchiveFile={ARCHIVE}" {SILENT}' if ARCHIVE.exists() else QUICK


def main() -> None:
    """Start a JVM that writes down at its end what it loaded, and use it."""
    begun = monotonic()
    ARCHIVE.parent.mkdir(exist_ok=True)
    ARCHIVE.unlink(missing_ok=True)
    os.environ["SPARK_SUBMIT_OPTS"] = f'{QUICK} "-XX:ArchiveClassesAtExit={ARCHIVE}" {SILENT}'
    with tempfile.TemporaryDirectory() as folder:
        session = plait.session(master="local[2]", **SETTINGS)
        use(session, Path(folder))
        jvm = session.sparkContext._gateway
        session.stop()
        assert jvm is not None
        # The JVM ends, and writes, when its standard input does.
        jvm.shutdown()
        jvm.proc.stdin.close()
        jvm.proc.wait(timeout=120)
    seconds = f"in {monotonic() - begun:.0f} s"
    if ARCHIVE.exists():
        size = ARCHIVE.stat().st_size / 2**20
        sys.stdout.write(f"{ARCHIVE.relative_to(ROOT)}: {size:.0f} MB, {seconds}\n")
    else:
        sys.stdout.write(f"this JVM makes no archive of its classes ({seconds})\n")


def use(session: SparkSession, folder: Path) -> None:
    """Join tables, write them, and join what comes as a stream."""
    table = session.range(1000).selectExpr("id", "id % 7 AS k", "CAST(id AS STRING) AS t")
    joined = session.sql(JOIN, l=table, r=table)
    joined.groupBy("id").count().orderBy("id").collect()
    table.write.parquet(str(folder / "in"))
    sides = {
        name: session.readStream.schema(table.schema).parquet(str(folder / "in")) for name in "lr"
    }
    writer = session.sql(JOIN, **sides).writeStream.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    writer.start(str(folder / "out"), format="parquet").awaitTermination()


if __name__ == "__main__":
    main()
