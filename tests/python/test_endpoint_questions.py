# SPDX-License-Identifier: Apache-2.0
"""Examples: statements and tables told of, and statements prepared, by an engine without Spark."""

from __future__ import annotations

from collections.abc import Iterator

import grpc
import pytest
from tests.python.endpoint import Endpoint
from tests.python.fake_engine import SCHEMA

from plait._proto import plait_pb2
from plait.client import PlaitError, RemoteError
from plait.explanation import Explanation


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start(prepared=3, sessions=1000)
    yield endpoint
    endpoint.stop()


def test_a_statement_is_told_with_its_columns_and_parameters(endpoint: Endpoint) -> None:
    told = endpoint.client().validate("rows 1 :a :b")
    assert (told.kind, told.schema) == ("query", SCHEMA)
    assert [parameter.name for parameter in told.parameters] == ["a", "b"]
    assert told.parameters[0].position["fragment"] == ":a"
    assert endpoint.client().validate("do it").kind == "command"
    assert endpoint.engine.sources == []


def test_values_and_scopes_come_to_the_engine(endpoint: Endpoint) -> None:
    endpoint.client().validate("rows 1", x=1)
    seen = endpoint.engine.looked_at[-1]
    assert (seen.named, seen.scopes) == ({"x": {"type": "long", "value": "1"}}, ("read",))
    endpoint.client().explain("rows 1 ? ?", 2, None)
    assert endpoint.engine.looked_at[-1].positional == [{"type": "long", "value": "2"}, None]


def test_an_explanation_prints_and_iterates_as_that_of_plait_explain(endpoint: Endpoint) -> None:
    told = endpoint.client().explain("rows 1")
    assert isinstance(told, Explanation)
    assert (str(told), told.plan) == ("Join on a < b ...", "== Physical Plan ==")
    left, right = told
    assert (left.pruned_by, left.why_not, left.arguments) == ("(a < b)", None, ())
    assert (right.pruned_by, right.why_not) == (None, "ENDLESS_REACH")
    assert (right.arguments, right.sentence) == (("right", "b"), "no comparison ends its reach")


@pytest.mark.parametrize("call", ["validate", "explain", "prepare"])
def test_a_wrong_statement_is_an_error_with_its_place(endpoint: Endpoint, call: str) -> None:
    client = endpoint.client()
    with pytest.raises(RemoteError, match=r"There is no column x\.") as caught:
        getattr(client, call)("fail")
    assert caught.value.position is not None
    assert caught.value.position["column"] == 8
    with pytest.raises(RemoteError, match="its log tells why"):
        getattr(client, call)("never")
    with pytest.raises(PlaitError, match="not both"):
        getattr(client, call)("rows ? :a", 1, a=2)


def test_a_prepared_statement_is_called_with_values(endpoint: Endpoint) -> None:
    with endpoint.client().prepare("rows 2 :n") as prepared:
        assert ([p.name for p in prepared.parameters], prepared.schema) == (["n"], SCHEMA)
        list(prepared(n=5))
        statement = endpoint.source.statement
        assert statement.sql == "rows 2 :n"
        assert statement.named == {"n": {"type": "long", "value": "5"}}
        prepared.submit(n=6).attach().arrow()
        assert endpoint.source.statement.named == {"n": {"type": "long", "value": "6"}}
    with pytest.raises(RemoteError, match="There is no prepared statement") as caught:
        list(prepared(n=5))
    assert (caught.value.status, caught.value.condition) == ("NOT_FOUND", "PREPARED_NOT_FOUND")


def test_a_name_that_is_taken_is_replaced(endpoint: Endpoint) -> None:
    stub = endpoint.client()._stub
    for sql in ("rows 1", "rows 2"):
        stub.Prepare(plait_pb2.PrepareRequest(session="names", prepared="p", sql=sql))
    list(stub.Execute(plait_pb2.ExecuteRequest(session="names", prepared="p")))
    assert endpoint.source.statement.sql == "rows 2"


def test_a_session_keeps_so_many_statements_and_another_none_of_them(endpoint: Endpoint) -> None:
    client = endpoint.client()
    kept = [client.prepare(f"rows {number}") for number in range(3)]
    with pytest.raises(RemoteError, match="A session keeps 3 prepared statements") as caught:
        client.prepare("rows 4")
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    kept[0].close()
    kept[0].close()  # there is none any more: nothing happens
    client.prepare("rows 4")
    request = plait_pb2.ExecuteRequest(session="another", prepared=kept[1].name)
    with pytest.raises(grpc.RpcError, match="There is no prepared statement"):
        list(client._stub.Execute(request))


def test_tables_come_page_by_page_each_once(endpoint: Endpoint) -> None:
    client = endpoint.client()
    tables = client.catalog()
    assert [table.name for table in tables] == [f"t{number:03}" for number in range(250)]
    [column] = tables[0].columns
    assert (column.name, column.type, column.nullable) == ("n", "BIGINT", True)
    assert (tables[0].kind, tables[0].database) == ("table", "default")
    answer = client._stub.Catalog(plait_pb2.CatalogRequest(session="s", page_size=1000))
    assert (len(answer.tables), answer.next_page_token) == (250, "")


def test_what_is_asked_of_the_catalog_comes_to_the_engine(endpoint: Endpoint) -> None:
    endpoint.client().catalog("a%", database="d", catalog="c")
    seen = endpoint.engine.looked_at[-1]
    assert (seen.pattern, seen.database, seen.catalog) == ("a%", "d", "c")


@pytest.mark.parametrize(
    ("call", "wrong", "message"),
    [
        ("Validate", plait_pb2.ValidateRequest(session="s"), "`sql` is empty"),
        ("Explain", plait_pb2.ExplainRequest(session="", sql="rows 1"), "`session` must be"),
        ("Prepare", plait_pb2.PrepareRequest(session="s", sql="rows 1", prepared="a b"), "`prep"),
        ("Prepare", plait_pb2.PrepareRequest(session="s", sql="x" * 65_537), "may have 65536"),
        ("Unprepare", plait_pb2.UnprepareRequest(session="s"), "`prepared` must be"),
        ("Catalog", plait_pb2.CatalogRequest(session="s", page_size=1001), "may be 1000 at most"),
        ("Catalog", plait_pb2.CatalogRequest(session="s", pattern="x" * 129), "`pattern` has 129"),
        ("Catalog", plait_pb2.CatalogRequest(session="s", database="x" * 256), "`database` has"),
        ("Catalog", plait_pb2.CatalogRequest(session="s", catalog="x" * 129), "`catalog` has 129"),
        ("Catalog", plait_pb2.CatalogRequest(session="s", page_token="x" * 4097), "`page_token`"),
        ("Submit", plait_pb2.SubmitRequest(session="s", sql="x", prepared="p"), "not both"),
        ("Submit", plait_pb2.SubmitRequest(session="s"), "`sql` is empty"),
        ("Status", plait_pb2.StatusRequest(session="s"), "`operation` must be"),
        ("List", plait_pb2.ListRequest(session="a b"), "`session` must be"),
    ],
)
def test_a_wrong_field_is_told_by_name(
    endpoint: Endpoint, call: str, wrong: object, message: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        getattr(endpoint.client()._stub, call)(wrong)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert message in caught.value.details()
