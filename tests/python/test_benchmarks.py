# SPDX-License-Identifier: Apache-2.0
"""Examples: what the benchmarks' harness does with times, without Spark; and small runs of those of
streams, which compare the rows of their peers by themselves.
"""

from __future__ import annotations

import itertools
import pickle
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks import (
    endpoint,
    flight,
    machine,
    options,
    peer,
    population,
    race,
    streams,
    table,
    w4,
    w5,
    w6,
)
from benchmarks import spark as sparks
from benchmarks import state as state_benchmark
from benchmarks.__main__ import unmet
from benchmarks.options import Extent, Options
from benchmarks.peer import Measured, Stopped
from benchmarks.race import Disagreement, Lap, Laps, Ratio, joined
from benchmarks.result import Case, Result, together
from benchmarks.state_picture import draw_states
from tests.python.conftest import QUICK
from tests.python.queries import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Scripted:
    """A peer whose runs are written down: seconds, or None where it is stopped."""

    name: str
    script: Iterator[float | None]
    answer: tuple[int, ...] | None = (1,)
    calls: list[str] = field(default_factory=list)
    firsts: Iterator[float] = field(default_factory=lambda: itertools.repeat(0.5))

    def run(self) -> Measured:
        self.calls.append(self.name)
        seconds = next(self.script)
        if seconds is None:
            raise Stopped
        return Measured(seconds, self.answer, memory=int(seconds))

    def first(self) -> float | None:
        return next(self.firsts, None)


def test_the_first_round_is_the_warm_up_and_ratios_are_made_within_a_round() -> None:
    laps = race.race(
        [Scripted("a", iter([9.0, 1.0, 2.0])), Scripted("b", iter([9.0, 2.0, 8.0]))], 2
    )
    assert laps["a"].times == {1: 1.0, 2: 2.0}
    assert race.ratio(laps, "a", "b") == Ratio(0.375, 0.25, 0.5)
    assert laps["a"].first == 0.5


def test_memory_and_first_row_are_medians_too() -> None:
    firsts = iter([0.1, 0.5, 0.2, 0.9, 0.3, 77.0])
    lap = race.race([Scripted("a", iter([9.0, 3.0, 8.0, 4.0]), firsts=firsts)], 3)["a"]
    assert lap.median_of(lambda run: run.memory) == 4
    assert lap.firsts == [0.1, 0.5, 0.2, 0.9, 0.3]
    assert lap.first == 0.3


def test_the_first_row_of_a_slow_peer_is_asked_for_once() -> None:
    lap = race.race([Scripted("a", itertools.repeat(1.0), firsts=iter([11.0, 1.0]))], 1)["a"]
    assert lap.firsts == [11.0]
    assert race.race([Scripted("b", itertools.repeat(1.0), firsts=iter([]))], 1)["b"].first is None


def test_a_peer_that_was_stopped_is_not_asked_again_and_gives_a_bound() -> None:
    laps = race.race([Scripted("a", iter([6.0, 6.0])), Scripted("slow", iter([None]))], 1)
    assert str(race.ratio(laps, "a", "slow")) == "< 0.05"
    assert race.ratio(laps, "slow", "a") is None
    assert [table.total(lap) for lap in laps.values()] == ["6.00 s", "> 120 s"]


def test_a_peer_that_is_stopped_after_its_warm_up_keeps_no_time() -> None:
    laps = race.race([Scripted("a", iter([6.0, 5.0, None]))], 2)
    assert laps["a"].times == {}
    assert table.total(laps["a"]) == "> 120 s"


def test_a_short_race_goes_on_until_it_was_long_enough_or_four_times_as_long() -> None:
    def rounds(seconds: float) -> int:
        ones = [Scripted(name, iter([seconds] * 9)) for name in "ab"]
        return len(race.race(ones, 2, enough=30.0)["a"].times)

    assert [rounds(seconds) for seconds in (9.0, 4.0, 3.0, 1.0)] == [2, 4, 5, 8]


