# SPDX-License-Identifier: Apache-2.0
"""What the tests of a stream beside a table share: orders, rates, and what a join of them is.

Orders come in files of JSON; rates are a table, a view or a path. The oracle is a loop over all
pairs.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from tests.python.frames import Rows

ORDERS = "id INT, c STRING, ts INT"
RATES = "c STRING, valid_from INT, seq INT, rate INT, op STRING"

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


class Orders:
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

Table = tuple[Callable[[], "str | DataFrame"], Callable[[list[Rate]], None]]


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

    def view(text: str, words: str = "VIEW") -> str:
        session.sql(f"CREATE OR REPLACE {words} rates_seen AS SELECT * FROM {text}")
        return "rates_seen"

    if "table" in kind or kind in ("a view", "a temporary view"):
        by = " PARTITIONED BY (c)" if kind == "a partitioned table" else ""
        session.sql(f"CREATE TABLE rates_of_kind ({RATES}) USING parquet{by}")
    above = "rates_of_kind WHERE rate > (SELECT min(-rate) FROM rates_of_kind)"
    tables: dict[str, Table] = {
        "a table": (lambda: "rates_of_kind", append_table),
        "a partitioned table": (lambda: "rates_of_kind", append_table),
        "a view": (lambda: view("rates_of_kind WHERE rate > 0"), append_table),
        "a temporary view": (lambda: view(above, "TEMP VIEW"), append_table),
        "a DataFrame of a table": (lambda: session.table("rates_of_kind"), append_table),
        "a path": (lambda: f"parquet.`{path}`", append),
        "a pattern": (lambda: f"parquet.`{path}/d*`", append_folder),
        "a view of a pattern": (lambda: view(f"parquet.`{path}/d*`"), append_folder),
        "a folder of partitions": (lambda: f"parquet.`{path}`", append_partition),
        "a DataFrame of a path": (lambda: session.read.parquet(path), append),
        "a DataFrame of a pattern": (lambda: session.read.parquet(f"{path}/*"), append_folder),
        "a sink of a stream": (lambda: f"parquet.`{path}`", append_by_stream),
    }
    return tables[kind]


KINDS = (
    "a table",
    "a partitioned table",
    "a view",
    "a temporary view",
    "a DataFrame of a table",
    "a path",
    "a pattern",
    "a view of a pattern",
    "a folder of partitions",
    "a DataFrame of a path",
    "a DataFrame of a pattern",
    "a sink of a stream",
)
