# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: [NOT] EXISTS and [NOT] IN of a stream over another.

Oracle: the same query of stock Spark over all rows that the streams were given.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from tests.python.declared_streams import Stream, running
from tests.python.queries import rows_of_spark, settings
from tests.python.streams import quick_session

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

OUTER = "(SELECT /*+ ORDERED(l, s, 10) */ * FROM l) l"
INNER = "(SELECT /*+ ORDERED(r, s, 10) */ * FROM r) r"
NEAR = "r.s BETWEEN l.s AND l.s + 5"
QUERIES = {
    "EXISTS": f"EXISTS (SELECT 1 FROM {INNER} WHERE r.k = l.k AND {NEAR})",
    "EXISTS, with more on each side": (
        f"l.v <> 3 AND EXISTS (SELECT w FROM {INNER} "
        f"WHERE r.k = l.k AND {NEAR} AND w > 1 AND w <> l.v)"
    ),
    "NOT EXISTS": f"NOT EXISTS (SELECT * FROM {INNER} WHERE r.k = l.k AND {NEAR})",
    "IN, of two columns": f"(l.v, l.k) IN (SELECT w, r.k FROM {INNER} WHERE {NEAR})",
    "NOT IN": (
        f"l.k IS NOT NULL AND l.k NOT IN (SELECT r.k FROM {INNER} WHERE {NEAR} AND r.k IS NOT NULL)"
    ),
    "both": (
        f"EXISTS (SELECT 1 FROM {INNER} WHERE r.k = l.k AND {NEAR}) AND "
        f"NOT EXISTS (SELECT 1 FROM {INNER} WHERE r.k = l.k AND {NEAR} AND w = l.v)"
    ),
    "of the same stream": (
        "NOT EXISTS (SELECT 1 FROM (SELECT /*+ ORDERED(x, s, 10) */ * FROM l x) x "
        "WHERE x.k = l.k AND x.v <> l.v AND x.s BETWEEN l.s AND l.s + 2)"
    ),
}


session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.fixture
def streams(session: SparkSession, tmp_path: Path) -> tuple[Stream, Stream]:
    return (
        Stream(session, tmp_path, "l", "k INT, s BIGINT, v INT"),
        Stream(session, tmp_path, "r", "k INT, s BIGINT, w INT"),
    )


def query(condition: str) -> str:
    return f"SELECT l.k, l.s, v FROM {OUTER} WHERE {condition}"


@pytest.mark.parametrize("kind", QUERIES)
def test_a_stream_asks_of_another_as_tables_do(
    spark: SparkSession, session: SparkSession, streams: tuple[Stream, Stream], kind: str
) -> None:
    sql = query(QUERIES[kind])
    rng = random.Random(kind)
    with running(session, session.sql(sql)) as run:
        for start in (0, 25):
            for stream in streams:
                stream.add(
                    (rng.choice([None, 1, 2, 3]), start + n - rng.randrange(9), rng.randrange(5))
                    for n in range(25)
                )
            run.rows()
        for stream in streams:
            # Nobody finds these: they only say how far the streams have come.
            stream.add([(None, 200, 0)])
        found, waiting = run.rows(), run.waiting()
    # What a join gives out comes in no declared order: the second of two keeps its right rows.
    assert waiting <= 4 or kind == "both"
    own = spark.newSession()
    for name, stream in zip("lr", streams, strict=True):
        stream.batch(own).where("s < 200").createOrReplaceTempView(name)
    found = type(found)({row: n for row, n in found.items() if "200" not in row})
    assert found == rows_of_spark(own, sql)


REFUSED = {
    f"v = 1 OR EXISTS (SELECT 1 FROM {INNER} WHERE r.k = l.k AND {NEAR})": (
        "by itself or between ANDs, because it becomes a join: write the parts of an OR"
    ),
    f"l.k NOT IN (SELECT r.k FROM {INNER} WHERE {NEAR} AND r.k IS NOT NULL)": (
        "NOT IN only where no value can be NULL, and l.k can: say IS NOT NULL of it"
    ),
    f"l.k IS NOT NULL AND l.k NOT IN (SELECT r.k FROM {INNER} WHERE {NEAR})": (
        "NOT IN only where no value can be NULL, and r.k can"
    ),
    f"EXISTS (SELECT 1 FROM {INNER})": "must be compared with the outer query",
    f"EXISTS (SELECT count(*) FROM {INNER} WHERE r.k = l.k AND {NEAR})": (
        "in its own WHERE only, not in or below Aggregate"
    ),
    f"EXISTS (SELECT 1 FROM {INNER} WHERE {NEAR.replace('r.s', 'r.w')})": (
        "keeps left rows for ever: nothing says that right rows come in the order w"
    ),
}


@pytest.mark.parametrize("condition", REFUSED)
def test_what_cannot_be_a_join_is_refused_with_a_sentence(
    session: SparkSession, streams: tuple[Stream, Stream], condition: str
) -> None:
    assert streams
    with (
        pytest.raises(AnalysisException, match=REFUSED[condition]),
        running(session, session.sql(query(condition))),
    ):
        pass


@pytest.mark.parametrize(
    ("key", "value"), [("spark.plait.enabled", "false"), ("spark.plait.join.strategy", "never")]
)
def test_where_plait_is_turned_off_the_refusal_says_so_and_the_query_goes_on_later(
    session: SparkSession, streams: tuple[Stream, Stream], tmp_path: Path, key: str, value: str
) -> None:
    left, right = streams
    sql = query(QUERIES["NOT EXISTS"])
    left.add([(1, 10, 0), (2, 10, 0)])
    right.add([(2, 12, 0)])
    with running(session, session.sql(sql), tmp_path) as run:
        assert not run.rows()
    with settings(session, {key: value}), pytest.raises(AnalysisException) as refused:
        session.sql(sql)
    assert f"Plait is turned off by {key}={value}. Take that setting back" in str(refused.value)
    right.add([(None, 50, 0)])
    with running(session, session.sql(sql), tmp_path) as run:
        assert run.rows() == Counter(["(1, 10, 0)"])


def test_a_table_is_not_asked_of_a_stream(
    session: SparkSession, streams: tuple[Stream, Stream]
) -> None:
    assert streams
    with pytest.raises(AnalysisException, match="STREAMING_QUERY"):
        session.sql("SELECT * FROM range(3) t WHERE EXISTS (SELECT 1 FROM r WHERE r.k = t.id)")


@pytest.mark.parametrize(
    ("asks", "rows"),
    [
        ("EXISTS (SELECT 1", ["(1, 10, None)", "(1, 11, 7)"]),
        ("NOT EXISTS (SELECT 1", ["(1, 12, 8)"]),
        ("k IN (SELECT r.k", ["(1, 10, None)", "(1, 11, 7)"]),
    ],
)
def test_what_the_user_says_of_null_stays_in_the_condition(
    session: SparkSession, streams: tuple[Stream, Stream], asks: str, rows: list[str]
) -> None:
    left, right = streams
    where = (
        f"{asks} FROM {INNER} WHERE r.k = l.k AND {NEAR} AND (r.w = l.v OR (r.w = l.v) IS NULL))"
    )
    with running(session, session.sql(query(where))) as run:
        left.add([(1, 10, None), (1, 11, 7), (1, 12, 8)])
        right.add([(1, 12, 7)])
        run.rows()
        for stream in streams:
            stream.add([(None, 200, 0)])
        found = run.rows()
    assert Counter({row: n for row, n in found.items() if "200" not in row}) == Counter(rows)
