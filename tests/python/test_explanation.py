# SPDX-License-Identifier: Apache-2.0
"""Examples: what `plait.explain` returns, as rows, as text and as a table of a notebook."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING

import pytest
from tests.python.queries import settings

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERVAL = "l.k = r.k AND r.t BETWEEN l.t AND l.t + 3"
CASES = {
    "both sides pruned": (f"l JOIN r ON {INTERVAL}", [None, None]),
    "an endless reach": ("l JOIN r ON l.k = r.k AND l.t < r.t", ["ENDLESS_REACH", None]),
    "neither side pruned, on demand": (
        "/*+ SYMMETRIC_HASH(l) */ l JOIN r ON l.k = r.k",
        ["NO_COMPARISON", "NO_COMPARISON"],
    ),
    "a solved reach": ("l JOIN r ON l.k = r.k AND pow(l.t - r.t, 2) < 9", [None, None]),
    "a reach by cases": (
        "l JOIN r ON l.k = r.k AND (abs(l.t - r.t) < 3 OR l.t = r.t + 9)",
        [None, None],
    ),
    "a collected side": (
        "/*+ BROADCAST(r) */ l JOIN r ON l.t BETWEEN r.t AND r.t + 3",
        [None, "COLLECTED"],
    ),
    "a join that is Spark's": ("l JOIN r ON l.k = r.k", ["NO_COMPARISON", "NO_COMPARISON"]),
    "a hint for Spark's join": (
        f"/*+ MERGE(r) */ l JOIN r ON {INTERVAL}",
        ["HINTED_OTHERWISE", "HINTED_OTHERWISE"],
    ),
}


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession) -> None:
    for name in "lr":
        spark.range(40).selectExpr("id", "id % 3 AS k", "id AS t").createOrReplaceTempView(name)


def explained(spark: SparkSession, join: str) -> plait.Explanation:
    hint, relations = parts(join)
    return plait.explain(spark.sql(f"SELECT {hint} * FROM {relations}"))


def parts(join: str) -> list[str]:
    """Return the hint, perhaps none, and what is joined."""
    return re.findall(r"^(/\*.*\*/)? ?(.*)$", join)[0]


@pytest.mark.parametrize("case", CASES)
def test_each_side_of_a_join_has_what_prunes_it_or_a_code_that_says_why_nothing_does(
    spark: SparkSession, case: str
) -> None:
    join, codes = CASES[case]
    found = explained(spark, join)
    assert [side.side for side in found] == ["left", "right"]
    assert (found[0], found[-1], found[:]) == (*found, found.sides)
    assert [side.why_not for side in found] == codes
    for side in found:
        assert str(found).startswith(side.join)
        assert side.join.startswith(side.node)
        assert (side.pruned_by is None) == (side.why_not is not None) == (side.sentence is not None)
        told = side.pruned_by or f"{side.sentence} [{side.why_not}]"
        assert told in str(found), "the text and the rows must say the same"


@pytest.mark.parametrize("case", CASES)
def test_a_plan_goes_to_the_tasks_with_its_reasons(spark: SparkSession, case: str) -> None:
    join, _ = CASES[case]
    hint, relations = parts(join)
    keys = {"spark.sql.codegen.wholeStage": False, "spark.sql.adaptive.enabled": False}
    with settings(spark, keys):
        query = f"SELECT {hint} l.k, count(*) FROM {relations} GROUP BY l.k"
        assert sum(count for _, count in spark.sql(query).collect()) > 0


def test_a_code_comes_with_what_it_is_about(spark: SparkSession) -> None:
    left, right = explained(spark, CASES["an endless reach"][0])
    assert (left.node, left.arguments[0]) == ("SymmetricHashJoin", "left")
    assert re.fullmatch(r"t#\d+L?", left.arguments[1])
    assert right.pruned_by is not None
    assert re.fullmatch(r"\(t#\d+L? < t#\d+L?\)", right.pruned_by)
    assert explained(spark, CASES["a hint for Spark's join"][0]).sides[0].arguments == ("merge",)
    assert explained(spark, CASES["a collected side"][0]).sides[1].arguments == ("right",)


def test_a_join_that_would_prune_neither_side_names_the_reason_of_each(
    spark: SparkSession,
) -> None:
    left, right = explained(spark, "l JOIN r ON l.k = r.k AND (l.t < r.t OR r.t < l.t - 1)")
    assert left.why_not == "NOTHING_PRUNED"
    assert left.arguments == right.arguments == ("ENDLESS_REACH", "ENDLESS_REACH")


def test_an_as_of_join_says_what_each_side_is_ordered_by(spark: SparkSession) -> None:
    found = explained(spark, "l ASOF JOIN r MATCH_CONDITION (l.t >= r.t) ON l.k = r.k")
    assert {side.node for side in found} == {"AsOfJoin"}
    assert {side.pruned_by for side in found} == {"l.t >= r.t"}
    assert "left  ordered by l.t ASC" in str(found)
    assert "the best row of a key is kept" in str(found)


def test_a_query_of_three_tables_has_the_rows_of_both_joins(spark: SparkSession) -> None:
    found = explained(spark, f"l JOIN r ON {INTERVAL} JOIN r r2 ON l.k = r2.k")
    assert len(found) == 4
    assert {side.node for side in found} == {"SymmetricHashJoin", "SortMergeJoin"}


@pytest.mark.parametrize(
    ("more", "why"), [("", "NO_COMPARISON"), ("AND l.t < r.t", "ONE_SIDED_REACH")]
)
def test_what_no_broadcast_would_change_is_said_before_it(
    spark: SparkSession, more: str, why: str
) -> None:
    keys = {"spark.sql.autoBroadcastJoinThreshold": "10MB", "spark.sql.adaptive.enabled": True}
    with settings(spark, keys):
        df = spark.sql(f"SELECT * FROM l JOIN r ON l.k = r.k {more}")
        assert {side.why_not for side in plait.explain(df)} == {why}


def test_once_the_query_has_run_the_rows_are_those_of_the_plan_that_ran(
    spark: SparkSession,
) -> None:
    keys = {"spark.sql.autoBroadcastJoinThreshold": "10MB", "spark.sql.adaptive.enabled": True}
    with settings(spark, keys):
        df = spark.sql("SELECT * FROM l JOIN r ON l.k = r.k AND l.t BETWEEN r.t AND r.t + 3")
        assert {side.why_not for side in plait.explain(df)} == {"BROADCAST_FIRST"}
        df.collect()
        assert "BROADCAST_FIRST" not in {side.why_not for side in plait.explain(df)}


def test_a_notebook_shows_a_table_without_markup_of_the_query(spark: SparkSession) -> None:
    spark.sql("SELECT id, CAST(id AS STRING) AS `<b onclick=1>` FROM range(9)").createTempView("h")
    try:
        df = spark.sql(
            "SELECT * FROM h JOIN h h2 ON h.id % 2 = h2.id % 2 "
            "AND h.`<b onclick=1>` < h2.`<b onclick=1>`"
        )
        html = plait.explain(df)._repr_html_()
    finally:
        spark.catalog.dropTempView("h")
    assert set(re.findall(r"<(\w+)", html)) == {"table", "tr", "th", "td"}
    assert "&lt;b onclick=1&gt;" in html
    assert html.count("<tr>") == 3


def test_an_explanation_cannot_be_changed(spark: SparkSession) -> None:
    found = explained(spark, CASES["both sides pruned"][0])
    with pytest.raises(FrozenInstanceError):
        found.text = ""  # type: ignore[misc]
    assert len(found) == 2
    assert found == plait.Explanation(found.text, found.sides)


def test_a_query_without_a_join_says_so_and_has_no_rows(spark: SparkSession) -> None:
    for graph in (False, True):
        found = plait.explain(spark.range(3), graph=graph)
        assert str(found) == "There is no join in it."
        assert found._repr_html_() == "<p>There is no join in it.</p>"
        assert (list(found), found.text) == ([], "")
        assert not found


def plan_of(spark: SparkSession, statement: str) -> str:
    return "\n".join(row[0] for row in spark.sql(statement).collect())


@pytest.mark.parametrize("mode", ["", "EXTENDED", "FORMATTED", "COST"])
def test_explain_says_below_the_plan_why_a_join_is_left_to_spark(
    spark: SparkSession, mode: str
) -> None:
    found = plan_of(spark, f"EXPLAIN {mode} SELECT * FROM l JOIN r ON l.k = r.k")
    plan, left = found.split("== Left to Spark ==\n")
    assert "Physical Plan" in plan
    # The columns have the numbers that they have in the plan.
    keys = re.findall(r"on (k#\d+L) = (k#\d+L)\n  left to Spark: .* \[NO_COMPARISON\]\n", left)
    assert len(keys) == 1
    assert all(key in plan for key in keys[0])


def test_explain_of_joins_that_are_all_ours_or_of_none_is_as_spark_has_it(
    spark: SparkSession,
) -> None:
    for statement in (
        f"EXPLAIN SELECT /*+ SYMMETRIC_HASH(l) */ * FROM l JOIN r ON {INTERVAL}",
        "EXPLAIN SELECT * FROM l",
        "EXPLAIN CODEGEN SELECT * FROM l JOIN r ON l.k = r.k",
        "EXPLAIN SELECT nothing FROM l",
    ):
        with settings(spark, {"spark.plait.enabled": True}):
            assert "Left to Spark" not in plan_of(spark, statement)
    with settings(spark, {"spark.plait.enabled": False}):
        theirs = plan_of(spark, "EXPLAIN SELECT * FROM l JOIN r ON l.k = r.k")
        error = plan_of(spark, "EXPLAIN SELECT nothing FROM l")
    assert "Left to Spark" not in theirs
    numbers = r"#\d+|line \d+|plan_id=\d+"
    mine = plan_of(spark, "EXPLAIN SELECT nothing FROM l")
    assert re.sub(numbers, "", mine) == re.sub(numbers, "", error)


STREAMS = {
    "both sides pruned": ("w JOIN w x ON w.k = x.k AND x.t BETWEEN w.t AND w.t + 3S", [None, None]),
    "no watermark at all": (
        "s LEFT JOIN s x ON s.k = x.k AND x.t BETWEEN s.t AND s.t + 3S",
        ["NO_FRONTIER", "NO_FRONTIER"],
    ),
    "a watermark of one side": (
        "w JOIN s ON w.k = s.k AND s.t BETWEEN w.t AND w.t + 3S",
        ["NO_FRONTIER", None],
    ),
    "one end is open": ("w JOIN w x ON w.k = x.k AND x.t > w.t", ["ENDLESS_REACH", None]),
    "an as-of join": ("w ASOF JOIN w x MATCH_CONDITION (w.t >= x.t) ON w.k = x.k", [None, None]),
    "a hint": (
        "/*+ NO_SYMMETRIC_HASH(w, x) */ w JOIN w x ON w.k = x.k",
        ["HINTED_OTHERWISE", "HINTED_OTHERWISE"],
    ),
    "a table": ("w JOIN l ON w.k = l.k", ["STREAMING_INPUT", "STREAMING_INPUT"]),
}


@pytest.mark.parametrize("case", STREAMS)
def test_a_query_over_streams_is_explained_before_it_starts(spark: SparkSession, case: str) -> None:
    rate = spark.readStream.format("rate").load().selectExpr("value AS k", "timestamp AS t")
    rate.createOrReplaceTempView("s")
    rate.withWatermark("t", "10 seconds").createOrReplaceTempView("w")
    relations, codes = STREAMS[case]
    hint, joined = parts(relations.replace("3S", "INTERVAL 3 SECONDS"))
    query = f"SELECT {hint} * FROM {joined}"
    found = plait.explain(spark.sql(query))
    assert [side.why_not for side in found] == codes
    if "NO_FRONTIER" in codes:
        # What is asked for is a watermark on a time, not on the key.
        assert all(side.arguments[1].startswith("t#") for side in found if side.why_not)
    is_left = not next(iter(found)).node.startswith(("StreamSymmetric", "StreamAsOf"))
    assert is_left == ("Left to Spark" in plan_of(spark, f"EXPLAIN {query}"))


REMEDIES = {
    "a number": ("s JOIN s x ON s.k = x.k", "compare times of both sides that have watermarks"),
    "an instant": ("w JOIN s ON s.t BETWEEN w.t AND w.t + 3S", "give the right side a watermark"),
    "windows": (
        "(SELECT k, window_end FROM TUMBLE(TABLE w, DESCRIPTOR(t), 3S)) a "
        "JOIN (SELECT k, window_end FROM TUMBLE(TABLE s, DESCRIPTOR(t), 3S)) b "
        "ON a.k = b.k AND a.window_end = b.window_end",
        "give the table of the right side a watermark on the time that it follows from",
    ),
}


@pytest.mark.parametrize("case", REMEDIES)
def test_what_is_asked_for_where_no_frontier_is_known_can_be_given(
    spark: SparkSession, case: str
) -> None:
    rate = spark.readStream.format("rate").load().selectExpr("value AS k", "timestamp AS t")
    rate.createOrReplaceTempView("s")
    rate.withWatermark("t", "10 seconds").createOrReplaceTempView("w")
    relations, remedy = REMEDIES[case]
    found = plait.explain(
        spark.sql(f"SELECT * FROM {relations.replace('3S', 'INTERVAL 3 SECONDS')}")
    )
    left = next(side for side in found if side.side == "left")
    assert left.why_not == "NO_FRONTIER"
    assert remedy in str(left.sentence)