def test_who_comes_first_changes_with_the_round() -> None:
    calls: list[str] = []
    race.race([Scripted(name, iter([1.0] * 3), calls=calls) for name in "ab"], 2)
    assert "".join(calls) == "abbaab"


def test_of_four_peers_each_comes_after_each_other_once_in_four_rounds() -> None:
    rounds = [race.turn(4, n) for n in range(4)]
    followed = [pair for order in rounds for pair in itertools.pairwise(order)]
    assert sorted(followed) == sorted(itertools.permutations(range(4), 2))


def test_of_a_race_without_rounds_the_warm_up_counts() -> None:
    laps = race.race([Scripted("a", iter([2.0])), Scripted("b", iter([4.0]))], 0)
    assert race.ratio(laps, "a", "b") == Ratio(0.5, 0.5, 0.5)


def test_a_peer_is_said_to_be_stopped_after_the_time_that_it_had() -> None:
    class Endless(Scripted):
        def run(self) -> Measured:
            raise Stopped(600)

    assert table.total(race.race([Endless("a", iter([]))], 0)["a"]) == "> 600 s"


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
    ran = Lap({1: 2.0}, {1: 3.0}, runs=[Measured(2.0, None, 3.0, 3 << 20, 0)], firsts=[0.25])
    plait, stock = table.lines({"Plait": ran, "stock Spark": Lap(stopped_after=120.0)})[1:]
    assert " ".join(plait.split()) == "Plait 2.00 s 1.00 (1.00 to 1.00) 3.00 s 1.00 0.25 s 3 MiB 0"
    assert " ".join(stock.split()) == "stock Spark > 120 s < 0.02 - - - - -"


def test_a_table_has_the_columns_of_which_something_is_known_and_says_what_they_are() -> None:
    kept = Measured(2.0, state=(0, 1234, 7), state_bytes=5 << 20)
    stream = {"Plait": Lap({1: 2.0}, runs=[kept])}
    head, line = table.lines(stream)
    assert head.split()[-3:] == ["state", "rows", "state"]
    assert line.split()[-3:] == ["1,234", "5", "MiB"]
    batch = {"Plait": Lap({1: 2.0}, runs=[Measured(2.0, memory=1)], firsts=[1.0])}
    heads = [line[:12].strip() for line in table.explained([batch], "from here to there")]
    assert heads == ["total", "by it", "cpu", "first row", "memory"]
    assert [line[:12].strip() for line in table.explained([stream], "")][3:] == [
        "state rows",
        "state",
    ]


def test_races_of_several_jvms_are_judged_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "ROOT", tmp_path)

    def part(number: int, plait: Lap, rows: int) -> Result:
        found = Result("w9", "", "", Options(runs=2, part=tmp_path / f"{number}.pickle"))
        laps = {"Plait": plait, "floor": Lap({1: 1.0, 2: 1.0}), "stock": Lap(stopped_after=120.0)}
        claim = table.Claim("W9", "Plait", "floor", 1.1)
        found.add(Case("small", laps, ["  same", f"  JVM {number}"]), claim)
        found.judge("rows", rows, 64)
        return found

    part(0, Lap({1: 1.3, 2: 1.2}, firsts=[0.5]), 10)
    part(1, Lap({1: 1.0, 2: 1.1}, firsts=[0.7]), 90)
    parts = [pickle.loads((tmp_path / f"{n}.pickle").read_bytes()) for n in range(2)]
    whole = together(parts, Options(runs=2, jvms=2))
    assert whole.judged == [
        "NOT MET  1.15, at most 1.1: W9: Plait by floor",
        "NOT MET  90, at most 64: rows",
    ]
    assert whole.cases[0].notes == ["  same", "  JVM 0", "  JVM 1"]
    assert whole.cases[0].laps["Plait"].first == 0.6
    assert whole.cases[0].laps["stock"].stopped_after == 120.0
    text = (tmp_path / "benchmarks/results/w9.txt").read_text()
    assert "python -m benchmarks w9 --runs 2 --jvms 2" in text


