# SPDX-License-Identifier: Apache-2.0
"""Daemons of Spark, started from the pyspark wheel with Spark's own jars, for as long as a test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pyspark.find_spark_home import _find_spark_home

T = TypeVar("T")


@contextmanager
def daemon(name: str, log: Path, *arguments: str) -> Iterator[None]:
    """Run a daemon of Spark for a while: its log goes to a file, and it ends whatever happens."""
    home = _find_spark_home()
    command = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{name}", *arguments]
    environment = os.environ | {"SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (
        log.open("w") as output,
        # spark-class becomes Java by exec, so this process is the daemon.
        subprocess.Popen(
            command, stdout=output, stderr=output, env=environment, cwd=log.parent
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for(found: Callable[[], T | None], what: str, seconds: float = 120) -> T:
    deadline = time.monotonic() + seconds
    while (value := found()) is None:
        assert time.monotonic() < deadline, f"{what} after {seconds} s"
        time.sleep(0.1)
    return value


@contextmanager
def exit_on_terminate() -> Iterator[None]:
    """Make SIGTERM an exception, so that a run that is stopped stops its daemons."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
