# SPDX-License-Identifier: Apache-2.0
"""What a benchmark is asked on the command line.

    python -m benchmarks                       every benchmark, each in a process of its own
    python -m benchmarks w1 w4                 these
    python -m benchmarks w1 --quick            small and once: does it run?
    python -m benchmarks w1 --rows 1000000     this many rows a side instead of the claim's
    python -m benchmarks w1 --runs 2 --jvms 3  two rounds in each of three JVMs, as one race of six
    PROFILE=1 python -m benchmarks w1          with a flight recording and the ten hottest frames
                                               (w1, w3 to w6 and grid)

Only a run at the claim's own sizes is kept in benchmarks/results; others go to build/benchmarks.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Names the file where one JVM of several leaves what it found.
PART = "PLAIT_BENCHMARK_PART"


class Extent(Enum):
    """How much of a benchmark is run."""

    WHOLE = "whole"
    QUICK = "quick"


@dataclass(frozen=True)
class Options:
    """The command line, understood."""

    rows: int | None = None
    runs: int = 5
    extent: Extent = Extent.WHOLE
    profile: bool = False
    jvms: int = 1
    part: Path | None = None

    def sizes(self, *claimed: int, quick: int = 20_000) -> tuple[int, ...]:
        """Return the numbers of rows to run at.

        >>> Options().sizes(65_536, 1_000_000), Options(rows=5).sizes(65_536, 1_000_000)
        ((65536, 1000000), (5,))
        """
        if self.rows is not None:
            return (self.rows,)
        return claimed if self.extent is Extent.WHOLE else (quick,)

    @property
    def is_claimed(self) -> bool:
        """Whether it is a run at the claim's own sizes."""
        return self.rows is None and self.extent is Extent.WHOLE

    @property
    def folder(self) -> Path:
        """Where the result is written; of one JVM of several beside what is put together."""
        if self.part is not None:
            return self.part.parent
        return ROOT / ("benchmarks/results" if self.is_claimed else "build/benchmarks")

    def command(self, name: str) -> str:
        """Return the command that repeats this run.

        >>> Options(rows=10, runs=3).command("w1")
        'python -m benchmarks w1 --runs 3 --rows 10'
        """
        words = [f"python -m benchmarks {name} --runs {self.runs}"]
        if self.jvms > 1:
            words.append(f"--jvms {self.jvms}")
        if self.rows is not None:
            words.append(f"--rows {self.rows}")
        if self.extent is Extent.QUICK:
            words.append("--quick")
        return " ".join(words)


def parse(known: list[str], argv: list[str] | None = None) -> tuple[list[str], Options]:
    """Return the benchmarks asked for, all if none is named, and the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--rows", type=int, help="rows a side, instead of the claim's")
    parser.add_argument("--runs", type=int, help="measured rounds after the warm-up; default 5")
    parser.add_argument("--jvms", type=int, default=1, help="JVMs, one after the other; default 1")
    parser.add_argument("--quick", action="store_true", help="small tables, one round")
    given = parser.parse_args(argv)
    unknown = [name for name in given.names if name not in known]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}, only {', '.join(known)}")
    extent = Extent.QUICK if given.quick else Extent.WHOLE
    return given.names or known, Options(
        rows=given.rows,
        runs=given.runs or (1 if given.quick else 5),
        extent=extent,
        profile=os.environ.get("PROFILE", "") not in ("", "0"),
        jvms=given.jvms,
        part=Path(os.environ[PART]) if PART in os.environ else None,
    )
