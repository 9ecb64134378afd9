# SPDX-License-Identifier: Apache-2.0
"""Example: a server over a real Spark that is killed while it works, and started again.

What its clients are told says what happened and what to do; all that was there is asked for.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.endless import ENDLESS
from tests.python.endpoint import until
from tests.python.footprint import jvm_of
from tests.python.server_process import ServerProcess

from plait.client import Client, Cursor, RemoteError, dialogue

if TYPE_CHECKING:
    from plait.client.submitted import Submitted

pytestmark = pytest.mark.spark

MANY = "SELECT id, repeat('x', 1000) AS s FROM range(0, 100000, 1, 4)"
UNKNOWN = "a query can be run again, of a command look first what it has done"


def error_of(run: Callable[[], Any]) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        run()
    return caught.value


@dataclass
class Killed:
    """What a client had of a server that was killed, and the one that was started again."""

    client: Client
    waited: RemoteError  # of one who waited for rows when it was killed
    down: RemoteError  # of one who read on before another was started
    refused: RemoteError  # of one who asked then for the first time
    begun: Cursor  # of which rows had come
    command: Cursor  # that had begun
    submitted: Submitted
    jvm: int
    again: ServerProcess


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    first = ServerProcess(tmp_path_factory.mktemp("first"), "--scopes", "read,admin")
    client = first.client(session="kept")
    client.sql("SET spark.sql.shuffle.partitions = 3").arrow()
    begun, down = client.sql(MANY), client.sql(MANY)
    for cursor in (begun, down):
        assert next(cursor.batches()).num_rows > 0
    submitted = client.submit(ENDLESS)  # takes both cores from now on
    other = first.client()
    waiting = other.sql(ENDLESS)
    command = other.sql(f"CREATE TABLE made USING parquet AS {ENDLESS}")
    assert until(lambda: [o.state for o in other.operations()] == ["running"] * 5, 20)
    jvm = jvm_of(first.process.pid)
    with ThreadPoolExecutor() as threads, pytest.MonkeyPatch.context() as patch:
        # However long the other one takes to start.
        patch.setattr(dialogue, "PAUSES", (0.3,) * 400)
        waited: Future[RemoteError] = threads.submit(error_of, waiting.arrow)
        is_told = until(lambda: waiting._dialogue.schema is not None, 20)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        assert is_told
        patch.setattr(dialogue, "PAUSES", dialogue.FIRST_PAUSES)
        told_down = error_of(down.arrow)
        told_refused = error_of(first.client().sql("SELECT 1").arrow)
        port = ("--port", str(first.port))
        again = ServerProcess(tmp_path_factory.mktemp("again"), "--scopes", "read,admin", *port)
        try:
            told_waited = waited.result(60)
            yield Killed(
                client, told_waited, told_down, told_refused, begun, command, submitted, jvm, again
            )
        finally:
            assert again.stop() == 0
            first.stop()


def test_who_waits_is_told_that_the_server_was_restarted_and_what_to_do(killed: Killed) -> None:
    error = killed.waited
    assert (error.status, error.condition) == ("NOT_FOUND", "OPERATION_NOT_FOUND")
    assert "has lost the operation in the middle of its result: it was restarted" in str(error)
    assert "Run the statement again if it was a query" in str(error)


def test_who_reads_while_it_is_down_is_told_that_nobody_answers_and_what_to_do(
    killed: Killed,
) -> None:
    assert killed.down.status == killed.refused.status == "UNAVAILABLE"
    for error in (killed.down, killed.refused):
        assert f"No Plait server answers at {killed.client.address}: is it running" in str(error)
    assert f"The statement had been sent. It may have run, or not, or in part: {UNKNOWN}" in str(
        killed.down
    )
    assert "It may have run" not in str(killed.refused)  # it was not sent


def test_who_has_read_rows_gets_no_others_and_is_told_so(killed: Killed) -> None:
    error = error_of(lambda: list(killed.begun.batches()))
    assert error.condition == "OPERATION_NOT_FOUND"
    assert "in the middle of its result: it was restarted" in str(error)
    assert error.operation == killed.begun.id


def test_a_command_that_had_begun_is_not_run_again(killed: Killed) -> None:
    error = error_of(killed.command.arrow)
    assert (error.status, error.condition) == ("NOT_FOUND", "OPERATION_NOT_FOUND")
    assert f"It may have run, or not, or in part: {UNKNOWN}" in str(error)
    told = killed.again.client().sql("SHOW TABLES LIKE 'made'").arrow()
    assert told.num_rows == 0
    assert killed.command.id not in {o.id for o in killed.again.client().operations()}


@pytest.mark.parametrize("ask", ["attach", "status", "cancel"])
def test_the_id_of_an_operation_that_was_lost_is_a_clear_error(killed: Killed, ask: str) -> None:
    reader = killed.again.client()  # who counts on no session
    handle = reader.operation(killed.submitted.id)
    handle.session = killed.submitted.session
    error = error_of((lambda: handle.attach().arrow()) if ask == "attach" else getattr(handle, ask))
    assert (error.status, error.condition) == ("NOT_FOUND", "OPERATION_NOT_FOUND")
    assert f"There is no operation '{killed.submitted.id}'" in str(error)
    assert "the server has been restarted" in str(error)


def test_a_new_query_works_once_the_client_knows_that_its_settings_are_gone(
    killed: Killed,
) -> None:
    assert killed.again.client().sql("SELECT 1 AS a").arrow().to_pylist() == [{"a": 1}]
    error = error_of(killed.client.sql("SELECT 1 AS a").arrow)
    assert (error.status, error.condition) == ("FAILED_PRECONDITION", "SESSION_ENDED")
    assert "the server was restarted" in str(error)
    assert "set up there what you need" in str(error)
    assert killed.client.sql("SELECT sum(id) FROM range(0, 9, 1, 3)").arrow().num_rows == 1


def test_the_spark_of_a_server_that_was_killed_ends_too(killed: Killed) -> None:
    def is_there() -> bool:
        with suppress(ProcessLookupError):
            os.kill(killed.jvm, 0)
            return Path(f"/proc/{killed.jvm}/stat").read_text().split()[2] != "Z"
        return False

    assert until(lambda: not is_there(), 30)
