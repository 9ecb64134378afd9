# SPDX-License-Identifier: Apache-2.0
"""The services of docker/compose.yaml as processes of this machine.

Commands and environment are read from that file, and run by docker/start.sh as in the containers.
What is a container's own becomes this machine's:

    master:7077, server:15110     loopback and a free port, known once the service listens
    --host master, 0.0.0.0        loopback
    /run/secrets, /data           folders of the test

So it does not show what Docker itself does: networks, mounts, users, restarts.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from tests.e2e.daemons import wait_for

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"


def compose() -> dict[str, Any]:
    """Read docker/compose.yaml."""
    read: dict[str, Any] = YAML(typ="safe").load(DOCKER / "compose.yaml")
    return read


class Composed:
    """What has been started; ``server`` is where that listens."""

    def __init__(self, folder: Path, more: Mapping[str, Sequence[str]]) -> None:
        """Keep all in ``folder``; services are told ``more``, by their names."""
        self.folder = folder
        self.secrets = folder / "secrets"
        self._more = more
        self._services = compose()["services"]
        self._here = {
            "/run/secrets": str(self.secrets),
            "/data": str(folder / "data"),
            "/var/lib/plait": str(folder / "work"),
            "=0.0.0.0": "=127.0.0.1",
            "0.0.0.0": "127.0.0.1",
            "driver.host=server": "driver.host=127.0.0.1",
        }
        self.server = ""
        self._alone = {"master": "127.0.0.1", "7077": "0", "15110": "0"}

    @contextmanager
    def service(self, name: str, number: int = 1) -> Iterator[subprocess.Popen[bytes]]:
        """Run a service until the end of the `with`."""
        log = self.log(name, number)
        with (
            log.open("wb") as output,
            subprocess.Popen(
                [str(DOCKER / "start.sh"), *self.command(name)],
                stdout=output,
                stderr=output,
                env=self.environment(name),
                cwd=self.folder,
            ) as process,
        ):
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    process.kill()

    def run(self, name: str, programs: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a service to its end, perhaps with the programs of another environment."""
        environment = self.environment(name)
        if programs is not None:
            environment["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
            del environment["PYTHONPATH"]
        return subprocess.run(
            [str(DOCKER / "start.sh"), *self.command(name)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            timeout=120,
        )

    def command(self, name: str) -> list[str]:
        """Say what start.sh is told."""
        role, *told = (*self._services[name]["command"], *self._more.get(name, ()))
        return [role, *map(self._translated, told)]

    def environment(self, name: str) -> dict[str, str]:
        """Say what the service sees, and what Python and Spark need here."""
        own = self._services[name].get("environment", {})
        programs = Path(sys.executable).parent
        return {
            **{key: value for key, value in os.environ.items() if key != "SPARK_HOME"},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "python"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            # Of another name than the server's, so that nothing is taken from its disk unasked.
            **({"SPARK_LOCAL_HOSTNAME": "localhost"} if name == "worker" else {}),
            **{key: self._translated(value) for key, value in own.items()},
        }

    def log(self, name: str, number: int = 1) -> Path:
        return self.folder / f"{name}-{number}.log"

    def listens(self, name: str, place: str, said: str) -> str:
        """Wait until a service's log says where it listens, and let ``place`` mean that."""
        log = self.log(name)
        port = wait_for(
            lambda: re.search(said, log.read_text()), f"{name} does not listen: {log}", 60
        )[1]
        self._here[place] = address = f"127.0.0.1:{port}"
        return address

    def _translated(self, part: str) -> str:
        if part in self._alone:
            return self._alone[part]
        for there, here in self._here.items():
            part = part.replace(there, here)
        return part
