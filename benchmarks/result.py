# SPDX-License-Identifier: Apache-2.0
"""The result of a benchmark: a text, and a picture with a panel a case.

The text says what was run and where it was measured, the claims, and the table of each case.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchmarks import machine
from benchmarks.race import joined
from benchmarks.table import Claim, explained, lines, summary, total, verdict

if TYPE_CHECKING:
    from benchmarks.options import Options
    from benchmarks.race import Laps

BLUE, GREY = "#3b6ea5", "#b8b8b8"


@dataclass(frozen=True)
class Case:
    """One size and setting of a benchmark, run."""

    title: str
    laps: Laps
    notes: Sequence[str] = ()

    @property
    def text(self) -> list[str]:
        """The case's part of the result."""
        return [self.title, *(f"  {line}" for line in lines(self.laps)), *self.notes, ""]


@dataclass(frozen=True)
class Number:
    """A number that is claimed to be at most another."""

    what: str
    value: int
    limit: int


@dataclass
class Result:
    """What a benchmark has found so far; ``whole`` says what its total times are of."""

    name: str
    title: str
    jdk: str
    options: Options
    whole: str = "from the query's text to the one row of its sums"
    found: list[Number | tuple[Case, Sequence[Claim]]] = field(default_factory=list)

    @property
    def cases(self) -> list[Case]:
        """The cases, as they were run."""
        return [found[0] for found in self.found if not isinstance(found, Number)]

    @property
    def judged(self) -> list[str]:
        """A line for each claim."""
        return [line for found in self.found for line in _judged(found)]

    def add(self, case: Case, *claims: Claim) -> None:
        """Take in a case that was run, and judge what is claimed of it."""
        self.found.append((case, claims))
        print("\n".join(case.text), flush=True)
        self.keep()

    def judge(self, what: str, value: int, limit: int) -> None:
        """Judge a claim that a number is at most another."""
        self.found.append(Number(what, value, limit))
        self.keep()

    def keep(self) -> None:
        """Write text and picture: after each case, so that what was measured is not lost."""
        folder = self.options.folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.txt").write_text("\n".join(self._text()) + "\n")
        draw(self.cases, self.title, str(folder / f"{self.name}.png"))
        if self.options.part is not None:
            self.options.part.write_bytes(pickle.dumps(self))

    def _text(self) -> list[str]:
        return [
            *machine.head(self.title, self.jdk, self.options.command(self.name)),
            summary(self.judged),
            *(f"  {line}" for line in self.judged),
            "",
            *(line for case in self.cases for line in case.text),
            *explained([case.laps for case in self.cases], self.whole),
        ]


def _judged(found: Number | tuple[Case, Sequence[Claim]]) -> list[str]:
    if isinstance(found, Number):
        return [verdict(found.value, found.limit, found.what)]
    case, claims = found
    return [claim.judged(case.laps) for claim in claims]


def together(parts: Sequence[Result], options: Options) -> Result:
    """Return what several JVMs found as one result: races joined, of numbers the greatest."""
    whole = replace(parts[0], options=options, found=[])
    for same in zip(*(part.found for part in parts), strict=True):
        numbers = [found for found in same if isinstance(found, Number)]
        races = [found for found in same if not isinstance(found, Number)]
        if numbers:
            whole.judge(numbers[0].what, max(n.value for n in numbers), numbers[0].limit)
        else:
            notes = dict.fromkeys(note for case, _ in races for note in case.notes)
            laps = joined([case.laps for case, _ in races])
            whole.add(Case(races[0][0].title, laps, list(notes)), *races[0][1])
    return whole


def draw(cases: Sequence[Case], title: str, path: str) -> None:
    """Draw a panel a case: a bar a peer, medians in seconds; of a stopped peer a pale one."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    rows = -(-len(cases) // 3)
    figure, grid = plt.subplots(
        rows,
        min(3, len(cases)),
        figsize=(4.2 * min(3, len(cases)), 2.2 * rows + 0.5),
        layout="constrained",
        squeeze=False,
    )
    for axes in grid.flat[len(cases) :]:
        axes.set_visible(False)
    for axes, case in zip(grid.flat, cases, strict=False):
        names = list(case.laps)[::-1]
        found = [case.laps[name] for name in names]
        colours = [BLUE if lap.stopped_after is None else GREY for lap in found]
        bars = axes.barh(names, [lap.median for lap in found], color=colours)
        axes.bar_label(bars, labels=[total(lap) for lap in found], padding=3, fontsize=8)
        axes.set_title(case.title, fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.25)
    figure.suptitle(f"{title}: seconds, median", fontsize=10)
    figure.savefig(path, dpi=130)
    plt.close(figure)
