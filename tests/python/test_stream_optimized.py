# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: joins of streams as the optimizer makes them of a query, at every start.

An equality may stand above a view or follow from two others, and which streams are joined first may
hang on that. Oracle: stock Spark's answer to the same query over all rows, as tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from tests.python.queries import settings
from tests.python.streams import DELAY, OFF, OURS, SPARKS, Progress, Row, quick_session
from tests.python.watermarked import Streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    Make = Callable[[str], Streams]

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)

# Of each stream the rows of each batch; NULLs and two rows of one key and time among them.
BATCHES: list[dict[str, list[Row]]] = [
    {
        "a": [(1, 1, 1000, 7), (2, 1, 1000, 7), (3, None, 1000, 5), (4, 2, None, 5)],
        "b": [(11, 1, 1002, 5), (12, None, 1002, 5), (13, 2, 1003, 7), (14, 1, 1002, 5)],
        "c": [(21, 1, 1001, 5), (22, 2, 1001, 7), (23, 1, 1001, 5)],
    },
    {
        "a": [(5, 1, 1010, 7), (6, 2, 1011, 5), (7, 3, 1011, 5)],
        "b": [(15, 1, 1012, 5), (16, 2, 1013, 7), (17, 3, 1030, 7)],
        "c": [(24, 2, 1012, 7), (25, None, 1013, 5)],
    },
]
DIMENSION = "SELECT * FROM VALUES (1, 5), (2, 7), (2, 5), (CAST(NULL AS INT), 5) AS d(k, v)"


@pytest.fixture
def over(session: SparkSession, tmp_path: Path) -> Iterator[Make]:
    """A query over the streams that it names."""
    session.sql(DIMENSION).createOrReplaceTempView("dim")
    yield lambda query: Streams(
        session, tmp_path, query, **{name: DELAY for name in "abc" if f"{{{name}}}" in query}
    )
    session.catalog.dropTempView("dim")


def operators(progress: Progress) -> set[str]:
    return {op["operatorName"] for p in progress for op in p["stateOperators"]}


WITHOUT_A_KEY_AT_FIRST = {
    "the third stream joins the other two": """SELECT a.id, b.id AS b, c.id AS c
        FROM {a} a, {b} b, {c} c WHERE a.k = c.k AND c.v = b.v""",
    "a table does": """SELECT a.id, b.id AS b FROM {a} a, {b} b, dim d
        WHERE a.k = d.k AND d.v = b.v""",
    "the equality stands in both parts of an OR": """SELECT a.id, b.id AS b FROM {a} a
        JOIN {b} b ON (a.k = b.k AND a.v > 5) OR (a.k = b.k AND b.v > 5)""",
    "it stands above a subquery": """SELECT id, b FROM
        (SELECT a.id, b.id AS b, a.k AS ak, b.k AS bk FROM {a} a, {b} b) x WHERE ak = bk""",
    "it stands above a query of WITH": """WITH x AS
        (SELECT a.id, b.id AS b, a.k AS ak, b.k AS bk FROM {a} a, {b} b)
        SELECT id, b FROM x WHERE ak = bk""",
}


@pytest.mark.parametrize("what", WITHOUT_A_KEY_AT_FIRST)
def test_a_join_without_an_equality_in_its_own_condition_may_have_one_all_the_same(
    over: Make, what: str
) -> None:
    streams = over(WITHOUT_A_KEY_AT_FIRST[what])
    for batch in BATCHES:
        streams.add(**batch)
    assert operators(streams.run()) == {OURS}
    streams.holds()


def test_times_that_are_compared_above_a_subquery_prune(over: Make) -> None:
    streams = over(
        """SELECT id, b FROM (SELECT a.id, b.id AS b, a.ts AS one, b.ts AS other
        FROM {a} a JOIN {b} b ON a.k = b.k) x
        WHERE other BETWEEN one AND one + INTERVAL 7 SECONDS"""
    )
    for batch in BATCHES:
        streams.add(**batch)
    streams.end()
    with settings(streams.session, {"spark.plait.stream.unbounded-state": "error"}):
        progress = streams.run()
    streams.holds()
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 2


