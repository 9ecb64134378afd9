# SPDX-License-Identifier: Apache-2.0
"""`plait serve` in a process of its own, over a real Spark."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from plait.client import Client

ROOT = Path(__file__).parents[2]

# A Spark of two cores and little memory, quick to start.
SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.plait.planning.on-error": "fail",
}


class ServerProcess:
    """A server that runs until `stop`; its logs are in ``logs``."""

    program: tuple[str, ...] = ("-m", "plait")

    def __init__(self, folder: Path, *arguments: str, **limits: object) -> None:
        self.folder = folder
        scratch = folder / "scratch"
        scratch.mkdir(parents=True, exist_ok=True)
        conf = SPARK | {
            "spark.local.dir": str(scratch),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }
        told = [part for key, value in conf.items() for part in ("--spark", f"{key}={value}")]
        environment = {f"PLAIT_SERVER_{name.upper()}": str(limits[name]) for name in limits}
        self.log_file = folder / "server.log"
        with self.log_file.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, *self.program, "serve", "--port", "0", *told, *arguments],
                env=os.environ | {"PYTHONPATH": str(ROOT / "python")} | environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
            )
        self.address = self._listening()
        self._clients: list[Client] = []

    def client(self, **settings: Any) -> Client:
        self._clients.append(Client(settings.pop("address", self.address), **settings))
        return self._clients[-1]

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def logs(self) -> str:
        return self.log_file.read_text()

    @property
    def scratch_bytes(self) -> int:
        """What lies in Spark's local folders."""
        files = (self.folder / "scratch").rglob("*")
        total = 0
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                total += file.stat().st_size if file.is_file() else 0
        return total

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Send the signal, and give the exit code."""
        for client in self._clients:
            client.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def _listening(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("listening on "):
                # Nobody reads any more: what comes is thrown away, so that nothing stands.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return line.removeprefix("listening on ").strip()
        raise AssertionError(f"the server ended: {self.logs[-2000:]}")
