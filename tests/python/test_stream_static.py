# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: a stream on the left, and on the right a table that every micro-batch reads anew.

Oracle: for as-of and temporal joins a loop over all pairs of rows; for plain joins Spark's own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException, StreamingQueryException
from tests.python.conftest import QUICK
from tests.python.frames import Rows
from tests.python.queries import settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

pytestmark = pytest.mark.spark

ORDERS = "id INT, c STRING, ts INT"
RATES = "c STRING, valid_from INT, seq INT, rate INT, op STRING"
MATCH = "MATCH_CONDITION (o.ts >= r.valid_from TIES ORDER BY r.seq) ON o.c = r.c"
HINTS = "VERSIONED(r, valid_from, seq), VERSION_KEY(r, c), VERSION_DELETED(r, (op = '-D'))"

Order = tuple[int, str | None, int | None]
Rate = tuple[str | None, int, int, int, str]

FIRST_ORDERS: list[Order] = [
    (1, "EUR", 5),
    (2, "EUR", 3),
    (3, "USD", 5),
    (4, None, 5),
    (5, "EUR", None),
    (6, "GBP", 9),
    (7, "EUR", 0),
]
NEXT_ORDERS: list[Order] = [(11, "EUR", 5), (12, "USD", 5), (13, "GBP", 9), (14, "YEN", 1)]
FIRST_RATES: list[Rate] = [
    ("EUR", 1, 1, 110, "+"),
    ("EUR", 4, 2, 120, "+"),
    ("EUR", 4, 3, 121, "+"),
    (None, 1, 4, 7, "+"),
    ("GBP", 1, 5, 80, "+"),
    ("GBP", 8, 6, 81, "-D"),
]
NEXT_RATES: list[Rate] = [("EUR", 5, 7, 130, "+"), ("USD", 2, 8, 100, "+"), ("YEN", 3, 9, 1, "+")]
ALL_RATES = FIRST_RATES + NEXT_RATES


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> Iterator[SparkSession]:
    own = spark.newSession()
    with settings(own, QUICK):
        yield own


@pytest.fixture(scope="module")
def writer(spark: SparkSession) -> Iterator[SparkSession]:
    """Another session than that of the stream, whose listings of files it does not touch."""
    own = spark.newSession()
    with settings(own, QUICK):
        yield own


class Stream:
    """A folder of JSON files that a query reads as a stream."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder, self.numbers = session, folder, count()
        folder.mkdir()

    @property
    def df(self) -> DataFrame:
        return self.session.readStream.schema(ORDERS).json(str(self.folder))

    def add(self, orders: list[Order]) -> None:
        """Add a file, which is there as a whole or not at all."""
        name = f"{next(self.numbers)}.json"
        lines = [json.dumps({"id": id_, "c": c, "ts": ts}) for id_, c, ts in orders]
        (self.folder / f".{name}").write_text("\n".join(lines))
        (self.folder / f".{name}").rename(self.folder / name)


@pytest.fixture
def orders(session: SparkSession, tmp_path: Path) -> Stream:
    return Stream(session, tmp_path / "orders")


@pytest.fixture
def rates(session: SparkSession, writer: SparkSession) -> Iterator[str]:
    """A table with the first rates."""
    session.sql(f"CREATE TABLE rates ({RATES}) USING parquet")
    insert(writer, "rates", FIRST_RATES)
    yield "rates"
    session.sql("DROP TABLE rates")


def values(session: SparkSession, rows: list[Rate]) -> DataFrame:
    names = ", ".join(column.split()[0] for column in RATES.split(", "))
    text = ", ".join(str(row).replace("None", "NULL") for row in rows)
    return session.sql(f"SELECT * FROM VALUES {text} AS r({names})").coalesce(1)


def insert(session: SparkSession, table: str, rows: list[Rate], how: str = "INTO") -> None:
    session.sql(f"INSERT {how} {table} BY NAME SELECT * FROM {{rows}}", rows=values(session, rows))


@contextmanager
def running(df: DataFrame, mode: str = "append", **options: Any) -> Iterator[StreamingQuery]:
    """Run ``df`` into a table of memory that has the query's name."""
    name = f"out{next(NUMBERS)}"
    query = df.writeStream.format("memory").queryName(name).outputMode(mode).options(**options)
    started = query.start()
    try:
        yield started
    finally:
        started.stop()