WITHIN = "b.ts BETWEEN a.ts AND a.ts + INTERVAL 7 SECONDS"
RESTARTED = {
    "a table between two streams": f"""SELECT a.id, b.id AS b FROM {{a}} a, dim d, {{b}} b
        WHERE a.k = b.k AND b.v = d.v AND {WITHIN}""",
    "a third stream": """SELECT a.id, b.id AS b, c.id AS c FROM {a} a, {b} b, {c} c
        WHERE a.k = c.k AND c.v = b.v AND b.ts BETWEEN c.ts AND c.ts + INTERVAL 7 SECONDS
        AND c.ts BETWEEN a.ts AND a.ts + INTERVAL 7 SECONDS""",
}


@pytest.mark.parametrize("what", RESTARTED)
@pytest.mark.parametrize(
    ("first", "second", "operator"),
    [({}, {}, OURS), ({}, OFF, OURS), (OFF, {}, SPARKS), (OFF, OFF, SPARKS)],
    ids=["on", "on, then off", "off, then on", "off"],
)
def test_a_query_that_is_started_again_has_the_joins_that_it_had(
    over: Make, what: str, first: dict[str, bool], second: dict[str, bool], operator: str
) -> None:
    streams = over(RESTARTED[what])
    for batch, conf in zip(BATCHES, (first, second), strict=True):
        streams.add(**batch)
        with settings(streams.session, conf):
            assert operators(streams.run()) == {operator}
    streams.holds()


DATED = f"""SELECT a.id, b.id AS b FROM (SELECT x.*, d.d FROM {{a}} x
    JOIN (SELECT k, date_trunc('DAY', t) AS d FROM days) d ON x.k = d.k) a
    JOIN {{b}} b ON a.k = b.k AND a.d < b.ts AND {WITHIN}"""


@pytest.fixture
def days(session: SparkSession, over: Make, tmp_path: Path) -> str:
    """A view over files, of days that follow from the session's zone once they are cut."""
    path = str(tmp_path / "days")
    session.sql("SELECT k, timestamp_seconds(v) AS t FROM dim").write.parquet(path)
    session.read.parquet(path).createOrReplaceTempView("days")
    return "days"


def test_a_query_goes_on_when_a_table_beside_its_streams_is_cached_no_more(
    session: SparkSession, over: Make, days: str
) -> None:
    cut = f"SELECT k, date_trunc('DAY', t) AS d FROM {days}"
    session.sql(cut).createOrReplaceTempView("dated")
    streams = over(DATED.replace(f"({cut})", "dated"))
    session.sql("CACHE TABLE dated")
    try:
        streams.add(**BATCHES[0])
        streams.run()
    finally:
        session.sql("UNCACHE TABLE dated")
    streams.add(**BATCHES[1])
    streams.run()
    streams.holds()


@pytest.mark.usefixtures("days")
def test_the_zone_stays_that_a_column_of_a_table_follows_from(over: Make) -> None:
    streams = over(DATED)
    streams.add(**BATCHES[0])
    with settings(streams.session, {"spark.sql.session.timeZone": "Europe/Berlin"}):
        streams.run()
    streams.add(**BATCHES[1])
    with (
        settings(streams.session, {"spark.sql.session.timeZone": "Asia/Tokyo"}),
        pytest.raises(StreamingQueryException, match=r"timeZone=Europe/Berlin.*Tokyo"),
    ):
        streams.run()


WINDOWS = {
    "the other side's time has no bound": """SELECT window(b.ts, '10 seconds').start AS w,
        count(*) AS n FROM {a} a JOIN {b} b
        ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + make_dt_interval(0, 0, 0, a.v)
        GROUP BY window(b.ts, '10 seconds')""",
    "the time has another name": f"""SELECT window(a.t2, '10 seconds').start AS w, count(*) AS n
        FROM (SELECT *, ts AS t2 FROM {{a}}) a JOIN {{b}} b ON a.k = b.k AND {WITHIN}
        GROUP BY window(a.t2, '10 seconds')""",
}


@pytest.mark.parametrize("what", WINDOWS)
def test_windows_above_a_join_are_over_by_the_times_that_they_read(over: Make, what: str) -> None:
    streams = over(WINDOWS[what])
    for batch in BATCHES:
        streams.add(**batch)
    streams.end()
    progress = streams.run()
    streams.holds()
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 1
