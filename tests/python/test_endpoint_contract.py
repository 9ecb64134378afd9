# SPDX-License-Identifier: Apache-2.0
"""Examples, laws: the contract in proto/, and requests that keep to it or not."""

from __future__ import annotations

import itertools
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import descriptor_pb2
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tests.python.cases import cases
from tests.python.endpoint import Endpoint, until
from tests.python.hostile import HOSTILE

from plait._proto import plait_pb2
from plait.client import RemoteError
from plait.server import config, messages
from plait.server.callers import digest
from plait.server.failure import Failure, Place, from_json

# What a call sends of its caller.
Token = tuple[tuple[str, str], ...] | None

if TYPE_CHECKING:
    from google.protobuf.message import Message

PROTO = Path(__file__).parents[2] / "proto"
REQUESTS = cases(5_000, soak=100_000)

# Methods, and whether they answer with a stream.
METHODS = {
    method.name: method.server_streaming
    for method in plait_pb2.DESCRIPTOR.services_by_name["PlaitService"].methods
}

Codes = grpc.StatusCode
CALM = {
    *(Codes.OK, Codes.INVALID_ARGUMENT, Codes.NOT_FOUND, Codes.ALREADY_EXISTS),
    *(Codes.CANCELLED, Codes.OUT_OF_RANGE, Codes.FAILED_PRECONDITION),
}