NUMBERS = count()


def read(query: StreamingQuery, session: SparkSession) -> Rows:
    query.processAllAvailable()
    return Counter(map(tuple, session.table(query.name).collect()))


def state_rows(query: StreamingQuery) -> int:
    return sum(
        s["numRowsTotal"] for progress in query.recentProgress for s in progress["stateOperators"]
    )


# The definitions: what of the rates an order picks, and what comes out of it.


def as_of(order: Order, rates: list[Rate]) -> Rate | None:
    _, c, ts = order
    found = [r for r in rates if c is not None and r[0] == c and ts is not None and r[1] <= ts]
    return max(found, key=lambda r: r[1:3], default=None)


def temporal(order: Order, rates: list[Rate]) -> Rate | None:
    found = as_of(order, rates)
    return found if found and found[4] != "-D" else None


def newest(order: Order, rates: list[Rate]) -> Rate | None:
    return temporal((order[0], order[1], 1000), rates)


Pick = Callable[[Order, list[Rate]], Rate | None]


def answers(how: str, pick: Pick, orders: list[Order], rates: list[Rate]) -> Rows:
    found = [(order[0], pick(order, rates)) for order in orders]
    match how:
        case "LEFT SEMI":
            return Counter((id_,) for id_, rate in found if rate)
        case "LEFT ANTI":
            return Counter((id_,) for id_, rate in found if not rate)
    return Counter((id_, rate and rate[3]) for id_, rate in found if rate or how == "LEFT")


def columns(how: str) -> str:
    return "o.id" if how in ("LEFT SEMI", "LEFT ANTI") else "o.id, r.rate"


# What a table may be: what to join with, and how rows are added to it.

Table = tuple[str | Callable[[], "DataFrame"], Callable[[list[Rate]], None]]


def table_of(kind: str, session: SparkSession, writer: SparkSession, folder: Path) -> Table:
    numbers = count()
    path = str(folder / "rates")

    def append(rows: list[Rate]) -> None:
        values(writer, rows).write.mode("append").parquet(path)

    def append_folder(rows: list[Rate]) -> None:
        values(writer, rows).write.parquet(f"{path}/day{next(numbers)}")

    def append_partition(rows: list[Rate]) -> None:
        values(writer, rows).write.mode("append").partitionBy("c").parquet(path)

    def append_by_stream(rows: list[Rate]) -> None:
        staged = str(folder / "staged")
        values(writer, rows).write.mode("append").parquet(staged)
        stream = writer.readStream.schema(RATES).parquet(staged)
        sink = stream.writeStream.option("checkpointLocation", str(folder / "sink"))
        sink.trigger(availableNow=True).start(path).awaitTermination()

    def append_table(rows: list[Rate]) -> None:
        insert(writer, "rates_of_kind", rows)

    match kind:
        case "a path":
            return f"parquet.`{path}`", append
        case "a pattern of paths":
            return f"parquet.`{path}/d*`", append_folder
        case "a DataFrame of a path":
            return lambda: session.read.parquet(path), append
        case "a DataFrame of a pattern":
            return lambda: session.read.parquet(f"{path}/*"), append_folder
        case "a folder of partitions":
            return f"parquet.`{path}`", append_partition
        case "a sink of a stream":
            return f"parquet.`{path}`", append_by_stream
    by = " PARTITIONED BY (c)" if kind == "a partitioned table" else ""
    session.sql(f"CREATE TABLE rates_of_kind ({RATES}) USING parquet{by}")
    match kind:
        case "a view":
            session.sql("CREATE VIEW rates_seen AS SELECT * FROM rates_of_kind WHERE rate > 0")
            return "rates_seen", append_table
        case "a temporary view":
            text = "SELECT * FROM rates_of_kind WHERE rate > (SELECT min(-rate) FROM rates_of_kind)"
            session.sql(f"CREATE OR REPLACE TEMP VIEW rates_passing AS {text}")
            return "rates_passing", append_table
        case "a DataFrame of a table":
            return lambda: session.table("rates_of_kind").where("rate > 0"), append_table
    return "rates_of_kind", append_table