def test_jvms_that_disagree_end_the_benchmark() -> None:
    def answered(rows: int) -> Laps:
        return {"Plait": Lap({1: 1.0}, last=Measured(1.0, ((rows,),)))}

    with pytest.raises(Disagreement):
        joined([answered(3), answered(4)])
    assert joined([answered(3), answered(3)])["Plait"].median == 1.0


def test_what_the_asymmetry_gains_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "ROOT", tmp_path)
    result = Result("population", "", "", Options())
    plait = Lap({1: 3.0}, last=Measured(3.0, state=(0, 300)))
    bounded = Lap({1: 2.5}, last=Measured(2.5, state=(0, 200)))
    population.judge(result, "all", {population.PLAIT: plait, population.BOUNDED_PLAIT: bounded})
    assert [line.split(",")[0] for line in result.judged] == ["NOT MET  0.83", "met      200"]


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


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Options:
    """Options of a small run, once, into a folder of the test."""
    monkeypatch.setattr(options, "ROOT", tmp_path)
    monkeypatch.setattr(streams, "SETTINGS", dict(QUICK))
    return Options(runs=0, extent=Extent.QUICK)


def lines_of(result: str, title: str) -> list[list[str]]:
    """Return the words of the lines of a case, without its title."""
    text = (options.ROOT / "build" / "benchmarks" / result).read_text()
    case = text.split(f"\n\n{title}\n")[1].split("\n\n")[0]
    return [line.split() for line in case.splitlines()]


