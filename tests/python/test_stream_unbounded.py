# SPDX-License-Identifier: Apache-2.0
"""Examples: rows of streams that wait for ever because what has no time may match them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from tests.python.queries import settings
from tests.python.streams import Feeds, Script, joined, output, quick_session, run, start

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

NEAR = "r.ts BETWEEN l.ts - INTERVAL 5 SECONDS AND l.ts + INTERVAL 8 SECONDS"
NEAR_OR_NULL = f"({NEAR} OR r.ts IS NULL)"
# A right row without a time matches by each of them.
MATCHING_NULL = [
    NEAR_OR_NULL,
    "l.ts <=> r.ts",
    "coalesce(r.ts, l.ts) BETWEEN l.ts - INTERVAL 5 SECONDS AND l.ts + INTERVAL 8 SECONDS",
]


session = pytest.fixture(scope="module", name="session")(quick_session)


def join(session: SparkSession, feeds: Feeds, how: str, on: str, hint: str = "") -> DataFrame:
    chosen = "l.id AS l" if "ANTI" in how or "SEMI" in how else "l.id AS l, r.id AS r"
    return session.sql(
        f"SELECT {hint} {chosen} FROM {{l}} l {how} JOIN {{r}} r ON l.k = r.k AND {on}",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )


@pytest.mark.parametrize(
    ("condition", "how"),
    [*zip(MATCHING_NULL, ["LEFT", "FULL", "LEFT ANTI"], strict=True), (NEAR_OR_NULL, "LEFT SEMI")],
)
def test_rows_that_one_without_a_time_may_always_match_would_never_come_out(
    session: SparkSession, feeds: Feeds, tmp_path: Path, condition: str, how: str
) -> None:
    with pytest.raises(AnalysisException, match="keeps left rows for ever") as caught:
        start(join(session, feeds, how, condition), tmp_path)
    told = str(caught.value)
    assert "[MATCHES_NULL]" in told
    assert re.search(
        r"a right row whose ts\S* is NULL may match a left row whenever it comes", told
    )
    assert re.search(r"say ts\S* IS NOT NULL of the right side", told)


@pytest.mark.parametrize(
    ("how", "other"),
    [("LEFT", "r"), ("LEFT SEMI", "r"), ("LEFT ANTI", "r"), ("RIGHT", "l"), ("FULL", "l")],
)
def test_where_the_watermark_is_on_another_column_it_says_on_which(
    session: SparkSession, tmp_path: Path, how: str, other: str
) -> None:
    feeds = Feeds(tmp_path, (None, None))
    sides = {
        name: feed.df(session)
        .selectExpr("*", "ts + INTERVAL 1 DAY AS arrived")
        .withWatermark("arrived" if name == other else "ts", "10 seconds")
        for name, feed in (("l", feeds.left), ("r", feeds.right))
    }
    chosen = "l.id AS l" if how in ("LEFT SEMI", "LEFT ANTI") else "l.id AS l, r.id AS r"
    df = session.sql(
        f"SELECT {chosen} FROM {{l}} l {how} JOIN {{r}} r ON l.k = r.k AND {NEAR}", **sides
    )
    told = r"come in the order ts, .*on it \(the one that it has is on arrived\)"
    with pytest.raises(AnalysisException, match=told):
        start(df, tmp_path)


@pytest.mark.parametrize("condition", MATCHING_NULL)
def test_of_an_inner_join_they_are_refused_if_asked_for(
    session: SparkSession, feeds: Feeds, tmp_path: Path, condition: str
) -> None:
    with (
        settings(session, {"spark.plait.stream.unbounded-state": "error"}),
        pytest.raises(AnalysisException, match=r"rows for ever.*\[MATCHES_NULL\]"),
    ):
        start(join(session, feeds, "INNER", condition), tmp_path)


@pytest.mark.parametrize(
    ("condition", "how"), [*zip(MATCHING_NULL, ["FULL", "LEFT ANTI", "LEFT"], strict=True)]
)
def test_where_all_rows_have_a_time_they_leave_and_come_out(
    session: SparkSession, feeds: Feeds, tmp_path: Path, condition: str, how: str
) -> None:
    script = Script(12, how)
    feeds.add(*script.batches)
    feeds.end()
    chosen = "l.id AS l" if how == "LEFT ANTI" else "l.id AS l, r.id AS r"
    df = session.sql(
        f"""SELECT {chosen} FROM (SELECT * FROM {{l}} WHERE ts IS NOT NULL) l
        {how} JOIN (SELECT * FROM {{r}} WHERE ts IS NOT NULL) r ON l.k = r.k AND {condition}""",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )
    with settings(session, {"spark.plait.stream.unbounded-state": "error"}):
        progress = run(df, tmp_path)
    timed = [
        ([r for r in left if r[2]], [r for r in right if r[2]]) for left, right in script.batches
    ]
    on = "r.s = l.s" if "<=>" in condition else "r.s BETWEEN l.s - 5 AND l.s + 8"
    assert output(df, tmp_path) == joined(timed, how, f"l.k = r.k AND {on}")
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 2


def test_what_on_says_of_the_other_side_serves_as_well(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "LEFT")
    feeds.add(*script.batches)
    feeds.end()
    df = join(session, feeds, "LEFT", f"{MATCHING_NULL[2]} AND r.ts IS NOT NULL")
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(
        script.batches, "LEFT", "l.k = r.k AND r.s BETWEEN l.s - 5 AND l.s + 8"
    )


def test_they_wait_until_the_other_side_is_over_if_that_is_to_be(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "LEFT")
    feeds.add(*script.batches)
    df = join(session, feeds, "LEFT", NEAR_OR_NULL, "/*+ BOUNDED(r) */")
    run(df, tmp_path)
    feeds.left.add([(-1, -1, 100_000, 0)])
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(
        script.batches, "LEFT", "l.k = r.k AND (r.s BETWEEN l.s - 5 AND l.s + 8 OR r.s IS NULL)"
    )