KINDS = (
    "a table",
    "a partitioned table",
    "a view",
    "a temporary view",
    "a DataFrame of a table",
    "a path",
    "a pattern of paths",
    "a folder of partitions",
    "a DataFrame of a path",
    "a DataFrame of a pattern",
    "a sink of a stream",
)


@pytest.fixture
def no_tables(session: SparkSession) -> Iterator[None]:
    yield
    session.sql("DROP VIEW IF EXISTS rates_seen")
    session.sql("DROP TABLE IF EXISTS rates_of_kind")


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("kind", KINDS)
def test_every_micro_batch_reads_the_table_anew_and_keeps_nothing_of_it(
    session: SparkSession, writer: SparkSession, orders: Stream, tmp_path: Path, kind: str
) -> None:
    name, add = table_of(kind, session, writer, tmp_path)
    add(FIRST_RATES)
    right = {} if isinstance(name, str) else {"r": name()}
    relation = name if isinstance(name, str) else "{r}"
    asked = f"SELECT o.id, r.rate FROM {{o}} o LEFT ASOF JOIN {relation} r {MATCH}"
    df = session.sql(asked, o=orders.df, **right)
    with running(df) as query:
        orders.add(FIRST_ORDERS)
        first = answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == first
        add(NEXT_RATES)
        assert read(query, session) == first
        orders.add(NEXT_ORDERS)
        assert read(query, session) == first + answers("LEFT", as_of, NEXT_ORDERS, ALL_RATES)
        assert state_rows(query) == 0


