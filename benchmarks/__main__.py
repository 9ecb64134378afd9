# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks by name, each in a process of its own: `make bench` all of them."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.options import Options, parse

NAMES = [
    *("w1", "w2", "w3", "w4", "w5", "w6", "state"),
    *("population", "grid", "codegen", "tpcds", "article", "endpoint", "sweep"),
]

# Or in JVMs that they start themselves.
WITHOUT_SPARK = {"article", "population", "sweep"}


def main() -> None:
    """Run what the command line names."""
    names, options = parse(NAMES)
    if len(names) == 1:
        run(names[0], options)
        missed = unmet(names[0], options)
        if missed:
            sys.exit("\n".join([f"{names[0]}: measured, and not what is claimed", *missed]))
        return
    flags = [word for word in sys.argv[1:] if word not in NAMES]
    failed = [n for n in names if subprocess.call([sys.executable, "-m", "benchmarks", n, *flags])]
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def unmet(name: str, options: Options) -> list[str]:
    """Return the claims that the result says are not met, if it was a run at their sizes."""
    result = options.folder / f"{name}.txt"
    if not options.is_claimed or not result.exists():
        return []
    return [line for line in result.read_text().splitlines() if line.startswith("  NOT MET")]


def run(name: str, options: Options) -> None:
    """Run one benchmark in this process."""
    benchmark = importlib.import_module(f"benchmarks.{name}")
    with tempfile.TemporaryDirectory(prefix=f"plait-{name}-") as folder:
        if name in WITHOUT_SPARK:
            benchmark.run(options, Path(folder))
            return
        from benchmarks import spark as sparks

        spark = sparks.start()
        try:
            benchmark.run(spark, options, Path(folder))
        finally:
            spark.stop()


if __name__ == "__main__":
    main()
