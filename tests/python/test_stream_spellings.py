# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: ways to write a join of streams. Oracle: the same join of all rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.functions import expr
from tests.python.streams import (
    DELAY,
    NEAR,
    OURS,
    SPARKS,
    Feeds,
    Progress,
    in_spark,
    joined,
    output,
    quick_session,
    run,
)
from tests.python.watermarked import Streams

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
session = pytest.fixture(scope="module", name="session")(quick_session)

ROWS = {
    "l": [(1, 1, 1000, 0), (2, 2, 1001, 0)],
    "r": [(11, 1, 1000, 0), (12, 3, 1002, 0)],
}
BY_NAME = {
    "inner": [(1, 11)],
    "left": [(1, 11), (2, None)],
    "right": [(1, 11), (None, 12)],
    "full": [(1, 11), (2, None), (None, 12)],
    "left_semi": [(1,)],
    "left_anti": [(2,)],
}


@pytest.mark.parametrize("how", BY_NAME)
def test_streams_are_joined_by_the_names_of_columns(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    feeds = Feeds(tmp_path)
    feeds.add((ROWS["l"], ROWS["r"]))
    feeds.end()
    left = feeds.left.df(session).selectExpr("id AS l", "k", "ts")
    right = feeds.right.df(session).selectExpr("id AS r", "k", "ts")
    df = left.join(right, ["k", "ts"], how)
    df = df.select([name for name in ("l", "r") if name in df.columns])
    run(df, tmp_path)
    assert output(df, tmp_path) == Counter(BY_NAME[how])


class OursOnly(Streams):
    """Of what stock Spark has no join for."""

    oracle: ClassVar = {}


WITHIN = "r.ts + INTERVAL 1 SECOND BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"
ON = f"ON l.k = r.k AND {WITHIN}"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT l.id, r.id AS r FROM {{l}} l LEFT JOIN {{r}} r {ON}",
        f"SELECT l.id, r.id AS r FROM {{l}} l FULL JOIN {{r}} r {ON}",
        f"SELECT l.id FROM {{l}} l LEFT SEMI JOIN {{r}} r {ON}",
        f"SELECT l.id FROM {{l}} l LEFT ANTI JOIN {{r}} r {ON}",
        "SELECT l.id FROM {l} l WHERE NOT EXISTS "
        f"(SELECT 1 FROM {{r}} r WHERE l.k = r.k AND {WITHIN})",
        "SELECT l.id, r.id AS r FROM {l} l LEFT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) "
        "ON l.k = r.k AND r.k + 1 BETWEEN -5 AND 5",
    ],
)
def test_a_value_that_between_compares_twice_may_be_an_expression(
    session: SparkSession, tmp_path: Path, query: str
) -> None:
    kind = OursOnly if "ASOF" in query else Streams
    streams = kind(session, tmp_path, query, l=DELAY, r=DELAY)
    streams.add(**ROWS)
    streams.end()
    streams.run()
    streams.holds()


SELF = [(1, 1, 1000, 0), (2, 1, 1004, 0), (3, 2, 1001, 0), (4, None, 1001, 0), (5, 1, 1030, 0)]
AFTER = "l.k = r.k AND r.s BETWEEN l.s + 1 AND l.s + 8"
TYPES_OF_DATASETS = {
    "inner": "INNER",
    "left": "LEFT",
    "right": "RIGHT",
    "full": "FULL",
    "left_semi": "LEFT SEMI",
    "left_anti": "LEFT ANTI",
}


@pytest.mark.parametrize(("how", "words"), TYPES_OF_DATASETS.items())
def test_a_stream_is_joined_with_itself(
    session: SparkSession, tmp_path: Path, how: str, words: str
) -> None:
    feeds = Feeds(tmp_path)
    feeds.left.add(SELF)
    feeds.left.add([(-1, -1, 100_000, 0)])
    one = feeds.left.df(session)
    df = one.alias("l").join(one.alias("r"), expr(in_spark(AFTER)), how)
    if words not in ("LEFT SEMI", "LEFT ANTI"):
        df = df.selectExpr("l.id AS l", "r.id AS r")
    run(df, tmp_path)
    found = Counter(
        {row if len(row) == 2 else row[:1]: n for row, n in output(df, tmp_path).items()}
    )
    assert found == joined([(SELF, SELF)], words, AFTER)
    assert len(found) > 0