LIMITS = {
    "sessions": 100_000,
    "caller_sessions": 100_000,
    "reattach_seconds": 0.5,
    "submitted_seconds": 0.5,
    "submitted": 100_000,
    "prepared": 100_000,
    "running": 64,
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start(**LIMITS)
    yield endpoint
    endpoint.stop()


@pytest.fixture
def channel(endpoint: Endpoint) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(f"localhost:{endpoint.port}") as channel:
        yield channel


def buf(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = Path(sys.executable).parent / "buf"
    return subprocess.run([program, *arguments], capture_output=True, check=False, cwd=PROTO)


def test_the_contract_is_clean() -> None:
    found = buf("lint")
    assert (found.returncode, found.stdout, found.stderr) == (0, b"", b"")


def test_every_call_message_field_and_value_has_a_comment() -> None:
    lines = (PROTO / "plait/v1/plait.proto").read_text().splitlines()
    told = re.compile(r"^\s*(rpc|message|enum|oneof|service)\b|= \d+;$")
    bare = [
        line
        for before, line in itertools.pairwise(lines)
        if told.search(line) and not before.strip().startswith("//")
    ]
    assert bare == []


def test_the_python_stubs_are_made_from_the_contract_as_it_is() -> None:
    built = buf("build", "--exclude-source-info", "-o", "-")
    assert built.returncode == 0, built.stderr
    [source] = descriptor_pb2.FileDescriptorSet.FromString(built.stdout).file
    ours = descriptor_pb2.FileDescriptorProto()
    plait_pb2.DESCRIPTOR.CopyToProto(ours)
    for each in (source, ours):
        for message in each.message_type:
            for field in message.field:
                field.ClearField("json_name")
            for nested in message.nested_type:
                for field in nested.field:
                    field.ClearField("json_name")
        each.ClearField("source_code_info")
    assert source.message_type == ours.message_type, "run make stubs"
    assert source.enum_type == ours.enum_type, "run make stubs"
    assert source.service == ours.service, "run make stubs"


def test_reflection_lists_the_service(channel: grpc.Channel) -> None:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    [answer] = stub.ServerReflectionInfo(iter([request]))
    names = {service.name for service in answer.list_services_response.service}
    assert {"plait.v1.PlaitService", "grpc.health.v1.Health"} <= names


def call(
    channel: grpc.Channel, method: str, payload: bytes, token: Token = None, seconds: float = 20
) -> grpc.StatusCode:
    """Send bytes, and tell how the call ended; a result is left after its first messages."""
    path = f"/plait.v1.PlaitService/{method}"
    try:
        if METHODS[method]:
            answers = channel.unary_stream(path)(payload, timeout=seconds, metadata=token)
            for _ in zip(range(3), answers, strict=False):
                pass
            answers.cancel()
        else:
            channel.unary_unary(path)(payload, timeout=seconds, metadata=token)
    except grpc.RpcError as error:
        assert "its log tells why" not in error.details(), (method, payload)
        return error.code()
    return Codes.OK


@pytest.fixture(scope="module")
def guarded() -> Iterator[grpc.Channel]:
    """A channel to a server that asks for tokens."""
    endpoint = Endpoint.start(tokens=(config.Token("t", digest("known"), config.SCOPES),), **LIMITS)
    with grpc.insecure_channel(f"localhost:{endpoint.port}") as channel:
        yield channel
    assert endpoint.engine.sessions == 0
    endpoint.stop()


def test_no_request_however_malformed_crashes_or_hangs_the_server(
    endpoint: Endpoint, channel: grpc.Channel, guarded: grpc.Channel
) -> None:
    random_ = random.Random(20260131)
    kinds = {"malformed": CALM, "late": CALM | {Codes.DEADLINE_EXCEEDED}}
    kinds |= {"huge": CALM | {Codes.RESOURCE_EXHAUSTED}, "unknown": {Codes.UNAUTHENTICATED}}
    seen: dict[str, Counter[grpc.StatusCode]] = {kind: Counter() for kind in kinds}
    for number in range(REQUESTS):
        method = random_.choice(list(METHODS))
        payload = malformed(random_, method)
        match number % 50:
            case 0 | 1 | 2 | 3 | 4:
                token = bad_token(random_)
                seen["unknown"][call(guarded, method, payload, token)] += 1
            case 5 | 6:
                seconds = random_.choice([-1.0, 1e-6, 1e-3])
                seen["late"][call(channel, method, payload, seconds=seconds)] += 1
            case 7:
                seen["huge"][call(channel, method, huge(random_, method))] += 1
            case _:
                seen["malformed"][call(channel, method, payload)] += 1
    for kind, allowed in kinds.items():
        assert set(seen[kind]) <= allowed, (kind, seen)
    assert seen["malformed"][Codes.INVALID_ARGUMENT] > REQUESTS / 20
    assert seen["late"][Codes.DEADLINE_EXCEEDED] > REQUESTS / 200
    assert seen["huge"][Codes.INVALID_ARGUMENT] > REQUESTS / 500
    assert endpoint.client().sql("rows 2").arrow().num_rows == 6
    assert until(lambda: endpoint.counts("running") == 0)
    assert until(lambda: endpoint.counts("operations") == 0)


def bad_token(random_: random.Random) -> Token:
    """Make headers that hold no token that the server knows."""
    header = random_.choice(
        [
            "",
            "Bearer",
            "Bearer ",
            "Bearer known ledge",
            "Basic known",
            "known",
            "Bearer " + "k" * 4096,
        ]
    )
    name = random_.choice(["authorization", "authorization", "authorisation"])
    return () if random_.random() < 0.1 else ((name, header),)


def huge(random_: random.Random, method: str) -> bytes:
    """Make a request of which every text has up to some megabytes."""
    request = wrong(random_, method)
    for field in request.DESCRIPTOR.fields:
        is_text = field.type == field.TYPE_STRING and field.message_type is None
        if is_text and isinstance(getattr(request, field.name), str):
            setattr(request, field.name, "x" * random_.choice([0, 5_000, 3 << 20]))
    if hasattr(request, "positional"):
        request.positional.extend([plait_pb2.Value(string="x" * (1 << 20))] * 3)
    return request.SerializeToString()


def malformed(random_: random.Random, method: str) -> bytes:
    """Make random bytes, or a request that is wrong in some field, or one cut short."""
    whole = wrong(random_, method).SerializeToString()
    match random_.randrange(4):
        case 0:
            return random_.randbytes(random_.randrange(200))
        case 1:
            return whole[: random_.randrange(len(whole) + 1)]
        case 2:
            place = random_.randrange(len(whole) + 1)
            return whole[:place] + random_.randbytes(3) + whole[place:]
    return whole


def wrong(random_: random.Random, method: str) -> Message:
    """Make the request of a method, or of another one, of values of which each may be wrong."""
    if random_.random() < 0.1:
        method = random_.choice(list(METHODS))
    request: Message = getattr(plait_pb2, f"{method}Request")()
    for field in request.DESCRIPTOR.fields:
        if field.name in WRONG_FIELDS:
            setattr(request, field.name, random_.choice(WRONG_FIELDS[field.name]))
    if hasattr(request, "named"):
        value = plait_pb2.Value(**random_.choice(WRONG_VALUES))
        if random_.random() < 0.5:
            request.named["x"].CopyFrom(value)
        request.positional.extend([value] * random_.choice([0, 0, 1]))
    if isinstance(request, plait_pb2.StartStreamRequest):
        _fill_stream(random_, request)
    if isinstance(request, plait_pb2.ExecuteRequest):
        request.operation += str(random_.random()) if random_.random() < 0.5 else ""
    return request


def _fill_stream(random_: random.Random, request: plait_pb2.StartStreamRequest) -> None:
    request.trigger.every_milliseconds = random_.choice([0, 1, (1 << 64) - 1])
    match random_.randrange(3):
        case 0:
            options = {"o" * random_.choice([0, 1, 5000]): "\x00"}
            path = random_.choice(["", "/p", "p" * 5000])
            request.files.CopyFrom(plait_pb2.FileSink(format="f", path=path, options=options))
        case 1:
            request.nowhere.SetInParent()
            request.trigger.available_now.SetInParent()


NAMES = ["", "o", "o" * 200, "{}", "ü"]
WRONG_FIELDS: dict[str, list[object]] = {
    "session": ["", "s", "s", "s" * 129, "a b", "ü", "\x00", "s/../t"],
    "operation": NAMES,
    "stream": NAMES,
    "table": ["", "t", "t" * 5000],
    "checkpoint": ["", "/c", "c" * 5000],
    "mode": [0, 1, 2, 3, 4, -1],
    "after": [0, 1, (1 << 64) - 1],
    "kept_only": [True, True, False],
    "prepared": ["", "", "", *NAMES],
    "sql": ["", " ", "rows 1", "fail", "\x00", "rows 1;" * 1000, "do x", ":a :b", *HOSTILE],
    "server": ["", "", "", "x", "ü" * 500],
    "reattachable": [False] * 9 + [True],
    "stack": [False, True],
    "next_offset": [0, 1, (1 << 64) - 1],
    "limit": [0, 1, 1000, 1001, (1 << 32) - 1],
    "page_size": [0, 1, 1000, 1001, (1 << 32) - 1],
    "page_token": ["", "0", "9" * 5000],
    "pattern": ["", "%", "_" * 128, "%" * 129, "\x00"],
    "database": ["", "d", "d" * 256],
    "catalog": ["", "c", "c" * 129],
}

WRONG_VALUES: list[dict[str, object]] = [
    {"decimal": "1e999999999"},
    {"decimal": "NaN"},
    {"decimal": "x"},
    {"decimal": "1" * 39},
    {"date": "2026-13-01"},
    {"date": ""},
    {"timestamp": "2026-01-01T00:00:00"},
    {"timestamp": "0001-01-01T00:00:00+23:59"},
    {"timestamp_ntz": "2026-01-01T00:00:00Z"},
    {"interval_microseconds": -(1 << 63)},
    {"string": "it's"},
    {},
]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("session", "", "`session` must be 1 to 128 characters"),
        ("session", "a b", "`session` must be 1 to 128 characters"),
        ("operation", "o" * 129, "`operation` must be 1 to 128 characters"),
        ("sql", "  ", "`sql` is empty"),
    ],
)
def test_a_request_with_a_wrong_field_is_told_which(
    endpoint: Endpoint, field: str, value: str, message: str
) -> None:
    request = plait_pb2.ExecuteRequest(**{"session": "s", "sql": "rows 1", field: value})
    with pytest.raises(grpc.RpcError) as caught:
        list(endpoint.client()._stub.Execute(request))
    assert caught.value.code() == Codes.INVALID_ARGUMENT
    assert message in caught.value.details()


