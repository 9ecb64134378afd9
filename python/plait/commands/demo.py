# SPDX-License-Identifier: Apache-2.0
"""The demo on a server: `plait demo --server HOST:PORT --data FOLDER`.

The joins, the rows that are expected of them and what is printed are those of the demo on a Spark
of its own. The tables must lie in a folder that the server and its executors can read and that
`allow_paths` opens (`plait demo --only-data` writes them). Stock Spark runs January alone, and
there is no picture: the trace that it is drawn from does not leave the server.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from plait.commands import place
from plait.demo import data
from plait.demo.joins import JOINS, DemoJoin, first_rows, hinted, summary
from plait.demo.run import Engine, PlaitRun, Result, Run, check_rows, check_same
from plait.demo.text import facts, heading, measured
from plait.errors import PlaitError
from plait.explain import JoinCounters
from plait.sql import quote

if TYPE_CHECKING:
    from plait.client import Client, Cursor

# As in the demo on a Spark of its own: see plait.demo.run.planned_by.
SETTINGS = {"spark.sql.session.timeZone": "UTC", "spark.plait.join.strategy": "always"}


def run(told: argparse.Namespace) -> None:
    """Run both joins; raises ``PlaitError`` if the rows are not right."""
    with place.client(told) as client:
        about = client.info()
        _say(f"server    {client.address}: Plait {about.version}, Spark {about.spark_version}")
        for key, value in SETTINGS.items():
            client.sql(f"SET {key} = {value}").arrow()
        folder = str(told.data)
        _check_sizes(client, folder)
        if not told.skip_stock:
            _compare(client, folder)
        _open_views(client, folder)
        for name, join in zip("ab", JOINS, strict=True):
            _join(client, name, join)


def _check_sizes(client: Client, folder: str) -> None:
    _open_views(client, folder)
    for name, expected in data.ROWS.items():
        ((found,),) = client.sql(f"SELECT count(*) FROM {name}")
        if found != expected:
            raise PlaitError(
                f"{folder}/{name} has {found:,} rows on the server where {expected:,} were "
                "expected: write it anew by plait demo --only-data."
            )
    _say(f"data      {' and '.join(f'{rows:,} {name}' for name, rows in data.ROWS.items())}")


def _open_views(client: Client, folder: str, until: str | None = None) -> None:
    for name, order in data.ORDERED_BY.items():
        where = "" if until is None else f" WHERE {order} < TIMESTAMP '{until}'"
        files = quote(f"{folder}/{name}")
        client.sql(
            f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT * FROM parquet.{files}{where}"
        ).arrow()


def _compare(client: Client, folder: str) -> None:
    _say("warm-up   both joins on January alone, with Plait and with stock Spark ...")
    _open_views(client, folder, data.JANUARY_ENDS)
    for join in JOINS:
        by_plait, _ = _run(client, join.sql)
        client.sql("SET spark.plait.enabled = false").arrow()
        by_stock, _ = _run(client, hinted(join.sql, join.stock_hint))
        client.sql("RESET spark.plait.enabled").arrow()
        check_same(join, by_plait.result, by_stock.result)
    _say("          the same rows")


def _join(client: Client, name: str, join: DemoJoin) -> None:
    _say(heading(name, join))
    ran = _run_plait(client, join)
    check_rows(join, ran.result)
    first = client.sql(first_rows(join))
    rows = [[_text(value) for value in row] for row in first]
    _say(facts(join, ran, first.schema.names, rows))
    _say(f"  time\n{measured(Engine.PLAIT, ran)}")


def _run_plait(client: Client, join: DemoJoin) -> PlaitRun:
    explained = str(client.explain(summary(join.sql)))
    ran, cursor = _run(client, join.sql)
    joins = cursor.counters["joins"]
    if len(joins) != 1:
        raise PlaitError(f"{join.title}: Plait was to run this join, and left it to Spark.")
    counters = JoinCounters(joins[0]["join"], joins[0]["metrics"], ())
    return PlaitRun(ran.result, ran.seconds, explained, counters)


def _run(client: Client, sql: str) -> tuple[Run, Cursor]:
    began = time.perf_counter()
    cursor = client.sql(summary(sql))
    (row,) = cursor
    return Run(Result(row.n, row.checksum), time.perf_counter() - began), cursor


def _text(value: object) -> str | None:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}"
    return None if value is None else str(value)


def _say(text: str) -> None:
    print(text, flush=True)
