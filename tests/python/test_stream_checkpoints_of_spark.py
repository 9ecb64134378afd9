# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: checkpoints that Spark's own joins of streams have made go on with them.

Oracle: DuckDB's join of all rows.
"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from tests.python.queries import settings
from tests.python.streams import (
    NEAR,
    OFF,
    OURS,
    SPARKS,
    Batch,
    Feed,
    Feeds,
    Progress,
    Script,
    in_spark,
    joined,
    logged,
    output,
    quick_session,
    run,
    start,
    timed,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

Conf = dict[str, str]

session = pytest.fixture(scope="module", name="session")(quick_session)


def test_a_checkpoint_of_sparks_without_metadata_is_known_by_its_stores(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = timed(Script(12, "INNER"))
    feeds.add(*script.batches[:3])
    with settings(session, OFF):
        run(feeds.join(session, "INNER", NEAR), tmp_path)
    # As before Spark 4.0.
    shutil.rmtree(tmp_path / "checkpoint/state/0/_metadata")
    feeds.add(*script.batches[3:])
    feeds.end()
    df = feeds.join(session, "INNER", NEAR)
    progress = run(df, tmp_path)
    assert {p["stateOperators"][0]["operatorName"] for p in progress} == {SPARKS}
    assert output(df, tmp_path) == joined(script.batches, "INNER", NEAR)


def two_joins(session: SparkSession, feeds: dict[str, Feed], hint: str) -> DataFrame:
    sql = f"""SELECT {hint} l.id AS l, r.id AS r, c.id AS c FROM {{l}} l
        JOIN {{r}} r ON {in_spark(NEAR)} JOIN {{c}} c ON {in_spark(NEAR.replace("r.", "c."))}"""
    return session.sql(sql, **{name: feed.df(session) for name, feed in feeds.items()})


def three(folder: Path) -> tuple[dict[str, Feed], list[Batch]]:
    """Feeds, and rows of which the first of each batch finds partners in the second batch."""
    batches: list[Batch] = [
        ([(1, 1, 1000, 0)], [(11, 1, 1001, 0)]),
        ([(2, 1, 1005, 0)], [(12, 1, 1004, 0)]),
    ]
    return {name: Feed(folder / name) for name in "lrc"}, batches


def fill(feeds: dict[str, Feed], batch: Batch) -> None:
    for name, rows in zip("lrc", (*batch, batch[1]), strict=True):
        feeds[name].add(rows)


def names(progress: Progress) -> set[tuple[str, ...]]:
    return {tuple(op["operatorName"] for op in p["stateOperators"]) for p in progress}


NEVER = {"spark.plait.join.strategy": "never"}
NO_HINT, HINT = ("/*+ NO_SYMMETRIC_HASH(l, r) */", "/*+ SYMMETRIC_HASH(l, r) */")


@pytest.mark.parametrize(
    ("hint", "confs"),
    [(NO_HINT, ({}, NEVER)), (HINT, (NEVER, {}))],
    ids=["one of them left to Spark", "one of them taken"],
)
@pytest.mark.parametrize("says", [True, False], ids=["and the checkpoint", "alone"])
def test_where_hints_say_which_joins_are_sparks_each_stays_what_it_is(
    session: SparkSession, tmp_path: Path, hint: str, confs: tuple[Conf, Conf], says: bool
) -> None:
    feeds, batches = three(tmp_path)
    for batch, conf in zip(batches, confs, strict=True):
        fill(feeds, batch)
        # As before it said what was set.
        for set_then in tmp_path.glob("checkpoint/state/*/_plait/strategy"):
            if not says:
                set_then.unlink()
        with settings(session, conf):
            df = two_joins(session, feeds, hint)
            progress = run(df, tmp_path)
        both = {OURS, SPARKS}
        assert [set(of_batch) for of_batch in names(progress)] == [both]
    # 1, 2 and 11, 12 are all near each other.
    pairs = product((1, 2), (11, 12), (11, 12))
    assert output(df, tmp_path) == Counter(pairs)


def test_a_hint_that_comes_too_late_for_a_checkpoint_is_told_of(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = timed(Script(12, "LEFT"))
    feeds.add(*script.batches[:3])
    run(feeds.join(session, "LEFT", NEAR), tmp_path)
    feeds.add(*script.batches[3:])
    feeds.end()
    sql = (
        f"SELECT {NO_HINT} l.id AS l, r.id AS r FROM {{l}} l LEFT JOIN {{r}} r ON {in_spark(NEAR)}"
    )
    with logged(session) as log:
        df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
        progress = run(df, tmp_path)
    assert names(progress) == {(OURS,)}
    assert output(df, tmp_path) == joined(script.batches, "LEFT", NEAR)
    assert "in spite of the hint NO_SYMMETRIC_HASH" in log()
    assert "is not part of a join relation" not in log()


def test_an_inner_join_above_an_outer_one_is_of_the_same_kind_when_it_is_started_again(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds, batches = three(tmp_path)
    feeds["d"] = Feed(tmp_path / "d")
    near_c, near_d = (in_spark(NEAR.replace("r.", f"{of}.")) for of in "cd")
    sql = f"""SELECT {NO_HINT} l.id AS l, r.id AS r, c.id AS c, d.id AS d FROM {{l}} l
        JOIN {{r}} r ON {in_spark(NEAR)} LEFT JOIN {{c}} c ON {near_c} JOIN {{d}} d ON {near_d}"""
    for batch, conf in zip(batches, ({}, NEVER), strict=True):
        fill(feeds, batch)
        feeds["d"].add(batch[1])
        with settings(session, conf):
            df = session.sql(sql, **{name: feed.df(session) for name, feed in feeds.items()})
            progress = run(df, tmp_path)
        for of_batch in names(progress):
            assert Counter(of_batch) == {OURS: 2, SPARKS: 1}
    assert output(df, tmp_path) == Counter(product((1, 2), *[(11, 12)] * 3))


@pytest.mark.parametrize(
    ("conf", "hint", "told"),
    [
        (OFF, NO_HINT, r"hints are not seen while spark\.plait\.enabled is false. Set it to true"),
        ({}, "", "give them the hints that they had"),
    ],
    ids=["Plait is off", "the hint was taken away"],
)
def test_a_checkpoint_of_both_joins_is_refused_where_no_hint_says_which_is_which(
    session: SparkSession, tmp_path: Path, conf: Conf, hint: str, told: str
) -> None:
    feeds, batches = three(tmp_path)
    fill(feeds, batches[0])
    run(two_joins(session, feeds, NO_HINT), tmp_path)
    with settings(session, conf), pytest.raises(AnalysisException, match=told) as refused:
        run(two_joins(session, feeds, hint), tmp_path)
    assert "of both Spark's own and Plait's" in str(refused.value)


def test_beside_an_as_of_join_the_others_of_a_checkpoint_of_both_stay_sparks(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds, batches = three(tmp_path)
    sql = f"""SELECT l.id AS l, r.id AS r, c.id AS c FROM {{l}} l JOIN {{r}} r ON {in_spark(NEAR)}
        LEFT ASOF JOIN {{c}} c MATCH_CONDITION (l.ts >= c.ts) ON l.k = c.k"""
    for batch, conf in zip(batches, (NEVER, {}), strict=True):
        fill(feeds, batch)
        with settings(session, conf):
            df = session.sql(sql, **{name: feed.df(session) for name, feed in feeds.items()})
            progress = run(df, tmp_path)
        assert [set(of_batch) for of_batch in names(progress)] == [{OURS, SPARKS}]


@pytest.mark.parametrize(
    ("hint", "code"), [("", "CHECKPOINT_OF_SPARK"), (NO_HINT, "HINTED_OTHERWISE")]
)
def test_a_micro_batch_of_sparks_says_whether_the_checkpoint_or_a_hint_is_why(
    session: SparkSession, feeds: Feeds, tmp_path: Path, hint: str, code: str
) -> None:
    feeds.add(([(1, 1, 1000, 0)], [(11, 1, 1001, 0)]))
    with settings(session, OFF):
        run(feeds.join(session, "INNER", NEAR), tmp_path)
    feeds.add(([(2, 1, 1000, 0)], [(12, 1, 1001, 0)]))
    sql = f"SELECT {hint} l.id AS l, r.id AS r FROM {{l}} l JOIN {{r}} r ON {in_spark(NEAR)}"
    query = start(session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session)), tmp_path)
    try:
        query.awaitTermination()
        batch = query._jsq.streamingQuery().lastExecution()
        told = session._jvm.plait.spark.PlaitReport.explain(batch).toString()
    finally:
        query.stop()
    assert told.startswith("StreamingSymmetricHashJoin")
    assert told.endswith(f"[{code}]")
    assert ("a new checkpoint would be one of Plait's" in told) == (not hint)
