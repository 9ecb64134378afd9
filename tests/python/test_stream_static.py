# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: a stream beside a table, which every micro-batch reads anew.

Oracle: for as-of and temporal joins a loop over all pairs of rows; for plain joins Spark's own.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, ParseException, StreamingQueryException
from tests.python.conftest import QUICK
from tests.python.queries import settings
from tests.python.rates import (
    ALL_RATES,
    FIRST_ORDERS,
    FIRST_RATES,
    KINDS,
    NEXT_ORDERS,
    NEXT_RATES,
    ORDERS,
    RATES,
    Orders,
    answers,
    as_of,
    columns,
    insert,
    newest,
    read,
    running,
    state_rows,
    table_of,
    temporal,
    values,
)
from tests.python.streams import quick_session

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows
    from tests.python.rates import Pick

pytestmark = pytest.mark.spark

MATCH = "MATCH_CONDITION (o.ts >= r.valid_from TIES ORDER BY r.seq) ON o.c = r.c"
HINTS = "VERSIONED(r, valid_from, seq), VERSION_KEY(r, c), VERSION_DELETED(r, (op = '-D'))"


session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.fixture(scope="module")
def writer(spark: SparkSession) -> Iterator[SparkSession]:
    """Another session than that of the stream, whose listings of files it does not touch."""
    own = spark.newSession()
    with settings(own, QUICK):
        yield own


@pytest.fixture
def orders(session: SparkSession, tmp_path: Path) -> Orders:
    return Orders(session, tmp_path / "orders")


@pytest.fixture
def rates(session: SparkSession, writer: SparkSession) -> Iterator[str]:
    """A table with the first rates."""
    session.sql(f"CREATE TABLE rates ({RATES}) USING parquet")
    insert(writer, "rates", FIRST_RATES)
    yield "rates"
    session.sql("DROP TABLE rates")


@pytest.fixture
def no_tables(session: SparkSession) -> Iterator[None]:
    yield
    session.sql("DROP VIEW IF EXISTS rates_seen")
    session.sql("DROP TABLE IF EXISTS rates_of_kind")


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("kind", KINDS)
def test_every_micro_batch_reads_the_table_anew_and_keeps_nothing_of_it(
    session: SparkSession, writer: SparkSession, orders: Orders, tmp_path: Path, kind: str
) -> None:
    relation, add = table_of(kind, session, writer, tmp_path)
    add(FIRST_RATES)
    table = relation()
    name, frames = (table, {}) if isinstance(table, str) else ("{r}", {"r": table})
    sql = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {name} r {MATCH}"
    df = session.sql(sql, o=orders.df, **frames)
    with running(df) as query:
        orders.add(FIRST_ORDERS)
        first = answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == first
        add(NEXT_RATES)
        assert read(query, session) == first
        orders.add(NEXT_ORDERS)
        assert read(query, session) == first + answers("LEFT", as_of, NEXT_ORDERS, ALL_RATES)
        assert state_rows(query) == 0


CLAUSES = {
    as_of: f"ASOF JOIN rates r {MATCH}",
    temporal: "JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c",
    newest: "JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.c = r.c",
}


