# SPDX-License-Identifier: Apache-2.0
"""Examples: our clauses in what keeps or holds a query: views, MERGE, loops of scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from tests.python.queries import settings
from tests.python.test_clauses import without_ids

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = {
    "homes_l": "(1, 'a', TIMESTAMP'2026-01-01 10:05'), (2, 'b', TIMESTAMP'2026-01-01 10:19')",
    "homes_r": "(11, 'a', TIMESTAMP'2026-01-01 10:04'), (12, 'b', TIMESTAMP'2026-01-01 10:04')",
}
FORMS = {
    "as-of": """SELECT l.id, r.id AS rid
  FROM homes_l l LEFT ASOF JOIN homes_r r -- the last before
    MATCH_CONDITION (l.ts >= r.ts TOLERANCE INTERVAL 5 MINUTES) USING (k)""",
    "as-of without ON": """SELECT l.id, r.id AS rid FROM homes_l l
  ASOF JOIN homes_r r MATCH_CONDITION (l.ts >= r.ts)""",
    "temporal": """SELECT /*+ VERSIONED(v, ts) */ l.id, v.id AS rid
  FROM homes_l l LEFT JOIN homes_r FOR SYSTEM_TIME AS OF l.ts AS v ON l.k = v.k""",
    "window": """SELECT l.id, r.id AS rid
  FROM TABLE(TUMBLE(TABLE homes_l, DESCRIPTOR(ts), INTERVAL 10 MINUTES)) l
  JOIN TUMBLE(homes_r, ts, INTERVAL '10' MINUTE) r USING (k, window_end)""",
    "window at the end": """SELECT id, minute(window_time) AS rid
  FROM TABLE(TUMBLE(TABLE homes_l, DESCRIPTOR(ts), INTERVAL 10 MINUTES))""",
}
ROWS = {
    "as-of": [(1, 11), (2, None)],
    "as-of without ON": [(1, 12), (2, 12)],
    "temporal": [(1, 11), (2, 12)],
    "window": [(1, 11)],
    "window at the end": [(1, 9), (2, 19)],
}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    own = spark.newSession()
    for name, table in TABLES.items():
        own.sql(
            f"CREATE TABLE {name} USING parquet AS SELECT * FROM VALUES {table} AS t(id, k, ts)"
        )
    with settings(own, {"spark.sql.shuffle.partitions": 1}):
        yield own
    for kept in ("VIEW homes_v", "TABLE homes_l", "TABLE homes_r", "TABLE homes_t"):
        own.sql(f"DROP {kept.replace(' ', ' IF EXISTS ')}")


def rows(session: SparkSession, sql: str) -> list[tuple[object, ...]]:
    found = [tuple(row) for row in session.sql(sql).collect()]
    return sorted(found, key=str)


@pytest.mark.parametrize("form", FORMS)
def test_a_stored_view_keeps_the_users_text_and_is_read_in_other_sessions(
    spark: SparkSession, session: SparkSession, form: str
) -> None:
    text = FORMS[form]
    session.sql(f"CREATE OR REPLACE VIEW homes_v AS {text}")
    other = spark.newSession()
    assert text in other.sql("SHOW CREATE TABLE homes_v").first()[0]
    assert rows(other, "SELECT * FROM homes_v") == ROWS[form]
    assert rows(other, "SELECT v.* FROM homes_v v JOIN homes_l USING (id)") == ROWS[form]


@pytest.mark.parametrize("form", FORMS)
def test_a_stored_view_is_an_error_of_sparks_where_plait_is_off(
    spark: SparkSession, session: SparkSession, form: str
) -> None:
    session.sql(f"CREATE OR REPLACE VIEW homes_v AS {FORMS[form]}")
    other = spark.newSession()
    with (
        settings(other, {"spark.plait.enabled": False}),
        pytest.raises((ParseException, AnalysisException)) as of_view,
    ):
        other.sql("SELECT * FROM homes_v").collect()
    with (
        settings(other, {"spark.plait.enabled": False}),
        pytest.raises((ParseException, AnalysisException)) as of_text,
    ):
        other.sql(FORMS[form]).collect()
    assert of_view.value.getCondition() == of_text.value.getCondition()
    assert rows(other, "SELECT * FROM homes_v") == ROWS[form], "the view is as good as before"


MERGE = """MERGE INTO homes_t t USING ({}) s ON t.id = s.id AND t.id IN (SELECT id FROM homes_l)
  WHEN MATCHED AND s.rid IS NULL THEN DELETE WHEN MATCHED THEN UPDATE SET rid = s.rid
  WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE THEN UPDATE SET rid = 0"""


@pytest.mark.parametrize("form", FORMS)
def test_merge_has_the_plan_that_its_parts_have(session: SparkSession, form: str) -> None:
    parser = session._jsparkSession.sessionState().sqlParser()

    def parsed(sql: str) -> str:
        return without_ids(parser.parsePlan(sql).toString())

    merge = parser.parsePlan(MERGE.format(FORMS[form]))
    target, source = merge.children().head(), merge.children().last()
    # SubqueryAlias s, and below it the query as it is by itself.
    assert without_ids(source.children().head().toString()) == parsed(FORMS[form])
    plain = parser.parsePlan(MERGE.format("SELECT id, rid FROM x"))
    assert without_ids(target.toString()) == without_ids(plain.children().head().toString())
    assert parts(merge) == parts(plain)


def parts(merge: Any) -> list[str]:
    """The condition of a merge and its actions."""
    return [
        without_ids(part.toString())
        for part in (
            merge.mergeCondition(),
            merge.matchedActions(),
            merge.notMatchedActions(),
            merge.notMatchedBySourceActions(),
        )
    ]


@pytest.mark.parametrize("form", FORMS)
def test_merge_is_refused_by_a_table_that_cannot_merge_as_any_other(
    session: SparkSession, form: str
) -> None:
    session.sql("CREATE TABLE IF NOT EXISTS homes_t (id INT, rid INT) USING parquet")
    codes = []
    for query in (FORMS[form], "SELECT id, id AS rid FROM homes_l"):
        with pytest.raises(Exception, match="MERGE") as refused:
            session.sql(MERGE.format(query))
        codes.append(refused.value.getCondition())  # type: ignore[attr-defined]
    assert codes[0] == codes[1]
    assert codes[0].startswith("UNSUPPORTED_FEATURE")


@pytest.mark.parametrize("form", FORMS)
def test_a_loop_of_a_script_goes_over_the_rows(session: SparkSession, form: str) -> None:
    found = rows(
        session,
        f"""BEGIN
          DECLARE n INT = 0;
          DECLARE total INT = 0;
          FOR picked AS {FORMS[form]} DO
            SET n = n + 1;
            IF picked.rid IS NOT NULL THEN SET total = total + picked.rid; END IF;
            FOR again AS {FORMS[form]} DO SET n = n + 10; END FOR;
          END FOR;
          SELECT n, total;
        END""",
    )
    count = len(ROWS[form])
    total = sum(rid or 0 for _, rid in ROWS[form])  # type: ignore[misc]
    assert found == [(count + 10 * count * count, total)]


def test_a_loop_without_a_name_for_its_rows_and_conditions_of_a_script(
    session: SparkSession,
) -> None:
    script = f"""BEGIN
      DECLARE n INT = 0;
      FOR {FORMS["as-of"]} DO SET n = n + id; END FOR;
      WHILE n < (SELECT 10 + count(*) FROM ({FORMS["window"]})) DO SET n = n + 1; END WHILE;
      IF EXISTS ({FORMS["temporal"]}) THEN SELECT n; END IF;
    END"""
    assert rows(session, script) == [(11,)]


@pytest.mark.parametrize("form", FORMS)
def test_a_cursor_of_a_script_goes_over_the_rows(session: SparkSession, form: str) -> None:
    script = f"""BEGIN
      DECLARE a INT;
      DECLARE b INT;
      DECLARE c CURSOR FOR SELECT * FROM ({FORMS[form]}) WHERE id >= :least ORDER BY id;
      OPEN c USING 1 AS least;
      FETCH c INTO a, b;
      CLOSE c;
      SELECT a, b;
    END"""
    with settings(session, {"spark.sql.scripting.cursorEnabled": True}):
        assert rows(session, script) == ROWS[form][:1]