def test_an_error_of_any_length_fits_into_what_a_peer_reads() -> None:
    failure = Failure(
        "statement",
        "LONG",
        "ü" * 100_000,
        "42000",
        {f"name{number}": "ß" * 1000 for number in range(1000)},
        Place(1, 1, 0, 5, "x" * 10_000),
        "stack" * 10_000,
    )
    told = messages.status(failure, "o" * 128)
    # Text is sent percent-encoded, details in base 64.
    assert 3 * len(told.message.encode()) + 4 * len(told.SerializeToString()) // 3 < 16_000


def test_a_parameter_of_an_error_may_have_no_value() -> None:
    told = {"kind": "statement", "message": "m", "parameters": {"a": None, "b": "x"}}
    assert dict(messages.detail(from_json(told), "o").parameters) == {"a": "null", "b": "x"}


@pytest.mark.parametrize("value", WRONG_VALUES[:9], ids=str)
def test_a_parameter_that_is_none_of_its_type_is_told_by_name(
    endpoint: Endpoint, value: dict[str, str]
) -> None:
    request = plait_pb2.ExecuteRequest(
        session="s", sql="rows 1", named={"x": plait_pb2.Value(**value)}
    )
    with pytest.raises(grpc.RpcError, match=r":x is no (decimal|date|timestamp)"):
        list(endpoint.client()._stub.Execute(request))


