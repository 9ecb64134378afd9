# SPDX-License-Identifier: Apache-2.0
"""Examples: every hint as ``df.hint(...)`` and in SQL, in both kinds of session."""

from __future__ import annotations

from collections import Counter
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.frames import Rows, at, frame, rows

import plait

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PICKED = "SELECT o.id, r.rate FROM {o} o LEFT JOIN {r} FOR SYSTEM_TIME AS OF o.t AS r ON o.c = r.c"
NEAR = "SELECT l.id, r.id AS rid FROM {l} l JOIN {r} r ON l.c = r.c AND r.t BETWEEN l.t - 5 AND l.t"


@pytest.fixture
def orders(session: SparkSession) -> DataFrame:
    found = [("EUR", 4, 1), ("EUR", 5, 2), ("EUR", 9, 3), ("USD", 9, 4), (None, 9, 5)]
    return frame(session, found, "c string, t int, id int")


@pytest.fixture
def rates(session: SparkSession) -> DataFrame:
    versions = [
        *[("EUR", 1, 0, 110, "+"), ("EUR", 5, 1, 120, "+"), ("EUR", 5, 0, 130, "+")],
        *[("EUR", 8, 0, 140, "-D"), (None, 1, 0, 99, "+"), ("USD", None, 0, 98, "+")],
    ]
    return frame(session, versions, "c string, since int, seq int, rate int, op string")


def picked(orders: DataFrame, rates: DataFrame) -> dict[int, int | None]:
    df = orders.sparkSession.sql(PICKED, o=orders, r=rates)
    return {row.id: row.rate for row in df.collect()}


NOT = dict.fromkeys((4, 5))


def test_a_dataframe_is_versioned_by_its_hint(orders: DataFrame, rates: DataFrame) -> None:
    of_columns = {1: 110, 2: 130, 3: 140} | NOT
    assert picked(orders, rates.hint("VERSIONED", "since")) == of_columns | {2: 120}
    assert picked(orders, rates.hint("versioned", "since", "rate")) == of_columns
    assert picked(orders, rates.hint("VERSIONED", "since", "seq DESC")) == of_columns


def test_keys_and_deletions_are_said_beside_it(orders: DataFrame, rates: DataFrame) -> None:
    versioned = rates.hint("VERSIONED", "since", "seq").hint("VERSION_KEY", "c")
    hinted = versioned.hint("VERSION_DELETED", "op = '-D'")
    assert picked(orders, hinted) == {1: 110, 2: 120, 3: None} | NOT
    with pytest.raises(Exception, match="ON must compare every column of the version key"):
        picked(orders, versioned.hint("VERSION_KEY", "c", "op"))


def test_an_alias_may_come_first(orders: DataFrame, rates: DataFrame) -> None:
    named = rates.alias("x")
    hinted = named.hint("VERSIONED", "x", "since", "seq").hint("VERSION_DELETED", "x", "op = '-D'")
    assert picked(orders, hinted) == {1: 110, 2: 120, 3: None} | NOT
    called_so = rates.alias("since").hint("VERSIONED", "since")
    assert picked(orders, called_so)[2] == 120, "alone it is the column"


def test_the_hint_outlives_views_filters_and_other_names(
    session: SparkSession, orders: DataFrame, rates: DataFrame
) -> None:
    hinted = rates.hint("VERSIONED", "since", "seq").where("op <> '-D'")
    assert picked(orders, hinted.select("c", "rate", "seq", "since"))[3] == 120
    renamed = hinted.withColumnsRenamed({"since": "valid_from", "seq": "number"})
    assert picked(orders, renamed)[2] == 120
    renamed.createOrReplaceTempView("hinted_rates")
    assert picked(orders, session.table("hinted_rates"))[2] == 120
    assert picked(orders, renamed.cache())[2] == 120
    renamed.unpersist()


