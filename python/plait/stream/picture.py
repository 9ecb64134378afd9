# SPDX-License-Identifier: Apache-2.0
"""The picture of a report: how many rows wait in the joins of a streaming query, and the lag."""

from __future__ import annotations

from datetime import timedelta
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

from plait.errors import PlaitError
from plait.stream.report import SIDES, StreamReport, StreamSide, by_join

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = dict(zip(SIDES, ("#0072B2", "#D55E00"), strict=True))  # for colour-blind eyes too


def draw(report: StreamReport, path: Path) -> Path:
    """Write a column of two panels for each join: rows that wait, and lag, over the batches."""
    if util.find_spec("matplotlib") is None:
        raise PlaitError("The picture is drawn with matplotlib: pip install matplotlib.")
    from matplotlib.figure import Figure

    joins = by_join(report)
    figure = Figure(figsize=(max(7, 5 * len(joins)), 6), layout="constrained")
    panels = figure.subplots(2, len(joins), squeeze=False, sharex="col")
    figure.suptitle(f"Joins of the query {report.query}" if report.query else "Joins of a query")
    for (join, rows), stored, lag in zip(joins.items(), *panels, strict=True):
        _draw(stored, rows, [float(row.rows_stored) for row in rows])
        _draw(lag, rows, [_number(row.lag) for row in rows])
        stored.set_title(f"join {join}")
        stored.set_ylabel("rows that wait")
        stored.yaxis.set_major_formatter("{x:,.0f}")
        stored.legend()
        is_time = any(isinstance(row.lag, timedelta) for row in rows)
        lag.set_ylabel(f"lag of the frontier{', seconds' if is_time else ''}")
        lag.set_xlabel("batch")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _number(lag: timedelta | int | None) -> float | None:
    return lag.total_seconds() if isinstance(lag, timedelta) else lag


def _draw(axes: Axes, rows: list[StreamSide], values: list[float | None] | list[float]) -> None:
    for side in SIDES:
        points = [
            (row.batch, value)
            for row, value in zip(rows, values, strict=True)
            if row.side == side and value is not None
        ]
        batches = [batch for batch, _ in points]
        axes.plot(
            batches, [value for _, value in points], ".-", color=COLORS[side], label=side
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
