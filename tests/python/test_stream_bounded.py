# SPDX-License-Identifier: Apache-2.0
"""Laws, examples and oracle: streams that are said to come to an end.

Oracle: DuckDB's join of all rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException, StreamingQueryException
from pyspark.sql.functions import count, lit
from tests.python.queries import settings
from tests.python.streams import (
    OURS,
    Batch,
    Feed,
    Feeds,
    Progress,
    Row,
    columns,
    custom,
    in_spark,
    joined,
    output,
    quick_session,
    run,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EQUAL = "l.k = r.k"


session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.fixture
def feeds(tmp_path: Path) -> Feeds:
    """Feeds without a watermark."""
    return Feeds(tmp_path, (None, None))


def dimension(*numbers: int) -> list[Row]:
    """Rows of keys 0, 0, 1, 1, 2, ..., and one whose key is NULL."""
    rows: list[Row] = [(n, n // 2, n, n % 4) for n in numbers]
    return [*rows, (max(numbers) + 1000, None, 0, 0)]


def fact(start: int) -> list[Row]:
    rows: list[Row] = [(start + n, n % 5, start + n, n % 4) for n in range(6)]
    return [*rows, (start + 6, None, start, 1)]


# The left side has two files, of which one is empty, and the right one five.
LEFT: list[list[Row]] = [dimension(0, 1, 2, 3), [], dimension(4, 5)]
RIGHT = [fact(100 * n) for n in range(1, 6)]
ALL: list[Batch] = [(row, []) for row in LEFT] + [([], row) for row in RIGHT]


def fill(feeds: Feeds) -> None:
    for rows in LEFT:
        feeds.left.add(rows)
    for rows in RIGHT:
        feeds.right.add(rows)


def bounded(
    session: SparkSession, feeds: Feeds, how: str, condition: str, hint: str = "BOUNDED(l)"
) -> DataFrame:
    return session.sql(
        f"""SELECT /*+ {hint} */ {columns(how)} FROM {{l}} l {how} JOIN {{r}} r
        ON {in_spark(condition)}""",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )


def stored(progress: Progress) -> list[tuple[int, int]]:
    """Rows of each side that wait after each batch."""
    return [
        (
            p["stateOperators"][0]["customMetrics"]["leftRowsStored"],
            p["stateOperators"][0]["customMetrics"]["rightRowsStored"],
        )
        for p in progress
    ]


@pytest.mark.parametrize("how", ["INNER", "RIGHT"])
def test_when_a_bounded_side_is_over_no_row_of_the_other_waits(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    fill(feeds)
    df = bounded(session, feeds, how, EQUAL)
    progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, how, EQUAL)
    # An empty file is no end; batch 3 is the first for which the left side has no file. A row
    # whose key is NULL never waits.
    assert [right for _, right in stored(progress)] == [6, 12, 18, 0, 0]
    assert [left for left, _ in stored(progress)][-1] == 6


@pytest.mark.parametrize("how", ["INNER", "RIGHT"])
def test_rows_that_a_side_which_is_over_frees_are_counted_as_pruned(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    fill(feeds)
    progress = run(bounded(session, feeds, how, EQUAL), feeds.folder)
    pruned = [custom([p], "rightRowsPruned") for p in progress]
    # Spark's filter takes the rows whose key is NULL, one a batch; those of RIGHT come out dead.
    dead = 0 if how == "INNER" else 1
    assert pruned == [dead, dead, dead, 18 + 6 + dead, 6 + dead]
    assert custom(progress, "rightRowsIn") == sum(pruned)
    assert custom(progress, "leftRowsPruned") == 0


ABOVE: dict[str, Callable[[DataFrame], DataFrame]] = {
    "dropDuplicates": lambda df: df.dropDuplicates(["id"]),
    # No time is before the first watermark, which is 1970.
    "dropDuplicatesWithinWatermark": lambda df: (
        df.selectExpr("id", "k", "ts + INTERVAL 1 DAY AS at")
        .withWatermark("at", "1 day")
        .dropDuplicatesWithinWatermark(["id"])
    ),
    "observe": lambda df: df.observe("of a test", count(lit(1))),
    "limit": lambda df: df.limit(100),
}


@pytest.mark.parametrize("what", ABOVE)
def test_a_stream_is_bounded_still_above_what_leaves_rows_out(
    session: SparkSession, feeds: Feeds, what: str
) -> None:
    fill(feeds)
    left = ABOVE[what](feeds.left.df(session).hint("BOUNDED"))
    df = session.sql(
        "SELECT l.id AS l, r.id AS r FROM {l} l RIGHT JOIN {r} r ON l.k = r.k",
        l=left,
        r=feeds.right.df(session),
    )
    progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, "RIGHT", EQUAL)
    join = next(o for o in progress[-1]["stateOperators"] if o["operatorName"] == OURS)
    assert join["customMetrics"]["rightRowsStored"] == 0


def test_without_the_hint_all_rows_wait_for_ever(session: SparkSession, feeds: Feeds) -> None:
    fill(feeds)
    df = feeds.join(session, "INNER", EQUAL)
    progress = run(df, feeds.folder)
    assert stored(progress)[-1] == (6, 30)


def test_a_side_that_is_over_stays_so_over_a_restart(session: SparkSession, feeds: Feeds) -> None:
    fill(feeds)
    run(bounded(session, feeds, "INNER", EQUAL), feeds.folder)
    feeds.right.add(fact(700))
    df = bounded(session, feeds, "INNER", EQUAL)
    progress = run(df, feeds.folder)
    assert stored(progress)[-1] == (6, 0)
    assert output(df, feeds.folder) == joined([*ALL, ([], fact(700))], "INNER", EQUAL)


@pytest.mark.parametrize("hint", ["BOUNDED(l)", "SYMMETRIC_HASH(l)"])
def test_a_row_after_the_end_is_an_error_and_is_not_lost(
    session: SparkSession, feeds: Feeds, hint: str
) -> None:
    fill(feeds)
    run(bounded(session, feeds, "INNER", EQUAL), feeds.folder)
    feeds.left.add(dimension(8))
    for _ in range(2):
        with pytest.raises(
            StreamingQueryException, match="A row of the left side came after the end of that side"
        ):
            run(bounded(session, feeds, "INNER", EQUAL, hint), feeds.folder)


def test_outer_rows_come_out_when_the_other_side_is_over(
    session: SparkSession, feeds: Feeds
) -> None:
    fill(feeds)
    df = bounded(session, feeds, "FULL", EQUAL, "BOUNDED(l, r)")
    progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, "FULL", EQUAL)
    assert stored(progress)[-1] == (0, 0)


def test_an_outer_side_whose_other_side_never_ends_is_refused_still(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    fill(feeds)
    with pytest.raises(AnalysisException, match="keeps left rows for ever"):
        run(bounded(session, feeds, "LEFT", EQUAL), tmp_path)


def test_a_bounded_side_is_kept_as_it_is_meant_to_be(session: SparkSession, feeds: Feeds) -> None:
    fill(feeds)
    with settings(session, {"spark.plait.stream.unbounded-state": "error"}):
        df = bounded(session, feeds, "RIGHT", EQUAL)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, "RIGHT", EQUAL)


def test_without_an_equality_or_a_bound_a_bounded_side_is_enough(
    session: SparkSession, feeds: Feeds
) -> None:
    fill(feeds)
    df = bounded(session, feeds, "INNER", "l.v < r.v")
    progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, "INNER", "l.v < r.v")
    assert stored(progress)[-1][1] == 0


def test_a_star_of_bounded_streams_keeps_no_fact(session: SparkSession, tmp_path: Path) -> None:
    names = ("f", "d", "e")
    feeds = {name: Feed(tmp_path / name, None) for name in names}
    for rows in RIGHT:
        feeds["f"].add(rows)
    feeds["d"].add(dimension(0, 1, 2))
    feeds["e"].add(dimension(3, 4, 5, 6))
    df = session.sql(
        """SELECT /*+ BOUNDED(d, e) */ f.id AS f, d.id AS d, e.id AS e
        FROM {f} f JOIN {d} d ON f.k = d.k JOIN {e} e ON f.v = e.v""",
        f=feeds["f"].df(session),
        d=feeds["d"].df(session),
        e=feeds["e"].df(session),
    )
    progress = run(df, tmp_path)
    found = output(df, tmp_path)
    facts = [row for rows in RIGHT for row in rows]
    assert found == Counter(
        (f[0], d[0], e[0])
        for f in facts
        for d in dimension(0, 1, 2)
        for e in dimension(3, 4, 5, 6)
        if f[1] is not None and f[1] == d[1] and f[3] == e[3]
    )
    for operator in progress[-1]["stateOperators"]:
        assert operator["customMetrics"]["leftRowsStored"] == 0


@pytest.mark.parametrize(("match", "last"), [("l.ts <= r.ts", None), ("NEAREST (l.ts, r.ts)", 11)])
def test_a_forward_as_of_join_of_a_bounded_right_side_needs_no_tolerance(
    session: SparkSession, tmp_path: Path, match: str, last: int | None
) -> None:
    feeds = Feeds(tmp_path)
    feeds.left.add([(1, 1, 1000, 0), (2, 1, 2000, 0), (3, None, 1000, 0)])
    feeds.right.add([(11, 1, 1700, 0), (10, 1, 1500, 0)])
    feeds.left.add([(4, 1, 1690, 0)])
    query = f"""SELECT {{hint}} l.id AS l, r.id AS r FROM {{{{l}}}} l LEFT ASOF JOIN {{{{r}}}} r
        MATCH_CONDITION ({match}) ON l.k = r.k"""
    sides = {"l": feeds.left.df(session), "r": feeds.right.df(session)}
    with pytest.raises(AnalysisException, match=r"needs a TOLERANCE.*or the hint BOUNDED"):
        run(session.sql(query.format(hint=""), **sides), tmp_path)
    df = session.sql(query.format(hint="/*+ BOUNDED(r) */"), **sides)
    progress = run(df, tmp_path)
    assert output(df, tmp_path) == Counter([(1, 10), (2, last), (3, None), (4, 11)])
    assert stored(progress)[-1][0] == 0


def test_a_view_that_is_bounded_is_so_in_every_query(session: SparkSession, feeds: Feeds) -> None:
    fill(feeds)
    feeds.left.df(session).hint("BOUNDED").createOrReplaceTempView("bounded_view")
    df = session.sql(
        "SELECT l.id AS l, r.id AS r FROM bounded_view l RIGHT JOIN {r} r ON l.k = r.k",
        r=feeds.right.df(session),
    )
    run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(ALL, "RIGHT", EQUAL)


def test_of_a_table_the_hint_says_nothing(session: SparkSession) -> None:
    query = "SELECT {} * FROM VALUES (1), (2) AS l(k) JOIN VALUES (2), (3) AS r(k) USING (k)"
    with_hint = session.sql(query.format("/*+ BOUNDED(l) */"))
    assert with_hint.collect() == session.sql(query.format("")).collect()
    assert "Bounded" not in with_hint._jdf.queryExecution().optimizedPlan().toString()


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        ("BOUNDED", r"BOUNDED takes the relations .* as in BOUNDED\(l\)"),
        ("BOUNDED(1)", r"It was BOUNDED\(1\)"),
        ("BOUNDED(x)", "BOUNDED names x, but the relations of its query are l, r"),
    ],
)
def test_a_wrong_hint_says_what_it_takes(session: SparkSession, hint: str, message: str) -> None:
    sql = f"SELECT /*+ {hint} */ * FROM range(2) l JOIN range(2) r USING (id)"
    with pytest.raises(IllegalArgumentException, match=message):
        session.sql(sql)
