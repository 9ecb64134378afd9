# SPDX-License-Identifier: Apache-2.0
"""DataFusion's half: a process in an environment of its own, which is asked case by case.

The process is ended, and started again for the next case, where one takes more than 120 seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import environment
from benchmarks.article.cases import Cell, Size
from benchmarks.peer import STOPPED_AFTER, Stopped, watched

HALF = Path(__file__).parent / "datafusion_half.py"


def measured(folder: Path, join: str, sizes: Sequence[Size], runs: int) -> dict[Size, Cell]:
    """Return what DataFusion's ``join`` takes for each case, less what reading takes."""
    found = {}
    with Asked(folder) as process:
        for size in sizes:
            try:
                given = process.ask(join, size, runs)
            except Stopped:
                found[size] = Cell(STOPPED_AFTER, None)
                print(f"  {join} {size} stopped", flush=True)
                continue
            answer = (given["pairs"], given["left"], given["right"])
            found[size] = Cell(max(given["seconds"], 1e-6), answer)
            reading = given["reading"]
            print(
                f"  {join} {size} {found[size].seconds:.4f} s, reading {reading:.4f} s", flush=True
            )
    return found


class Asked:
    """The process; a context that ends it."""

    def __init__(self, folder: Path) -> None:
        """Start it over the tables of a folder."""
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Asked:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def ask(self, join: str, size: Size, runs: int) -> dict[str, Any]:
        """Run a case; Stopped if that takes too long."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        keys, rows, batch = size
        with watched(process.kill):
            process.stdin.write(f"{join} {keys} {rows} {batch} {runs}\n")
            process.stdin.flush()
            given: dict[str, Any] = json.loads(process.stdout.readline())
        return given

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            words = ("-c", environment.CONSTRAINTS, "datafusion", "pyarrow")
            programs = environment.made("datafusion", *words)
            self._process = subprocess.Popen(
                [programs / "python", HALF, str(self._folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "TOKIO_WORKER_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
        return self._process
