# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: orders that are declared of streams, by a hint or by their tables.

Oracle: the batch join of stock Spark over all rows that a query has been given.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, StreamingQueryException
from tests.python.declared_streams import Stream, running, session_of_two_partitions
from tests.python.queries import rows_of_spark, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

VIOLATION = "spark.plait.order.violation"
NO_DATA = "spark.sql.streaming.noDataMicroBatches.enabled"
NEAR = "l.k = r.k AND r.s BETWEEN l.s AND l.s + 5"


session = pytest.fixture(scope="module", name="session")(session_of_two_partitions)


@pytest.fixture
def streams(session: SparkSession, tmp_path: Path) -> tuple[Stream, Stream]:
    return two(session, tmp_path, "BIGINT")


def two(session: SparkSession, folder: Path, kind: str) -> tuple[Stream, Stream]:
    return (
        Stream(session, folder, "l", f"k INT, s {kind}, v INT"),
        Stream(session, folder, "r", f"k INT, s {kind}, w INT"),
    )


def joined(session: SparkSession, how: str = "", slack: str = ", 10", on: str = NEAR) -> DataFrame:
    columns = "l.k, l.s, v" + ("" if "SEMI" in how or "ANTI" in how else ", r.s, w")
    hints = f"ORDERED(l, s{slack}), ORDERED(r, s{slack})"
    return session.sql(f"SELECT /*+ {hints} */ {columns} FROM l {how} JOIN r ON {on}")


def of_spark(
    spark: SparkSession, left: Stream, right: Stream, how: str = "", on: str = NEAR
) -> Counter[str]:
    own = spark.newSession()
    left.batch(own).createOrReplaceTempView("l")
    right.batch(own).createOrReplaceTempView("r")
    columns = "l.k, l.s, v" + ("" if "SEMI" in how or "ANTI" in how else ", r.s, w")
    return rows_of_spark(own, f"SELECT {columns} FROM l {how} JOIN r ON {on}")