def test_w4_and_w5_race_their_peers_with_every_column_and_say_what_plait_ran(
    spark: SparkSession, quick: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The session of tests forgets the stages of a query before they are asked about.
    monkeypatch.setattr(sparks, "tasks", lambda *_: sparks.Tasks(cpu=0.25, memory=1 << 20, spill=0))
    # The peers set these, each for itself.
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": -1, "spark.plait.enabled": True}):
        w4.run(spark, quick, tmp_path / "w4")
        w5.run(spark, quick, tmp_path / "w5")
    head, *found, ran = lines_of("w4.txt", "20,000 rows a side, broadcasting off")
    assert head[-4:] == ["first", "row", "memory", "spill"]
    assert [line[0] for line in found] == ["floor", "Plait", "bins", "stock", "DuckDB"]
    assert [line[-2:] for line in found if ">" not in line] == [["MiB", "0"]] * 5
    assert ran == ["Plait", "ran", "SymmetricHashJoin"]
    # Of so few pairs a join of two large sides is Spark's.
    for on, node in (("on", ["CollectedJoin"]), ("off", ["CartesianProduct", "[FEW_PAIRS]"])):
        _, *found, ran = lines_of("w5.txt", f"20,000 points, 2,000 ranges, broadcasting {on}")
        assert [line[0] for line in found][:3] == ["Plait", "bins", "stock"]
        assert ran == ["Plait", "ran", *node]


def test_a_claim_that_is_not_met_ends_a_run_at_its_sizes_with_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(options, "ROOT", tmp_path)
    for asked in (Options(), Options(rows=5)):
        asked.folder.mkdir(parents=True)
        (asked.folder / "w9.txt").write_text(
            "  met      1, at most 1: x\n  NOT MET  2, at most 1: y\n"
        )
    assert unmet("w9", Options()) == ["  NOT MET  2, at most 1: y"]
    assert unmet("w9", Options(rows=5)) == unmet("w1", Options()) == []


def test_w6_races_plait_and_spark_s_own_join_on_two_stores(
    spark: SparkSession, quick: Options, tmp_path: Path
) -> None:
    w6.run(spark, quick, tmp_path)
    for store, peers in (("HDFS-backed", 3), ("RocksDB", 4)):
        head, *found = lines_of("w6.txt", f"4,800 rows a side, {store} store")
        assert head[-5:] == ["memory", "spill", "state", "rows", "state"]
        assert len(found) == peers
    assert (options.ROOT / "build" / "benchmarks" / "w6-rows.png").exists()


def test_the_endpoint_is_raced_with_spark_connect_and_a_direct_collect(
    spark: SparkSession, quick: Options, tmp_path: Path
) -> None:
    endpoint.run(spark, quick, tmp_path)
    head, plait, connect, *speeds = lines_of("endpoint.txt", "a result of 20,000 rows")
    assert head[0] == "total"
    assert (plait[0], connect[:2]) == ("Plait", ["Spark", "Connect"])
    assert [line[-4:-1] for line in speeds] == [["of", "Arrow,", "1"]] * 2
    _, direct, *others = lines_of("endpoint.txt", "SELECT 1")
    assert direct[0] == "collect"
    assert [line[-2:] for line in others[-3:]] == [["20", "calls"]] * 3


def test_joins_of_bids_and_auctions_keep_what_their_kind_says(
    spark: SparkSession, quick: Options, tmp_path: Path
) -> None:
    backlogs = state_benchmark.make_backlogs(spark, tmp_path, 4_900, 3)
    kept = {}
    for kind in state_benchmark.KINDS:
        laps = state_benchmark.race_kind(spark, kind, backlogs, tmp_path)
        kept[kind.title], of_spark = (streams.kept(laps[name]) for name in ("Plait", "stock Spark"))
        assert max(kept[kind.title]) <= max(of_spark)
    assert kept["regular"] == (1633, 3266, 4900)
    assert max(kept["interval"]) < 1.2 * 1633
    assert kept["window"][-1] < max(kept["window"]) < 3266
    assert kept["PROCTIME"] == (0, 0, 0)


def test_joins_populated_from_a_backlog_give_the_rows_of_duckdb(
    spark: SparkSession, quick: Options, tmp_path: Path
) -> None:
    name_small_tables(spark)
    backlogs = population.make_backlogs(spark, tmp_path, 400, 2)
    customers, _, query_4 = population.PARTS  # the second is the first on another store
    for part in (customers, query_4):
        laps = population.race_part(spark, part, backlogs, quick.runs, tmp_path)
        draw_states({part.title: population.panel(laps)}, part.title, tmp_path / "rows.png")
        assert (tmp_path / "rows.png").exists()
        names = ("Plait", "Plait, bounded", "stock Spark")
        plait, bounded, spark_s = (max(streams.kept(laps[name])) for name in names)
        assert plait == spark_s
        # Customers, and sales that have one; of three branches, also dates and what was joined.
        kept = {population.customers: (419, 233), population.query_4: (1561, 995)}
        assert (plait, bounded) == kept[part.query]


def name_small_tables(spark: SparkSession) -> None:
    """Name tables like those of TPC-DS, with NULLs among keys, names and prices."""
    names = (f"IF(id % 7 = 0, NULL, concat('{c}', id)) AS {c}" for c in population.CUSTOMER)
    tables = {"customer": (50, "id AS c_customer_sk", *names)}
    tables["date_dim"] = (90, "id AS d_date_sk", "CAST(1998 + id div 30 AS INT) AS d_year")
    for branch in population.BRANCHES:
        columns = [f"IF(id % 13 = 5, NULL, id * 17 % 60) AS {branch.customer}"]
        for n, name in enumerate(branch.columns[1:]):
            cents = f"CAST(id * {n * n + 3} % 9973 / 100 AS DECIMAL(7, 2))"
            value = "id * 7 % 100" if name.endswith(("_sk", "_number")) else cents
            columns.append(f"IF(id % 29 = {n}, NULL, {value}) AS {name}")
        tables[branch.table] = (400, *columns)
    for name, (rows, *columns) in tables.items():
        spark.range(rows).selectExpr(*columns).createOrReplaceTempView(name)
