# SPDX-License-Identifier: Apache-2.0
"""Examples: streams whose joins remember rows for a time by the clock."""

from __future__ import annotations

from collections import Counter
from time import sleep
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    StreamingQueryException,
)
from pyspark.sql.functions import count, lit
from tests.python.queries import settings
from tests.python.streams import OURS, Feeds, columns, custom, output, quick_session, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SECOND = "STATE_TTL(l, INTERVAL 1 SECOND)"
DAY = "STATE_TTL(l, INTERVAL 1 DAY)"


session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.fixture
def feeds(tmp_path: Path) -> Feeds:
    """Feeds without a watermark."""
    return Feeds(tmp_path, (None, None))


def join(session: SparkSession, feeds: Feeds, how: str, hint: str) -> DataFrame:
    return session.sql(
        f"SELECT /*+ {hint} */ {columns(how)} FROM {{l}} l {how} JOIN {{r}} r ON l.k = r.k",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )


@pytest.mark.parametrize(
    ("hint", "rows", "evicted"),
    [
        (SECOND, {(1, 10): 1, (3, 10): 1, (3, 11): 1}, 2),
        (DAY, {(1, 10): 1, (1, 11): 1, (3, 10): 1, (3, 11): 1}, 0),
    ],
)
def test_a_row_is_forgotten_after_its_time_and_not_before(
    session: SparkSession, feeds: Feeds, hint: str, rows: dict[tuple[int, int], int], evicted: int
) -> None:
    feeds.add(([(1, 1, 0, 0), (2, 2, 0, 0)], [(10, 1, 0, 0)]))
    run(join(session, feeds, "INNER", hint), feeds.folder)
    sleep(1.1)
    feeds.add(([(3, 1, 0, 0)], [(11, 1, 0, 0)]))
    df = join(session, feeds, "INNER", hint)
    progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter(rows)
    assert custom(progress, "leftRowsEvicted") == evicted
    assert custom(progress, "rightRowsEvicted") == 0
    assert custom(progress[-1:], "rightRowsStored") == 2
    state = [batch["stateOperators"][0] for batch in progress]
    grown = sum(batch["numRowsUpdated"] - batch["numRowsRemoved"] for batch in state)
    assert state[-1]["numRowsTotal"] - grown == 3  # as many as waited at the restart


