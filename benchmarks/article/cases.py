# SPDX-License-Identifier: Apache-2.0
"""The cases of the article's table, and their data, as integers for the JVM and as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KEYS = (8, 64, 1024)
BATCHES = (128, 512, 2048, 4096)

# Keys, rows a side, rows a batch.
Size = tuple[int, int, int]


@dataclass(frozen=True)
class Cell:
    """What a join took for a case; the pairs and the sums of both orders, unless it was stopped."""

    seconds: float
    answer: tuple[int, int, int] | None
    peak: int = 0


def make_tables(folder: Path, keys: Sequence[int], sizes: Sequence[int]) -> None:
    """Write both sides of every number of keys and rows.

    s is the row's number or, with probability 0.3, one less, so it never falls.
    """
    for n in keys:
        for rows in sizes:
            for name, seed in (("l", 1), ("r", 2)):
                random = np.random.default_rng((seed, n, rows))
                key = random.integers(0, n, rows)
                s = np.arange(rows) - (random.random(rows) < 0.3)
                both = np.stack((key, s))
                path = folder / f"{name}-{n}-{rows}"
                both.astype(">i8").tofile(path.with_suffix(".bin"))
                np.savetxt(path.with_suffix(".csv"), both.T, "%d", ",", header="k,s", comments="")
