# SPDX-License-Identifier: Apache-2.0
"""Peers run in turn, round by round, so that what else a machine does meets all of them.

    round 0   floor  bins   Plait         warm-up, not counted
    round 1   Plait  floor  bins          ratios are made within a round: Plait / floor, ...
    round 2   bins   Plait  floor         and their median is what a claim is held against

Who comes first changes with the round, and who comes after whom: one that has shuffled gigabytes
leaves garbage, and pages still to be written, to the next (Williams, Aust. J. Sci. Res. A 2, 1949:
of an even number each comes after each other equally often). A peer that was stopped once is not
asked again. Short races may be longer than was asked for: ratios of some tenths of a second scatter
by a half, and the median of 25 of them by a tenth. One whose warm-up took more than SLOW seconds of
the processor has had time to get warm: that run counts, and is its only one. Of a race of no rounds
the warm-up counts. The first row is asked for up to FIRSTS times after the rounds, while that has
taken less than BRIEF seconds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.peer import Measured, Peer, Rows, Stopped

SLOW = 60.0
MOST_MORE = 4
FIRSTS = 5
BRIEF = 10.0
ROUNDS_A_JVM = 1_000


class Disagreement(Exception):
    """Peers gave different rows."""

    def __init__(self, answers: dict[str, Rows]) -> None:
        """Say what each gave."""
        super().__init__(f"the peers disagree: {str(answers)[:2000]}")


@dataclass(frozen=True)
class Ratio:
    """One peer's time by another's: median, least and greatest of the rounds that both ran.

    A peer that was stopped gives a bound: of Plait's time by its, ``is_below`` says "at most".
    """

    median: float
    least: float
    greatest: float
    is_below: bool = False

    def __str__(self) -> str:
        if self.is_below:
            return f"< {self.median:.2f}"
        return f"{self.median:.2f} ({self.least:.2f} to {self.greatest:.2f})"


@dataclass
class Lap:
    """What is known of a peer: its times by round, the rest of those runs, and its last one."""

    times: dict[int, float] = field(default_factory=dict)
    cpu: dict[int, float] = field(default_factory=dict)
    stopped_after: float | None = None
    last: Measured | None = None
    runs: list[Measured] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """Seconds; of a stopped peer those after which it was stopped."""
        if self.stopped_after is not None:
            return self.stopped_after
        return statistics.median(self.times.values())

    @property
    def cpu_median(self) -> float | None:
        """Seconds of the processor, if they are known."""
        return statistics.median(self.cpu.values()) if self.cpu else None

    @property
    def first(self) -> float | None:
        """Seconds until the first row, if it has rows to give."""
        return statistics.median(self.firsts) if self.firsts else None

    def median_of(self, value: Callable[[Measured], int | None]) -> float | None:
        """Return the median of what the runs that count say, or None if none does."""
        known = [found for found in map(value, self.runs) if found is not None]
        return statistics.median(known) if known else None


Laps = dict[str, Lap]


def joined(parts: Sequence[Laps]) -> Laps:
    """Return the laps of several JVMs as those of one race: ratios are still made within a round.

    >>> one, other = {"a": Lap({1: 2.0})}, {"a": Lap({1: 3.0})}
    >>> joined([one, other])["a"].median
    2.5
    """
    agree({f"{name} {n}": lap for n, laps in enumerate(parts) for name, lap in laps.items()})
    return {name: _joined([laps[name] for laps in parts]) for name in parts[0]}


def _joined(parts: Sequence[Lap]) -> Lap:
    stopped = [lap for lap in parts if lap.stopped_after is not None]
    if stopped:
        return stopped[0]

    def of_all(rounds: Sequence[dict[int, float]]) -> dict[int, float]:
        found = enumerate(rounds)
        return {n * ROUNDS_A_JVM + at: value for n, part in found for at, value in part.items()}

    return Lap(
        of_all([lap.times for lap in parts]),
        of_all([lap.cpu for lap in parts]),
        last=parts[-1].last,
        runs=[run for lap in parts for run in lap.runs],
        firsts=[first for lap in parts for first in lap.firsts],
    )


def ratio(laps: Laps, over: str, under: str) -> Ratio | None:
    """Return ``over``'s time by ``under``'s, or None if ``over`` was stopped.

    >>> laps = {"a": Lap({1: 2.0, 2: 3.0}), "b": Lap({1: 4.0, 2: 4.0}), "c": Lap(stopped_after=9)}
    >>> str(ratio(laps, "a", "b")), str(ratio(laps, "a", "c")), ratio(laps, "c", "a")
    ('0.62 (0.50 to 0.75)', '< 0.28', None)
    """
    a, b = laps[over], laps[under]
    if a.stopped_after is not None:
        return None
    if b.stopped_after is not None:
        bound = a.median / b.stopped_after
        return Ratio(bound, bound, bound, is_below=True)
    return _of_pairs(a.times, b.times)


def cpu_ratio(laps: Laps, over: str, under: str) -> Ratio | None:
    """Return the same of processor time, or None if that of one is not known."""
    a, b = laps[over], laps[under]
    return _of_pairs(a.cpu, b.cpu) if a.cpu and b.cpu else None


def _of_pairs(a: dict[int, float], b: dict[int, float]) -> Ratio:
    common = sorted(a.keys() & b.keys())
    pairs = [a[n] / b[n] for n in common]
    if not pairs:
        pairs = [statistics.median(a.values()) / statistics.median(b.values())]
    return Ratio(statistics.median(pairs), min(pairs), max(pairs))


def race(peers: Sequence[Peer], runs: int, slow: float = SLOW, enough: float = 0.0) -> Laps:
    """Run every peer ``runs`` times after a warm-up, and each to its first row.

    If all runs together took less than ``enough`` seconds there are more, up to four times as many.

    Peers that give an answer must give the same, or this is a Disagreement.
    """
    laps: Laps = {peer.name: Lap() for peer in peers}
    for round_ in range(MOST_MORE * runs + 1):
        if round_ > runs and _spent(laps) >= enough:
            break
        for number in turn(len(peers), round_):
            peer = peers[number]
            lap = laps[peer.name]
            if not _is_done(lap):
                _run(peer, lap, round_, slow if runs else 0.0)
    agree(laps)
    for peer in peers:
        laps[peer.name].firsts = _firsts(peer)
    return laps


def _firsts(peer: Peer) -> list[float]:
    found: list[float] = []
    while len(found) < FIRSTS and sum(found) < BRIEF:
        try:
            seconds = peer.first()
        except Stopped:
            break
        if seconds is None:
            break
        found.append(seconds)
    return found


def turn(count: int, round_: int) -> list[int]:
    """Return the sequence in which so many peers run in a round.

    >>> [turn(4, n) for n in range(4)]
    [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]
    """
    zigzag = (count - (k + 1) // 2 if k % 2 else k // 2 for k in range(count))
    return [(number + round_) % count for number in zigzag]


def agree(laps: Laps) -> None:
    """Raise a Disagreement unless all that gave an answer gave the same."""
    ran = {name: lap.last for name, lap in laps.items() if lap.last is not None}
    answers = {name: last.answer for name, last in ran.items() if last.answer is not None}
    if len(set(answers.values())) > 1:
        raise Disagreement(answers)


def _spent(laps: Laps) -> float:
    return sum(sum(lap.times.values()) for lap in laps.values())


def _is_done(lap: Lap) -> bool:
    return lap.stopped_after is not None or 0 in lap.times


def _run(peer: Peer, lap: Lap, round_: int, slow: float) -> None:
    try:
        measured = peer.run()
    except Stopped as stopped:
        lap.stopped_after = stopped.seconds
        lap.times.clear()
        lap.cpu.clear()
        lap.runs.clear()
        print(f"  round {round_} {peer.name:<24} stopped", flush=True)
        return
    lap.last = measured
    if round_ or (measured.cpu or measured.seconds) > slow:
        lap.times[round_] = measured.seconds
        lap.runs.append(replace(measured, answer=None))
        if measured.cpu is not None:
            lap.cpu[round_] = measured.cpu
    print(
        f"  round {round_} {peer.name:<24} {measured.seconds:7.2f} s, "
        f"cpu {measured.cpu or 0:6.2f} s",
        flush=True,
    )
