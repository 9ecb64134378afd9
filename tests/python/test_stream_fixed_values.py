# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: what rows of streams wait by is the same in each micro-batch, or is refused.

Oracle: DuckDB's join of all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from tests.python.streams import (
    NEAR,
    Feeds,
    Script,
    in_spark,
    joined,
    output,
    quick_session,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)


# What is another condition in each micro-batch.


@pytest.mark.parametrize(
    "rest",
    [
        "JOIN {r} r ON l.k = r.k AND l.ts - r.ts < current_timestamp() - l.ts",
        "JOIN {r} r ON l.k = r.k AND r.ts < l.ts WHERE l.ts - r.ts < now() - l.ts",
        "LEFT JOIN {r} r ON l.k = r.k AND r.ts = l.ts AND year(l.ts) = year(current_date())",
        "LEFT JOIN {r} r ON l.k = r.k AND r.ts > l.ts WHERE r.ts - l.ts < now() - l.ts",
        "JOIN {r} r ON l.k = r.k AND r.ts < l.ts JOIN (SELECT 1 AS k) d ON d.k = l.k "
        "WHERE l.ts - r.ts < now() - l.ts",
        "ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k AND r.ts < localtimestamp()",
    ],
)
def test_a_condition_that_follows_from_the_time_of_the_micro_batch_is_refused(
    session: SparkSession, feeds: Feeds, rest: str
) -> None:
    sql = f"SELECT l.id AS l, r.id AS r FROM {{l}} l {rest}"
    df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
    with pytest.raises(AnalysisException, match="which is another time in each micro-batch"):
        run(df, feeds.folder)


@pytest.mark.parametrize("of", ["WITH", "VIEW"])
def test_so_is_one_above_a_query_that_has_a_name(
    session: SparkSession, feeds: Feeds, of: str
) -> None:
    joins = f"SELECT l.id, l.ts AS a, r.ts AS b FROM {{l}} l JOIN {{r}} r ON {in_spark(NEAR)}"
    where = "WHERE a - b < now() - a"
    sides = {"l": feeds.left.df(session), "r": feeds.right.df(session)}
    if of == "VIEW":
        session.sql(joins, **sides).createOrReplaceTempView("near")
        df = session.sql(f"SELECT id FROM near {where}")
    else:
        df = session.sql(f"WITH near AS ({joins}) SELECT id FROM near {where}", **sides)
    with pytest.raises(AnalysisException, match="which is another time in each micro-batch"):
        run(df, feeds.folder)


def test_filters_of_one_side_may_follow_from_it_and_the_query_may_be_restarted(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "INNER")
    sql = f"""SELECT t.l, t.r FROM (
            SELECT l.id AS l, r.id AS r, l.ts AS at FROM {{l}} l JOIN {{r}} r ON {in_spark(NEAR)}
        ) t WHERE t.at < now()"""
    for batches in (script.batches[:3], script.batches[3:]):
        feeds.add(*batches)
        df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
        run(df, tmp_path)
    feeds.end()
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(script.batches, "INNER", NEAR)


# What has another answer in each micro-batch.


@pytest.fixture
def table(session: SparkSession, tmp_path: Path) -> str:
    """A table of files, of which the greatest x is 0."""
    session.range(1).toDF("x").write.parquet(str(tmp_path / "t"))
    return f"parquet.`{tmp_path}/t`"


@pytest.mark.parametrize(
    "rest",
    [
        "JOIN {r} r ON l.k = r.k + (SELECT max(x) FROM $) AND r.ts = l.ts",
        "JOIN {r} r ON r.ts = l.ts WHERE l.k + (SELECT max(x) FROM $) = r.k",
        "LEFT JOIN {r} r ON l.k = r.k + (SELECT max(x) FROM $) AND r.ts = l.ts",
        "LEFT JOIN {r} r ON l.k = r.k AND r.ts = l.ts AND l.v >= (SELECT max(x) FROM $)",
        "JOIN {r} r ON l.k = r.k AND r.s BETWEEN l.s AND l.s + (SELECT max(x) FROM $)",
        "LEFT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k + (SELECT max(x) FROM $)",
        "LEFT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k >= (SELECT max(x) FROM $)",
    ],
)
def test_what_a_row_is_stored_by_does_not_follow_from_a_table(
    session: SparkSession, feeds: Feeds, table: str, rest: str
) -> None:
    hints = "/*+ ORDERED(l, s, 50), ORDERED(r, s, 50) */" if "l.s" in rest else ""
    sql = f"SELECT {hints} l.id AS l, r.id AS r FROM {{l}} l {rest.replace('$', table)}"
    df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
    told = r"follows from the subquery .* whose answer may be another in the next micro-batch"
    with pytest.raises(AnalysisException, match=told):
        run(df, feeds.folder)


@pytest.mark.parametrize(
    "rest",
    [
        f"JOIN {{r}} r ON {NEAR} AND l.v >= (SELECT max(x) FROM $)",
        f"LEFT JOIN {{r}} r ON {NEAR} AND r.v >= (SELECT max(x) FROM $)",
        f"JOIN {{r}} r ON {NEAR} WHERE r.v >= (SELECT max(x) FROM $)",
        f"""JOIN (SELECT *, k + (SELECT max(x) FROM $) AS key FROM {{r}}) r
            ON {NEAR.replace("r.k", "r.key")}""",
        f"JOIN {{r}} r ON {NEAR.replace('r.k', 'r.k + (SELECT 0)')}",
    ],
    ids=["a filter in ON", "a filter in ON of LEFT", "WHERE", "a column below", "no table"],
)
def test_elsewhere_a_subquery_may_ask_a_table(
    session: SparkSession, feeds: Feeds, table: str, rest: str
) -> None:
    script = Script(12, "LEFT" if rest.startswith("LEFT") else "INNER")
    feeds.add(*script.batches)
    feeds.end()
    sql = f"SELECT l.id AS l, r.id AS r FROM {{l}} l {in_spark(rest.replace('$', table))}"
    df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
    run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(script.batches, script.how, NEAR)


def test_a_bounded_stream_has_no_source_that_waits_for_more(session: SparkSession) -> None:
    rate = session.readStream.format("rate").option("minOffsetsPerTrigger", 5).load()
    other = session.readStream.format("rate").load()
    sql = """SELECT /*+ BOUNDED(a) */ a.value FROM {a} a JOIN {b} b ON a.value = b.value"""
    with pytest.raises(AnalysisException, match=r"BOUNDED\(a\): .* minOffsetsPerTrigger"):
        session.sql(sql, a=rate, b=other).writeStream.format("noop").start()
