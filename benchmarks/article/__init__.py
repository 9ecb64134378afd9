# SPDX-License-Identifier: Apache-2.0
"""The table of DataFusion's article on pruning symmetric hash joins, on Plait's core alone.

    FROM l JOIN r ON l.k = r.k AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10

Both sides come in batches, ordered by s. Cases: 8, 64, 1024 keys; 8,192 to 65,536 rows a side;
batches of 128, 512, 2048 and 4096 rows. Beside the core (jvm/bench) DataFusion's
SymmetricHashJoinExec, over unbounded tables with a declared order, and its HashJoinExec. One thread
each; times are the processor's.

Claims, for each number of keys and rows:
  1. Flat: over the sizes of batches the core's longest time is at most 1.25 times its shortest.
  2. Below both: for each size of batches the core takes at most as long as either of DataFusion's.

DataFusion reads CSV, which unbounded tables have to be, and the core reads arrays: what reading
both files takes is measured, too, and taken off DataFusion's times.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import machine
from benchmarks.article import core, peers, picture
from benchmarks.article.cases import BATCHES, KEYS, Cell, make_tables
from benchmarks.options import Extent, Options
from benchmarks.table import summary, verdict

CORE, SYMMETRIC, HASH = "Plait's core", "SymmetricHashJoinExec", "HashJoinExec"
FLAT, BELOW = 1.25, 1.0

Cells = dict[str, dict[tuple[int, int, int], Cell]]


def run(options: Options, folder: Path) -> None:
    """Run both halves and keep the result."""
    whole = (8_192, 16_384, 32_768, 65_536)
    sizes = options.sizes(*whole, quick=8_192)
    keys = KEYS if options.extent is Extent.WHOLE else KEYS[:1]
    make_tables(folder, keys, sizes)
    cells: Cells = {CORE: core.measured(folder, options.runs)}
    for name in (SYMMETRIC, HASH):
        cells[name] = peers.measured(folder, name, list(cells[CORE]), options.runs)
    _agree(cells)
    judged = [line for n in keys for rows in sizes for line in _judged(cells, n, rows)]
    title = "Plait's core beside DataFusion's joins: seconds of one thread"
    text = [
        *machine.head(title, core.jdk(folder), options.command("article")),
        summary(judged),
        *(f"  {line}" for line in judged),
        "",
        *(line for n in keys for line in _table(cells, n, sizes)),
    ]
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "article.txt").write_text("\n".join(text) + "\n")
    for n in keys:
        picture.times(cells, n, sizes, options.folder / f"article-{n}.png")
    picture.buffered(core.buffered(folder), options.folder / "article-buffered.png")
    print("\n".join(judged), flush=True)


def _agree(cells: Cells) -> None:
    for case in cells[CORE]:
        answers = {name: found[case].answer for name, found in cells.items() if case in found}
        given = {answer for answer in answers.values() if answer is not None}
        assert len(given) == 1, f"{case}: {answers}"


def _judged(cells: Cells, keys: int, rows: int) -> list[str]:
    ours = [_seconds(cells, CORE, (keys, rows, batch)) for batch in BATCHES]
    spread = max(ours) / min(ours)
    what = f"{keys} keys, {rows:,} rows"
    lines = [verdict(spread, FLAT, f"{what}: longest by shortest", f"{spread:.2f}")]
    for name in (SYMMETRIC, HASH):
        most = max(
            _seconds(cells, CORE, case) / _seconds(cells, name, case)
            for case in ((keys, rows, batch) for batch in BATCHES)
        )
        subject = f"{what}: by {name}, the worst size of batches"
        lines.append(verdict(most, BELOW, subject, f"{most:.2f}"))
    return lines


def _seconds(cells: Cells, name: str, case: tuple[int, int, int]) -> float:
    return cells[name][case].seconds


def _table(cells: Cells, keys: int, sizes: tuple[int, ...]) -> list[str]:
    head = f"{keys} keys, milliseconds; of a peer that was stopped those after which it was"
    columns = "".join(f"{f'batch {batch}':>13}" for batch in BATCHES)
    lines = [head, f"  {'rows':>7} {'':<22}{columns}"]
    for rows in sizes:
        for name in cells:
            times = "".join(
                f"{1000 * _seconds(cells, name, (keys, rows, b)):>13.2f}" for b in BATCHES
            )
            lines.append(f"  {rows:>7,} {name:<22}{times}")
        held = max(cells[CORE][keys, rows, b].peak for b in BATCHES)
        lines.append(f"  {'':>7} most rows of both sides that the core held: {held}")
    return [*lines, ""]
