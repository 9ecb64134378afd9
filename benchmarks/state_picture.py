# SPDX-License-Identifier: Apache-2.0
"""The picture of the rows that the joins of streams keep: a panel a query, a line a peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

States = Mapping[str, Sequence[int]]

COLOURS = ("#3b6ea5", "#c0504d", "#8c8c8c")
# The first line is drawn last and thin, so that it shows on one that it covers.
WIDTHS = (1.6, 3.2, 4.8)


def draw_states(panels: Mapping[str, States], title: str, path: Path) -> None:
    """Draw for each panel, by its title, the rows after each micro-batch of each peer."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(4.8 * columns, 2.8 * rows + 0.4),
        layout="constrained",
        squeeze=False,
    )
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, states) in zip(grid.flat, panels.items(), strict=False):
        for n, (peer, kept) in reversed(list(enumerate(states.items()))):
            axes.plot(
                range(1, len(kept) + 1), kept, ".-", color=COLOURS[n], lw=WIDTHS[n], label=peer
            )
        axes.set_title(name, fontsize=9)
        axes.set_ylim(bottom=0, top=None if any(map(any, states.values())) else 1)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("micro-batch", fontsize=8)
        axes.set_ylabel("rows in the state", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(*(found[::-1] for found in axes.get_legend_handles_labels()), fontsize=7)
    figure.suptitle(title, fontsize=10)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
