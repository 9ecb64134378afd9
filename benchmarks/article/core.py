# SPDX-License-Identifier: Apache-2.0
"""The core's half: jvm/bench, started by sbt, which compiles it and leaves its times in files."""

from __future__ import annotations

import csv
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.article.cases import Cell, Size
from benchmarks.options import ROOT

# A join takes milliseconds: many runs cost nothing and their median is steady.
RUNS_A_ROUND = 10


def measured(folder: Path, runs: int) -> dict[Size, Cell]:
    """Join every table of the folder with every size of batches."""
    words = f"bench/runMain plait.bench.Article {folder} {runs * RUNS_A_ROUND}"
    subprocess.run([str(ROOT / "sbt"), words], check=True, cwd=ROOT)
    return {
        (int(row["keys"]), int(row["rows"]), int(row["batch"])): Cell(
            float(row["seconds"]),
            (int(row["pairs"]), int(row["left"]), int(row["right"])),
            int(row["peak"]),
        )
        for row in _lines(folder / "times.csv")
    }


def buffered(folder: Path) -> dict[int, list[tuple[int, int, int]]]:
    """Return for each number of keys the rows read, and those held of left and right then."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for row in _lines(folder / "buffered.csv"):
        sample = (int(row["read"]), int(row["left"]), int(row["right"]))
        found.setdefault(int(row["keys"]), []).append(sample)
    return found


def jdk(folder: Path) -> str:
    """Return the version of the JDK that ran it."""
    return (folder / "jdk.txt").read_text()


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="") as file:
        yield from csv.DictReader(file)
