# SPDX-License-Identifier: Apache-2.0
"""The pictures: times by rows, one a number of keys; rows buffered while the tables are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.article.cases import BATCHES, Cell, Size

COLOURS = ("#3b6ea5", "#c0504d", "#8c8c8c")
DASHES = ("-", "--", "-.", ":")


def times(
    cells: Mapping[str, Mapping[Size, Cell]], keys: int, sizes: Sequence[int], path: Path
) -> None:
    """Draw a line a join and size of batches."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 4), layout="constrained")
    for (name, found), colour in zip(cells.items(), COLOURS, strict=True):
        for batch, dash in zip(BATCHES, DASHES, strict=True):
            seconds = [1000 * found[keys, rows, batch].seconds for rows in sizes]
            label = f"{name}, batches of {batch}"
            axes.plot(sizes, seconds, dash, color=colour, marker=".", label=label)
    axes.set(xlabel="rows a side", ylabel="milliseconds of one thread", yscale="log")
    axes.set_xticks(sizes, [f"{rows:,}" for rows in sizes])
    axes.set_title(f"{keys} keys", fontsize=10)
    figure.legend(loc="outside right center", fontsize=6)  # no line lies below it
    figure.savefig(path, dpi=130)
    plt.close(figure)


def buffered(found: Mapping[int, Sequence[tuple[int, int, int]]], path: Path) -> None:
    """Draw the rows that the core holds of both sides, a panel a number of keys."""
    plt = _pyplot()
    figure, grid = plt.subplots(
        1, len(found), figsize=(3.6 * len(found), 2.6), layout="constrained", squeeze=False
    )
    for axes, (keys, samples) in zip(grid.flat, found.items(), strict=True):
        axes.plot([s[0] for s in samples], [s[1] + s[2] for s in samples], color=COLOURS[0])
        axes.set_title(f"{keys} keys", fontsize=9)
        axes.set(xlabel="rows read, both sides", ylabel="rows buffered, both sides", ylim=(0, None))
        axes.tick_params(labelsize=7)
    figure.suptitle("Plait's core (a hash join would hold one whole side)", fontsize=9)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    return plt