def test_a_hint_of_the_query_goes_before_that_of_the_dataframe(
    orders: DataFrame, rates: DataFrame
) -> None:
    sql = PICKED.replace("SELECT", "SELECT /*+ VERSIONED(r, since, seq DESC_) */")
    hinted = rates.hint("VERSIONED", "since", "seq")
    df = orders.sparkSession.sql(sql.replace("seq DESC_", "'seq DESC'"), o=orders, r=hinted)
    assert (2, 130) in rows(df)


def test_a_column_that_is_left_out_cannot_say_what_the_versions_are(
    orders: DataFrame, rates: DataFrame
) -> None:
    hinted = rates.hint("VERSIONED", "since").select("c", "rate")
    with pytest.raises(Exception, match=r"by its column since, which it does not select.*c, rate"):
        picked(orders, hinted)


def test_a_hint_that_a_checkpoint_has_lost_is_missed(spark: SparkSession) -> None:
    orders = frame(spark, [("EUR", at(9), 1)], "c string, t timestamp, id int")
    versions = [("EUR", at(1), 110, "+"), ("EUR", at(8), 140, "-D")]
    rates = frame(spark, versions, "c string, since timestamp, rate int, op string")
    hinted = rates.hint("VERSION_DELETED", "op = '-D'")
    kept = hinted.localCheckpoint()
    with pytest.raises(Exception, match=r"VERSION_DELETED was given to rows below a checkpoint"):
        picked(orders, kept)
    assert picked(orders, kept.hint("VERSION_DELETED", "op = '-D'")) == {1: None}
    assert picked(orders, rates.localCheckpoint()) == {1: 140}, "of these nothing was said"


def test_a_hint_changes_no_row_of_the_dataframe_itself(rates: DataFrame) -> None:
    hinted = rates.alias("r").hint("VERSIONED", "since").hint("VERSION_KEY", "r", "c")
    assert rows(hinted.where("seq = 1")) == rows(rates.where("seq = 1"))
    assert rows(hinted.groupBy("c").count()) == rows(rates.groupBy("c").count())


def near(left: DataFrame, right: DataFrame, query: str = NEAR) -> DataFrame:
    return left.sparkSession.sql(query, l=left, r=right)


@pytest.mark.parametrize(
    "hint",
    [
        ("ORDERED", "t"),
        ("ORDERED", "x", "t"),
        ("ORDERED", "x", "t DESC", 100),
        ("ORDERED", "(t + id)", "100"),
        ("SYMMETRIC_HASH",),
        ("SYMMETRIC_HASH", "x"),
        ("NO_SYMMETRIC_HASH",),
        ("NO_SYMMETRIC_HASH", "x"),
        ("RANGE_JOIN", 10),
        ("range_join", "x", 10),
        ("RANGE_JOIN", "x", 0.5),
    ],
)
def test_a_hint_on_a_dataframe_changes_no_row_of_its_joins(
    orders: DataFrame, hint: tuple[Any, ...]
) -> None:
    expected: Rows = Counter([(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 4)])
    assert rows(near(orders, orders.alias("x").hint(*hint))) == expected


@pytest.mark.parametrize("first", [(), ("x",)])
def test_the_joins_of_a_hinted_dataframe_are_on_the_node_that_it_asks_for(
    orders: DataFrame, first: tuple[str, ...]
) -> None:
    for hint, expected in (("SYMMETRIC_HASH", True), ("NO_SYMMETRIC_HASH", False)):
        plan = text_of(near(orders, orders.alias("x").hint(hint, *first)))
        assert ("SymmetricHashJoin" in plan) == expected


def test_explain_says_that_the_bin_of_a_range_join_is_not_needed(orders: DataFrame) -> None:
    said = "the bin of RANGE_JOIN is not needed"
    hinted = NEAR.replace("SELECT", "SELECT /*+ RANGE_JOIN(r, 10) */")
    for df in (
        near(orders, orders.hint("RANGE_JOIN", 10)),
        near(orders, orders, hinted),
        near(orders, orders, hinted.replace("10)", "10), SYMMETRIC_HASH(l), SYMMETRIC_HASH(l, r)")),
    ):
        assert "SymmetricHashJoin" in text_of(df)
        assert said in text_of(df)
    broadcast = text_of(near(orders, orders, hinted.replace("/*+", "/*+ BROADCAST(r),")))
    assert "CollectedJoin" in broadcast
    assert said in broadcast
    assert said not in text_of(near(orders, orders))