def test_named_and_positional_parameters_together_are_refused(endpoint: Endpoint) -> None:
    value = plait_pb2.Value(long=1)
    request = plait_pb2.ExecuteRequest(
        session="s", sql="rows 1", named={"x": value}, positional=[value]
    )
    with pytest.raises(grpc.RpcError, match="`named` or `positional` parameters, not both"):
        list(endpoint.client()._stub.Execute(request))


def test_an_operation_of_a_taken_id_is_refused_and_the_first_one_runs_on(
    endpoint: Endpoint,
) -> None:
    client = endpoint.client()
    cursor = client.sql("rows 1; hang")
    next(cursor.batches())
    request = plait_pb2.ExecuteRequest(session=client.session, sql="rows 1", operation=cursor.id)
    with pytest.raises(grpc.RpcError) as caught:
        list(client._stub.Execute(request))
    assert caught.value.code() == Codes.ALREADY_EXISTS
    assert not endpoint.operation(cursor.id).state.is_end  # type: ignore[union-attr]
    cursor.cancel()


def test_a_message_larger_than_the_limit_is_refused(endpoint: Endpoint) -> None:
    request = plait_pb2.ExecuteRequest(session="s", sql="rows 1")
    request.positional.add().binary = b"x" * (config.Server.request_bytes - 100)
    stub = endpoint.client()._stub
    assert len(list(stub.Execute(request))) == 3
    request.positional.add().binary = b"x" * 100
    with pytest.raises(grpc.RpcError, match="larger than max") as caught:
        list(stub.Execute(request))
    assert caught.value.code() == Codes.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("ask", ["sql", "submit", "validate", "explain", "start_stream"])
def test_a_statement_that_is_longer_than_the_limit_is_told_so(endpoint: Endpoint, ask: str) -> None:
    longest = config.Server.statement_characters
    client = endpoint.client()
    sql = "rows 1 " + "x" * (longest - 7)
    asked = {"start_stream": lambda text: client.start_stream(text, nowhere=True).stop()}.get(
        ask, getattr(client, ask)
    )
    asked(sql)
    with pytest.raises(RemoteError, match=f"`sql` has {longest + 1} characters, and may have"):
        list(asked(sql + "x"))
