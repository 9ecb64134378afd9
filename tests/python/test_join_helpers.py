# SPDX-License-Identifier: Apache-2.0
"""Examples: the joins of Python, each in a classic session and over Spark Connect.

The Connect server runs in the JVM of the classic session: pyspark allows one process to have both
as long as the remote session is built by its own class.
"""

from __future__ import annotations

import inspect
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.python.queries import settings

import plait
from plait.join import __all__ as joins

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOON = datetime(2026, 3, 1, 12)
Rows = Counter[tuple[Any, ...]]


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


# To compile and to adapt takes longer than to run queries of a few rows.
QUICK = {
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.adaptive.enabled": False,
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.session.timeZone": "UTC",
}
TYPES = {"int": pa.int32(), "string": pa.string(), "timestamp": pa.timestamp("us", "UTC")}


def frame(session: SparkSession, rows: list[tuple[Any, ...]], columns: str) -> DataFrame:
    """Return a DataFrame by way of Arrow, which needs no Python on the other side."""
    fields = [column.rsplit(" ", 1) for column in columns.split(", ")]
    schema = pa.schema([(name, TYPES[kind]) for name, kind in fields])
    table = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return session.createDataFrame(pa.Table.from_pylist(table, schema))


@pytest.fixture(scope="module")
def connect(spark: SparkSession) -> Iterator[SparkSession]:
    from pyspark.sql.connect.session import SparkSession as RemoteSession

    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    spark._jsc.sc().conf().set("spark.connect.grpc.binding.port", str(port))
    spark._jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(spark._jsc.sc())
    session = RemoteSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    for key, value in QUICK.items():
        session.conf.set(key, value)
    yield session
    session.stop()


