# SPDX-License-Identifier: Apache-2.0
"""Joins populated from a backlog: tables of TPC-DS, scale 1, as streams; no time to prune by.

    customers   customer (100,000) joined with store_sales (2,880,404) by the customer's key
    query 4     the branches store, catalog and web of its year_total: each sale with its customer
                and date, which are six joins, UNION ALL, summed per customer and year

Sales come in 24 files, one of each table a micro-batch, and customers and dates in one, with the
first of them. Every row may match for ever, so all are kept, but for the asymmetry: where customers
and dates are said to end (the hint BOUNDED), no sale is kept once they are read.

Claim: with the asymmetry the time and the rows kept at most are at most 1/1.5 of those without.

Peers: Plait with and without the asymmetry, Spark's own join, and a floor: customers and dates as
tables, which Spark broadcasts, so that nothing is kept. What a query takes there it takes with any
join, and no asymmetry can gain it. Customers are joined on the
HDFS-backed store, and on RocksDB in a JVM of 1 GiB; query 4 on the HDFS-backed store in one of
12 GiB, which Spark's own six joins fill. The rows are DuckDB's.

The aggregate comes out in the mode update, its last versions are what is compared. Data come from
tpcgen-cli. Each part runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import spark as sparks
from benchmarks import streams, tpcds
from benchmarks.peer import Query
from benchmarks.race import Laps, agree, race
from benchmarks.result import Case, Result
from benchmarks.spark import STOCK
from benchmarks.state_picture import draw_states
from benchmarks.streams import (
    FORMAT_4,
    HDFS,
    ROCKSDB,
    Backlog,
    Source,
    StreamPeer,
    StreamQuery,
    Table,
)
from benchmarks.table import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

TITLE = "Joins populated from a backlog, TPC-DS at scale 1"
GAIN = 1.5
LIMIT = 600
STORE_SALES = 2_880_404
PLAIT, BOUNDED_PLAIT, OWN, FLOOR = "Plait", "Plait, bounded", "stock Spark", "floor"
# What ends, and is a table for the floor.
ENDING = ("customer", "date_dim")

CUSTOMER = (
    "c_customer_id",
    "c_first_name",
    "c_last_name",
    "c_preferred_cust_flag",
    "c_birth_country",
    "c_login",
    "c_email_address",
)
OF_SALE = (
    "ext_list_price",
    "ext_wholesale_cost",
    "ext_discount_amt",
    "ext_sales_price",
    "sold_date_sk",
)


@dataclass(frozen=True)
class Branch:
    """A branch of query 4: its table, the prefix of its columns, the customer's key, its part."""

    table: str
    prefix: str
    customer: str
    part: float

    @property
    def columns(self) -> list[str]:
        """The columns that the queries here need."""
        columns = [self.customer, *(f"{self.prefix}_{name}" for name in OF_SALE)]
        more = ["ss_ticket_number", "ss_item_sk", "ss_net_paid"]
        return [*columns, *(more if self.table == "store_sales" else ())]

    def text(self, hint: str) -> str:
        """Return the sales of the branch with customer and year; ``twice`` is halved later."""
        price, cost, discount, sales, date = (f"{self.prefix}_{name}" for name in OF_SALE)
        return (
            f"SELECT {hint} {', '.join(CUSTOMER)}, d_year AS dyear,"
            f" '{self.prefix[0]}' AS sale_type,"
            f" (({price} - {cost} - {discount}) + {sales}) AS twice"
            f" FROM customer c JOIN {self.table} s ON c_customer_sk = {self.customer}"
            f" JOIN date_dim d ON {date} = d_date_sk"
        )


BRANCHES = (
    Branch("store_sales", "ss", "ss_customer_sk", 1),
    Branch("catalog_sales", "cs", "cs_bill_customer_sk", 1 / 2),
    Branch("web_sales", "ws", "ws_bill_customer_sk", 1 / 4),
)
KEYS = ", ".join((*CUSTOMER, "dyear", "sale_type"))


def _year_total(hint: str, total: str) -> str:
    sales = " UNION ALL ".join(branch.text(hint) for branch in BRANCHES)
    return f"SELECT {KEYS}, {total} FROM ({sales}) GROUP BY {KEYS}"


def _digest(number: str) -> str:
    """Return sums that tell rows apart; ``number`` makes one of 8 hexadecimal digits."""
    row = f"concat_ws('|', {KEYS.replace('dyear', 'CAST(dyear AS STRING)')}, CAST(m AS STRING))"
    digits = f"substr(md5({row}), 1, 8)"
    return f"count(*) AS c, sum(m) AS m, sum(CAST({number.format(digits)} AS BIGINT)) AS d"


# Sums of halves are exact in Spark alone: thousandths are compared.
_LAST = f"""(SELECT {KEYS}, CAST(max_by(year_total, batch) * 1000 AS BIGINT) AS m
FROM sink GROUP BY {KEYS})"""
CUSTOMER_SUMS = (
    "count(*) AS c, sum(c_customer_sk) AS k, sum(length(c_email_address)) AS e,"
    " sum(ss_ticket_number) AS t, sum(ss_item_sk) AS i, sum(CAST(ss_net_paid * 100 AS BIGINT)) AS p"
)


