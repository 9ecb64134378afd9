# SPDX-License-Identifier: Apache-2.0
"""Examples: orders that a hint or a table declares, and rows that come against them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql.functions import col, expr
from tests.python.queries import answer, joins_planned, plan_of, rows_of_spark, settings

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

VIOLATION = "spark.plait.order.violation"
NEAR = "l.k = r.k AND l.seq BETWEEN r.seq - 5 AND r.seq + 5"


@pytest.fixture(scope="module", autouse=True)
def rows(spark: SparkSession) -> None:
    """10 20 15 NULL 30: in order but for the 15, which comes 5 behind the 20."""
    spark.sql(
        "SELECT * FROM VALUES (1, 10, 'a'), (1, 20, 'b'), (1, 15, 'c'), (1, NULL, 'd'), "
        "(1, 30, 'e') AS l(k, seq, v)"
    ).coalesce(1).createOrReplaceTempView("l")
    spark.sql(
        "SELECT * FROM VALUES (1, 11), (1, 16), (1, 29) AS r(k, seq)"
    ).createOrReplaceTempView("r")


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    """A table of three files, each in order, and a fourth whose rows are not."""
    spark.sql("CREATE TABLE steps (k INT, seq INT) USING parquet")
    for first, second in ((5, 6), (1, 2), (3, 3), (30, 29)):
        rows = spark.createDataFrame([(1, first), (1, second)], "k int, seq int")
        rows.coalesce(1).write.insertInto("steps")
    yield "steps"
    spark.sql("DROP TABLE steps")


def hinted(order: str) -> str:
    return f"SELECT /*+ ORDERED(l, {order}) */ l.v, r.seq FROM l JOIN r ON {NEAR}"


def error_of(df: DataFrame) -> str:
    with pytest.raises(IllegalArgumentException, match="ORDER_VIOLATED") as caught:
        df.collect()
    return str(caught.value)


@pytest.mark.parametrize(
    "order",
    [
        *("seq, 5", "'seq', '5'", "(k + seq), 5", "seq, 5.5", "v"),
        # A NULL has no place in an order, so wherever it comes it is not against one.
        *("'seq NULLS FIRST', 5", "'seq NULLS LAST', 5"),
        *("'seq DESC NULLS FIRST', 20", "'seq DESC NULLS LAST', 20"),
    ],
)
def test_an_order_that_the_rows_keep_changes_no_row(spark: SparkSession, order: str) -> None:
    df = spark.sql(hinted(order))
    assert answer(df) == rows_of_spark(spark, f"SELECT l.v, r.seq FROM l JOIN r ON {NEAR}")
    assert joins_planned(df) == 1


@pytest.mark.parametrize(
    "hints", ["ORDERED(l, seq, 5), BROADCAST", "BROADCAST, ORDERED(l, seq, 5)"]
)
def test_a_hint_that_names_a_relation_goes_with_one_of_the_whole_query(
    spark: SparkSession, hints: str
) -> None:
    df = spark.sql(f"SELECT /*+ {hints} */ l.v, r.seq FROM l JOIN r ON {NEAR}")
    assert answer(df) == rows_of_spark(spark, f"SELECT l.v, r.seq FROM l JOIN r ON {NEAR}")
    assert "OrderedBy" in plan_of(df)


def test_a_row_against_the_order_is_an_error_that_names_both_values(spark: SparkSession) -> None:
    message = error_of(spark.sql(hinted("seq")))
    assert "The rows of l are declared to come in the order l.seq ASC, but 15 comes after 20" in (
        message
    )
    assert VIOLATION in message
    late = error_of(spark.sql(hinted("seq, 4")))
    assert "15 comes where the slack lets none come before 16 any more" in late
    assert "but 20 comes after 10" in error_of(spark.sql(hinted("'seq DESC'")))


def test_dropped_rows_are_left_out_and_counted(spark: SparkSession) -> None:
    with settings(spark, {VIOLATION: "drop"}):
        df = spark.sql(hinted("seq"))
        assert answer(df) == Counter(["('a', 11)", "('b', 16)", "('e', 29)"])
        assert plait.counters(df)[0].metrics["leftOutOfOrder"] == 1
        assert "rightOutOfOrder" not in plait.counters(df)[0].metrics


def test_kept_rows_are_taken_as_any_other_and_counted(spark: SparkSession) -> None:
    with settings(spark, {VIOLATION: "keep"}):
        df = spark.sql(hinted("seq"))
        assert answer(df) == rows_of_spark(spark, f"SELECT l.v, r.seq FROM l JOIN r ON {NEAR}")
        assert plait.counters(df)[0].metrics["leftOutOfOrder"] == 1


@pytest.mark.parametrize("who", ["SymmetricHashJoin", "CollectedJoin", "Spark"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_either_side_is_checked_whoever_runs_the_join(
    spark: SparkSession, side: str, who: str
) -> None:
    sides = "l JOIN r" if side == "left" else "r JOIN l"
    small = "BROADCAST(r), " if who == "CollectedJoin" else ""
    query = f"SELECT /*+ {small}ORDERED(l, seq) */ l.v, r.seq FROM {sides} ON {NEAR}"
    keys = {"spark.sql.adaptive.enabled": False}
    if who == "Spark":
        keys["spark.plait.join.strategy"] = "never"
    with settings(spark, keys):
        assert "15 comes after 20" in error_of(spark.sql(query))
        with settings(spark, {VIOLATION: "drop"}):
            df = spark.sql(query)
            assert answer(df) == Counter(["('a', 11)", "('b', 16)", "('e', 29)"])
            nodes = {row.node for row in plait.explain(df)}
            assert nodes == {who} or (who == "Spark" and joins_planned(df) == 0)
            if who != "Spark":
                metrics = plait.counters(df)[0].metrics
                assert metrics[f"{side}OutOfOrder"] == 1
                assert len([name for name in metrics if "OutOfOrder" in name]) == 1


def test_rows_that_are_joined_by_bucket_are_checked_too(spark: SparkSession) -> None:
    rows = "SELECT id % 500 AS k, IF(id = 700, 5, id) AS seq FROM range(0, 2000, 1, 1)"
    query = f"SELECT /*+ ORDERED(l, seq) */ l.k FROM ({rows}) l JOIN ({rows}) r ON {NEAR}"
    with settings(spark, {"spark.plait.join.radix": "always"}):
        assert "5 comes after 699" in error_of(spark.sql(query))
        with settings(spark, {VIOLATION: "keep"}):
            df = spark.sql(query)
            assert answer(df) == rows_of_spark(spark, query)
            assert plait.counters(df)[0].metrics["leftOutOfOrder"] == 1


def test_an_interval_is_the_slack_of_times_row_by_row(spark: SparkSession) -> None:
    times = "SELECT k, timestamp_seconds(seq) AS ts, v FROM l"
    query = "SELECT /*+ ORDERED(t, ts, INTERVAL {} SECONDS) */ v FROM ({}) t"
    assert answer(spark.sql(query.format(5, times))).total() == 5
    assert answer(spark.sql(query.format(5, times).replace("INTERVAL 5 SECONDS", "'5 seconds'")))
    late = error_of(spark.sql(query.format(4, times)))
    assert "1970-01-01 00:00:15 comes where the slack lets none come before" in late


def test_a_row_that_is_dropped_holds_no_later_one_back(spark: SparkSession) -> None:
    rows = spark.sql("SELECT * FROM VALUES (9), (1), (2), (9), (10) AS t(seq)").coalesce(1)
    with settings(spark, {VIOLATION: "drop"}):
        assert answer(rows.hint("ORDERED", "seq")) == Counter(["(9,)", "(9,)", "(10,)"])


def test_a_dataframe_is_hinted_with_or_without_a_name(spark: SparkSession) -> None:
    names = spark.table("l").hint("ORDERED", "seq DESC", 100).where("v <> 'c'").select("v")
    assert answer(names) == Counter(["('a',)", "('b',)", "('d',)", "('e',)"])
    assert "15 comes after 20" in error_of(spark.table("l").hint("ORDERED", "l", "seq"))
    column = col("seq")
    assert answer(spark.table("l").hint("ORDERED", column.desc(), 100)).total() == 5
    assert "20 comes after 10" in error_of(spark.table("l").hint("ORDERED", column.desc()))
    assert "15 comes after 20" in error_of(spark.table("l").hint("ORDERED", column.asc()))


def test_a_query_of_one_relation_needs_no_name(spark: SparkSession) -> None:
    assert "15 comes after 20" in error_of(spark.sql("SELECT /*+ ORDERED(seq) */ v FROM l"))


def test_rows_that_a_filter_leaves_out_are_not_checked(spark: SparkSession) -> None:
    df = spark.sql(hinted("seq") + " WHERE l.seq <> 20")
    assert sum(answer(df).values()) == 4


def test_each_file_is_in_order_by_itself(spark: SparkSession, table: str) -> None:
    query = f"SELECT /*+ ORDERED(l, seq) */ l.seq FROM {table} l JOIN r ON {NEAR}"
    with settings(spark, {"spark.sql.files.maxPartitionBytes": "1GB"}):
        assert "29 comes after 30" in error_of(spark.sql(query))
        df = spark.sql(query + " WHERE l.seq < 29")
        assert answer(df) == rows_of_spark(spark, query + " WHERE l.seq < 29")


def test_a_table_declares_its_order_where_it_is_joined(spark: SparkSession, table: str) -> None:
    query = f"SELECT l.seq FROM {table} l JOIN r ON {NEAR}"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    assert "29 comes after 30" in error_of(spark.sql(query))
    assert f"The rows of spark_catalog.default.{table}" in error_of(spark.sql(query))
    assert len(spark.table(table).collect()) == 8
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-slack' = '1')")
    assert answer(spark.sql(query)) == rows_of_spark(spark, query)
    hint = query.replace("SELECT", "SELECT /*+ ORDERED(l, 'seq') */")
    assert "29 comes after 30" in error_of(spark.sql(hint))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("plait.ordered-by", "nope", "must be an order of its columns k, seq"),
        ("plait.ordered-by", "seq,", "must be one order, as 'seq DESC'"),
        ("plait.ordered-by", "seq, id", "must be one order, as 'seq DESC'"),
        ("plait.ordered-by", "2 DESC", "must be one order, as 'seq DESC'"),
        ("plait.ordered-slack", "x", "must be a number or an interval that is not negative"),
        ("plait.ordered-slack", "-1", "must be a number or an interval that is not negative"),
    ],
)
def test_a_wrong_property_is_an_error_that_names_it(
    spark: SparkSession, table: str, name: str, value: str, sentence: str
) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{value}')")
    with pytest.raises(IllegalArgumentException, match=sentence) as caught:
        spark.sql(f"SELECT l.seq FROM {table} l JOIN r ON {NEAR}")
    assert f"{name} of spark_catalog.default.{table} is '{value}'" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("plait.ordered-by", "true", "The order true .* of .* names no column, so that rows"),
        ("Plait.Ordered-By", "seq", "none of Plait's. Did you mean plait.ordered-by?"),
    ],
)
def test_a_property_that_would_do_nothing_is_an_error(
    spark: SparkSession, table: str, name: str, value: str, sentence: str
) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{name}' = '{value}')")
    with pytest.raises(IllegalArgumentException, match=sentence):
        spark.sql(f"SELECT l.seq FROM {table} l JOIN r ON {NEAR}")


@pytest.mark.parametrize(
    ("hint", "sentence"),
    [
        ("ORDERED(x, seq)", "The hint ORDERED names x, but the relations of its query are l, r"),
        ("ORDERED(seq)", "must name the relation whose rows come in order, one of l, r"),
        (
            "ORDERED(l, seq, -5)",
            "not negative: .* It was ORDERED\\(l, seq, -5\\): a row cannot come late by -5",
        ),
        ("ORDERED(l, 'seq DESCC')", "'seq DESCC' is no order"),
        ("ORDERED(l, '2 DESC')", "'2 DESC' is no order"),
        ("ORDERED(l, (SELECT 1))", "of l names no column, so that rows come in it however"),
        ("ORDERED(l, seq, '5 parsecs')", "'5 parsecs' is neither a number nor an interval"),
        ("ORDERED(l, 'seq, v')", "'seq, v' are several orders, and rows come in one"),
        ("ORDERED(l, rand())", "The order rand\\(\\) ASC NULLS FIRST .* of l has other values"),
        ("SYMMETRIC_HASH", "SYMMETRIC_HASH must name relations of its query"),
        ("ORDERED(l, 'seq,')", "It was ORDERED"),
        ("ORDERED(l, seq, 1, 2)", "which are 4 parameters"),
        ("ORDERED(l)", "names the relation l, and not the order in which its rows come"),
        ("ORDERED(l, seq, INTERVAL 5 SECONDS)", "INT, and its slack INTERVAL .*: .* a number"),
        ("ORDERED(l, (timestamp_seconds(seq)), 5)", "is TIMESTAMP, and its slack 5: .* INTERVAL"),
        ("ORDERED(l, v, 5)", "values of the type STRING have no difference"),
    ],
)
def test_a_wrong_hint_is_an_error_that_says_what_is_right(
    spark: SparkSession, hint: str, sentence: str
) -> None:
    with pytest.raises(IllegalArgumentException, match=sentence):
        spark.sql(f"SELECT /*+ {hint} */ l.v FROM l JOIN r ON {NEAR}")


def test_what_cannot_be_sorted_by_is_sparks_own_error(spark: SparkSession) -> None:
    with pytest.raises(AnalysisException, match=r"`nope` cannot be resolved.*`seq`"):
        spark.sql(hinted("nope"))
    with pytest.raises(AnalysisException, match="does not support ordering on type"):
        spark.sql(hinted("map(k, v)"))


def test_a_wrong_setting_is_an_error_that_names_what_there_is(spark: SparkSession) -> None:
    sentence = "must be one of fail, drop, keep"
    with (
        settings(spark, {VIOLATION: "bogus"}),
        pytest.raises(IllegalArgumentException, match=sentence),
    ):
        spark.sql(hinted("seq")).collect()


def test_of_two_orders_that_prune_alike_the_declared_one_is_taken(spark: SparkSession) -> None:
    query = (
        "SELECT {} count(*) FROM l JOIN r ON l.k = r.k AND l.seq BETWEEN r.seq - 5 AND r.seq + 5"
    )
    plain = str(plait.explain(spark.sql(query.format(""))))
    declared = spark.sql(query.format("/*+ ORDERED(l, 'seq DESC', 100) */"))
    assert "ASC" in plain
    assert "DESC" not in plain
    assert "DESC" in str(plait.explain(declared)), "as first planned"
    declared.collect()
    assert "DESC" in str(plait.explain(declared)), "as planned anew once the tables were shuffled"


@pytest.fixture
def twice(spark: SparkSession) -> Iterator[str]:
    """A table in two buckets of two files each, of which every one is in order."""
    spark.sql(
        "CREATE TABLE twice (k BIGINT, seq BIGINT, v BIGINT) USING parquet "
        "CLUSTERED BY (k) SORTED BY (seq) INTO 2 BUCKETS TBLPROPERTIES ('plait.ordered-by' = 'seq')"
    )
    for _ in range(2):
        spark.sql("INSERT INTO twice SELECT id % 4, id DIV 4, id % 7 FROM range(0, 4000, 1, 1)")
    yield "twice"
    spark.sql("DROP TABLE twice")


@pytest.mark.parametrize("violation", ["fail", "drop"])
@pytest.mark.parametrize("right", ["{}", "(SELECT * FROM {} WHERE v < 4)"])
def test_two_inputs_of_a_task_that_are_read_in_turn_have_their_own_files(
    spark: SparkSession, twice: str, right: str, violation: str
) -> None:
    query = f"SELECT l.seq, r.seq FROM {twice} l JOIN {right.format(twice)} r ON l.k = r.k"
    in_turn = {"spark.plait.join.strategy": "always", VIOLATION: violation}
    with settings(spark, in_turn):
        sums = f"SELECT count(*), sum(hash(a, b)) FROM ({query}) AS j(a, b)"
        df = spark.sql(sums)
        assert answer(df) == rows_of_spark(spark, sums)
        assert joins_planned(df) == 1
        assert "hashpartitioning" not in plan_of(df)


def test_an_input_that_is_read_in_turn_with_another_names_its_own_files(
    spark: SparkSession, twice: str
) -> None:
    named = f"(SELECT k, seq, input_file_name() AS f FROM {twice} WHERE v < 4)"
    query = f"SELECT r.f, count(*) FROM {twice} l JOIN {named} r ON l.k = r.k GROUP BY r.f"
    with settings(spark, {"spark.plait.join.strategy": "always"}):
        df = spark.sql(query)
        assert answer(df) == rows_of_spark(spark, query)
        assert joins_planned(df) == 1


@pytest.mark.parametrize(
    "rows",
    [
        "SELECT k, seq FROM calm WHERE same(seq) < 29",
        "SELECT k, seq, same(seq) AS w FROM calm WHERE same(seq) < 29",
        "SELECT k, seq, w + 1 AS a, w * 2 AS b FROM (SELECT k, seq, same(seq) AS w FROM calm)",
    ],
)
def test_what_python_computes_or_filters_comes_after_the_check(
    spark: SparkSession, tmp_path: Path, rows: str
) -> None:
    spark.udf.register("same", lambda seq: seq, "bigint")
    four = spark.range(0, 1000, 1, 4).selectExpr("1L AS k", "id % 250 AS seq")
    four.write.parquet(str(tmp_path / "calm"))
    spark.read.parquet(str(tmp_path / "calm")).createOrReplaceTempView("calm")
    query = f"SELECT l.* FROM ({rows}) l JOIN r ON {NEAR}"
    with settings(spark, {"spark.sql.files.minPartitionNum": 1}):
        df = spark.sql(query.replace("SELECT", "SELECT /*+ ORDERED(l, seq) */", 1))
        assert answer(df) == rows_of_spark(spark, query)


def test_an_order_of_a_renamed_column_that_goes_below_python_decides_still(
    spark: SparkSession,
) -> None:
    spark.udf.register("same", lambda seq: seq, "int")
    query = (
        "SELECT /*+ ORDERED(l, 's DESC', 100) */ l.s, l.w, r.seq FROM "
        "(SELECT k, seq AS s, same(seq) AS w FROM l) l JOIN r "
        "ON l.k = r.k AND l.s BETWEEN r.seq - 5 AND r.seq + 5"
    )
    with settings(spark, {"spark.sql.autoBroadcastJoinThreshold": -1}):
        assert "DESC" in str(plait.explain(spark.sql(query)))


def test_a_column_that_python_computes_above_the_files_of_a_hint_lets_each_begin_anew(
    spark: SparkSession, table: str
) -> None:
    spark.udf.register("same", lambda seq: seq, "int")
    rows = f"(SELECT k, seq, same(seq) AS w FROM {table} WHERE seq < 29)"
    query = f"SELECT l.seq, l.w FROM {rows} l JOIN r ON {NEAR}"
    with settings(spark, {"spark.sql.files.maxPartitionBytes": "1GB"}):
        df = spark.sql(query.replace("SELECT", "SELECT /*+ ORDERED(l, seq) */", 1))
        assert answer(df) == rows_of_spark(spark, query)
        against = query.replace(" WHERE seq < 29", "")
        df = spark.sql(against.replace("SELECT", "SELECT /*+ ORDERED(l, seq) */", 1))
        assert "29 comes after 30" in error_of(df)


def test_without_plait_nothing_is_checked(spark: SparkSession, table: str) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    assert sum(rows_of_spark(spark, f"SELECT l.seq FROM {table} l JOIN r ON {NEAR}").values()) > 0


@pytest.mark.parametrize(
    "kept",
    [
        "l.k IN (SELECT id FROM range(7))",
        "EXISTS (SELECT 1 FROM range(7) r WHERE r.id = l.k)",
        "same(l.seq) = l.seq",
    ],
)
def test_a_filter_that_becomes_a_join_or_python_is_evaluated_above_the_check(
    spark: SparkSession, kept: str
) -> None:
    spark.udf.register("same", lambda seq: seq, "bigint")
    # Of four files each begins anew, and one partition holds them all.
    rows = spark.range(0, 1000, 1, 4).selectExpr("id % 7 AS k", "id % 250 AS seq")
    rows.write.mode("overwrite").saveAsTable("risen")
    spark.sql("ALTER TABLE risen SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    query = f"""SELECT l.seq, x.seq FROM risen l JOIN risen x
        ON l.k = x.k AND l.seq BETWEEN x.seq - 5 AND x.seq WHERE {kept}"""
    one = {"spark.sql.autoBroadcastJoinThreshold": -1, "spark.sql.files.minPartitionNum": 1}
    try:
        with settings(spark, one):
            assert answer(spark.sql(query)) == rows_of_spark(spark, query) != Counter()
    finally:
        spark.sql("DROP TABLE risen")


@pytest.mark.parametrize(
    "query",
    [
        "WITH w AS (SELECT * FROM steps) SELECT a.seq FROM w a JOIN r b ON {near}",
        "WITH v AS (SELECT * FROM steps), w AS (SELECT * FROM v WHERE seq > 0) "
        "SELECT a.seq FROM w a JOIN r b ON {near}",
        "SELECT * FROM (WITH w AS (SELECT * FROM steps) SELECT a.seq FROM w a JOIN r b ON {near})",
        "WITH w AS (SELECT * FROM steps) "
        "SELECT k FROM r WHERE seq IN (SELECT a.seq FROM w a JOIN r b ON {near})",
    ],
)
def test_the_order_of_a_table_is_asked_of_its_rows_in_a_query_of_with(
    spark: SparkSession, table: str, query: str
) -> None:
    near = "a.k = b.k AND a.seq BETWEEN b.seq - 5 AND b.seq"
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    assert "29 comes after 30" in error_of(spark.sql(query.format(near=near)))
    with settings(spark, {VIOLATION: "drop"}):
        inline = query.replace("FROM w", "FROM (SELECT * FROM steps WHERE seq > 0)")
        assert answer(spark.sql(query.format(near=near))) == answer(
            spark.sql(inline.format(near=near))
        )


def test_the_order_of_a_table_is_asked_where_a_dataframe_of_with_is_joined(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    steps = spark.sql(f"WITH w AS (SELECT * FROM {table}) SELECT * FROM w")
    joined = steps.alias("a").join(spark.table("r").alias("b"), expr("a.k = b.k"))
    assert "29 comes after 30" in error_of(joined)


def test_a_join_finds_in_the_cache_what_was_cached_of_a_table_that_has_an_order(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    some = spark.table(table).where("seq > 1").cache()
    try:
        joined = some.alias("a").join(some.alias("b"), expr("a.k = b.k AND a.seq = b.seq + 1"))
        assert plan_of(joined).count("InMemoryTableScan") == 2
        seqs = [2, 3, 3, 5, 6, 29, 30]
        assert answer(joined) == Counter(
            repr((1, a, 1, b)) for a in seqs for b in seqs if a == b + 1
        )
    finally:
        some.unpersist(blocking=True)


def test_a_table_that_has_an_order_has_its_statistics_in_a_join(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS")
    query = f"SELECT a.seq FROM {table} a JOIN {table} b ON a.seq = b.seq"
    with settings(spark, {"spark.sql.cbo.enabled": True}):
        plain = spark.sql(query)._jdf.queryExecution().optimizedPlan().stats().rowCount()
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
        claimed = spark.sql(query)._jdf.queryExecution().optimizedPlan()
        assert "OrderedBy" in claimed.toString()
        assert claimed.stats().rowCount().toString() == plain.toString() != "None"


def test_the_order_of_a_tables_files_is_not_asked_of_its_rows_in_the_cache(
    spark: SparkSession, table: str
) -> None:
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('plait.ordered-by' = 'seq')")
    query = f"SELECT a.seq, b.seq FROM {table} a JOIN {table} b ON a.k = b.k AND a.seq = b.seq + 1"
    # One partition, with the rows of all files.
    with settings(spark, {"spark.sql.files.minPartitionNum": 1}):
        spark.sql(f"CACHE TABLE {table}")
        try:
            assert answer(spark.sql(query)) == rows_of_spark(spark, query) != Counter()
        finally:
            spark.sql(f"UNCACHE TABLE {table}")