@pytest.fixture(params=["classic", "connect"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    if request.param == "connect":
        yield request.getfixturevalue("connect")
    else:
        with settings(spark, QUICK):
            yield spark


@pytest.fixture
def trades(session: SparkSession) -> DataFrame:
    rows = [("a", 1, 10), ("a", 5, 20), ("b", 5, 30), (None, 5, 40), ("a", None, 50)]
    return frame(session, rows, "k string, ts int, price int")


@pytest.fixture
def quotes(session: SparkSession) -> DataFrame:
    rows = [("a", 3, 1), ("a", 5, 2), ("a", 5, 3), ("a", 8, 4), ("b", 6, 5), (None, 1, 6)]
    return frame(session, rows, "k string, ts int, bid int")


def rows(df: DataFrame) -> Rows:
    return Counter(map(tuple, df.collect()))


def test_both_kinds_of_session_run_in_one_process(
    spark: SparkSession, connect: SparkSession
) -> None:
    kinds = [type(one.range(1)).__module__ for one in (spark, connect)]
    assert kinds == ["pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe"]


# As-of joins


def test_an_as_of_join_keeps_each_left_row_with_the_last_right_row_at_or_before_it(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.asof_join(trades, quotes, on="ts", by="k")
    assert df.columns == ["k", "ts", "price", "bid"]
    assert rows(df) == Counter(
        {
            ("a", 1, 10, None): 1,
            ("a", 5, 20, 3): 1,
            ("b", 5, 30, None): 1,
            (None, 5, 40, None): 1,
            ("a", None, 50, None): 1,
        }
    )


def test_without_exact_matches_an_equal_value_is_none(trades: DataFrame, quotes: DataFrame) -> None:
    df = plait.asof_join(trades, quotes, "ts", "k", how="inner", allow_exact_matches=False)
    assert rows(df) == Counter([("a", 5, 20, 1)])


def test_forward_takes_the_first_at_or_after(trades: DataFrame, quotes: DataFrame) -> None:
    df = plait.asof_join(trades, quotes, "ts", "k", how="inner", direction="forward")
    assert rows(df) == Counter([("a", 1, 10, 1), ("a", 5, 20, 3), ("b", 5, 30, 5)])


def test_nearest_takes_the_nearest(trades: DataFrame, quotes: DataFrame) -> None:
    near = plait.asof_join(trades, quotes, "ts", "k", how="inner", direction="nearest")
    assert rows(near) == Counter([("a", 1, 10, 1), ("a", 5, 20, 3), ("b", 5, 30, 5)])


def test_nearest_without_exact_matches_takes_the_nearest_other_value(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.asof_join(
        trades,
        quotes,
        "ts",
        "k",
        how="inner",
        direction="nearest",
        allow_exact_matches=False,
        tolerance=2,
    )
    assert rows(df) == Counter([("a", 1, 10, 1), ("a", 5, 20, 1), ("b", 5, 30, 5)])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("right", [(5, 20, 3), (3, None, 1), (5, None, 2), (8, None, 4), (6, None, 5)]),
        (
            "full",
            [
                *[(5, 20, 3), (3, None, 1), (5, None, 2), (8, None, 4), (6, None, 5)],
                *[(1, 10, None), (5, 30, None), (None, 50, None)],
            ],
        ),
        ("semi", [(5, 20)]),
        ("anti", [(1, 10), (5, 30), (None, 50)]),
    ],
)
def test_how_says_whose_rows_without_a_partner_come_out(
    trades: DataFrame, quotes: DataFrame, how: str, expected: list[tuple[Any, ...]]
) -> None:
    df = plait.asof_join(
        trades.where("k IS NOT NULL"), quotes.where("k IS NOT NULL"), on="ts", by="k", how=how
    )
    assert rows(df.drop("k")) == Counter(expected)
    is_filled = how in ("semi", "anti") or not df.where("k IS NULL").count()
    assert is_filled, "a right row has its key in the one column of both"


def test_ties_are_the_callers_to_order(trades: DataFrame, quotes: DataFrame) -> None:
    for ties, bid in (("bid", 3), ("bid DESC", 2), (["k", "bid desc nulls last"], 2)):
        df = plait.asof_join(trades, quotes, "ts", "k", how="inner", ties=ties)
        assert rows(df.select("bid")) == Counter([(bid,)])


@pytest.mark.parametrize(
    ("tolerance", "found"),
    [
        (timedelta(minutes=5), True),
        (timedelta(minutes=5, microseconds=-1), False),
        (pd.Timedelta("5min"), True),
        ("INTERVAL 4 MINUTES", False),
        ("INTERVAL '5' MINUTE", True),
        (None, True),
    ],
)
def test_a_tolerance_of_time_is_a_timedelta_or_sql(
    session: SparkSession, tolerance: Any, found: bool
) -> None:
    left = frame(session, [(at(5),)], "ts timestamp")
    right = frame(session, [(at(0), 1)], "ts timestamp, v int")
    df = plait.asof_join(left, right, on="ts", tolerance=tolerance)
    assert rows(df) == Counter([(at(5), 1 if found else None)])


def test_a_tolerance_of_numbers_is_a_number(trades: DataFrame, quotes: DataFrame) -> None:
    for tolerance, bids in ((0, [3]), (0.5, [3]), (1, [3])):
        df = plait.asof_join(trades, quotes, "ts", "k", how="inner", tolerance=tolerance)
        assert rows(df.select("bid")) == Counter((bid,) for bid in bids)


def test_columns_of_different_names_both_come_out(trades: DataFrame, quotes: DataFrame) -> None:
    other = quotes.withColumnsRenamed({"k": "sym", "ts": "at"})
    df = plait.asof_join(
        trades, other, left_on="ts", right_on="at", left_by="k", right_by="sym", how="inner"
    )
    assert df.columns == ["k", "ts", "price", "sym", "at", "bid"]
    assert rows(df) == Counter([("a", 5, 20, "a", 5, 3)])


def test_columns_of_both_sides_get_suffixes_as_in_pandas(
    trades: DataFrame, quotes: DataFrame
) -> None:
    left, right = trades.withColumnRenamed("price", "v"), quotes.withColumnRenamed("bid", "v")
    shown = [
        plait.asof_join(left, right, "ts", "k", suffixes=suffixes).columns[2:]
        for suffixes in (("_x", "_y"), ("_l", None), (None, "_r"), ("", "_quote"))
    ]
    assert shown == [["v_x", "v_y"], ["v_l", "v"], ["v", "v_r"], ["v", "v_quote"]]
    frames = [df.dropna().sort_values("ts").astype({"ts": int}) for df in _pandas(left, right)]
    assert list(pd.merge_asof(*frames, on="ts", by="k").columns) == ["k", "ts", "v_x", "v_y"]


def _pandas(*dfs: DataFrame) -> list[pd.DataFrame]:
    return [df.toPandas() for df in dfs]


def test_odd_names_of_columns_are_names(session: SparkSession) -> None:
    odd = "a.b `c` {d} ö"
    left = frame(session, [(1, 5, 0)], f"select int, {odd} int, l int")
    right = frame(session, [(1, 4, 7)], f"SELECT int, {odd} int, {{r}} int")
    df = plait.asof_join(left, right, odd, "select", ties=f"{odd} DESC")
    assert (df.columns, rows(df)) == (["select", odd, "l", "{r}"], Counter([(1, 5, 0, 7)]))


def test_a_frame_joins_itself(quotes: DataFrame) -> None:
    df = plait.asof_join(quotes, quotes, "ts", "k", how="inner", allow_exact_matches=False)
    assert rows(df.select("bid_x", "bid_y")) == Counter([(2, 1), (3, 1), (4, 3)])


# Interval and range joins


def test_an_interval_join_is_flinks(session: SparkSession) -> None:
    left = frame(session, [("a", at(10), 1), ("a", at(60), 2)], "k string, o timestamp, x int")
    right = frame(
        session,
        [("a", at(5), 1), ("a", at(12), 2), ("a", at(15), 3), ("b", at(10), 4)],
        "k string, s timestamp, x int",
    )

    def joined(**options: Any) -> Rows:
        df = plait.interval_join(left, right, "k", left_time="o", right_time="s", **options)
        return rows(df.select(*[c for c in df.columns if c.startswith("x")]))

    five = timedelta(minutes=5)
    assert joined(lower=-five, upper=five) == Counter([(1, 1), (1, 2), (1, 3)])
    assert joined(lower=-five, upper="INTERVAL 5 MINUTES", closed="left") == Counter(
        [(1, 1), (1, 2)]
    )
    assert joined(lower=0 * five, upper=five, how="left") == Counter([(1, 2), (1, 3), (2, None)])
    assert joined(lower=-five, upper=None, how="semi") == Counter([(1,)])
    assert joined(lower=-five, upper=five, how="anti") == Counter([(2,)])


def test_the_columns_of_an_interval_join_are_the_key_once_and_both_times(
    trades: DataFrame, quotes: DataFrame
) -> None:
    df = plait.interval_join(
        trades, quotes, "k", left_time="ts", right_time="ts", lower=-2, upper=0
    )
    assert df.columns == ["k", "ts_x", "price", "ts_y", "bid"]
    assert rows(df) == Counter([("a", 5, 20, ts, bid) for ts, bid in ((3, 1), (5, 2), (5, 3))])


@pytest.mark.parametrize(
    ("closed", "points"),
    [("both", [1, 2, 3]), ("left", [1, 2]), ("right", [2, 3]), ("neither", [2])],
)
def test_points_lie_in_ranges_with_the_ends_that_are_closed(
    session: SparkSession, closed: str, points: list[int]
) -> None:
    left = frame(session, [(x,) for x in range(5)], "x int")
    right = frame(session, [(1, 3)], "a int, b int")
    df = plait.range_join(left, right, point="x", low="a", high="b", closed=closed)
    assert rows(df) == Counter((x, 1, 3) for x in points)


@pytest.mark.parametrize(("closed", "found"), [("both", [7, 8, 9]), ("left", [8])])
def test_ranges_overlap_if_they_share_a_point(
    session: SparkSession, closed: str, found: list[int]
) -> None:
    left = frame(session, [("k", 10, 20)], "k string, a int, b int")
    others = [
        ("k", 5, 10, 7),
        ("k", 12, 13, 8),
        ("k", 20, 30, 9),
        ("k", 21, 22, 0),
        ("z", 10, 20, 1),
    ]
    right = frame(session, others, "k string, a int, b int, v int")
    df = plait.range_join(left, right, "k", low="a", high="b", closed=closed)
    assert df.columns == ["k", "a_x", "b_x", "a_y", "b_y", "v"]
    assert rows(df.select("v")) == Counter((v,) for v in found)
    renamed = right.toDF("k", "c", "d", "v")
    df = plait.range_join(left, renamed, "k", low=("a", "c"), high=("b", "d"), closed=closed)
    assert rows(df.select("v")) == Counter((v,) for v in found)


# Window joins


def test_rows_of_a_window_join_lie_in_the_same_window(session: SparkSession) -> None:
    left = frame(session, [("a", at(1), 1), ("a", at(9), 2)], "k string, t timestamp, x int")
    right = frame(session, [("a", at(3), 7), ("b", at(9), 8)], "k string, t timestamp, y int")

    def joined(**options: Any) -> DataFrame:
        return plait.window_join(left, right, "k", left_time="t", right_time="t", **options)

    df = joined(size=timedelta(minutes=5))
    assert df.columns == ["k", "t_x", "x", "window_start", "window_end", "t_y", "y"]
    assert rows(df) == Counter([("a", at(1), 1, at(0), at(5), at(3), 7)])
    moved = joined(size="5 minutes", offset="2 minutes")
    assert rows(moved.select("x", "y")) == Counter()
    hopping = joined(size="10 minutes", slide=timedelta(minutes=5), how="full")
    assert rows(hopping.select("k", "window_start", "x", "y")) == Counter(
        {
            ("a", at(-5), 1, 7): 1,
            ("a", at(0), 1, 7): 1,
            ("a", at(0), 2, 7): 1,
            ("a", at(5), 2, None): 1,
            ("b", at(0), None, 8): 1,
            ("b", at(5), None, 8): 1,
        }
    )
    assert rows(joined(size="5 minutes", how="anti").select("x")) == Counter([(2,)])


# Temporal joins


def test_a_temporal_join_takes_the_version_that_is_valid(session: SparkSession) -> None:
    orders = [("EUR", 4, 1), ("EUR", 5, 2), ("EUR", 9, 3), ("EUR", 0, 4), ("USD", 9, 5)]
    rates = [("EUR", 1, 0, 110, "+"), ("EUR", 5, 1, 120, "+"), ("EUR", 5, 0, 99, "+")]
    left = frame(session, orders, "c string, t int, id int")
    right = frame(
        session,
        [*rates, ("EUR", 8, 0, 130, "-D")],
        "c string, valid_from int, seq int, rate int, op string",
    )

    def joined(how: str, **options: Any) -> Rows:
        df = plait.temporal_join(
            left,
            right,
            "c",
            left_time="t",
            version_time="valid_from",
            ties="seq",
            how=how,
            **options,
        )
        return rows(df.select("id", "rate"))

    deleted = "op = '-D'"
    assert joined("inner", deleted=deleted) == Counter([(1, 110), (2, 120)])
    assert joined("left", deleted=deleted) == Counter(
        [(1, 110), (2, 120), (3, None), (4, None), (5, None)]
    )
    assert joined("inner") == Counter([(1, 110), (2, 120), (3, 130)])


# The accessor


@pytest.mark.parametrize("name", joins)
def test_every_join_is_a_method_of_df_plait(trades: DataFrame, name: str) -> None:
    method = getattr(trades.plait, name)
    function = inspect.signature(getattr(plait, name))
    assert list(inspect.signature(method).parameters) == list(function.parameters)[1:]
    assert name in dir(trades.plait)


def test_the_method_is_the_function(trades: DataFrame, quotes: DataFrame) -> None:
    df = trades.plait.asof_join(quotes, "ts", by="k")
    assert rows(df) == rows(plait.asof_join(trades, quotes, "ts", by="k"))


@pytest.mark.spark
@pytest.mark.parametrize("order", [("plait", "pyspark.sql"), ("pyspark.sql", "plait")])
def test_the_accessor_is_there_whichever_is_imported_first(order: tuple[str, str]) -> None:
    program = f"""
import sys
import {order[0]}
assert {order[0]!r} != "plait" or "pyspark" not in sys.modules
import {order[1]}
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as Classic
print(isinstance(DataFrame.plait, property), Classic.plait is DataFrame.plait, len(
    [finder for finder in sys.meta_path if type(finder).__module__ == "plait.accessor"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == (["True", "True", "0"], "")


# Errors


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda t, q: t.plait.asof_join(q, on="tz"),
            r"no column 'tz'.* on names: it has k, ts, price",
        ),
        (lambda t, q: t.plait.asof_join(q, on="bid"), r"left side has no column 'bid'"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", by=["k", "x"]),
            r"no column 'x', which by names",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", how="outer"),
            r"how is 'outer': it may be inner, .*full",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", direction="up"),
            r"'up'.* backward, forward, nearest",
        ),
        (lambda t, q: t.plait.asof_join(q), r"not 0: give on, or left_on and right_on"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", left_on="ts"),
            r"either on, or left_on and right_on",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", left_by="k"),
            r"left_by names 1 columns and right_by 0",
        ),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", tolerance=True),
            r"tolerance is True: a number",
        ),
        (lambda t, q: t.plait.asof_join(q, on="ts", tolerance=" "), r"tolerance is empty"),
        (
            lambda t, q: t.plait.asof_join(q, on="ts", ties="price"),
            r"'price', which ties names: it has k, ts, bid",
        ),
        (
            lambda t, q: t.plait.asof_join(
                q, left_on="ts", right_on="bid", by="k", suffixes=("", "")
            ),
            r"Both sides have ts",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=None, upper=None
            ),
            r"needs one of them",
        ),
        (
            lambda t, q: t.plait.interval_join(
                q, left_time="ts", right_time="ts", lower=0, upper=1, closed="all"
            ),
            r"both, left, right, neither",
        ),
        (
            lambda t, q: t.plait.range_join(q, point="ts", low=("a", "b"), high="bid"),
            r"each one column of the right side",
        ),
        (
            lambda t, q: t.plait.window_join(q, left_time="ts", right_time="ts", size=5),
            r"size is 5: a timedelta or a text",
        ),
        (
            lambda t, q: t.plait.temporal_join(q, left_time="ts", version_time="ts"),
            r"needs the key of the versions",
        ),
        (
            lambda t, q: t.plait.temporal_join(
                q, "k", left_time="ts", version_time="ts", how="full"
            ),
            r"inner, left",
        ),
        (
            lambda t, q: plait.asof_join(t, q.toPandas(), on="ts"),
            r"right is no DataFrame of Spark, but of type DataFrame",
        ),
        (
            lambda t, q: plait.asof_join(t.select("ts", "ts"), q, on="ts"),
            r"Two columns of the left side are called ts",
        ),
    ],
)
def test_an_error_says_what_was_wrong_and_what_there_is(
    trades: DataFrame,
    quotes: DataFrame,
    call: Callable[[DataFrame, DataFrame], DataFrame],
    said: str,
) -> None:
    with pytest.raises(plait.PlaitError, match=said):
        call(trades, quotes)
