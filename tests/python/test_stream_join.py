# SPDX-License-Identifier: Apache-2.0
"""Laws, examples and oracle: joins of two streams.

Oracle: DuckDB's join of all rows, or stock Spark's join of the same streams.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from tests.python.cases import cases
from tests.python.queries import settings
from tests.python.streams import (
    LAST,
    NEAR,
    OFF,
    OURS,
    ROCKS,
    SPARKS,
    TYPES,
    WITHIN,
    Batch,
    Feed,
    Feeds,
    Script,
    custom,
    in_spark,
    joined,
    logged,
    output,
    quick_session,
    restarted,
    run,
    start,
    timed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows

pytestmark = pytest.mark.spark


session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.mark.parametrize("number", range(cases(1, soak=25)))
@pytest.mark.parametrize("frontier", ["query", "side"])
@pytest.mark.parametrize("how", TYPES)
def test_a_join_of_streams_gives_the_rows_of_the_join_of_all_that_came(
    session: SparkSession, feeds: Feeds, how: str, frontier: str, number: int
) -> None:
    script = Script(TYPES.index(how) * 10 + (frontier == "side") + 100 * number, how)
    with settings(session, {"spark.plait.stream.frontier": frontier}):
        df, progress = restarted(session, feeds, script, {})
    assert output(df, feeds.folder) == joined(script.batches, how, script.condition)
    last = progress[-1]["stateOperators"][0]
    assert last["operatorName"] == OURS
    assert last["numRowsTotal"] <= 2


def test_an_anti_join_gives_the_rows_that_sparks_outer_join_leaves_without_a_mark(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    feeds.add(*timed(Script(77, "LEFT ANTI")).batches)
    feeds.end()
    df = feeds.join(session, "LEFT ANTI", NEAR)
    run(df, tmp_path)
    with settings(session, OFF):
        marked = session.sql(
            f"""SELECT l.id AS l, r.mark FROM {{l}} l
            LEFT JOIN (SELECT *, 1 AS mark FROM {{r}}) r ON {in_spark(NEAR)}""",
            l=feeds.left.df(session),
            r=feeds.right.df(session),
        )
        assert run(marked, tmp_path / "stock")[0]["stateOperators"][0]["operatorName"] == SPARKS
        rows = output(marked, tmp_path / "stock")
    unmarked = Counter({row[:1]: n for row, n in rows.items() if row[1] is None})
    assert output(df, tmp_path) == unmarked
    assert unmarked


STORES = {
    "RocksDB": ROCKS,
    "RocksDB, checkpoints of format 2": ROCKS
    | {"spark.sql.streaming.stateStore.checkpointFormatVersion": 2},
}


@pytest.mark.parametrize("store", STORES)
def test_each_of_sparks_state_stores_serves_and_keeps_its_number_of_partitions(
    session: SparkSession, feeds: Feeds, store: str
) -> None:
    script = Script(5, "FULL")
    with settings(session, STORES[store] | {"spark.sql.shuffle.partitions": 2}):
        df, progress = restarted(session, feeds, script, {"spark.sql.shuffle.partitions": 3})
    assert output(df, feeds.folder) == joined(script.batches, "FULL", script.condition)
    assert {p["stateOperators"][0]["numShufflePartitions"] for p in progress} == {2}
    metrics = progress[-1]["stateOperators"][0]["customMetrics"]
    assert any(name.startswith("rocksdb") for name in metrics)


@pytest.mark.parametrize("number", range(cases(1, soak=10)))
@pytest.mark.parametrize("how", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI"])
def test_after_no_batch_do_more_rows_wait_than_in_sparks_own_join(
    session: SparkSession, feeds: Feeds, how: str, number: int
) -> None:
    script = timed(Script(61 + TYPES.index(how) + 10 * number, how, size=4))
    feeds.add(*script.batches)
    feeds.end()
    waiting = {}
    for name, conf in ((OURS, {}), (SPARKS, OFF)):
        with settings(session, conf):
            df = feeds.join(session, how, script.condition)
            progress = run(df, feeds.folder / name)
        # Spark's FULL joins rows whose keys are NULL to each other.
        if (name, how) != (SPARKS, "FULL"):
            assert output(df, feeds.folder / name) == joined(script.batches, how, script.condition)
        joins = {p["batchId"]: p["stateOperators"][0] for p in progress if p["stateOperators"]}
        assert {join["operatorName"] for join in joins.values()} == {name}
        waiting[name] = {batch: join["numRowsTotal"] for batch, join in joins.items()}
    ours, sparks = waiting[OURS], waiting[SPARKS]
    assert ours.keys() == sparks.keys()
    assert all(ours[batch] <= sparks[batch] for batch in ours), (ours, sparks)
    assert max(ours.values()) > 0


# What went wrong once, in Spark or elsewhere.


def test_a_matched_row_does_not_come_out_alone_when_its_partner_has_left_before_it(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    batches: list[Batch] = [
        ([(1, 1, 1000, 0)], [(11, 1, 1003, 0)]),
        ([(2, 2, 1025, 0)], [(12, 3, 1025, 0)]),
        ([(3, 4, 1026, 0)], [(13, 5, 1026, 0)]),
        ([(4, 6, 1060, 0)], [(14, 7, 1060, 0)]),
    ]
    condition = "l.k = r.k AND r.s BETWEEN l.s AND l.s + 20"
    feeds.add(*batches)
    feeds.end()
    df = feeds.join(session, "FULL", condition)
    progress = run(df, tmp_path)
    assert output(df, tmp_path) == joined(batches, "FULL", condition)
    # The partner left with the third batch, where the watermark is 1015, the row itself later.
    first = [p["batchId"] for p in progress if custom([p], "rightRowsPruned") > 0]
    second = [p["batchId"] for p in progress if custom([p], "leftRowsPruned") > 0]
    assert min(first) < min(second)


@pytest.mark.parametrize("how", ["LEFT", "LEFT ANTI"])
def test_a_row_that_comes_and_leaves_in_one_batch_meets_the_rows_that_wait(
    session: SparkSession, feeds: Feeds, tmp_path: Path, how: str
) -> None:
    batches: list[Batch] = [
        ([(1, 9, 1050, 0)], [(11, 1, 1043, 0), (12, 9, 1050, 0)]),  # then 1040
        ([(2, 9, 1090, 0)], [(13, 9, 1090, 0)]),  # then 1080
        # Not late yet, and with nothing to wait for any more.
        ([(3, 1, 1041, 0), (4, 2, 1041, 0)], [(14, 3, 1041, 0)]),
    ]
    feeds.add(*batches)
    feeds.end()
    df = feeds.join(session, how, NEAR)
    progress = run(df, tmp_path)
    assert output(df, tmp_path) == joined(batches, how, NEAR)
    assert custom(progress, "leftRowsLate") == custom(progress, "rightRowsLate") == 0


@pytest.mark.parametrize("equals", ["=", "<=>"])
def test_null_keys_match_each_other_under_the_null_safe_equality_alone(
    session: SparkSession, feeds: Feeds, tmp_path: Path, equals: str
) -> None:
    batches: list[Batch] = [
        ([(1, None, 1000, 0), (2, 1, 1000, 0)], [(11, None, 1001, 0)]),
        ([(3, None, 1003, 0)], [(12, 1, 1001, 0), (13, None, None, 0)]),
    ]
    condition = f"l.k {equals} r.k AND {WITHIN}"
    feeds.add(*batches)
    feeds.end()
    df = feeds.join(session, "FULL", condition)
    run(df, tmp_path)
    expected = joined(batches, "FULL", condition)
    assert expected[1, 11] == (equals == "<=>")
    assert output(df, tmp_path) == expected


@pytest.mark.parametrize("frontier", ["query", "side"])
def test_a_side_may_be_without_rows_for_many_batches(
    session: SparkSession, feeds: Feeds, tmp_path: Path, frontier: str
) -> None:
    batches: list[Batch] = [([(0, 1, 1000, 0)], [(100, 1, 1001, 0), (101, 2, 1002, 0)])]
    batches += [([(i, 1, 1000 + 30 * i, 0)], []) for i in range(1, 7)]
    batches += [([], [(110 + i, 1, 1003 + 30 * i, 0)]) for i in range(1, 7)]
    feeds.add(*batches)
    feeds.end()
    with settings(session, {"spark.plait.stream.frontier": frontier}):
        df = feeds.join(session, "FULL", NEAR)
        progress = run(df, tmp_path)
    expected = joined(batches, "FULL", NEAR)
    assert expected[6, 116] == 1
    assert output(df, tmp_path) == expected
    # Of the side that waits for the one with rows nothing is left, if each has its own frontier.
    held = [p["stateOperators"][0]["customMetrics"]["rightRowsStored"] for p in progress]
    assert (held[6] == 0) == (frontier == "side")


@pytest.mark.parametrize("how", ["INNER", "LEFT"])
def test_an_aggregate_over_two_joins_gives_each_window_once_with_all_of_its_rows(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    a, b, c = (Feed(tmp_path / name) for name in "abc")
    scripts = [Script(seed, how).batches for seed in (43, 44)]
    for first, second in zip(*scripts, strict=True):
        a.add(first[0])
        b.add(first[1])
        c.add(second[1])
    for i, feed in enumerate((a, b, c)):
        feed.add([(-1 - i, -1 - i, 50_000, 0)])
        feed.add([(-1 - i, -1 - i, 100_000, 0)])
    df = session.sql(
        f"""SELECT window.start, count(*) AS n, count(c.id) AS found
        FROM {{a}} l {how} JOIN {{b}} r ON {in_spark(NEAR)}
        {how} JOIN {{c}} c ON c.k = l.k AND c.ts BETWEEN l.ts - INTERVAL 4 SECONDS AND l.ts
        GROUP BY window(l.ts, '5 seconds')""",
        a=a.df(session),
        b=b.df(session),
        c=c.df(session),
    ).selectExpr("unix_seconds(start) AS s", "n", "found")
    progress = run(df, tmp_path)
    names = [op["operatorName"] for op in progress[0]["stateOperators"]]
    assert names.count(OURS) == 2
    rows = [tuple(row) for row in session.read.parquet(str(tmp_path / "out")).collect()]
    expected = windows_of_two_joins(scripts, how)
    assert Counter(row for row in rows if row[0] < 40_000) == expected
    assert len(expected) > 2


def windows_of_two_joins(scripts: list[list[Batch]], how: str) -> Rows:
    with duckdb.connect() as db:
        for name, script, side in (("l", 0, 0), ("r", 0, 1), ("c", 1, 1)):
            db.execute(f"CREATE TABLE {name} (id INT, k INT, s INT, v INT)")
            rows = [row for batch in scripts[script] for row in batch[side]]
            db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)
        sql = f"""SELECT l.s // 5 * 5 AS start, count(*), count(c.id)
            FROM l {how} JOIN r ON {NEAR}
            {how} JOIN c ON c.k = l.k AND c.s BETWEEN l.s - 4 AND l.s
            WHERE l.s IS NOT NULL GROUP BY start"""
        return Counter(db.execute(sql).fetchall())


def test_a_match_is_counted_where_its_partner_was_looked_for(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    feeds.add(
        ([(1, 1, 1000, 0), (2, 2, 1000, 0)], []),
        ([], [(11, 1, 1001, 0), (12, 1, 1002, 0), (13, 3, 1002, 0)]),
        ([(3, 3, 1001, 0)], []),
    )
    progress = run(feeds.join(session, "INNER", NEAR), tmp_path)
    assert custom(progress, "pairsByProbingLeft") == 2, "two right rows found the first left one"
    assert custom(progress, "pairsByProbingRight") == 1, "the last left row found a right one"


KNOWN = [(side, what) for side in ("left", "right") for what in ("frontier", "bound")]


def test_sparks_ui_has_frontier_and_bound_of_a_batch_as_its_progress_says(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    # The first times are before 1970.
    feeds.add(*[([(i, 1, 20 * i - 40, 0)], [(i, 1, 20 * i - 39, 0)]) for i in range(5)])
    with settings(session, {"spark.plait.stream.frontier": "side"}):
        progress = run(feeds.join(session, "INNER", NEAR), tmp_path)
    told = [
        {
            f"{s} {what}": p["stateOperators"][0]["customMetrics"][s + what.title()]
            for s, what in KNOWN
        }
        for p in progress
    ]
    shown = in_ui(session, progress[0]["runId"], "StreamSymmetricHashJoin")
    assert [{name: node.get(name, 0) for name in told[0]} for node in shown] == told
    assert min(told[-1].values()) > 0


def in_ui(session: SparkSession, run_id: str, node: str) -> list[dict[str, int]]:
    """The numbers that Spark's UI shows of a node in each micro-batch of a query."""
    session._jsc.sc().listenerBus().waitUntilEmpty()
    store = session._jsparkSession.sharedState().statusStore()
    batches = []
    for execution in scala_seq(store.executionsList()):
        if run_id not in execution.description():
            continue
        values = store.executionMetrics(execution.executionId())
        for found in scala_seq(store.planGraph(execution.executionId()).allNodes()):
            if found.name().startswith(node):
                texts = {
                    m.name(): values.get(m.accumulatorId()) for m in scala_seq(found.metrics())
                }
                shown = {n: t.get().replace(",", "") for n, t in texts.items() if t.isDefined()}
                numbers = {n: t for n, t in shown.items() if re.fullmatch(r"-?\d+", t)}
                batches.append({n: int(t) for n, t in numbers.items()})
    return batches


