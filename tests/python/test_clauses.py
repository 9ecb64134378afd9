# SPDX-License-Identifier: Apache-2.0
"""Examples: where clauses of ours may stand, and that no other statement is read otherwise.

Oracle of the second: Spark's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import ParseException
from tests.python.queries import joins_planned, plan_of, settings
from tests.python.statements import STATEMENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ON = "MATCH_CONDITION (l.ts >= r.ts TOLERANCE {}) ON l.k = r.k"
JOIN = f"SELECT l.id, r.id AS rid FROM l LEFT ASOF JOIN r {ON}"
PICKED = [(1, 11), (2, None)]


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    own = spark.newSession()
    own.sql("CREATE TEMP VIEW l AS SELECT * FROM VALUES (1, 'a', 5), (2, 'b', 9) AS l(id, k, ts)")
    own.sql("CREATE TEMP VIEW r AS SELECT * FROM VALUES (11, 'a', 4), (12, 'b', 1) AS r(id, k, ts)")
    with settings(own, {"spark.sql.shuffle.partitions": 1}):
        yield own


def rows(session: SparkSession, sql: str, **parameters: object) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in session.sql(sql, **parameters).collect())  # type: ignore[arg-type]


def test_in_a_view_with_the_users_own_text(session: SparkSession) -> None:
    text = JOIN.format(5)
    session.sql(f"CREATE OR REPLACE TEMP VIEW v AS {text}")
    assert rows(session, "SELECT * FROM v") == PICKED
    assert rows(session, f"SELECT * FROM ({text}) WHERE id IN (SELECT id FROM v)") == PICKED


def test_in_tables_made_of_queries_and_in_inserts(session: SparkSession) -> None:
    text = JOIN.format(5)
    try:
        session.sql(f"CREATE TABLE picked USING parquet AS {text}")
        session.sql(f"INSERT INTO picked {text}")
        assert rows(session, "SELECT * FROM picked") == sorted(PICKED * 2)
        session.sql(f"INSERT OVERWRITE picked WITH j AS ({text}) SELECT * FROM j WHERE id = 1")
        assert rows(session, "SELECT * FROM picked") == PICKED[:1]
    finally:
        session.sql("DROP TABLE IF EXISTS picked")


def test_under_explain(session: SparkSession) -> None:
    assert "AsOfJoin" in session.sql(f"EXPLAIN {JOIN.format(5)}").first()[0]


def test_with_parameters_and_variables(session: SparkSession) -> None:
    named = JOIN.format(":far") + " AND l.k <> :k WHERE 'a:b' <> '?'"
    assert rows(session, named, args={"far": 5, "k": "b"}) == PICKED
    assert rows(session, JOIN.format("?") + " AND l.k <> ?", args=[0, "b"]) == [
        (1, None),
        (2, None),
    ]
    session.sql("DECLARE OR REPLACE VARIABLE who STRING DEFAULT 'a'")
    assert rows(session, f"{JOIN.format(5)} WHERE l.k = who") == PICKED[:1]
    assert rows(session, "SET VAR who = 'b'") == []
    assert rows(session, f'EXECUTE IMMEDIATE "{JOIN.format("?")}" USING 5') == PICKED
    with settings(session, {"how.far": "5"}):
        assert rows(session, JOIN.format("${how.far}")) == PICKED


def test_a_parameter_without_a_value_is_sparks_error(session: SparkSession) -> None:
    with pytest.raises(Exception, match="UNBOUND_SQL_PARAMETER"):
        session.sql(JOIN.format(":far"), args={"near": 5})


def test_a_colon_before_a_name_that_has_no_value_is_no_parameter(session: SparkSession) -> None:
    query = JOIN.format(5)
    with_struct = query.replace("l.id,", "CAST(NULL AS STRUCT<a : INT>).a, l.id,")
    assert rows(session, with_struct) == [(None, *row) for row in PICKED]
    assert rows(session, with_struct, args={"k": "b"}) == [(None, *row) for row in PICKED]
    assert rows(session, f"BEGIN lbl : BEGIN {query}; END; END", args={"k": 5}) == PICKED
    of_variant = query.replace("l.id,", "parse_json('{\"a\": 7}') : a :: INT, l.id,")
    assert rows(session, of_variant.replace("5", "?"), args=[5]) == [(7, *row) for row in PICKED]


def test_a_colon_behind_a_word_of_sql_is_a_parameter(session: SparkSession) -> None:
    close = JOIN.format("").replace("TOLERANCE ", "TOLERANCE:t ")
    assert rows(session, f"{close} ORDER BY 1 LIMIT:n", args={"t": 5, "n": 1}) == PICKED[:1]
    also = rows(
        session, f"{close} WHERE NOT:no AND l.k LIKE:k", args={"t": 5, "no": False, "k": "b"}
    )
    assert also == PICKED[1:]
    of_variant = "SELECT data:t::INT FROM (SELECT parse_json('{\"t\": 7}') AS data, r.id FROM l "
    own = f"{of_variant} ASOF JOIN r {ON.format(':t')})"
    assert rows(session, own, args={"t": 5}) == [(7,)]


def test_in_scripts(session: SparkSession) -> None:
    script = f"BEGIN DECLARE far INT = 5; {JOIN.format(5)} AND far = 5; END"
    assert rows(session, script) == PICKED


def test_with_names_that_are_made_of_texts(session: SparkSession) -> None:
    sql = "SELECT l.id, q.id FROM IDENTIFIER('l') ASOF JOIN IDENTIFIER('r') q " + ON.format(5)
    assert rows(session, sql.replace("r.", "q.")) == PICKED[:1]


def test_a_mistake_is_told_at_its_place_in_the_users_text(session: SparkSession) -> None:
    with pytest.raises(ParseException, match=r"line 2, pos 6"):
        session.sql(f"{JOIN.format(5)}\nWHERE ) 5")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_other_statement_has_the_plan_of_sparks_parser(
    session: SparkSession, statement: str
) -> None:
    plait = session._jvm.plait.spark.sql
    ours = plait.PlaitParser.of(plait.Clauses())
    sparks = session._jvm.org.apache.spark.sql.execution.SparkSqlParser()

    def parsed(parser: object) -> str:
        try:
            return without_ids(parser.parsePlan(statement).toString())  # type: ignore[attr-defined]
        except ParseException as error:
            return f"error: {error}"

    assert parsed(ours) == parsed(sparks)


def without_ids(plan: str) -> str:
    return re.sub(r"#\d+|@[0-9a-f]+|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "", plan)


def test_the_list_of_statements_is_long_and_most_of_them_are_right(session: SparkSession) -> None:
    parser = session._jvm.org.apache.spark.sql.execution.SparkSqlParser()
    right = 0
    for statement in STATEMENTS:
        try:
            parser.parsePlan(statement)
            right += 1
        except ParseException:
            pass
    assert len(STATEMENTS) >= 300
    assert right > 0.95 * len(STATEMENTS)


def test_a_join_of_streams_that_would_wait_for_ever_is_refused_with_a_sentence(
    session: SparkSession,
) -> None:
    stream = session.readStream.format("rate").load()
    for join in (
        "ASOF JOIN {r} r MATCH_CONDITION (l.timestamp <= r.timestamp)",
        "JOIN {r} FOR SYSTEM_TIME AS OF PROCTIME() AS r ON l.value = r.value",
    ):
        with pytest.raises(Exception, match=r"two streams needs a TOLERANCE|PROCTIME"):
            session.sql(f"SELECT * FROM {{l}} l {join}", l=stream, r=stream)


def test_without_plait_the_clauses_are_not_there(session: SparkSession) -> None:
    with settings(session, {"spark.plait.enabled": False}), pytest.raises(ParseException):
        session.sql(JOIN.format(5))


def test_an_as_of_join_keeps_its_rows_when_adaptive_execution_plans_anew(
    session: SparkSession,
) -> None:
    session.range(0, 5000).selectExpr("id", "id % 7 AS k", "id * 3 AS ts").createTempView("many")
    sql = """SELECT sum(a.id), sum(b.id), count(b.id) FROM many a LEFT ASOF JOIN many b
        MATCH_CONDITION (a.ts > b.ts) ON a.k = b.k JOIN r ON r.id = 11"""
    for adaptive in (True, False):
        for partitions in (1, 5):
            keys = {
                "spark.sql.adaptive.enabled": adaptive,
                "spark.sql.shuffle.partitions": partitions,
            }
            with settings(session, keys):
                # Each picks the one seven before it, but for the first seven.
                expected = (sum(range(5000)), sum(range(4993)), 4993)
                assert rows(session, sql) == [expected]


def test_the_join_in_a_statement_is_ours(session: SparkSession) -> None:
    assert joins_planned(session.sql(JOIN.format(5))) == 1


def test_the_newest_version_needs_no_order(session: SparkSession) -> None:
    session.sql("CREATE TEMP VIEW ids AS SELECT id % 7 AS k FROM range(70)")
    session.sql(
        "CREATE TEMP VIEW mixed AS SELECT id % 5 AS k, (id * 37) % 1000 AS t FROM range(999)"
    )
    found = session.sql(
        "SELECT /*+ VERSIONED(m, t) */ DISTINCT ids.k, m.t FROM ids "
        "LEFT JOIN mixed FOR SYSTEM_TIME AS OF PROCTIME() AS m ON ids.k = m.k"
    )
    newest = {k: max(i * 37 % 1000 for i in range(k, 999, 5)) for k in range(5)}
    assert sorted(map(tuple, found.collect())) == [*newest.items(), (5, None), (6, None)]
    plan = plan_of(found)
    assert "in any order, pruned by newest m.t" in plan
    assert "Sort " not in plan


def test_a_setting_that_is_none_is_told_with_the_nearest_one(session: SparkSession) -> None:
    unknown = session._jvm.plait.spark.PlaitConf.unknown  # type: ignore[union-attr]
    key = "spark.plait.join.stratgy"
    assert f"There is no setting {key}, and it does nothing." in str(unknown(key))
    assert "Did you mean spark.plait.join.strategy? Plait's settings are" in str(unknown(key))
    assert unknown("spark.plait.enabled").isEmpty()
    assert unknown("spark.other").isEmpty()


def test_a_python_function_of_both_sides_is_refused_where_it_would_choose(
    session: SparkSession,
) -> None:
    session.udf.register("near", lambda a, b: True, "boolean")
    on = "l.k = r.k AND near(l.id, r.id)"
    for how in ("", "LEFT"):
        with pytest.raises(ParseException, match=r"near\(id, id\) in ON .* takes columns of both"):
            session.sql(f"SELECT * FROM l {how} ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON {on}")
    checked = "SELECT * FROM l {} JOIN r FOR SYSTEM_TIME AS OF l.ts ON " + on
    versions = checked.replace("SELECT", "SELECT /*+ VERSIONED(r, ts) */")
    plan = session.sql(versions.format(""))._jdf.queryExecution().optimizedPlan().toString()
    assert "BatchEvalPython" in plan
    assert "AsOfJoin" in plan.split("BatchEvalPython")[1], "after the choice"
    with pytest.raises(ParseException, match=r"of the type LEFT OUTER takes columns of both"):
        session.sql(versions.format("LEFT"))