def test_a_row_waits_until_the_other_side_has_come_past_its_reach(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, right = streams
    with running(session, joined(session, "LEFT OUTER", ", 2")) as run:
        left.add([(1, 10, 0), (2, 20, 1)])
        right.add([(1, 17, 0)])
        assert run.rows() == Counter(), "15 is what no later right row is before"
        right.add([(1, 18, 1)])
        assert run.rows() == Counter(["(1, 10, 0, None, None)"])
        assert run.waiting() == 2, (
            "the second left row, and a right row that a left one of 18 may reach"
        )


def test_what_falls_where_the_declared_order_rises_may_still_be_nan(
    spark: SparkSession, session: SparkSession, tmp_path: Path
) -> None:
    # NaN is above all numbers: the last of s, and the first of 100 - s.
    left, right = two(session, tmp_path, "DOUBLE")
    on = "l.k = r.k AND 100D - l.s >= r.s"
    with running(session, joined(session, on=on, slack="")) as run:
        right.add([(1, 60.0, 0)])
        left.add([(1, 1.0, 0), (1, 50.0, 1)])
        assert run.rows() == of_spark(spark, left, right, on=on)
        left.add([(1, "NaN", 2)])
        assert run.rows() == of_spark(spark, left, right, on=on)
    assert len(of_spark(spark, left, right, on=on)) == 2


def test_an_order_is_known_through_what_drops_duplicates(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, right = streams
    once = session.table("l").hint("ORDERED", "s", 2).dropDuplicates(["k", "s", "v"])
    query = f"SELECT /*+ ORDERED(r, s, 2) */ l.k, l.s, v, r.s, w FROM {{l}} l LEFT JOIN r ON {NEAR}"
    with running(session, session.sql(query, l=once)) as run:
        left.add([(1, 10, 0), (1, 10, 0), (2, 20, 1)])
        right.add([(1, 18, 1)])
        assert run.rows() == Counter(["(1, 10, 0, None, None)"])


@pytest.mark.parametrize(
    "key", ["named_struct('n', 1, 't', c)", "array(c)", "if(k = 0, NULL, struct(c))"]
)
def test_texts_within_a_key_are_compared_by_their_collation(
    session: SparkSession, tmp_path: Path, key: str
) -> None:
    left, right = two(session, tmp_path, "BIGINT")
    texts = {1: "aa", 2: "AA", 3: "Aa", 0: "aA"}
    when = " ".join(f"WHEN {k} THEN '{text}'" for k, text in texts.items())
    keyed = "SELECT *, {} AS key FROM (SELECT *, (CASE k {} END) COLLATE UTF8_LCASE AS c FROM {})"
    query = (
        "SELECT /*+ ORDERED(l, s, 10), ORDERED(r, s, 10) */ l.k, r.k FROM "
        f"({keyed.format(key, when, 'l')}) l JOIN ({keyed.format(key, when, 'r')}) r "
        "ON l.key = r.key AND r.s BETWEEN l.s AND l.s + 5"
    )
    with running(session, session.sql(query)) as run:
        left.add([(1, 10, 0), (0, 10, 0)])
        right.add([(2, 12, 0), (0, 12, 0)])
        run.rows()
        right.add([(3, 14, 0)])
        found = Counter(["(1, 2)", "(1, 3)"])
        if "NULL" not in key:
            found += Counter(["(1, 0)", "(0, 0)", "(0, 2)", "(0, 3)"])
        assert run.rows() == found


KINDS: dict[str, tuple[str, str, str, Callable[[int], Any]]] = {
    # type of s, what is declared with its slack, condition, the value of a step
    "BIGINT": ("BIGINT", "s, 10", NEAR, lambda n: n),
    "INT, a slack that is no whole number": ("INT", "s, 10.5", NEAR, lambda n: n),
    "long DECIMAL": ("DECIMAL(20, 2)", "s, 10", NEAR, lambda n: Decimal(n) + 10**14),
    "DOUBLE": ("DOUBLE", "s, 10", NEAR, lambda n: n * 1.0 - 50.0),
    "DESC": ("BIGINT", "'s DESC', 10", NEAR, lambda n: -n),
    "DATE": (
        "DATE",
        "s, INTERVAL 10 DAYS",
        "l.k = r.k AND r.s BETWEEN l.s AND date_add(l.s, 5)",
        lambda n: f"2026-{1 + n // 28:02}-{1 + n % 28:02}",
    ),
    "TIMESTAMP_NTZ": (
        "TIMESTAMP_NTZ",
        "s, INTERVAL 10 SECONDS",
        "l.k = r.k AND r.s BETWEEN l.s AND l.s + INTERVAL 5 SECONDS",
        lambda n: (datetime(1969, 12, 31, 23, 58) + timedelta(seconds=n)).isoformat(),
    ),
    "expression": (
        "BIGINT",
        "(k + s), 12",
        "l.k = r.k AND r.k + r.s BETWEEN l.k + l.s AND l.k + l.s + 5",
        lambda n: n,
    ),
    "follows from a declared one": (
        "BIGINT",
        "(s + 1), 10",
        "l.k = r.k AND r.s div 4 = l.s div 4",
        lambda n: n,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_keep_the_order_join_as_in_batch_and_leave_in_time(
    spark: SparkSession, session: SparkSession, tmp_path: Path, kind: str
) -> None:
    data_type, declared, on, value = KINDS[kind]
    left, right = two(session, tmp_path, data_type)
    how = {"BIGINT": "FULL OUTER", "DESC": "LEFT ANTI", "DOUBLE": "LEFT SEMI"}.get(kind, "")
    columns = "l.k, l.s, v" + ("" if how.startswith("LEFT") else ", r.s, w")
    df = session.sql(
        f"SELECT /*+ ORDERED(l, {declared}), ORDERED(r, {declared}) */ {columns} "
        f"FROM l {how} JOIN r ON {on}"
    )
    rng = random.Random(kind)
    clock = {"l": 0, "r": 0}

    def step(name: str) -> tuple[int, Any, int]:
        clock[name] += rng.randrange(3)
        n = max(clock[name] - rng.randrange(10), 0)
        return rng.randrange(2), value(n), n

    with settings(session, {NO_DATA: "false"}), running(session, df) as run:
        for _ in range(2):
            left.add([step("l") for _ in range(40)])
            right.add([step("r") for _ in range(40)])
            run.rows()
        # The last rows match each other.
        for last in (200, 230):
            left.add([(k, value(last), last) for k in (0, 1)])
            right.add([(k, value(last), last) for k in (0, 1)])
            found = run.rows()
        waiting = run.waiting()
        assert run.counted("leftRowsOutOfOrder") + run.counted("rightRowsOutOfOrder") == 0
    assert waiting <= 8
    assert found == of_spark(spark, left, right, how, on)


# Of types whose values have no distance, and so no slack.
RISING: dict[str, tuple[str, Callable[[int], str]]] = {
    "STRING": ("r.s BETWEEN l.s AND concat(l.s, '~')", lambda n: f"{n:04}"),
    "STRING COLLATE UTF8_BINARY": ("r.s = l.s", lambda n: chr(1000 + n)),
}


@pytest.mark.parametrize("kind", RISING)
def test_rows_leave_when_the_other_side_has_passed_their_text(
    spark: SparkSession, session: SparkSession, tmp_path: Path, kind: str
) -> None:
    on, value = RISING[kind]
    on = f"l.k = r.k AND {on}"
    left, right = two(session, tmp_path, kind)
    df = joined(session, "LEFT OUTER", "", on)
    with settings(session, {NO_DATA: "false"}), running(session, df) as run:
        for n in range(10, 50, 10):
            left.add([(1, value(n), n), (2, value(n + 1), n)])
            right.add([(1, value(n), n), (3, value(n + 2), n)])
            found = run.rows()
            assert run.waiting() <= 5, "those of the batch and the last before it"
    everything = of_spark(spark, left, right, "LEFT OUTER", on)
    assert not found - everything
    # The last one is known to be alone by then, if left rows were read before right ones.
    last = {row for row in everything if row.endswith(", 40, None, None)")}
    assert len(last) == 1
    assert set(everything - found) <= last


@pytest.mark.parametrize("name", ["l", "r"])
def test_an_idle_source_does_not_stop_the_cleaning_of_the_other_side(
    session: SparkSession, streams: tuple[Stream, Stream], name: str
) -> None:
    idle, busy = streams if name == "l" else reversed(streams)
    with running(session, joined(session)) as run:
        idle.add((1, n, n) for n in range(20))
        busy.add([(2, 0, 0)])
        run.rows()
        assert run.waiting() == 20
        for n in range(50, 90, 10):
            busy.add([(2, n, n)])
            run.rows()
        assert run.waiting() == 4, "those of the busy side"


def test_a_row_that_comes_too_late_is_dropped_and_counted(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, right = streams
    with running(session, joined(session, "LEFT OUTER")) as run:
        left.add([(1, 50, 0), (1, 200, 1)])
        right.add([(1, 52, 0)])
        run.rows()
        left.add([(1, 188, 2), (1, 190, 3), (1, None, 4)])
        right.add([(1, 191, 5), (1, 300, 6)])
        assert run.rows() == Counter(
            [
                "(1, 50, 0, 52, 0)",
                "(1, 190, 3, 191, 5)",
                "(1, 200, 1, None, None)",
                "(1, None, 4, None, None)",
            ]
        )
        assert run.counted("leftRowsOutOfOrder") == run.counted("leftRowsDropped") == 1
        assert run.counted("leftRowsLate") + run.counted("rightRowsOutOfOrder") == 0


FAILURES = {
    "ORDERED(l, s, 10), ORDERED(r, s)": "order s ASC, but 188 comes where .* none come before 190",
    "ORDERED(l, 's DESC'), ORDERED(r, s)": "order s DESC, but 188 comes .* none come before 50",
    "ORDERED(l, (s + 1)), ORDERED(r, s)": r"\(s \+ 1L\) ASC, but s = 188 comes .* before 200",
}


@pytest.mark.parametrize("hints", FAILURES)
def test_a_row_that_comes_too_late_ends_the_query_if_that_is_set(
    session: SparkSession, streams: tuple[Stream, Stream], hints: str
) -> None:
    left, right = streams
    df = session.sql(f"SELECT /*+ {hints} */ l.s FROM l JOIN r ON {NEAR}")
    with settings(session, {VIOLATION: "fail"}), running(session, df) as run:
        left.add([(1, 50, 0), (1, 200, 1)])
        right.add([(1, 52, 0)])
        run.rows()
        left.add([(1, 188, 2)])
        with pytest.raises(StreamingQueryException, match=FAILURES[hints]) as caught:
            run.rows()
        assert "The rows of l are declared" in str(caught.value)


def test_frontiers_and_bounds_are_told_of_orders_below_zero_too(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, right = streams
    with running(session, joined(session, slack="")) as run:
        left.add([(1, -60, 0)])
        right.add([(1, -50, 0)])
        run.rows()
        left.add([(1, -20, 1)])
        right.add([(1, -20, 1)])
        run.rows()
        named = ("leftFrontier", "leftBound", "rightFrontier", "rightBound")
        told = [run.counted(name) for name in named]
    assert all(number < 0 for number in told), told


def test_late_rows_of_a_stream_cannot_be_kept(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    assert streams
    sentence = "that is declared of l cannot be run with spark.plait.order.violation=keep"
    with (
        settings(session, {VIOLATION: "keep"}),
        pytest.raises(IllegalArgumentException, match=sentence),
        running(session, joined(session)),
    ):
        pass


def test_a_restart_goes_on_from_the_same_frontier(
    session: SparkSession, streams: tuple[Stream, Stream], tmp_path: Path
) -> None:
    left, right = streams
    with running(session, joined(session).select("v", "w"), tmp_path) as run:
        left.add([(1, 100, 0), (2, 195, 1)])
        right.add([(1, 102, 0), (2, 200, 1)])
        run.rows()
    frontiers = tmp_path.glob("checkpoint/state/0/_plait/frontiers/[0-9]*")
    assert max(frontiers).read_text().split() == ["v1", "185", "190"]
    left.add([(1, 184, 2), (1, 186, 3)])
    right.add([(1, 189, 4), (1, 190, 5)])
    with running(session, joined(session).select("v", "w"), tmp_path) as run:
        found = run.rows()
        assert run.counted("leftRowsOutOfOrder") == 1
        assert run.counted("rightRowsOutOfOrder") == 1
    assert found == Counter(["(0, 0)", "(1, 1)", "(3, 5)"])


def test_a_table_declares_its_order_for_its_stream(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, right = streams
    try:
        for name, stream in (("lefts", left), ("rights", right)):
            session.sql(
                f"CREATE TABLE {name} ({stream.schema}) USING json LOCATION '{stream.folder}' "
                "TBLPROPERTIES ('plait.ordered-by' = 's', 'plait.ordered-slack' = '10')"
            )
        df = session.sql(
            f"SELECT l.k, l.s, v, r.s, w FROM STREAM lefts l LEFT JOIN STREAM rights r ON {NEAR}"
        )
        with running(session, df) as run:
            left.add([(1, 50, 0), (1, 100, 1)])
            right.add([(1, 52, 0), (1, 120, 1)])
            assert run.rows() == Counter(["(1, 50, 0, 52, 0)", "(1, 100, 1, None, None)"])
    finally:
        session.sql("DROP TABLE IF EXISTS lefts")
        session.sql("DROP TABLE IF EXISTS rights")


BETWEEN = {
    "a projection": "(SELECT k, s + 1 AS s, v FROM $)",
    "a filter, whose rows say how far the others have come": "(SELECT * FROM $ WHERE v < 5)",
    "a table beside it": "(SELECT q.* FROM $ q JOIN (VALUES (1), (1)) AS t(k) ON q.k = t.k)",
    "a watermark": (
        "(SELECT k, s, v FROM (SELECT *, timestamp_seconds(s) AS ts FROM $) "
        "WATERMARK ts DELAY OF INTERVAL 1 DAY)"
    ),
}


@pytest.mark.parametrize("what", BETWEEN)
def test_an_order_is_seen_through(
    session: SparkSession, streams: tuple[Stream, Stream], what: str
) -> None:
    left, right = streams
    rows = BETWEEN[what].replace("$", "(SELECT /*+ ORDERED(l, s) */ * FROM l)")
    df = session.sql(f"SELECT /*+ ORDERED(r, s) */ l.s, r.s FROM {rows} l RIGHT JOIN r ON {NEAR}")
    with running(session, df) as run:
        left.add([(1, 10, 0), (1, 100, 9)])
        right.add([(1, 13, 0), (1, 30, 1)])
        assert "(None, 30)" in run.rows(), "a left row of 100 has been seen"


def test_an_order_below_an_aggregation_says_nothing(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    assert streams
    counted = (
        "(SELECT k, s, count(*) AS v FROM "
        "(SELECT /*+ ORDERED(l, s) */ *, timestamp_seconds(s) AS ts FROM l) "
        "WATERMARK ts DELAY OF INTERVAL 1 DAY GROUP BY k, s, ts)"
    )
    query = f"SELECT /*+ ORDERED(r, s) */ v, w FROM {counted} l RIGHT JOIN r ON {NEAR}"
    sentence = "nothing says that left rows come in the order"
    with pytest.raises(AnalysisException, match=sentence), running(session, session.sql(query)):
        pass


# Of a and b, what keeps rows; the order is declared of what comes out of it.
HINTED, MET = (
    "/*+ ORDERED(a, s, 50), ORDERED(b, s, 50) */",
    "a.k = b.k AND b.s BETWEEN a.s AND a.s + 5",
)
KEEPING = {
    "a join": f"SELECT {HINTED} a.k, a.s FROM a JOIN b ON {MET}",
    "a join, dealt anew": f"SELECT {HINTED} abs(a.k) AS k, a.s FROM a JOIN b ON {MET}",
    "an outer join": f"SELECT {HINTED} a.k, a.s FROM a LEFT JOIN b ON {MET} WHERE a.k < 9",
    "an aggregation": """SELECT k, s FROM (SELECT a.k, a.s, timestamp_seconds(a.s) AS ts FROM a)
        WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY k, s, ts""",
}


@pytest.mark.parametrize("what", KEEPING)
def test_an_order_that_is_declared_above_what_keeps_rows_is_one_of_what_comes_out_of_it(
    session: SparkSession, tmp_path: Path, what: str
) -> None:
    a, b, c = (Stream(session, tmp_path, name, "k INT, s BIGINT") for name in "abc")
    df = session.sql(
        f"""WITH j AS ({KEEPING[what]})
        SELECT /*+ ORDERED(j, s, 2), ORDERED(c, s) */ c.s AS c, j.s AS j
        FROM c LEFT JOIN j ON c.k = j.k AND j.s BETWEEN c.s AND c.s + 5"""
    )

    def add(*rows: tuple[int, int]) -> None:
        a.add(rows)
        b.add(rows)

    with running(session, df, tmp_path) as run:
        add((1, 10), (2, 100))
        add((7, 103))
        c.add([(1, 8), (3, 50)])
        found = run.rows()
        assert found == Counter(["(8, 10)", "(50, None)"]), "98 is what no later row is before"
    add((4, 70), (4, 104), (7, 120))
    c.add([(4, 66), (4, 100)])
    with running(session, df, tmp_path) as run:
        assert run.rows() - found == Counter(["(66, None)", "(100, 104)"])


def test_a_watermark_above_a_join_without_one_is_that_of_what_comes_out_of_it(
    session: SparkSession, tmp_path: Path
) -> None:
    a, b, c = (Stream(session, tmp_path, name, "k INT, s BIGINT") for name in "abc")
    df = session.sql(
        """WITH j AS (SELECT a.k, timestamp_seconds(a.s) AS ts FROM a JOIN b ON a.k = b.k),
        t AS (SELECT *, timestamp_seconds(s) AS ts FROM c)
        SELECT c.s AS c, unix_seconds(j.ts) AS j
        FROM t WATERMARK ts DELAY OF INTERVAL 0 SECONDS AS c
        LEFT JOIN j WATERMARK ts DELAY OF INTERVAL 2 SECONDS AS j
        ON c.k = j.k AND j.ts BETWEEN c.ts AND c.ts + INTERVAL 5 SECONDS"""
    )
    with (
        settings(session, {"spark.plait.stream.frontier": "side"}),
        running(session, df) as run,
    ):
        for stream in (a, b):
            stream.add([(1, 10), (2, 100)])
        c.add([(1, 8), (3, 50)])
        assert run.rows() == Counter(["(8, 10)", "(50, None)"])


def test_without_a_join_of_streams_a_declared_order_changes_nothing(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    left, _ = streams
    with running(session, session.sql("SELECT /*+ ORDERED(l, s) */ k, s FROM l")) as run:
        left.add([(1, 5, 0)])
        run.rows()
        left.add([(1, 3, 0)])
        assert run.rows() == Counter(["(1, 5)", "(1, 3)"])


RANGES = {
    "": "r.s BETWEEN l.s AND l.s + 5",
    "LEFT OUTER": "r.s > l.s - 3 AND r.s < l.s + 4 AND v <> w",
    "RIGHT OUTER": "r.s BETWEEN l.s AND l.s + 5",
    "LEFT SEMI": "r.s = l.s - 7 OR r.s BETWEEN l.s AND l.s + 1",
    "LEFT ANTI": "r.s BETWEEN l.s AND l.s + 5",
    "FULL OUTER": "r.s BETWEEN l.s AND l.s + 2",
}


@pytest.mark.parametrize("how", RANGES)
def test_a_join_without_an_equality_is_dealt_by_ranges(
    spark: SparkSession, session: SparkSession, streams: tuple[Stream, Stream], how: str
) -> None:
    left, right = streams
    df = joined(session, how, ", 10", RANGES[how])
    if "SEMI" not in how and "ANTI" not in how:
        df = df.toDF("k", "s", "v", "rs", "w")
    rng = random.Random(how)
    with settings(session, {NO_DATA: "false"}), running(session, df) as run:
        for start in (0, 30):
            for stream in (left, right):
                rows = [(start + n - rng.randrange(10), n) for n in range(30)]
                stream.add((n % 3, s, n) for s, n in [*rows, (None, 0)])
            run.rows()
        for last in (200, 230):
            left.add([(0, last, 1), (0, last - 7, 1)])
            right.add([(0, last, 2), (0, last - 7, 2)])
            found = run.rows()
        plan = run.query._jsq.explainInternal(False)
    at_end = {f"{last - n}" for last in (200, 230) for n in (0, 7)}
    everything = of_spark(spark, left, right, how, RANGES[how])

    def early(rows: Counter[str]) -> Counter[str]:
        return Counter({r: n for r, n in rows.items() if not at_end & set(re.findall(r"\d+", r))})

    assert early(found) == early(everything)
    assert early(found)
    says = "all rows are in one task" if how in ("FULL OUTER", "LEFT SEMI") else "dealt by ranges"
    assert says in plan