@pytest.mark.parametrize("how", ["INNER", "LEFT", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize("pick", CLAUSES)
def test_each_row_is_answered_in_its_own_micro_batch_and_for_good(
    session: SparkSession, orders: Orders, rates: str, pick: Pick, how: str
) -> None:
    hints = "" if pick is as_of else f"/*+ {HINTS} */"
    sql = f"SELECT {hints} {columns(how)} FROM {{o}} o {how} {CLAUSES[pick]}"
    df = session.sql(sql, o=orders.df)
    with running(df) as query:
        orders.add(FIRST_ORDERS)
        first = answers(how, pick, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == first
        insert(session, rates, NEXT_RATES)
        orders.add(NEXT_ORDERS)
        assert read(query, session) == first + answers(how, pick, NEXT_ORDERS, ALL_RATES)
        assert state_rows(query) == 0


def test_versions_may_be_said_by_the_table_by_a_dataframe_and_in_a_view(
    session: SparkSession, writer: SparkSession, orders: Orders, rates: str
) -> None:
    hinted = (
        session.table(rates)
        .hint("VERSIONED", "valid_from", "seq")
        .hint("VERSION_KEY", "c")
        .hint("VERSION_DELETED", "op = '-D'")
    )
    hinted.createOrReplaceTempView("hinted_rates")
    session.sql(
        f"""ALTER TABLE {rates} SET TBLPROPERTIES ('plait.version-time' = 'valid_from',
        'plait.version-order' = 'seq', 'plait.version-key' = 'c',
        'plait.version-deleted' = "op = '-D'")"""
    )
    relations = {"a": rates, "b": "hinted_rates", "c": "{hinted}"}
    joins = " ".join(
        f"LEFT JOIN {relation} FOR SYSTEM_TIME AS OF o.ts AS {name} ON o.c = {name}.c"
        for name, relation in relations.items()
    )
    df = session.sql(
        f"SELECT o.id, a.rate, b.rate, c.rate FROM {{o}} o {joins}", o=orders.df, hinted=hinted
    )
    with running(df) as query:
        orders.add(FIRST_ORDERS)
        read(query, session)
        insert(writer, rates, NEXT_RATES)
        orders.add(NEXT_ORDERS)
        expected = answers("LEFT", temporal, FIRST_ORDERS, FIRST_RATES)
        expected += answers("LEFT", temporal, NEXT_ORDERS, ALL_RATES)
        assert read(query, session) == Counter((id_, *[rate] * 3) for id_, rate in expected)


def test_proctime_of_a_table_without_a_time_joins_with_the_rows_that_it_has_then(
    session: SparkSession, writer: SparkSession, orders: Orders, tmp_path: Path
) -> None:
    path = str(tmp_path / "names")

    def write(names: dict[str, str]) -> None:
        rows = ", ".join(str(pair) for pair in names.items())
        df = writer.sql(f"SELECT * FROM VALUES {rows} AS n(c, name)")
        df.coalesce(1).write.mode("overwrite").parquet(path)

    write({"EUR": "Euro"})
    join = f"LEFT JOIN parquet.`{path}` FOR SYSTEM_TIME AS OF PROCTIME() AS n USING (c)"
    df = session.sql(f"SELECT id, name FROM {{o}} o {join}", o=orders.df)
    with running(df) as query:
        orders.add([(1, "EUR", 1), (2, "USD", 1)])
        first = Counter([(1, "Euro"), (2, None)])
        assert read(query, session) == first
        write({"USD": "Dollar"})
        orders.add([(3, "EUR", 1), (4, "USD", 1)])
        assert read(query, session) == first + Counter([(3, None), (4, "Dollar")])


def test_what_is_overwritten_or_deleted_is_gone_for_rows_that_come_later(
    session: SparkSession, writer: SparkSession, orders: Orders, rates: str
) -> None:
    sql = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {rates} r {MATCH}"
    with running(session.sql(sql, o=orders.df)) as query:
        orders.add(FIRST_ORDERS)
        expected = answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == expected
        insert(writer, rates, NEXT_RATES, how="OVERWRITE")
        orders.add(NEXT_ORDERS)
        expected += answers("LEFT", as_of, NEXT_ORDERS, NEXT_RATES)
        assert read(query, session) == expected
        writer.sql(f"TRUNCATE TABLE {rates}")
        orders.add([(21, "EUR", 9)])
        assert read(query, session) == expected + Counter([(21, None)])


def test_a_table_with_more_columns_is_read_and_one_that_has_lost_a_column_is_an_error(
    session: SparkSession, writer: SparkSession, orders: Orders, rates: str
) -> None:
    sql = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {rates} r {MATCH}"
    with running(session.sql(sql, o=orders.df)) as query:
        writer.sql(f"ALTER TABLE {rates} ADD COLUMNS (bank STRING)")
        orders.add(FIRST_ORDERS)
        assert read(query, session) == answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
        writer.sql(f"DROP TABLE {rates}")
        writer.sql(f"CREATE TABLE {rates} (c STRING, valid_from INT, rate INT) USING parquet")
        orders.add(NEXT_ORDERS)
        gone = "rates have changed while it is joined with a stream: seq of the type INT is gone"
        with pytest.raises(StreamingQueryException, match=gone):
            query.processAllAvailable()


@pytest.mark.parametrize("is_path", [False, True])
def test_a_table_or_a_folder_that_is_gone_ends_the_query(
    session: SparkSession, writer: SparkSession, orders: Orders, tmp_path: Path, is_path: bool
) -> None:
    path = tmp_path / "rates"
    values(writer, FIRST_RATES).write.parquet(str(path))
    session.sql(f"CREATE TABLE passing USING parquet LOCATION '{path}'")
    table = f"parquet.`{path}`" if is_path else "passing"
    sql = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {table} r {MATCH}"
    with running(session.sql(sql, o=orders.df)) as query:
        orders.add(FIRST_ORDERS)
        read(query, session)
        writer.sql("DROP TABLE passing")
        shutil.rmtree(path)
        orders.add(NEXT_ORDERS)
        with pytest.raises(
            StreamingQueryException, match=r"PATH_NOT_FOUND|TABLE_OR_VIEW_NOT_FOUND"
        ):
            query.processAllAvailable()


def test_tables_joined_in_turn_are_of_one_moment_with_the_same_table_joined_plainly(
    session: SparkSession, writer: SparkSession, orders: Orders, tmp_path: Path
) -> None:
    path = str(tmp_path / "rates")
    values(writer, FIRST_RATES).write.parquet(path)
    table = f"parquet.`{path}`"
    sql = f"""SELECT o.id, r.rate, s.seq FROM {{o}} o LEFT ASOF JOIN {table} r {MATCH}
        LEFT JOIN {table} s ON s.seq = r.seq AND s.c = r.c"""
    with running(session.sql(sql, o=orders.df)) as query:
        orders.add(FIRST_ORDERS)
        read(query, session)
        values(writer, NEXT_RATES).write.mode("append").parquet(path)
        orders.add(NEXT_ORDERS)
        found = [as_of(o, FIRST_RATES) for o in FIRST_ORDERS]
        found += [as_of(o, ALL_RATES) for o in NEXT_ORDERS]
        ids = [order[0] for order in FIRST_ORDERS + NEXT_ORDERS]
        expected = Counter((id_, r and r[3], r and r[2]) for id_, r in zip(ids, found, strict=True))
        assert read(query, session) == expected


def test_without_an_equality_and_under_adaptive_execution_the_rows_are_the_same(
    session: SparkSession, orders: Orders, rates: str
) -> None:
    keys = {
        "spark.sql.adaptive.enabled": True,
        "spark.sql.shuffle.partitions": 3,
        "spark.plait.join.strategy": "always",
    }
    match = "MATCH_CONDITION (o.ts >= r.valid_from TIES ORDER BY r.seq)"
    sql = f"""SELECT o.id, r.rate, s.rate FROM {{o}} o LEFT ASOF JOIN {rates} r {match}
        LEFT ASOF JOIN {rates} s {MATCH.replace("r.", "s.")}"""
    with settings(session, keys), running(session.sql(sql, o=orders.df)) as query:
        orders.add(FIRST_ORDERS)
        orders.add(NEXT_ORDERS)
        of_any = [("", *rate[1:]) for rate in FIRST_RATES]
        expected: Rows = Counter()
        for order in FIRST_ORDERS + NEXT_ORDERS:
            any_, same = as_of((0, "", order[2]), of_any), as_of(order, FIRST_RATES)
            expected[order[0], any_ and any_[3], same and same[3]] += 1
        assert read(query, session) == expected


def test_it_goes_on_after_a_restart_and_in_runs_over_what_is_available(
    session: SparkSession, writer: SparkSession, orders: Orders, rates: str, tmp_path: Path
) -> None:
    asked = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {rates} r {MATCH}"
    sink, checkpoint = str(tmp_path / "sink"), str(tmp_path / "checkpoint")

    def run() -> Rows:
        stream = session.readStream.schema(ORDERS).option("maxFilesPerTrigger", 1)
        df = session.sql(asked, o=stream.json(str(orders.folder)))
        query = df.writeStream.option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start(sink).awaitTermination()
        return Counter(map(tuple, session.read.parquet(sink).collect()))

    orders.add(FIRST_ORDERS[:4])
    orders.add(FIRST_ORDERS[4:])
    first = answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
    assert run() == first
    insert(writer, rates, NEXT_RATES)
    assert run() == first
    orders.add(NEXT_ORDERS)
    assert run() == first + answers("LEFT", as_of, NEXT_ORDERS, ALL_RATES)


def test_it_runs_in_foreach_batch_of_the_joined_stream_and_of_the_stream_itself(
    session: SparkSession, writer: SparkSession, orders: Orders, rates: str
) -> None:
    asked = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {rates} r {MATCH}"
    got: dict[str, Rows] = {"joined": Counter(), "itself": Counter()}

    def keep(df: DataFrame, _: int) -> None:
        got["joined"].update(map(tuple, df.collect()))

    def join(df: DataFrame, _: int) -> None:
        own = df.sparkSession
        own.catalog.refreshTable(rates)
        got["itself"].update(map(tuple, own.sql(asked, o=df).collect()))

    def run() -> None:
        for query in queries:
            query.processAllAvailable()

    joined = session.sql(asked, o=orders.df)
    queries = [joined.writeStream.foreachBatch(keep).start()]
    queries.append(orders.df.writeStream.foreachBatch(join).start())
    try:
        orders.add(FIRST_ORDERS)
        run()
        insert(writer, rates, NEXT_RATES)
        orders.add(NEXT_ORDERS)
        run()
    finally:
        for query in queries:
            query.stop()
    expected = answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
    expected += answers("LEFT", as_of, NEXT_ORDERS, ALL_RATES)
    assert got == {"joined": expected, "itself": expected}


WINDOWS = "window(at, '10 seconds')"


def test_an_aggregate_above_emits_what_the_watermark_of_the_stream_closes(
    session: SparkSession, orders: Orders, rates: str
) -> None:
    sql = f"""SELECT {WINDOWS}.start AS start, sum(r.rate) AS total
        FROM (SELECT *, timestamp_seconds(ts) AS at FROM {{o}})
        WATERMARK at DELAY OF INTERVAL 0 SECONDS AS o
        LEFT ASOF JOIN {rates} r {MATCH} GROUP BY {WINDOWS}"""
    df = session.sql(sql, o=orders.df).selectExpr("unix_seconds(start)", "total")
    with running(df) as query:
        orders.add([(1, "EUR", 2), (2, "EUR", 5), (3, "GBP", 12)])
        orders.add([(4, "EUR", 25)])
        assert read(query, session) == Counter([(0, 231), (10, 81)])


def test_a_stream_table_of_the_catalog_is_joined_too(
    session: SparkSession, orders: Orders, rates: str
) -> None:
    session.sql(f"CREATE TABLE ordered ({ORDERS}) USING json LOCATION '{orders.folder}'")
    try:
        sql = f"SELECT o.id, r.rate FROM STREAM ordered o LEFT ASOF JOIN {rates} r {MATCH}"
        with running(session.sql(sql)) as query:
            orders.add(FIRST_ORDERS)
            assert read(query, session) == answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
    finally:
        session.sql("DROP TABLE ordered")


OF_PAST = "MATCH_CONDITION (r.valid_from >= o.ts) ON o.c = r.c"
PROCTIME = "FOR SYSTEM_TIME AS OF PROCTIME()"


@pytest.mark.parametrize(
    ("join", "sentence"),
    [
        (f"{{s}} o RIGHT ASOF JOIN rates r {MATCH}", "RIGHT OUTER ASOF JOIN of a stream"),
        (f"{{s}} o FULL ASOF JOIN rates r {MATCH}", "FULL OUTER ASOF JOIN of a stream"),
        (f"rates r LEFT ASOF JOIN {{s}} o {OF_PAST}", "of a table with a stream"),
        ("later r JOIN {s} FOR SYSTEM_TIME AS OF r.at AS o ON o.c = r.c", "of a table with a"),
        (f"rates r JOIN {{s}} {PROCTIME} AS o ON o.c = r.c", "of a table with a stream"),
        (f"{{s}} o ASOF JOIN {{two}} r {MATCH}", "several paths at once"),
        (f"{{s}} o JOIN {{two}} {PROCTIME} AS r ON o.c = r.c", "several paths at once"),
        (f"{{s}} o ASOF JOIN {{second}} r {MATCH}", "second interface"),
    ],
)
@pytest.mark.usefixtures("rates")
def test_what_could_not_be_answered_for_good_is_refused(
    session: SparkSession, orders: Orders, tmp_path: Path, join: str, sentence: str
) -> None:
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        values(session, FIRST_RATES).write.parquet(path)
    session.sql("CREATE OR REPLACE TEMP VIEW later AS SELECT *, now() AS at FROM rates")
    with settings(session, {"spark.sql.sources.useV1SourceList": ""}):
        second = session.read.parquet(paths[0])
    frames = {"s": orders.df, "two": session.read.parquet(*paths), "second": second}
    used = {name: df for name, df in frames.items() if f"{{{name}}}" in join}
    with pytest.raises(AnalysisException) as caught:
        session.sql(f"SELECT * FROM {join}", **used)
    said = str(caught.value)
    assert sentence in said
    assert "not supported" in said
    assert ", because " in said


@pytest.mark.parametrize("mode", ["update", "complete"])
@pytest.mark.parametrize(
    "join",
    [
        f"ASOF JOIN rates r {MATCH}",
        f"JOIN rates {PROCTIME} AS r ON o.c = r.c",
        f"JOIN plain {PROCTIME} AS r ON o.c = r.c",
    ],
)
@pytest.mark.usefixtures("rates")
def test_a_stream_whose_rows_change_is_refused_when_it_starts(
    session: SparkSession, orders: Orders, mode: str, join: str
) -> None:
    session.sql("CREATE OR REPLACE TEMP VIEW plain AS SELECT c, rate FROM rates")
    hint = "/*+ VERSIONED(r, valid_from) */" if "rates FOR" in join else ""
    grouped = "(SELECT c, max(ts) AS ts FROM {o} GROUP BY c)"
    df = session.sql(f"SELECT {hint} o.c, o.ts, r.rate FROM {grouped} o {join}", o=orders.df)
    sentence = f"output mode {mode} is not supported .*, because a row that has come out cannot"
    with pytest.raises(Exception, match=sentence), running(df, mode=mode):
        pass


def test_an_aggregate_above_may_be_written_in_every_mode(
    session: SparkSession, orders: Orders, rates: str
) -> None:
    sql = f"SELECT r.rate, count(*) FROM {{o}} o ASOF JOIN {rates} r {MATCH} GROUP BY r.rate"
    with running(session.sql(sql, o=orders.df), mode="complete") as query:
        orders.add(FIRST_ORDERS)
        found = answers("INNER", as_of, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == Counter(Counter(rate for _, rate in found).items())


NEAR = "o.ts BETWEEN r.valid_from AND r.valid_from + 3"
PLAIN = (
    f"SELECT o.id, r.seq FROM {{o}} o LEFT JOIN rates r ON o.c = r.c AND {NEAR}",
    f"SELECT o.id, r.seq FROM rates r RIGHT JOIN {{o}} o ON o.c = r.c AND {NEAR}",
    f"SELECT o.id FROM {{o}} o LEFT SEMI JOIN rates r ON o.c = r.c AND {NEAR}",
    f"SELECT o.id FROM {{o}} o WHERE NOT EXISTS (SELECT 1 FROM rates r WHERE {NEAR})",
    f"SELECT o.id, r.seq FROM {{o}} o JOIN rates r ON {NEAR}",
    f"SELECT /*+ BROADCAST(r) */ o.id, r.seq FROM {{o}} o LEFT JOIN rates r ON {NEAR}",
    f"""SELECT /*+ SYMMETRIC_HASH(o, r), RANGE_JOIN(r, 5), ORDERED(r, 'seq') */ o.id, r.seq
        FROM {{o}} o JOIN rates r ON o.c = r.c AND {NEAR}""",
)


@pytest.mark.usefixtures("rates")
def test_plain_interval_joins_of_a_stream_and_a_table_have_the_rows_that_spark_has(
    session: SparkSession, orders: Orders
) -> None:
    keys = {"spark.sql.adaptive.enabled": True, "spark.plait.join.strategy": "always"}
    with settings(session, keys), ExitStack() as stack:
        dfs = [session.sql(sql, o=orders.df) for sql in PLAIN]
        queries = [stack.enter_context(running(df)) for df in dfs]
        orders.add(FIRST_ORDERS)
        for query in queries:
            read(query, session)
        orders.add(NEXT_ORDERS)
        got = [read(query, session) for query in queries]
    whole = session.read.schema(ORDERS).json(str(orders.folder))
    with settings(session, {"spark.plait.enabled": False}):
        for sql, rows in zip(PLAIN, got, strict=True):
            of_spark = session.sql(re.sub(r"/\*.*\*/", "", sql), o=whole)
            assert rows == Counter(map(tuple, of_spark.collect())), sql
            assert rows, sql


def test_without_plait_the_clauses_are_not_there(
    session: SparkSession, orders: Orders, rates: str
) -> None:
    with settings(session, {"spark.plait.enabled": False}):
        for join in (
            f"ASOF JOIN {rates} r {MATCH}",
            f"JOIN {rates} FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c",
            f"JOIN {rates} {PROCTIME} AS r ON o.c = r.c",
        ):
            with pytest.raises((ParseException, AnalysisException)):
                session.sql(f"SELECT * FROM {{o}} o {join}", o=orders.df)
