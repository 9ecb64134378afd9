# SPDX-License-Identifier: Apache-2.0
"""What a sweep of the solver takes, and one end of a linear reach: `jvm/bench`, measured by JMH.

    a + b > s - 3 AND a + b < s + 3        ten nodes; a = 100, b = 7      s in (104, 110)
    max(s - 7, s + t - 4)                  the end of a reach, for a row's s and t

Claims: one upward and one downward sweep over the ten nodes take at most 2 microseconds; the end of
a reach allocates nothing.

A time is the median of JMH's iterations of one second each, of the wall clock: on a shared machine
single ones are several times as long.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.options import ROOT, Options
from benchmarks.table import summary, verdict

MOST_NANOSECONDS = 2_000
# JMH divides what the JVM allocates beside by the number of calls.
MOST_BYTES = 0.1

MEANINGS = {
    "sweepUpAndDown": "one upward and one downward sweep over ten nodes, all told of once",
    "upwardSweep": "of that the upward one",
    "narrow": "a new row's values, narrowed until no end moves: two sweeps up, two down",
    "at": "one end of a linear reach",
}


def run(options: Options, folder: Path) -> None:
    """Run both of JMH's benchmarks and keep the result."""
    found = measured(folder / "jmh.json", max(options.runs, 3))
    lines = {name: (median(_times(one)), _bytes(one)) for name, one in found.items()}
    time, size = lines["sweepUpAndDown"][0], lines["at"][1]
    judged = [
        verdict(time, MOST_NANOSECONDS, "nanoseconds of a sweep up and down", f"{time:.0f}"),
        verdict(size, MOST_BYTES, "bytes that an end of a linear reach allocates", f"{size:.3f}"),
    ]
    jdk = next(iter(found.values()))["jdkVersion"]
    text = [
        *machine.head("The solver's sweep", jdk, options.command("sweep")),
        summary(judged),
        *(f"  {line}" for line in judged),
        "",
        f"  {'':<16}{'median':>10}{'least':>10}{'allocated':>12}",
        *(
            f"  {name:<16}{time:>7.0f} ns{min(_times(found[name])):>7.0f} ns{size:>10.0f} B"
            for name, (time, size) in lines.items()
        ),
        "",
        *(f"{name:<16}  {meaning}" for name, meaning in MEANINGS.items()),
    ]
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "sweep.txt").write_text("\n".join(text) + "\n")
    print("\n".join(text), flush=True)


def measured(to: Path, iterations: int) -> dict[str, dict[str, Any]]:
    """Return what JMH wrote, by the name of the method."""
    words = f"-prof gc -f 3 -wi 5 -i {iterations} -r 1 -w 1 -rf json -rff {to}"
    jmh = f"bench/Jmh/run SolverBenchmark ReachEndBenchmark {words}"
    subprocess.run([str(ROOT / "sbt"), jmh], check=True, cwd=ROOT)
    found = {one["benchmark"].rsplit(".", 1)[1]: one for one in json.loads(to.read_text())}
    return {name: found[name] for name in MEANINGS}


def _times(one: dict[str, Any]) -> list[float]:
    return [time for fork in one["primaryMetric"]["rawData"] for time in fork]


def _bytes(one: dict[str, Any]) -> float:
    return float(one["secondaryMetrics"]["gc.alloc.rate.norm"]["score"])