def scala_seq(seq: Any) -> list[Any]:
    return [seq.apply(i) for i in range(seq.size())]


def test_a_batch_may_be_read_twice(session: SparkSession, feeds: Feeds, tmp_path: Path) -> None:
    script = Script(15, "FULL")
    feeds.add(*script.batches)
    feeds.end()
    first, second = Counter[tuple](), Counter[tuple]()

    def read(df: DataFrame, _: int) -> None:
        first.update(map(tuple, df.collect()))
        second.update(map(tuple, df.filter("true").collect()))

    with settings(session, ROCKS):
        writer = feeds.join(session, "FULL", script.condition).writeStream.foreachBatch(read)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
    expected = joined(script.batches, "FULL", script.condition)
    for rows in (first, second):
        assert Counter({row: n for row, n in rows.items() if not {-1, -2} & set(row)}) == expected


def test_the_files_of_a_state_that_does_not_grow_do_not_grow_in_number(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    keys = {"spark.sql.streaming.minBatchesToRetain": 2}
    feeds.add(*[([(i, 1, 1000 + 20 * i, 0)], [(i, 1, 1001 + 20 * i, 0)]) for i in range(10)])
    with settings(session, keys):
        progress = run(feeds.join(session, "INNER", NEAR), tmp_path)
    assert len(list(tmp_path.glob("checkpoint/state/0/_plait/frontiers/[0-9]*"))) <= 5
    rows = [p["stateOperators"][0]["numRowsTotal"] for p in progress]
    assert max(rows) <= 4


# What comes late, and what would wait for ever.

LATE: list[Batch] = [
    ([(1, 1, 1050, 0)], [(11, 1, 1050, 0)]),
    ([(2, 1, 1060, 0)], [(12, 1, 1060, 0)]),
    ([(3, 1, 1000, 0), (4, 1, None, 0)], [(13, 1, 1000, 0)]),
]
IN_TIME: list[Batch] = [*LATE[:2], ([(4, 1, None, 0)], [])]


def test_late_rows_are_dropped_and_counted(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    feeds.add(*LATE)
    feeds.end()
    df = feeds.join(session, "LEFT", NEAR)
    progress = run(df, tmp_path)
    assert output(df, tmp_path) == joined(IN_TIME, "LEFT", NEAR)
    dropped = sum(p["stateOperators"][0]["numRowsDroppedByWatermark"] for p in progress)
    assert dropped == 2
    for name in ("RowsLate", "RowsDropped"):
        assert custom(progress, f"left{name}") == custom(progress, f"right{name}") == 1


@pytest.mark.parametrize("how", ["FULL", "LEFT ANTI"])
def test_late_rows_of_a_preserved_side_come_out_alone_if_asked_for(
    session: SparkSession, feeds: Feeds, tmp_path: Path, how: str
) -> None:
    feeds.add(*LATE)
    feeds.end()
    with settings(session, {"spark.plait.stream.late": "null-pad"}):
        df = feeds.join(session, how, NEAR)
        progress = run(df, tmp_path)
    expected = joined(IN_TIME, how, NEAR)
    expected.update([(3, None), (None, 13)] if how == "FULL" else [(3,)])
    assert output(df, tmp_path) == expected
    assert custom(progress, "leftRowsLate") == 1
    assert custom(progress, "leftRowsDropped") == 0
    assert custom(progress, "rightRowsDropped") == (0 if how == "FULL" else 1)


@pytest.mark.parametrize("store", ["HDFS", "RocksDB"])
def test_a_late_row_ends_the_query_if_asked_for_and_leaves_nothing_behind(
    session: SparkSession, feeds: Feeds, tmp_path: Path, store: str
) -> None:
    feeds.add(*LATE)
    feeds.end()
    with settings(session, STORES.get(store, {})):
        df = feeds.join(session, "LEFT", NEAR)
        with (
            settings(session, {"spark.plait.stream.late": "fail"}),
            pytest.raises(
                StreamingQueryException,
                match=r"side with ts = \d{4}-\d\d-\d\d .* came behind what the side had promised",
            ),
        ):
            run(df, tmp_path)
        assert not list(tmp_path.glob("checkpoint/state/**/*.tmp"))
        run(df, tmp_path)
    assert output(df, tmp_path) == joined(IN_TIME, "LEFT", NEAR)


def test_what_no_comparison_ends_is_ended_by_the_whole_condition(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    feeds.add(*IN_TIME)
    feeds.end()
    within = "timestampdiff(SECOND, l.s, r.s) <= 8"
    df = feeds.join(session, "LEFT", f"l.k = r.k AND r.s >= l.s AND {within}")
    run(df, tmp_path)
    expected = joined([*IN_TIME, LAST], "LEFT", "l.k = r.k AND r.s BETWEEN l.s AND l.s + 8")
    assert output(df, tmp_path) == expected - Counter({(LAST[0][0][0], None): 1})


UNBOUNDED = "l.k = r.k AND r.s >= l.s"


@pytest.mark.parametrize("how", ["LEFT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_rows_that_would_never_come_out_are_refused_with_the_reason(
    session: SparkSession, feeds: Feeds, tmp_path: Path, how: str
) -> None:
    with pytest.raises(AnalysisException, match="keeps left rows for ever") as caught:
        start(feeds.join(session, how, UNBOUNDED), tmp_path)
    assert ("never come out" in str(caught.value)) == (how != "LEFT SEMI")
    assert "spark.plait.stream.unbounded-state" in str(caught.value)


@pytest.mark.parametrize("how", ["LEFT", "LEFT SEMI", "LEFT ANTI"])
def test_rows_that_are_kept_for_ever_but_never_awaited_are_a_warning(
    session: SparkSession, feeds: Feeds, tmp_path: Path, how: str
) -> None:
    batches: list[Batch] = [
        ([(1, 1, 1000, 0), (2, 2, 1000, 0)], [(11, 1, 990, 0)]),
        ([(3, 2, 1100, 0), (4, 1, 1100, 0)], [(12, 2, 1050, 0)]),
    ]
    condition = "l.k = r.k AND r.s <= l.s"
    feeds.add(*batches)
    feeds.end()
    df = feeds.join(session, how, condition)
    with logged(session) as log:
        run(df, tmp_path)
    assert "join of streams keeps right rows for ever" in log()
    assert "keeps left rows for ever" not in log()
    assert output(df, tmp_path) == joined(batches, how, condition)
    key = "spark.plait.stream.unbounded-state"
    with (
        settings(session, {key: "error"}),
        pytest.raises(AnalysisException, match="keeps right rows for ever"),
    ):
        start(df, tmp_path / "error")


@pytest.mark.parametrize("value", ["warn", "allow"])
def test_without_an_equality_and_a_bound_a_join_is_refused_whatever_is_set(
    session: SparkSession, feeds: Feeds, tmp_path: Path, value: str
) -> None:
    told = "join of streams without equality predicate is not supported where nothing prunes it"
    with (
        settings(session, {"spark.plait.stream.unbounded-state": value}),
        pytest.raises(AnalysisException, match=told),
    ):
        start(feeds.join(session, "INNER", "l.v < r.v"), tmp_path)


def test_rows_that_wait_for_ever_are_allowed_warned_of_or_refused_as_asked_for(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    batches: list[Batch] = [([(1, 1, 1000, 0), (2, 2, 1000, 0)], []), ([], [(11, 1, 5000, 0)])]
    feeds.add(*batches)
    key = "spark.plait.stream.unbounded-state"

    def warnings(how: str, folder: str) -> int:
        with logged(session) as log:
            run(feeds.join(session, how, UNBOUNDED), tmp_path / folder)
        return log().count("join of streams keeps left rows for ever")

    assert warnings("INNER", "by default") == 1
    with settings(session, {key: "warn"}):
        assert warnings("LEFT", "warn") == 1
    with settings(session, {key: "allow"}):
        assert warnings("LEFT", "allow") == 0
        df = feeds.join(session, "LEFT", UNBOUNDED)
        assert output(df, tmp_path / "allow") == Counter([(1, 11)])
    with settings(session, {key: "error"}), pytest.raises(AnalysisException, match="for ever"):
        start(feeds.join(session, "INNER", UNBOUNDED), tmp_path / "error")


@pytest.mark.parametrize("how", ["LEFT", "RIGHT", "FULL", "LEFT ANTI"])
def test_what_would_have_to_be_taken_back_is_refused_in_output_mode_update(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    feeds.add(LAST)
    writer = feeds.join(session, how, NEAR).writeStream.format("noop").outputMode("update")
    writer = writer.option("checkpointLocation", str(feeds.folder / "checkpoint"))
    with pytest.raises(AnalysisException, match="cannot run in output mode update"):
        writer.start()


@pytest.mark.parametrize("how", ["INNER", "LEFT SEMI"])
@pytest.mark.parametrize("condition", [NEAR, f"{NEAR} AND l.v < r.v", WITHIN])
def test_what_comes_out_with_a_match_only_runs_in_output_mode_update(
    session: SparkSession, feeds: Feeds, how: str, condition: str
) -> None:
    script = Script(16, how)
    feeds.add(*script.batches)
    rows = Counter[tuple]()

    def read(df: DataFrame, _: int) -> None:
        rows.update(map(tuple, df.collect()))

    writer = feeds.join(session, how, condition).writeStream.foreachBatch(read)
    writer = writer.option("checkpointLocation", str(feeds.folder / "checkpoint"))
    writer.outputMode("update").trigger(availableNow=True).start().awaitTermination()
    assert rows == joined(script.batches, how, condition)