def test_the_sides_of_a_self_join_are_found_by_the_frames_that_name_them(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds = Feeds(tmp_path)
    feeds.left.add([(1, 1, 1000, 0), (2, None, 1000, 0)])
    feeds.left.add([(-1, -1, 100_000, 0)])
    one = feeds.left.df(session)
    df = one.join(one, (one.k == one.k) & (one.ts == one.ts), "left_semi")
    run(df, tmp_path)
    assert {row[0] for row in output(df, tmp_path)} == {1}


def test_what_stands_above_a_join_of_frames_sees_its_event_times(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds = Feeds(tmp_path)
    feeds.add(([(1, 1, 1000, 0), (2, 1, 1001, 0)], [(11, 1, 1002, 0)]))
    feeds.add(([(-1, -1, 100_000, 0)], [(-1, -1, 100_000, 0)]))
    feeds.add(([(-1, -1, 200_000, 0)], [(-1, -1, 200_000, 0)]))
    left, right = feeds.left.df(session).alias("l"), feeds.right.df(session).alias("r")
    near = left.join(right, expr(in_spark(NEAR)), "left")
    df = near.groupBy(expr("window(l.ts, '1 minute')")).count().selectExpr("count")
    run(df, tmp_path)
    assert output(df, tmp_path)[(2,)] == 1


def names(progress: Progress) -> set[str]:
    return {o["operatorName"] for p in progress for o in p["stateOperators"]}


@pytest.mark.parametrize("how", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI"])
@pytest.mark.parametrize("hinted", ["sql", "frame"])
def test_a_hint_leaves_a_join_of_streams_to_spark(
    session: SparkSession, tmp_path: Path, how: str, hinted: str
) -> None:
    feeds = Feeds(tmp_path)
    batch = ([(1, 1, 1000, 0), (2, 2, 1000, 0)], [(11, 1, 1002, 0), (12, 3, 1002, 0)])
    feeds.add(batch)
    feeds.end()
    left = feeds.left.df(session)
    if hinted == "frame":
        left = left.hint("NO_SYMMETRIC_HASH")
    hint = "/*+ NO_SYMMETRIC_HASH(l, r) */ " if hinted == "sql" else ""
    columns = "l.id AS l" if how == "LEFT SEMI" else "l.id AS l, r.id AS r"
    sql = f"SELECT {hint}{columns} FROM {{l}} l {how} JOIN {{r}} r ON {in_spark(NEAR)}"
    df = session.sql(sql, l=left, r=feeds.right.df(session))
    assert names(run(df, tmp_path)) == {SPARKS}
    assert output(df, tmp_path) == joined([batch], how, NEAR)


def test_a_join_that_a_hint_leaves_to_spark_and_it_has_not_is_refused(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds = Feeds(tmp_path)
    sql = f"""SELECT /*+ NO_SYMMETRIC_HASH(r) */ l.id FROM {{l}} l LEFT ANTI JOIN {{r}} r
        ON {in_spark(NEAR)}"""
    df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
    told = "Spark runs no LEFT ANTI join of two streams; Plait does, but .* NO_SYMMETRIC_HASH. Take"
    with pytest.raises(AnalysisException, match=told):
        run(df, tmp_path)


def test_a_hint_does_not_change_the_join_of_a_checkpoint(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds = Feeds(tmp_path)
    batches = [
        ([(1, 1, 1000, 0), (2, 2, 1000, 0)], [(11, 1, 1002, 0)]),
        ([(3, 1, 1001, 0)], [(12, 2, 1003, 0)]),
    ]
    sql = f"""SELECT {{hint}} l.id AS l, r.id AS r FROM {{{{l}}}} l LEFT JOIN {{{{r}}}} r
        ON {in_spark(NEAR)}"""
    for hint, batch in zip(["", "/*+ NO_SYMMETRIC_HASH(l, r) */"], batches, strict=True):
        feeds.add(batch)
        if hint:
            feeds.end()
        sides = {"l": feeds.left.df(session), "r": feeds.right.df(session)}
        df = session.sql(sql.format(hint=hint), **sides)
        assert names(run(df, tmp_path)) == {OURS}
    assert output(df, tmp_path) == joined(batches, "LEFT", NEAR)


@pytest.mark.parametrize("how", ["left", "left_semi", "left_anti"])
def test_explain_shows_the_join_of_frames_that_a_start_would_run(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    feeds = Feeds(tmp_path)
    one = feeds.left.df(session)
    df = one.alias("l").join(one.alias("r"), expr(in_spark(AFTER)), how)
    sides = list(plait.explain(df))
    assert [side.why_not for side in sides] == [None, None]
    assert all(side.node.startswith("StreamSymmetricHashJoin") for side in sides)