def test_a_range_join_that_is_left_to_spark_says_so_in_its_logical_plan(orders: DataFrame) -> None:
    hinted = NEAR.replace("SELECT", "SELECT /*+ RANGE_JOIN(r, 10), MERGE(r) */")
    plan = text_of(near(orders, orders, hinted))
    assert "SortMergeJoin" in plan
    assert "strategy=merge, the bin of RANGE_JOIN is not needed" in plan


def text_of(df: DataFrame) -> str:
    """Return what EXPLAIN EXTENDED prints."""
    with redirect_stdout(StringIO()) as printed:
        df.explain(extended=True)
    return printed.getvalue()


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        (("VERSIONED", "z", "since"), r"z, which is neither a relation .* x, with the columns c,"),
        (("VERSION_KEY", "z", "c"), r"VERSION_KEY .*names z.* neither a relation"),
        (("VERSION_DELETED", "z = 1"), r"VERSION_DELETED .*names z"),
        (("VERSIONED",), r"It is VERSIONED\(relation, time"),
        (("VERSION_DELETED", "op", "c", "c"), r"VERSION_DELETED\(relation, \(condition\)\)"),
        (("ORDERED", "z", "since"), r"ORDERED names z, but the relations .* are x"),
        (("ORDERED", 5), r"ORDERED takes a relation, an order"),
        (("SYMMETRIC_HASH", "z"), r"SYMMETRIC_HASH names z, but the relations .* are x"),
        (("NO_SYMMETRIC_HASH", "z"), r"NO_SYMMETRIC_HASH names z, but the relations .* are x"),
        (("RANGE_JOIN", "z", 10), r"RANGE_JOIN names z, but the relations .* are x"),
        (("RANGE_JOIN",), r"RANGE_JOIN takes a relation and the size of a bin"),
        (("RANGE_JOIN", "x", "wide"), r"RANGE_JOIN takes a relation and the size of a bin"),
    ],
)
def test_a_wrong_hint_is_told_what_there_is(
    rates: DataFrame, hint: tuple[Any, ...], said: str
) -> None:
    with pytest.raises(Exception, match=said):
        rates.alias("x").hint(*hint).collect()


def test_in_sql_the_relation_of_several_must_be_named(
    session: SparkSession, orders: DataFrame, rates: DataFrame
) -> None:
    for hint in ("VERSIONED(since)", "VERSIONED(z, since)", "VERSION_KEY(c)"):
        sql = PICKED.replace("SELECT", f"SELECT /*+ {hint} */")
        with pytest.raises(Exception, match=r"must name the relation .*one of o, r"):
            session.sql(sql, o=orders, r=rates)


@pytest.mark.parametrize(
    ("hint", "said"),
    [
        ("ORDERED(r)", r"names the relation r, and not the order .*: ORDERED\(r, 'column'\)\."),
        ("ORDERED(r, 5)", r"names the relation r, .*: ORDERED\(r, 'column', 5\)\."),
        ("ORDERED(since)", r"must name the relation .*one of o, r: ORDERED\(o, since\)\."),
    ],
)
def test_in_sql_an_order_needs_its_relation_and_a_relation_its_order(
    session: SparkSession, orders: DataFrame, rates: DataFrame, hint: str, said: str
) -> None:
    with pytest.raises(Exception, match=said):
        session.sql(PICKED.replace("SELECT", f"SELECT /*+ {hint} */"), o=orders, r=rates)


def test_temporal_join_takes_the_deletions_that_its_right_side_is_hinted_with(
    orders: DataFrame, rates: DataFrame
) -> None:
    hinted = rates.hint("VERSION_DELETED", "op = '-D'")
    df = plait.temporal_join(orders, hinted, "c", left_time="t", version_time="since", ties="seq")
    assert rows(df.select("id", "rate")) == Counter(
        [(1, 110), (2, 120), (3, None), (4, None), (5, None)]
    )
