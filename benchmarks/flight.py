# SPDX-License-Identifier: Apache-2.0
"""`PROFILE=1`: a flight recording of one more run, and the ten frames where its tasks were most.

    hottest frames, of 812 samples of tasks
        21.3 %  plait.join.Run.firstAtOrAbove
        ...

A frame is the innermost of a sample; what the JVM has inlined still counts as its own. The
recording goes to build/benchmarks, for JDK Mission Control.
"""

from __future__ import annotations

import collections
import contextlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.options import ROOT
from benchmarks.peer import Stopped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASK = "Executor task "  # idle or not: the recorder writes the name that a thread has at the end


def hottest(spark: SparkSession, name: str, run: Callable[[], object]) -> list[str]:
    """Run once more under the flight recorder and return the lines of the ten hottest frames."""
    path = ROOT / "build" / "benchmarks" / f"{name}.jfr"
    path.parent.mkdir(parents=True, exist_ok=True)
    jvm: Any = spark._jvm
    recording = jvm.jdk.jfr.Recording()
    recording.enable("jdk.ExecutionSample").withPeriod(jvm.java.time.Duration.ofMillis(10))
    recording.start()
    try:
        with contextlib.suppress(Stopped):  # up to there it was recorded
            run()
    finally:
        recording.stop()
        recording.dump(jvm.java.io.File(str(path)).toPath())
        recording.close()
    home = Path(str(jvm.java.lang.System.getProperty("java.home")))
    return _counted(_samples(home / "bin" / "jfr", path))


def _samples(jfr: Path, path: Path) -> list[str]:
    printed = subprocess.run(
        [jfr, "print", "--json", "--stack-depth", "1", "--events", "jdk.ExecutionSample", path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return frames(json.loads(printed))


def frames(recording: dict[str, Any]) -> list[str]:
    """Return the innermost frame of each sample of a task."""
    found = []
    for event in recording["recording"]["events"]:
        values = event["values"]
        thread = values.get("sampledThread") or {}
        if not (thread.get("javaName") or "").startswith(TASK) or not values.get("stackTrace"):
            continue
        method = values["stackTrace"]["frames"][0]["method"]
        found.append(f"{method['type']['name'].replace('/', '.')}.{method['name']}")
    return found


def _counted(found: list[str]) -> list[str]:
    most = collections.Counter(found).most_common(10)
    return [
        f"  hottest frames, of {len(found)} samples of tasks",
        *(f"    {100 * count / len(found):5.1f} %  {frame}" for frame, count in most),
    ]