@pytest.mark.parametrize("how", ["LEFT", "LEFT ANTI"])
def test_a_row_that_is_forgotten_without_a_match_comes_out_once(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    feeds.add(([(1, 1, 0, 0), (2, 2, 0, 0), (3, None, 0, 0)], [(10, 1, 0, 0)]))
    hint = "STATE_TTL(l, INTERVAL 1 SECOND), STATE_TTL(r, INTERVAL 1 SECOND)"
    run(join(session, feeds, how, hint), feeds.folder)
    sleep(1.1)
    feeds.add(([(4, 1, 0, 0)], [(12, 2, 0, 0)]))
    df = join(session, feeds, how, hint)
    run(df, feeds.folder)
    sleep(1.1)
    feeds.add(([], []))
    run(df, feeds.folder)
    alone = {1: [(2, None), (3, None), (4, None)], 2: [(2,), (3,), (4,)]}[1 if how == "LEFT" else 2]
    pairs = [(1, 10)] if how == "LEFT" else []
    assert output(df, feeds.folder) == Counter([*alone, *pairs])


AT_LIMIT = "spark.plait.stream.at-limit"


@pytest.mark.parametrize("how", ["INNER", "LEFT"])
def test_a_row_that_is_too_old_ends_the_query_if_asked_for_and_leaves_nothing_behind(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    feeds.add(([(1, 1, 0, 0), (2, 2, 0, 0)], [(10, 1, 0, 0)]))
    hint = "STATE_TTL(l, INTERVAL 1 SECOND), STATE_TTL(r, INTERVAL 1 DAY)"
    with settings(session, {AT_LIMIT: "fail"}):
        run(join(session, feeds, how, hint), feeds.folder)
        sleep(1.1)
        feeds.add(([(3, 1, 0, 0)], [(11, 1, 0, 0)]))
        with pytest.raises(StreamingQueryException) as ended:
            run(join(session, feeds, how, hint), feeds.folder)
    told = str(ended.value)
    assert "left side of a join of streams has waited longer than STATE_TTL says" in told
    assert "INTERVAL '0 00:00:01' DAY TO SECOND" in told
    assert f"{AT_LIMIT}=evict" in told
    with settings(session, {AT_LIMIT: "evict"}):
        df = join(session, feeds, how, hint)
        assert custom(run(df, feeds.folder), "leftRowsEvicted") == 2
    alone = [] if how == "INNER" else [(2, None)]
    assert output(df, feeds.folder) == Counter([(1, 10), (3, 10), (3, 11), *alone])


def test_what_one_side_never_forgets_is_told_of(session: SparkSession, feeds: Feeds) -> None:
    with pytest.raises(AnalysisException, match="keeps left rows for ever"):
        run(join(session, feeds, "LEFT", "STATE_TTL(r, INTERVAL 1 DAY)"), feeds.folder)


@pytest.mark.parametrize(("hint", "answers"), [(SECOND, 1), (DAY, 0)])
def test_a_left_row_of_an_as_of_join_is_answered_when_its_time_is_over(
    session: SparkSession, tmp_path: Path, hint: str, answers: int
) -> None:
    feeds = Feeds(tmp_path)
    feeds.add(([(1, 1, 1000, 0)], [(10, 1, 990, 0)]))
    df = session.sql(
        f"""SELECT /*+ {hint} */ l.id AS l, r.id AS r FROM {{l}} l
        LEFT ASOF JOIN {{r}} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k""",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )
    run(df, tmp_path)
    sleep(1.1)
    feeds.add(([], [(11, 2, 995, 0)]))
    run(df, tmp_path)
    assert output(df, tmp_path) == Counter({(1, 10): answers} if answers else {})


def test_a_dataframe_is_hinted_and_a_table_has_no_state(
    session: SparkSession, feeds: Feeds
) -> None:
    feeds.add(([(1, 1, 0, 0)], [(10, 1, 0, 0)]))
    left = feeds.left.df(session).alias("l").hint("STATE_TTL", "INTERVAL 1 SECOND")
    right = feeds.right.df(session).alias("r")
    df = left.join(right, "k").selectExpr("l.id AS l", "r.id AS r")
    run(df, feeds.folder)
    sleep(1.1)
    feeds.add(([], []))
    assert custom(run(df, feeds.folder), "leftRowsEvicted") == 1
    table = session.range(2).hint("STATE_TTL", "INTERVAL 1 DAY").join(session.range(2), "id")
    assert table.count() == 2


ABOVE: dict[str, Callable[[DataFrame], DataFrame]] = {
    "dropDuplicates": lambda df: df.dropDuplicates(["id"]),
    "observe": lambda df: df.observe("of a test", count(lit(1))),
}


@pytest.mark.parametrize("what", ABOVE)
def test_rows_are_forgotten_still_above_what_leaves_rows_out(
    session: SparkSession, feeds: Feeds, what: str
) -> None:
    feeds.add(([(1, 1, 0, 0), (1, 1, 0, 0)][: 1 + (what != "observe")], [(10, 1, 0, 0)]))
    left = ABOVE[what](feeds.left.df(session).hint("STATE_TTL", "INTERVAL 1 SECOND"))
    right = feeds.right.df(session).hint("STATE_TTL", "INTERVAL 1 DAY")
    df = session.sql(
        "SELECT l.id AS l, r.id AS r FROM {l} l LEFT JOIN {r} r ON l.k = r.k", l=left, r=right
    )
    run(df, feeds.folder)
    sleep(1.1)
    feeds.add(([], [(11, 1, 0, 0)]))
    progress = run(df, feeds.folder)
    joins = [[o for o in p["stateOperators"] if o["operatorName"] == OURS] for p in progress]
    assert sum(join["customMetrics"]["leftRowsEvicted"] for (join,) in joins) == 1
    assert output(df, feeds.folder) == Counter([(1, 10)])


@pytest.mark.parametrize(
    "hint",
    [
        "STATE_TTL(l)",
        "STATE_TTL(l, INTERVAL 1 MONTH)",
        "STATE_TTL(l, 5)",
        "STATE_TTL(l, INTERVAL 0 DAYS)",
        "STATE_TTL(INTERVAL 1 DAY)",
    ],
)
def test_a_wrong_hint_says_what_it_takes(session: SparkSession, hint: str) -> None:
    takes = r"STATE_TTL takes a relation .* STATE_TTL\(l, INTERVAL 1 DAY"
    with pytest.raises(IllegalArgumentException, match=takes):
        session.sql(f"SELECT /*+ {hint} */ * FROM range(2) l JOIN range(2) r USING (id)")
