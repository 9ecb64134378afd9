# SPDX-License-Identifier: Apache-2.0
"""Brings the jar that the wheel carries up to date, for make and for the wheel build.

The jar is stale when any of its sources changed after the build that made it began. So an edit
made while sbt runs makes the jar stale, and a second call with nothing changed starts no sbt.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent.parent
VERSION = (ROOT / "VERSION").read_text().strip()
JAR = ROOT / "python" / "plait" / "jars" / f"plait-{VERSION}.jar"


def sources() -> Iterator[Path]:
    """Yield what the jar is made from: Scala sources, the build's definition, its versions."""
    for name in ("VERSION", "build.sbt", "python/constraints.txt"):
        yield ROOT / name
    yield from (ROOT / "project").glob("*.*")
    for module in (ROOT / "jvm").iterdir():
        # Folders too: a deleted source changes only the time of its folder.
        yield from (module / "src" / "main").rglob("*")


def is_stale() -> bool:
    """Whether the jar is missing or older than one of its sources."""
    if not JAR.is_file():
        return True
    made = JAR.stat().st_mtime
    return any(source.stat().st_mtime > made for source in sources())


def build_jar() -> None:
    """Run ``./sbt jar`` unless the jar is up to date."""
    if not is_stale():
        return
    print(f"plait: building {JAR.relative_to(ROOT)}", file=sys.stderr, flush=True)
    began = time.time()
    subprocess.run(["sh", str(ROOT / "sbt"), "jar"], check=True, env=_environment())
    os.utime(JAR, (began, began))


def _environment() -> dict[str, str]:
    """Point ./sbt at the pyspark that this Python has, so that none is installed a second time.

    Without one (an isolated wheel build) ./sbt makes its own ``.venv``.
    """
    environment = dict(os.environ)
    spec = find_spec("pyspark")
    if "PLAIT_SPARK_HOME" not in environment and spec and spec.origin and _is_pinned():
        environment["PLAIT_SPARK_HOME"] = str(Path(spec.origin).parent)
    return environment


def _is_pinned() -> bool:
    from importlib.metadata import version

    pins = (ROOT / "python" / "constraints.txt").read_text().split()
    return f"pyspark=={version('pyspark')}" in pins


class JarHook(BuildHookInterface[Any]):
    """Hatchling's hook: a wheel, editable or not, has an up-to-date jar."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the jar before the wheel's files are collected."""
        del version, build_data
        try:
            build_jar()
        except subprocess.CalledProcessError:
            sys.exit("plait: the jar could not be built; the message of ./sbt jar is above.")


if __name__ == "__main__":
    try:
        build_jar()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