def customers(hint: str) -> StreamQuery:
    """Return the join of customers and what they bought in stores."""
    text = (
        f"SELECT {hint} c.*, ss_ticket_number, ss_item_sk, ss_net_paid"
        " FROM customer c JOIN store_sales s ON c_customer_sk = ss_customer_sk"
    )
    return StreamQuery(text, CUSTOMER_SUMS)


def query_4(hint: str) -> StreamQuery:
    """Return the sums of each customer and year in store, catalog and web."""
    text = _year_total(hint, "sum(twice / 2) AS year_total")
    return StreamQuery(text, _digest("conv({}, 16, 10)"), _LAST, "update")


_THOUSANDTHS = _year_total("", "CAST(sum(twice) * 500 AS BIGINT) AS m")
QUERY_4_IN_DUCKDB = Query(f"""SELECT {_digest("'0x' || {}")} FROM ({_THOUSANDTHS}) sink""")


@dataclass(frozen=True)
class Part:
    """A query, by its hint, on a store, in a JVM with so much memory.

    ``bounded`` is the hint that says what will end, ``as_batch`` the query over tables, in DuckDB's
    words; ``best`` is for Spark's own join.
    """

    title: str
    query: Callable[[str], StreamQuery]
    bounded: str
    as_batch: Query
    heap: str
    settings: Mapping[str, str]
    best: Mapping[str, str]


_CUSTOMERS = (customers, "/*+ BOUNDED(c) */", customers("").as_batch)
PARTS = (
    Part("customers, HDFS-backed store, 6 GiB", *_CUSTOMERS, "6g", HDFS, {}),
    Part("customers, RocksDB store, 1 GiB", *_CUSTOMERS, "1g", ROCKSDB, FORMAT_4),
    Part(
        "query 4, HDFS-backed store, 12 GiB",
        query_4,
        "/*+ BOUNDED(c, d) */",
        QUERY_4_IN_DUCKDB,
        "12g",
        HDFS,
        {},
    ),
)


def make_backlogs(spark: SparkSession, folder: Path, rows: int, files: int) -> dict[str, Backlog]:
    """Make streams of the tables, with so many of the rows of store_sales."""

    def backlog(table: str, columns: Sequence[str], many: int | None = None) -> Backlog:
        df = spark.table(table).select(*columns)
        parts = df.coalesce(1) if many is None else df.limit(many).repartition(files)
        return streams.written(parts, folder / f"{table}_{rows}")

    sales = {b.table: backlog(b.table, b.columns, int(rows * b.part) + 1) for b in BRANCHES}
    return {
        "customer": backlog("customer", ("c_customer_sk", *CUSTOMER)),
        "date_dim": backlog("date_dim", ("d_date_sk", "d_year")),
        **sales,
    }


def race_part(
    spark: SparkSession, part: Part, backlogs: Mapping[str, Backlog], runs: int, folder: Path
) -> Laps:
    """Race the peers of a part, and DuckDB for its rows."""
    settings = {**part.settings, **STOCK, **part.best}
    with_tables: dict[str, Source] = {
        name: Table(backlog) if name in ENDING else backlog for name, backlog in backlogs.items()
    }
    peers = [
        StreamPeer(FLOOR, spark, part.query(""), with_tables, folder, settings, LIMIT),
        *(
            StreamPeer(name, spark, part.query(hint), backlogs, folder, part.settings, LIMIT)
            for name, hint in ((PLAIT, ""), (BOUNDED_PLAIT, part.bounded))
        ),
        StreamPeer(OWN, spark, part.query(""), backlogs, folder, settings, LIMIT),
    ]
    laps = race(peers, runs)
    agree({**laps, "DuckDB": streams.in_duckdb(part.as_batch, backlogs)})
    return laps


def race_in_own_jvm(part: Part, options: Options, folder: Path) -> tuple[str, Laps]:
    """Return the version of the JDK, and the laps of a part in a session that it starts."""
    spark = sparks.start(part.heap)
    try:
        tpcds.make_tables(spark)
        rows = options.sizes(STORE_SALES)[0]
        backlogs = make_backlogs(spark, folder, rows, streams.files(options))
        return sparks.jdk(spark), race_part(spark, part, backlogs, options.runs, folder)
    finally:
        spark.stop()


def judge(result: Result, title: str, laps: Laps) -> None:
    """Judge what the asymmetry gains."""
    result.add(Case(title, laps), Claim(title, BOUNDED_PLAIT, PLAIT, 1 / GAIN))
    most, most_without = (
        max(streams.kept(laps[name]), default=0) for name in (BOUNDED_PLAIT, PLAIT)
    )
    what = f"{title}: rows kept at most, {BOUNDED_PLAIT} by 1/{GAIN} of {PLAIT}"
    result.judge(what, most, int(most_without / GAIN))


def panel(laps: Laps) -> dict[str, Sequence[int]]:
    """Return the rows that each peer keeps after each micro-batch; the floor keeps none."""
    return {name: streams.kept(lap) for name, lap in laps.items() if name != FLOOR}


def run(options: Options, folder: Path) -> None:
    """Run the parts, each in a process of its own, and keep the result."""
    result = Result("population", TITLE, "", options, streams.WHOLE)
    panels = {}
    for part in PARTS:
        print(part.title, flush=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            future = process.submit(race_in_own_jvm, part, options, folder)
            result.jdk, laps = future.result()
        judge(result, part.title, laps)
        panels[part.title] = panel(laps)
        draw_states(panels, TITLE, options.folder / "population-rows.png")
    print("\n".join(result.judged))
