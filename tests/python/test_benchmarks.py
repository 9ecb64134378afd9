# SPDX-License-Identifier: Apache-2.0
"""Examples: what the benchmarks' harness does with times, without Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from benchmarks import flight, machine, options, peer, race, table
from benchmarks.peer import Measured, Stopped
from benchmarks.race import Lap, Ratio


@dataclass
class Scripted:
    """A peer whose runs are written down: seconds, or None where it is stopped."""

    name: str
    script: Iterator[float | None]
    answer: tuple[int, ...] | None = (1,)

    def run(self) -> Measured:
        seconds = next(self.script)
        if seconds is None:
            raise Stopped
        return Measured(seconds, self.answer)

    def first(self) -> float | None:
        return 0.5


def test_the_first_round_is_the_warm_up_and_ratios_are_made_within_a_round() -> None:
    laps = race.race(
        [Scripted("a", iter([9.0, 1.0, 2.0])), Scripted("b", iter([9.0, 2.0, 8.0]))], 2
    )
    assert laps["a"].times == {1: 1.0, 2: 2.0}
    assert race.ratio(laps, "a", "b") == Ratio(0.375, 0.25, 0.5)
    assert laps["a"].first == 0.5


def test_a_peer_that_was_stopped_is_not_asked_again_and_gives_a_bound() -> None:
    laps = race.race([Scripted("a", iter([6.0, 6.0])), Scripted("slow", iter([None]))], 1)
    assert str(race.ratio(laps, "a", "slow")) == "< 0.05"
    assert race.ratio(laps, "slow", "a") is None
    assert [table.total(lap) for lap in laps.values()] == ["6.00 s", "> 120 s"]


def test_a_peer_that_is_stopped_after_its_warm_up_keeps_no_time() -> None:
    laps = race.race([Scripted("a", iter([6.0, 5.0, None]))], 2)
    assert laps["a"].times == {}
    assert table.total(laps["a"]) == "> 120 s"


def test_a_slow_peer_runs_once() -> None:
    laps = race.race([Scripted("a", iter([61.0])), Scripted("b", iter([1.0, 3.0, 3.0]))], 2)
    assert laps["a"].times == {0: 61.0}
    assert str(race.ratio(laps, "b", "a")) == "0.05 (0.05 to 0.05)"


def test_peers_that_disagree_end_the_benchmark() -> None:
    with pytest.raises(race.Disagreement):
        race.race([Scripted("a", iter([1.0])), Scripted("b", iter([1.0]), (2,))], 0)


def test_the_watch_dog_stops_what_takes_too_long() -> None:
    stops: list[float] = []

    def until_stopped() -> None:
        while not stops:
            time.sleep(0.001)
        raise RuntimeError("cancelled")

    with pytest.raises(Stopped), peer.watched(lambda: stops.append(1.0), 0.01):
        until_stopped()


def test_an_error_before_the_watch_dog_s_time_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="broken"), peer.watched(lambda: None, 60):
        raise RuntimeError("broken")


def test_a_claim_is_met_up_to_its_limit_and_says_so_plainly() -> None:
    laps = {"Plait": Lap({1: 1.1}), "floor": Lap({1: 1.0}), "stock": Lap(stopped_after=120.0)}
    claim = table.Claim("W1", "Plait", "floor", 1.1)
    assert claim.judged(laps) == "met      1.10, at most 1.1: W1: Plait by floor"
    strict = table.Claim("W1", "Plait", "floor", 1.09)
    assert strict.judged(laps) == "NOT MET  1.10, at most 1.09: W1: Plait by floor"
    laps["Plait"].cpu[1], laps["floor"].cpu[1] = 3.0, 2.0
    assert claim.judged(laps).endswith("Plait by floor (cpu 1.50)")
    below = table.Claim("W1", "Plait", "stock", 0.5)
    assert below.judged(laps) == "met      < 0.01, at most 0.5: W1: Plait by stock"


def test_a_table_has_a_line_a_peer() -> None:
    ran = Lap({1: 2.0}, {1: 3.0}, last=Measured(2.0, None, 3.0, 3 << 20, 0), first=0.25)
    plait, stock = table.lines({"Plait": ran, "stock Spark": Lap(stopped_after=120.0)})[1:]
    assert " ".join(plait.split()) == "Plait 2.00 s 1.00 (1.00 to 1.00) 3.00 s 1.00 0.25 s 3 MiB -"
    assert " ".join(stock.split()) == "stock Spark > 120 s < 0.02 - - - - -"


def test_hot_frames_are_those_of_tasks() -> None:
    def sample(thread: str) -> dict[str, object]:
        method = {"type": {"name": "plait/join/Run"}, "name": "insert"}
        return {
            "values": {
                "sampledThread": {"javaName": thread},
                "stackTrace": {"frames": [{"method": method}]},
            }
        }

    events = [sample("Executor task launch worker for task 1"), sample("main")]
    assert flight.frames({"recording": {"events": events}}) == ["plait.join.Run.insert"]


def test_a_small_run_does_not_replace_the_results_kept() -> None:
    names, quick = options.parse(["w1", "w3"], ["w1", "--quick"])
    assert names == ["w1"]
    assert quick.folder.parts[-2:] == ("build", "benchmarks")
    assert quick.sizes(10_000_000) == (20_000,)
    assert options.Options().folder.parts[-2:] == ("benchmarks", "results")


def test_a_result_says_where_it_was_measured_but_not_on_which_host() -> None:
    title, where, command, _ = machine.head("W1", "17.0.1", "python -m benchmarks w1")
    assert (title, command) == ("W1", "python -m benchmarks w1")
    assert "JDK 17.0.1" in where
    assert "cores" in where
    assert "shared machine" in where
    assert machine.platform.node() not in where
