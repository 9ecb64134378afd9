# SPDX-License-Identifier: Apache-2.0
"""Examples: DB-API 2.0 over a real server with an engine without Spark."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from tests.python.endpoint import Endpoint, until

from plait.client import PlaitError, RemoteError, dbapi
from plait.client.dbapi_errors import kind_of


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start(batch_bytes=1 << 10)
    yield endpoint
    endpoint.stop()


@pytest.fixture
def connection(endpoint: Endpoint) -> Iterator[dbapi.Connection]:
    with dbapi.connect(f"localhost:{endpoint.port}") as connection:
        yield connection


def test_the_module_says_which_contract_it_keeps() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")


def test_rows_are_fetched_one_by_one_in_parts_and_to_the_end(
    connection: dbapi.Connection,
) -> None:
    cursor = connection.cursor()
    assert cursor.execute("rows 3") is cursor
    assert cursor.rowcount == -1
    assert cursor.fetchone() == (0, "row 0")
    assert [row[0] for row in cursor.fetchmany(2)] == [1, 2]
    assert [row[0] for row in cursor.fetchmany()] == [3], "arraysize is 1"
    assert [row.n for row in cursor.fetchall()] == [4, 5, 6, 7, 8]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    assert cursor.rowcount == 9


def test_a_cursor_is_iterated(connection: dbapi.Connection) -> None:
    assert [row[0] for row in connection.cursor().execute("rows 2")] == list(range(6))


def test_columns_are_described_with_types_that_equal_the_type_objects(
    connection: dbapi.Connection,
) -> None:
    cursor = connection.cursor()
    assert cursor.description is None
    cursor.execute("rows 1")
    assert cursor.description is not None
    names = [described[0] for described in cursor.description]
    codes = [described[1] for described in cursor.description]
    assert (names, {len(described) for described in cursor.description}) == (["n", "text"], {7})
    assert codes == [dbapi.NUMBER, dbapi.STRING]
    assert codes[0] != dbapi.STRING


@pytest.mark.parametrize(
    ("kind", "type_object"),
    [
        (pa.decimal128(10, 2), dbapi.NUMBER),
        (pa.bool_(), dbapi.NUMBER),
        (pa.binary(), dbapi.BINARY),
        (pa.timestamp("us", "UTC"), dbapi.DATETIME),
        (pa.date32(), dbapi.DATETIME),
        (pa.duration("us"), dbapi.DATETIME),
    ],
)
def test_each_type_of_spark_is_of_one_type_object(
    kind: pa.DataType, type_object: dbapi.TypeObject
) -> None:
    every = (dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID)
    assert [each for each in every if each == kind] == [type_object]


def test_parameters_are_positional_or_named(
    connection: dbapi.Connection, endpoint: Endpoint
) -> None:
    cursor = connection.cursor()
    cursor.execute("rows 0 ? ?", [1, "x"])
    assert [value["value"] for value in endpoint.source.statement.positional] == ["1", "x"]  # type: ignore[index]
    cursor.execute("rows 0", {"a": 1})
    assert endpoint.source.statement.named == {"a": {"type": "long", "value": "1"}}
    with pytest.raises(dbapi.InterfaceError, match="is a object"):
        cursor.execute("rows 0 ?", [object()])
    with pytest.raises(dbapi.InterfaceError, match="There are 2 values, and the text has 1 `\\?`"):
        cursor.execute("rows 0 ?", [1, 2])


def test_executemany_runs_once_for_each_set_and_gives_no_rows(
    connection: dbapi.Connection, endpoint: Endpoint
) -> None:
    before = len(endpoint.engine.sources)
    cursor = connection.cursor()
    cursor.executemany("rows 1 ?", [[1], [2], [3]])
    sent = [source.statement.positional for source in endpoint.engine.sources[before:]]
    assert [values[0]["value"] for values in sent] == ["1", "2", "3"]  # type: ignore[index]
    with pytest.raises(dbapi.ProgrammingError, match="no rows to fetch"):
        cursor.fetchone()


def test_the_errors_are_a_tree() -> None:
    assert issubclass(dbapi.Error, Exception)
    assert issubclass(dbapi.Error, PlaitError)
    assert issubclass(dbapi.InterfaceError, dbapi.Error)
    for name in ("Data", "Operational", "Integrity", "Internal", "Programming", "NotSupported"):
        kind = getattr(dbapi, f"{name}Error")
        assert issubclass(kind, dbapi.DatabaseError)
        assert getattr(dbapi.Connection, f"{name}Error") is kind


@pytest.mark.parametrize(
    ("status", "sql_state", "kind"),
    [
        ("INVALID_ARGUMENT", "42703", dbapi.ProgrammingError),
        ("INVALID_ARGUMENT", "", dbapi.ProgrammingError),
        ("INVALID_ARGUMENT", "22012", dbapi.DataError),
        ("INVALID_ARGUMENT", "21000", dbapi.DataError),
        ("INVALID_ARGUMENT", "23505", dbapi.IntegrityError),
        ("INVALID_ARGUMENT", "0A000", dbapi.NotSupportedError),
        ("INVALID_ARGUMENT", "XX000", dbapi.InternalError),
        ("PERMISSION_DENIED", "", dbapi.ProgrammingError),
        ("UNAUTHENTICATED", "", dbapi.OperationalError),
        ("UNAVAILABLE", "", dbapi.OperationalError),
        ("DEADLINE_EXCEEDED", "", dbapi.OperationalError),
        ("RESOURCE_EXHAUSTED", "", dbapi.OperationalError),
        ("INTERNAL", "", dbapi.InternalError),
        ("UNIMPLEMENTED", "", dbapi.NotSupportedError),
    ],
)
def test_the_status_and_the_sqlstate_decide_which_error_it_is(
    status: str, sql_state: str, kind: type[Exception]
) -> None:
    assert kind_of(RemoteError("x", status=status, sql_state=sql_state)) is kind


def test_an_error_carries_what_the_server_told(connection: dbapi.Connection) -> None:
    with pytest.raises(dbapi.ProgrammingError, match=r"There is no column x\.") as caught:
        connection.cursor().execute("rows 1; fail").fetchall()
    error = caught.value
    assert (error.condition, error.sql_state) == ("UNRESOLVED_COLUMN", "42703")
    assert error.position is not None
    assert error.position["column"] == 8
    assert isinstance(error.__cause__, RemoteError)


def test_nobody_at_the_address_is_an_operational_error() -> None:
    with (
        dbapi.connect("localhost:1") as nobody,
        pytest.raises(dbapi.OperationalError, match="No Plait server answers"),
    ):
        nobody.cursor().execute("rows 1")


def test_commit_does_nothing_and_rollback_is_not_supported(connection: dbapi.Connection) -> None:
    connection.commit()
    with pytest.raises(dbapi.NotSupportedError, match="no transactions"):
        connection.rollback()


def test_what_is_closed_refuses_to_work(connection: dbapi.Connection) -> None:
    cursor = connection.cursor()
    cursor.setinputsizes([1])
    cursor.setoutputsize(1)
    cursor.close()
    with pytest.raises(dbapi.InterfaceError, match="cursor is closed"):
        cursor.execute("rows 1")
    connection.close()
    connection.close()
    with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
        connection.cursor()


def test_a_new_statement_ends_the_one_before(
    connection: dbapi.Connection, endpoint: Endpoint
) -> None:
    cursor = connection.cursor().execute("rows 1; hang")
    source = endpoint.source
    cursor.execute("rows 1")
    assert source.cancelled.wait(2.0)
    assert len(cursor.fetchall()) == 3


def test_a_closed_connection_leaves_nothing_running(endpoint: Endpoint) -> None:
    with dbapi.connect(f"localhost:{endpoint.port}") as connection:
        connection.cursor().execute("rows 1; hang")
        source = endpoint.source
    assert until(source.cancelled.is_set, 2.0)


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_a_statement_with_parameters_and_in_parts(
    connection: dbapi.Connection, endpoint: Endpoint
) -> None:
    frame = pd.read_sql("rows 2; ?", connection, params=("a",))
    assert (frame["n"].tolist(), list(frame.columns)) == (list(range(6)), ["n", "text"])
    assert endpoint.source.statement.positional == [{"type": "string", "value": "a"}]
    parts = pd.read_sql("rows 2", connection, chunksize=4)
    assert [len(part) for part in parts] == [4, 2]


WITHOUT_SPARK = """
import asyncio, sys
sys.modules["pyspark"] = None
import plait.client, plait.client.aio, plait.client.dbapi

address = sys.argv[1]
with plait.client.Client(address) as client:
    print(client.sql("rows 1").arrow().num_rows)
print(len(plait.client.dbapi.connect(address).cursor().execute("rows 2").fetchall()))

async def rows():
    async with plait.client.aio.AsyncClient(address) as client:
        return [row async for row in client.sql("rows 3")]

print(len(asyncio.run(rows())))
"""


def test_the_clients_need_no_pyspark(endpoint: Endpoint, root: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", WITHOUT_SPARK, f"localhost:{endpoint.port}"]
    environment = os.environ | {"PYTHONPATH": str(root / "python")}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.split(), done.stderr) == (["3", "6", "9"], "")
