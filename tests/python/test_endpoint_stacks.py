# SPDX-License-Identifier: Apache-2.0
"""Examples: the JVM's stack goes to those who ask for it, where the server allows that.

What is looked at is all that a call ends with: its message, and its trailing metadata as it came.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from grpc_status import rpc_status
from tests.python.endpoint import until

from plait._proto import plait_pb2, plait_pb2_grpc
from plait.server.app import Served, serve
from plait.server.config import Config, Server
from plait.server.engine import SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# The parser's error, the analysis', the guard's, the driver's, a task's, and one of a file.
WRONG = {
    "parser": "SELEC 1",
    "analysis": "SELECT nothing FROM range(3)",
    "guard": "SELECT reflect('a.B', 'c')",
    "driver": "SELECT 1 / 0",
    "task": "SELECT id / (id - 500) FROM range(0, 1000, 1, 4)",
    "file": "SELECT * FROM parquet.`{folder}/broken`",
}

# A frame of a stack, or the name of what was thrown, as a JVM writes them.
STACK = re.compile(rb"\bat [\w.$/]+\([\w.]+:\d+\)|\.(?:scala|java):\d+|Driver stacktrace")

Said = tuple[bytes, str]  # all of it, and the field for the stack


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "broken").mkdir()
    (folder / "broken" / "0.parquet").write_text("no Parquet")
    return folder


@pytest.fixture(scope="module")
def servers(spark: SparkSession, folder: Path) -> Iterator[dict[bool, Served]]:
    """Start one that allows stacks, and one that does not."""
    started = {}
    for stacks in (False, True):
        limits = Server(
            port=0,
            drain_seconds=0.2,
            allow_paths=(str(folder),),
            scopes=("read", "stream"),
            **({"stacks": True} if stacks else {}),
        )
        started[stacks] = serve(Config(limits), SparkEngine(spark, limits))
    yield started
    for served in started.values():
        served.stop()


Stub = plait_pb2_grpc.PlaitServiceStub


def execute(stub: Stub, sql: str, stack: bool) -> Any:
    return list(stub.Execute(plait_pb2.ExecuteRequest(session="s", sql=sql, stack=stack)))


def attach(stub: Stub, sql: str, stack: bool) -> Any:
    name = stub.Submit(plait_pb2.SubmitRequest(session="s", sql=sql, stack=stack)).operation
    return list(stub.Attach(plait_pb2.AttachRequest(session="s", operation=name)))


def status(stub: Stub, sql: str, stack: bool) -> Any:
    name = stub.Submit(plait_pb2.SubmitRequest(session="s", sql=sql, stack=stack)).operation
    request = plait_pb2.StatusRequest(session="s", operation=name)
    assert until(lambda: stub.Status(request).operation.HasField("error"), 30)
    return stub.Status(request).operation.error


def validate(stub: Stub, sql: str, stack: bool) -> Any:
    return stub.Validate(plait_pb2.ValidateRequest(session="s", sql=sql, stack=stack))


def explain(stub: Stub, sql: str, stack: bool) -> Any:
    return stub.Explain(plait_pb2.ExplainRequest(session="s", sql=sql, stack=stack))


def prepare(stub: Stub, sql: str, stack: bool) -> Any:
    return stub.Prepare(plait_pb2.PrepareRequest(session="s", sql=sql, stack=stack))


def said(stub: Stub, call: Callable[[Stub, str, bool], Any], sql: str, stack: bool) -> Said:
    """Give all that an error says."""
    try:
        error = call(stub, sql, stack)
    except grpc.RpcError as failed:
        told: Any = failed
        everything = b"\n".join(
            value if isinstance(value, bytes) else value.encode()
            for _, value in told.trailing_metadata()
        )
        detail = plait_pb2.ErrorDetail()
        rpc_status.from_call(told).details[0].Unpack(detail)
        return everything + told.details().encode() + detail.SerializeToString(), detail.stack
    return error.SerializeToString(), error.detail.stack


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (execute, WRONG),
        (attach, ["driver", "task"]),
        (status, ["analysis", "task"]),
        (validate, ["parser", "analysis", "guard"]),
        (explain, ["parser", "analysis", "guard"]),
        (prepare, ["parser", "analysis", "guard"]),
    ],
    ids=["execute", "attach", "status", "validate", "explain", "prepare"],
)
def test_a_stack_is_there_if_it_is_asked_for_and_allowed_and_nowhere_else(
    servers: dict[bool, Served],
    folder: Path,
    call: Callable[[Stub, str, bool], Any],
    kinds: list[str],
) -> None:
    for allowed, asked in product((False, True), repeat=2):
        with grpc.insecure_channel(f"localhost:{servers[allowed].port}") as channel:
            stub = plait_pb2_grpc.PlaitServiceStub(channel)
            for kind in kinds:
                sql = WRONG[kind].format(folder=folder)
                everything, stack = said(stub, call, sql, asked)
                found = STACK.search(everything)
                clue = (kind, allowed, asked, found)
                assert bool(stack) == (allowed and asked), clue
                assert bool(found) == (allowed and asked), clue
                if allowed and asked:
                    assert "\n\tat " in stack, clue
