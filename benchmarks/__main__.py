# SPDX-License-Identifier: Apache-2.0
"""Runs benchmarks by name, each in a process of its own: `make bench` all of them."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.options import PART, Options, parse
from benchmarks.result import together

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
        if options.jvms > 1:
            in_jvms(names[0], options)
        else:
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
    if options.part is not None or not options.is_claimed or not result.exists():
        return []
    return [line for line in result.read_text().splitlines() if line.startswith("  NOT MET")]


def in_jvms(name: str, options: Options) -> None:
    """Run one benchmark in several JVMs: how one compiles a join is a matter of luck, too."""
    command = replace(options, jvms=1).command(name).split()
    with tempfile.TemporaryDirectory(prefix=f"plait-{name}-") as folder:
        parts = [Path(folder) / f"{n}.pickle" for n in range(options.jvms)]
        for part in parts:
            env = os.environ | {PART: str(part)}
            subprocess.run([sys.executable, *command[1:]], env=env, check=True)
            if not part.exists():
                sys.exit(f"{name} cannot be run in several JVMs: its result has no cases to join")
        results = [pickle.loads(part.read_bytes()) for part in parts]
    print("\n".join(together(results, options).judged))


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
