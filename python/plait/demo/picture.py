# SPDX-License-Identifier: Apache-2.0
"""The picture of the demo: how many rows a join held after how many it had read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.extras import how_to_get

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from plait.demo.joins import DemoJoin
    from plait.explain import JoinCounters

LEFT, RIGHT, WHOLE = "#0072B2", "#D55E00", "#555555"  # told apart by colour-blind eyes too


@dataclass(frozen=True)
class Panel:
    """A join and what it counted, with samples."""

    join: DemoJoin
    counters: JoinCounters


def require_matplotlib() -> None:
    """Fail with a sentence if the picture cannot be drawn."""
    if util.find_spec("matplotlib") is None:
        raise PlaitError(f"The demo draws with matplotlib: {how_to_get('demo')}.")


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Write the panels side by side as a PNG.

    Each sample of a task is a dot for either side, on a logarithmic scale that is linear from 0
    to 1; the dashed line is what a hash join holds.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    figure.suptitle("Rows that a join holds while it reads its inputs", fontsize=15)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_samples(axes, panel)
        _draw_whole(axes, *panel.join.held)
        _label(axes, panel.join.picture_title)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def _draw_samples(axes: Axes, panel: Panel) -> None:
    trace, metrics = panel.counters.trace, panel.counters.metrics
    sides = (
        (LEFT, [sample.left_buffered for sample in trace], metrics["leftPeakBuffered"]),
        (RIGHT, [sample.right_buffered for sample in trace], metrics["rightPeakBuffered"]),
    )
    for name, (color, held, peak) in zip(panel.join.sides, sides, strict=True):
        axes.plot(
            [sample.rows_read for sample in trace], held, ".", color=color, markersize=4,
            alpha=0.7, label=f"Plait holds {peak:,} {name} at most",
        )  # fmt: skip


def _draw_whole(axes: Axes, held: int, what: str) -> None:
    axes.axhline(held, color=WHOLE, linestyle="--", linewidth=1.5)
    axes.annotate(
        f"a hash join holds all {held:,} {what}",
        xy=(0.5, held), xycoords=("axes fraction", "data"), xytext=(0, 5),
        textcoords="offset points", ha="center", va="bottom", color=WHOLE, fontsize=11,
    )  # fmt: skip
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(-0.15, held * 6)


def _label(axes: Axes, title: str) -> None:
    axes.set_xlim(left=0)
    axes.set_title(title, fontsize=12)
    axes.set_xlabel("rows read by a task", fontsize=11)
    axes.set_ylabel("rows held by a task", fontsize=11)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", alpha=0.25)
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.68), fontsize=11, markerscale=3)
    axes.spines[["top", "right"]].set_visible(False)
