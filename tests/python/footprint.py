# SPDX-License-Identifier: Apache-2.0
"""What a server holds, seen from outside: threads of both its processes, what lives in its JVM
after a full collection, and what it says of itself.

    before = server.footprint()
    ...
    server.rests("sixteen clients")             nothing runs
    server.is_back_at(before, "sixteen clients")

Sessions and temporary views are counted as objects of the JVM, so that one that is forgotten by the
server but held by something else counts. What Spark keeps of jobs that are over is a history of a
length that its settings say.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.python.server_process import ServerProcess

SESSION = "org.apache.spark.sql.classic.SparkSession"
VIEW = "org.apache.spark.sql.catalyst.catalog.TemporaryViewRelation"

# A history of Spark that is full after a few statements, so that it does not look like a leak.
SHORT_HISTORY = {
    "spark.ui.retainedJobs": 10,
    "spark.ui.retainedStages": 10,
    "spark.ui.retainedTasks": 40,
    "spark.sql.ui.retainedExecutions": 10,
    "spark.sql.streaming.ui.retainedQueries": 4,
    "spark.sql.streaming.ui.retainedProgressUpdates": 10,
}

# Compiled code and caches of Spark's: they have an end.
SPARE_BYTES = 24 << 20
# Threads that live on know a session: those of Spark's pools the one in which they were made, those
# of Py4J's connections the one that they served last. Two or three of them were seen, minutes after
# the last client; what forgets no session leaves one for each client, which are dozens.
SPARE_SESSIONS = 8


@dataclass(frozen=True)
class Footprint:
    """At one moment; ``heap`` is in bytes, ``jobs`` are those of Spark that run.

    ``threads`` are those of Python that work for operations: those of pools wait for the next call.
    """

    threads: int
    jvm_threads: int
    heap: int
    sessions: int
    views: int
    jobs: int
    operations: int
    streams: int

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing runs."""
        return (self.jobs, self.operations, self.streams, self.threads) == (0, 0, 0, 0)

    def is_back_at(self, before: Footprint) -> bool:
        """Whether all is as before, but for threads that wait in pools and for caches."""
        return self.is_at_rest and (
            self.jvm_threads <= before.jvm_threads
            and self.heap <= before.heap + SPARE_BYTES
            and self.sessions <= before.sessions + SPARE_SESSIONS
            and self.views <= before.views
        )


class Observed(ServerProcess):
    """A server whose Spark has its UI, and which has metrics."""

    def __init__(self, folder: Path, *arguments: str, **limits: object) -> None:
        self._ui, self._metrics = _free_port(), _free_port()
        conf = SHORT_HISTORY | {"spark.ui.enabled": "true", "spark.ui.port": self._ui}
        told = [part for key, value in conf.items() for part in ("--spark", f"{key}={value}")]
        self.before: Footprint
        super().__init__(folder, *told, *arguments, metrics_port=self._metrics, **limits)

    def footprint(self) -> Footprint:
        jvm = jvm_of(self.process.pid)
        lives = _lives(jvm)
        told = _metrics(self._metrics)
        return Footprint(
            int(told["plait_threads"]),
            _threads(jvm),
            lives["Total"],
            lives.get(SESSION, 0),
            lives.get(VIEW, 0),
            len(_running_jobs(self._ui)),
            int(told["plait_running"] + told["plait_queued"]),
            int(told["plait_streams"]),
        )

    @property
    def live_bytes(self) -> int:
        """What lives in the JVM, after a full collection.

        Of three counts the least: while native code holds an array, as compression does, Java 17
        counts without collecting.
        """
        return min(_lives(jvm_of(self.process.pid))["Total"] for _ in range(3))

    @property
    def resident_bytes(self) -> int:
        """What the Python process has in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) << 10

    def rests(self, what: str, seconds: float = 30.0) -> None:
        """Assert that nothing runs any more, within some time."""
        end = time.monotonic() + seconds
        while not (now := self.footprint()).is_at_rest:
            assert time.monotonic() < end, f"{what}: {now}"
            time.sleep(0.2)
        print(f"{what}: {now}")

    def is_back_at(self, before: Footprint, what: str, seconds: float = 120.0) -> None:
        """Assert that all comes back to where it was, within some time.

        Threads of Spark's pools know the session that they were made in, for the minute that they
        wait for work.
        """
        end = time.monotonic() + seconds
        while not (now := self.footprint()).is_back_at(before):
            assert time.monotonic() < end, f"{what}: {before} has become {now}"
            time.sleep(0.5)
        print(f"{what}: before {before}, after {now}")


def jvm_of(server: int) -> int:
    """Give the number of the JVM's process, a child of the server's."""
    children: list[str] = []
    for task in Path(f"/proc/{server}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            children += (task / "children").read_text().split()
    [jvm] = [int(child) for child in children if "java" in Path(f"/proc/{child}/comm").read_text()]
    return jvm


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _threads(process: int) -> int:
    return len(list(Path(f"/proc/{process}/task").iterdir()))


def _lives(jvm: int) -> dict[str, int]:
    """Collect all garbage, and count the objects of each class; of ``Total`` the bytes."""
    told = subprocess.run(
        ["jcmd", str(jvm), "GC.class_histogram"], capture_output=True, text=True, check=True
    ).stdout
    found = re.findall(r"^ *\d+: +(\d+) +\d+ +(\S+)", told, re.MULTILINE)
    total = re.search(r"^Total +\d+ +(\d+)", told, re.MULTILINE)
    assert total is not None, told[-500:]
    return {name: int(count) for count, name in found} | {"Total": int(total[1])}


def _metrics(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    told = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in told}


def _running_jobs(port: int) -> list[Any]:
    base = f"http://127.0.0.1:{port}/api/v1/applications"
    with urllib.request.urlopen(base, timeout=10) as answer:
        [application] = json.load(answer)
    jobs = f"{base}/{application['id']}/jobs?status=running"
    with urllib.request.urlopen(jobs, timeout=10) as answer:
        return list(json.load(answer))
