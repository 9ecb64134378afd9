# SPDX-License-Identifier: Apache-2.0
"""Examples, oracle: statements told of, prepared and submitted over a real Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.python.endpoint import until
from tests.python.server_process import ServerProcess

import plait
from plait.client import Client, RemoteError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

INTERVAL = """
SELECT /*+ SYMMETRIC_HASH(l, r) */ l.id AS l, r.id AS r FROM range(1000) l JOIN range(3000) r
ON l.id % 5 = r.id % 5 AND r.id BETWEEN l.id AND l.id + :reach"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    started = ServerProcess(
        tmp_path_factory.mktemp("server"), "--scopes", "read,admin", batch_bytes=1 << 14
    )
    yield started
    assert started.stop() == 0, started.logs[-2000:]


@pytest.fixture
def client(server: ServerProcess) -> Iterator[Client]:
    with server.client() as client:
        yield client


@pytest.mark.parametrize(
    ("sql", "kind", "columns"),
    [
        ("SELECT 1 AS a, 'x' AS b", "query", {"a": "int32", "b": "string"}),
        ("SELECT :x AS x, id FROM range(:n)", "query", {"x": "int32", "id": "int64"}),
        ("SELECT :x AS x, id FROM range(3)", "query", {"x": "null", "id": "int64"}),
        ("SELECT id FROM range(9) LIMIT :n", "query", {"id": "int64"}),
        ("SHOW DATABASES", "command", {"namespace": "string"}),
        ("CREATE TABLE never_made AS SELECT 1 AS a", "command", {}),
        ("CREATE TEMP VIEW never_made AS SELECT 1 AS a", "command", {}),
        ("SET VAR nothing = 1", "error", {}),
    ],
)
def test_a_statement_is_told_of_and_not_run(
    client: Client, sql: str, kind: str, columns: dict[str, str]
) -> None:
    if kind == "error":
        with pytest.raises(RemoteError, match="nothing"):
            client.validate(sql)
        return
    told = client.validate(sql)
    assert told.kind == kind
    assert {field.name: str(field.type) for field in told.schema} == columns
    assert client.catalog("never%") == []


def test_the_values_given_decide_the_types_of_the_columns(client: Client) -> None:
    assert str(client.validate("SELECT :x AS x", x=2.5).schema.field("x").type) == "double"
    assert str(client.validate("SELECT ? AS x", "a").schema.field("x").type) == "string"


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT :a + :b,\n :a -- :c", [("a", 1, 8, ":a"), ("b", 1, 13, ":b")]),
        ("SELECT ? + 1, '?', ?", [("", 1, 8, "?"), ("", 1, 20, "?")]),
        (
            "SELECT 1 FROM range(3) l ASOF JOIN range(3) r\nMATCH_CONDITION (l.id >= r.id + :back)",
            [("back", 2, 33, ":back")],
        ),
    ],
)
def test_parameters_are_told_with_their_places(
    client: Client, sql: str, parameters: list[tuple[str, int, int, str]]
) -> None:
    found = client.validate(sql).parameters
    told = [
        (p.name, p.position["line"], p.position["column"], p.position["fragment"]) for p in found
    ]
    assert told == parameters