@pytest.mark.parametrize("how", ["INNER", "LEFT", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize("kind", ["as-of", "temporal", "PROCTIME"])
def test_each_row_is_answered_in_its_own_micro_batch_and_for_good(
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str, kind: str, how: str
) -> None:
    hints, join = "", f"{how} ASOF JOIN {rates} r {MATCH}"
    if kind != "as-of":
        hints = f"/*+ {HINTS} */"
        time = "PROCTIME()" if kind == "PROCTIME" else "o.ts"
        join = f"{how} JOIN {rates} FOR SYSTEM_TIME AS OF {time} AS r ON o.c = r.c"
    pick = {"as-of": as_of, "temporal": temporal, "PROCTIME": newest}[kind]
    df = session.sql(f"SELECT {hints} {columns(how)} FROM {{o}} o {join}", o=orders.df)
    with running(df) as query:
        orders.add(FIRST_ORDERS)
        first = answers(how, pick, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == first
        insert(writer, rates, NEXT_RATES)
        orders.add(NEXT_ORDERS)
        assert read(query, session) == first + answers(how, pick, NEXT_ORDERS, ALL_RATES)
        assert state_rows(query) == 0


def test_versions_may_be_said_by_the_table_by_a_dataframe_and_in_a_view(
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str
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
    session: SparkSession, writer: SparkSession, orders: Stream, tmp_path: Path
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
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str
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
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str
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


def test_tables_joined_in_turn_are_of_one_moment_with_the_same_table_joined_plainly(
    session: SparkSession, writer: SparkSession, orders: Stream, tmp_path: Path
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
    session: SparkSession, orders: Stream, rates: str
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
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str, tmp_path: Path
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
    session: SparkSession, writer: SparkSession, orders: Stream, rates: str
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
    session: SparkSession, orders: Stream, rates: str
) -> None:
    sql = f"""SELECT {WINDOWS}.start AS start, sum(r.rate) AS total
        FROM (SELECT *, timestamp_seconds(ts) AS at FROM {{o}}) WATERMARK at DELAY OF INTERVAL 0 SECONDS AS o
        LEFT ASOF JOIN {rates} r {MATCH} GROUP BY {WINDOWS}"""
    df = session.sql(sql, o=orders.df).selectExpr("unix_seconds(start)", "total")
    with running(df) as query:
        orders.add([(1, "EUR", 2), (2, "EUR", 5), (3, "GBP", 12)])
        orders.add([(4, "EUR", 25)])
        assert read(query, session) == Counter([(0, 231), (10, 81)])


def test_a_stream_table_of_the_catalog_is_joined_too(
    session: SparkSession, orders: Stream, rates: str
) -> None:
    session.sql(f"CREATE TABLE ordered ({ORDERS}) USING json LOCATION '{orders.folder}'")
    try:
        sql = f"SELECT o.id, r.rate FROM STREAM ordered o LEFT ASOF JOIN {rates} r {MATCH}"
        with running(session.sql(sql)) as query:
            orders.add(FIRST_ORDERS)
            assert read(query, session) == answers("LEFT", as_of, FIRST_ORDERS, FIRST_RATES)
    finally:
        session.sql("DROP TABLE ordered")


@pytest.mark.parametrize(
    ("join", "sentence"),
    [
        ("{s} o RIGHT ASOF JOIN rates r {m}", "RIGHT OUTER ASOF JOIN of a stream with a table"),
        ("{s} o FULL ASOF JOIN rates r {m}", "FULL OUTER ASOF JOIN of a stream with a table"),
        ("rates r LEFT ASOF JOIN {s} o {m}", "of a table with a stream on the right side"),
        (
            "rates r JOIN {s} FOR SYSTEM_TIME AS OF r.at AS o ON o.c = r.c",
            "of a table with a stream on the right side",
        ),
        (
            "rates r JOIN {s} FOR SYSTEM_TIME AS OF PROCTIME() AS o ON o.c = r.c",
            "of a table with a stream on the right side",
        ),
        ("{s} o ASOF JOIN {two} r {m}", "read by several paths"),
        ("{s} o ASOF JOIN {second} r {m}", "second interface"),
        (
            "{s} o JOIN {two} FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.c = r.c",
            "read by several paths",
        ),
    ],
)
def test_what_could_not_be_answered_for_good_is_refused(
    session: SparkSession, orders: Stream, rates: str, tmp_path: Path, join: str, sentence: str
) -> None:
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        values(session, FIRST_RATES).write.parquet(path)
    two = session.read.parquet(*paths)
    with settings(session, {"spark.sql.sources.useV1SourceList": ""}):
        second = session.read.parquet(paths[0])
        second.schema  # noqa: B018
    sql = f"SELECT * FROM {join}".replace("{m}", MATCH).replace("rates", rates)
    frames = {"s": orders.df, "two": two, "second": second}
    used = {name: df for name, df in frames.items() if f"{{{name}}}" in sql}
    with pytest.raises(
        Exception, match=rf"(?s){sentence}.*not supported|not supported.*{sentence}"
    ) as caught:
        session.sql(sql, **used)
    assert ", because " in str(caught.value)


@pytest.mark.parametrize("mode", ["update", "complete"])
@pytest.mark.parametrize(
    "join",
    [f"ASOF JOIN rates r {MATCH}", "JOIN rates FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.c = r.c"],
)
def test_a_stream_whose_rows_change_is_refused_when_it_starts(
    session: SparkSession, orders: Stream, rates: str, mode: str, join: str
) -> None:
    versioned = "/*+ VERSIONED(r, valid_from) */" if "PROCTIME" in join else ""
    sql = f"SELECT {versioned} o.c, o.ts, r.rate FROM (SELECT c, max(ts) AS ts FROM {{o}} GROUP BY c) o {join}"
    df = session.sql(sql.replace("rates", rates), o=orders.df)
    sentence = f"output mode {mode} is not supported .*, because a row that has come out cannot"
    with pytest.raises(Exception, match=sentence), running(df, mode=mode):
        pass


def test_an_aggregate_above_may_be_written_in_every_mode(
    session: SparkSession, orders: Stream, rates: str
) -> None:
    sql = f"SELECT r.rate, count(*) FROM {{o}} o ASOF JOIN {rates} r {MATCH} GROUP BY r.rate"
    with running(session.sql(sql, o=orders.df), mode="complete") as query:
        orders.add(FIRST_ORDERS)
        found = answers("INNER", as_of, FIRST_ORDERS, FIRST_RATES)
        assert read(query, session) == Counter(Counter(rate for _, rate in found).items())


def test_without_plait_the_clauses_are_not_there(
    session: SparkSession, orders: Stream, rates: str
) -> None:
    with settings(session, {"spark.plait.enabled": False}):
        for join in (
            f"ASOF JOIN {rates} r {MATCH}",
            f"JOIN {rates} FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c",
            f"JOIN {rates} FOR SYSTEM_TIME AS OF PROCTIME() AS r ON o.c = r.c",
        ):
            with pytest.raises((ParseException, AnalysisException)):
                session.sql(f"SELECT * FROM {{o}} o {join}", o=orders.df)