@pytest.mark.parametrize(
    ("sql", "status", "condition"),
    [
        ("SELEC 1", "INVALID_ARGUMENT", "PARSE_SYNTAX_ERROR"),
        ("SELECT x FROM range(1)", "INVALID_ARGUMENT", "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        ("SELECT * FROM nowhere WHERE a = :a", "INVALID_ARGUMENT", "TABLE_OR_VIEW_NOT_FOUND"),
        (
            "SELECT reflect('java.lang.System', 'exit', 1)",
            "PERMISSION_DENIED",
            "FUNCTION_NOT_ALLOWED",
        ),
        ("ADD JAR '/tmp/x.jar'", "PERMISSION_DENIED", "STATEMENT_NOT_ALLOWED"),
    ],
)
@pytest.mark.parametrize("call", ["validate", "explain", "prepare"])
def test_a_wrong_statement_is_the_error_that_it_would_be(
    client: Client, call: str, sql: str, status: str, condition: str
) -> None:
    with pytest.raises(RemoteError) as caught:
        getattr(client, call)(sql)
    error = caught.value
    assert (error.status, error.condition) == (status, condition), str(error)
    assert error.stack == ""
    if condition.startswith(("UNRESOLVED", "TABLE")):
        assert error.position is not None
        start, stop = int(error.position["start"]), int(error.position["stop"])
        assert sql[start : stop + 1] == error.position["fragment"] != ""


def test_an_explanation_is_that_of_plait_explain(client: Client, spark: SparkSession) -> None:
    told = client.explain(INTERVAL, reach=10)
    expected = plait.explain(spark.sql(INTERVAL, {"reach": 10}))
    words = [(side.node, side.side, side.why_not, bool(side.pruned_by)) for side in told]
    assert words == [(s.node, s.side, s.why_not, bool(s.pruned_by)) for s in expected]
    assert [side.node for side in told] == ["SymmetricHashJoin"] * 2
    assert "pruned by" in str(told)
    assert told.plan.startswith("== Physical Plan ==")
    assert "SymmetricHashJoin" in told.plan


def test_a_join_that_is_left_to_spark_has_its_reason(client: Client) -> None:
    told = client.explain("SELECT * FROM range(3) l JOIN range(3) r ON l.id = r.id")
    assert [side.pruned_by for side in told] == [None, None]
    assert all(side.why_not and side.sentence for side in told)


def test_a_command_that_is_explained_is_not_run(client: Client) -> None:
    told = client.explain("CREATE TABLE never_made AS SELECT 1 AS a")
    assert "CreateDataSourceTableAsSelectCommand" in told.plan
    assert list(told) == []
    assert client.catalog("never%") == []


def test_a_prepared_statement_runs_with_other_values_each_time(client: Client) -> None:
    with client.prepare("SELECT id * :factor AS x FROM range(:n)", factor=1.5, n=1) as scaled:
        assert [p.name for p in scaled.parameters] == ["factor", "n"]
        assert str(scaled.schema.field("x").type) == "double"
        assert [row.x for row in scaled(factor=0.5, n=3)] == [0.0, 0.5, 1.0]
        assert [row.x for row in scaled(factor=2, n=2)] == [0, 2]
        assert scaled.submit(factor=1, n=4).attach().arrow().num_rows == 4
    with pytest.raises(RemoteError, match="There is no prepared statement"):
        list(scaled(factor=1, n=1))


def test_a_prepared_statement_takes_parameters_by_place_too(client: Client) -> None:
    with client.prepare("SELECT id * ? AS x FROM range(?)", 1.5, 1) as scaled:
        assert [row.x for row in scaled(0.5, 3)] == [0.0, 0.5, 1.0]


def test_a_prepared_statement_is_admitted_again_each_time(client: Client) -> None:
    list(client.sql("CREATE TEMP VIEW seen AS SELECT 1 AS a"))
    all_of = client.prepare("SELECT * FROM seen")
    assert list(all_of()) == [(1,)]
    list(client.sql("DROP VIEW seen"))
    with pytest.raises(RemoteError) as caught:
        list(all_of())
    assert caught.value.condition == "TABLE_OR_VIEW_NOT_FOUND"
    list(client.sql("CREATE TEMP VIEW seen AS SELECT 'x' AS b"))
    assert list(all_of()) == [("x",)]


def test_a_submitted_statement_runs_waits_and_is_read_later(
    server: ServerProcess, client: Client
) -> None:
    handle = client.submit("SELECT id, repeat('x', 100) AS s FROM range(0, 200000, 1, 4)")
    # It has made as much as the server holds for it, and waits.
    assert until(lambda: handle.status().batches > 4, 60)
    status = handle.status()
    assert (status.state, status.error, status.ended) == ("running", None, None)
    assert status.created is not None
    assert status.started is not None
    assert status.created <= status.started
    other = server.client(session=client.session).operation(handle.id)
    ids = [row.id for row in other.attach()]
    assert ids == list(range(200_000))
    told = handle.status()
    assert told.state == "finished"
    assert told.counters is not None
    assert told.counters["rows"] == 200_000


def test_a_submitted_command_does_its_work_without_a_reader(client: Client) -> None:
    handle = client.submit("CREATE TABLE made_alone AS SELECT id FROM range(10)")
    assert until(lambda: handle.status().is_end, 60)
    assert handle.status().state == "finished"
    assert list(client.sql("SELECT count(*) FROM made_alone")) == [(10,)]
    list(client.sql("DROP TABLE made_alone"))


def test_a_submitted_statement_that_fails_says_why(client: Client) -> None:
    handle = client.submit("SELECT id / (id - 500) FROM range(0, 1000, 1, 4)")
    assert until(lambda: handle.status().is_end, 60)
    status = handle.status()
    assert status.state == "failed"
    assert status.error is not None
    assert (status.error.status, status.error.condition) == ("INVALID_ARGUMENT", "DIVIDE_BY_ZERO")
    with pytest.raises(RemoteError) as caught:
        list(handle.attach())
    assert caught.value.condition == "DIVIDE_BY_ZERO"
    assert handle.id in [found.id for found in client.operations(session=client.session)]


def test_tables_views_and_temporary_views_are_told_with_their_columns(client: Client) -> None:
    for statement in (
        "CREATE DATABASE told",
        "CREATE TABLE told.orders (id BIGINT COMMENT 'the key', code VARCHAR(3), "
        "at STRUCT<a: INT, b: ARRAY<STRING>> NOT NULL) USING parquet COMMENT 'all of them'",
        "CREATE VIEW told.few AS SELECT id FROM told.orders",
        "CREATE TEMP VIEW own AS SELECT 1 AS one",
    ):
        list(client.sql(statement))
    [few, orders] = client.catalog(database="told")
    assert (orders.catalog, orders.database, orders.name) == ("spark_catalog", "told", "orders")
    assert (orders.kind, orders.comment, few.kind) == ("table", "all of them", "view")
    assert [(c.name, c.type, c.comment) for c in orders.columns] == [
        ("id", "BIGINT", "the key"),
        ("code", "VARCHAR(3)", ""),
        ("at", "STRUCT<a: INT, b: ARRAY<STRING>>", ""),
    ]
    assert [column.name for column in few.columns] == ["id"]
    own = client.catalog()[0]
    assert (own.kind, own.name, own.columns[0].type) == ("temporary_view", "own", "INT")
    assert [table.name for table in client.catalog("ORD%")] == ["orders"]
    assert [table.name for table in client.catalog("o__")] == ["own"]
    assert client.catalog("%x%") == []
    list(client.sql("DROP DATABASE told CASCADE"))


def test_a_catalog_or_a_database_that_there_is_not_is_the_error_of_spark(client: Client) -> None:
    with pytest.raises(RemoteError, match="elsewhere"):
        client.catalog(catalog="elsewhere")
    with pytest.raises(RemoteError, match="nowhere") as caught:
        client.catalog(database="nowhere")
    assert caught.value.condition == "SCHEMA_NOT_FOUND"


def test_the_views_of_another_session_are_not_told(server: ServerProcess, client: Client) -> None:
    list(client.sql("CREATE TEMP VIEW mine AS SELECT 1 AS a"))
    assert [table.name for table in client.catalog("mine")] == ["mine"]
    assert server.client().catalog("mine") == []
