# SPDX-License-Identifier: Apache-2.0
"""Load: many clients of every kind of call at a time, and what is left when they have gone.

``make soak`` makes it 64 clients of 50 queries each, and 1,000 that leave in the middle.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.python.cases import cases
from tests.python.endless import ENDLESS
from tests.python.endpoint import until
from tests.python.footprint import Observed
from tests.python.server_process import ROOT

from plait.client import Client, RemoteError

pytestmark = pytest.mark.spark

CLIENTS, QUERIES = cases(16, soak=64), cases(20, soak=50)
LEAVING = cases(100, soak=1_000)
KILLED = cases(4, soak=24)
AT_A_TIME = 4
GIBIBYTES = cases(1, soak=10)

# Of a result on its way: two jobs' share of batches, and what a task makes and its disk takes.
HELD_BY_THE_JVM = 128 << 20
# The batches that are kept to be sent again, those that wait, and gRPC's own buffers.
HELD_BY_PYTHON = 64 << 20

LONG = "SELECT id, repeat('x', 500) AS s FROM range(0, 100000, 1, 8)"

FEED = "SELECT id FROM STREAM feed"

# Queries of a worker, in turn, with the number of rows that each gives for :n.
MIXED: Sequence[tuple[str, Callable[[int], int]]] = (
    ("SELECT id FROM mine WHERE id < :n", lambda n: n),
    ("SELECT * FROM range(:n) l JOIN mine r ON r.id BETWEEN l.id AND l.id + 2", lambda n: 3 * n),
    ("SELECT l.id FROM range(:n) l ASOF JOIN mine r MATCH_CONDITION (l.id >= r.id)", lambda n: n),
    ("SELECT id, repeat('y', 300) FROM range(0, 1000 * :n, 1, 3)", lambda n: 1000 * n),
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    folder = tmp_path_factory.mktemp("server")
    # A session whose farewell a busy server does not hear in time stays as long as it may be idle.
    limits = {"reattach_seconds": 1.0, "subscriptions": 8, "session_seconds": 60.0}
    arguments = ("--state", str(folder / "state"), "--scopes", "read,stream,admin")
    server = Observed(folder, *arguments, **limits)
    start = server.footprint()
    with server.client() as admin:
        list(admin.sql("CREATE TABLE feed (id BIGINT) USING parquet"))
    work(server, 0, 2 * len(MIXED))  # so that what is made at the first statement is there
    stream(server, "warm")
    leave(server, 8)
    server.rests("warm")
    # Sessions and views as at the start; of heap and threads what a warm server has.
    server.before = replace(server.footprint(), sessions=start.sessions, views=start.views)
    yield server
    assert server.stop() == 0, server.logs[-2000:]


def stream(server: Observed, name: str) -> None:
    """Run a stream for one micro-batch, and a table that a stream fills."""
    with server.client() as client:
        list(client.sql("INSERT INTO feed VALUES (0)"))
        with client.start_stream(FEED, nowhere=True, name=name) as started:
            next(started.progress())
        list(client.sql(f"CREATE STREAMING TABLE {name} AS {FEED}"))
        assert until(lambda: list(client.sql(f"SELECT count(*) > 0 FROM {name}")) == [(True,)], 30)
        list(client.sql(f"DROP TABLE {name}"))
        client.stream(name).stop()  # forgets it


def work(server: Observed, number: int, queries: int) -> None:
    """Run queries one after the other in a session with a view and a setting of its own."""
    with Client(server.address) as client:
        list(client.sql("CREATE TEMP VIEW mine AS SELECT id FROM range(100)"))
        list(client.sql(f"SET spark.sql.session.timeZone = GMT+{number % 12}"))
        for n in range(1, queries + 1):
            sql, rows = MIXED[n % len(MIXED)]
            got = client.sql(sql, n=n).arrow()
            assert got.num_rows == rows(n), (sql, n)


def leave(server: Observed, clients: int) -> None:
    """Connect, begin to read, and go: some with a farewell, some without, some unread."""
    for number in range(clients):
        with Client(server.address) as leaving:
            cursor = leaving.sql(LONG)
            if number % 2:
                next(cursor.batches())
            if number % 3:
                cursor.close()


class Together:
    """Threads whose failures are told at the end."""

    def __init__(self) -> None:
        self.failed: list[BaseException] = []
        self._threads: list[threading.Thread] = []

    def start(self, job: Callable[[], None]) -> None:
        def run() -> None:
            try:
                job()
            except BaseException as error:
                self.failed.append(error)

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()
        assert self.failed == []


def test_clients_with_queries_beside_readers_of_streams_fail_never_and_leave_nothing(
    server: Observed,
) -> None:
    numbers: dict[str, list[list[int]]] = {"watched": [], "default.grown": []}
    counts: list[int] = []
    over = threading.Event()

    def watch(name: str) -> None:
        seen: list[int] = []
        with Client(server.address) as client:
            try:
                seen.extend(record.number for record in client.stream(name).progress())
            except RemoteError as error:
                # The stream of a table is forgotten with its table.
                assert (error.condition, name) == ("STREAM_NOT_FOUND", "default.grown"), error
        numbers[name].append(seen)

    def count() -> None:
        with Client(server.address) as client:
            while not over.is_set():
                counts.extend(row.n for row in client.sql("SELECT count(*) AS n FROM grown"))

    with server.client() as admin:
        admin.start_stream(FEED, nowhere=True, trigger="200 ms", name="watched")
        list(admin.sql(f"CREATE STREAMING TABLE grown AS {FEED}"))
        there = next(iter(admin.sql("SELECT count(*) FROM feed")))[0]
        readers, counting, workers = Together(), Together(), Together()
        for name in (*numbers, *numbers):
            readers.start(lambda name=name: watch(name))
        counting.start(count)
        for number in range(CLIENTS):
            workers.start(lambda number=number: work(server, number, QUERIES))
        for number in range(5):
            list(admin.sql("INSERT INTO feed VALUES (:n)", n=number))
        workers.join()
        assert until(lambda: list(admin.sql("SELECT count(*) FROM grown")) == [(there + 5,)], 60)
        over.set()
        counting.join()  # before what it counts is dropped
        admin.stream("watched").stop()
        list(admin.sql("DROP TABLE grown"))
        readers.join()
        admin.stream("watched").stop()
    assert counts == sorted(counts)
    assert counts[-1] <= there + 5
    first, second = numbers["watched"]
    assert first == second
    for seen in (*numbers["watched"], *numbers["default.grown"]):
        assert seen == list(range(1, len(seen) + 1))
        assert len(seen) > 1
    server.rests("load")


def test_clients_that_leave_in_the_middle_of_a_result_leave_nothing(server: Observed) -> None:
    scratch = server.scratch_bytes
    leave(server, LEAVING)
    server.rests("leaving")
    assert until(lambda: server.scratch_bytes <= scratch + (1 << 20), 30)


def kill(program: str, folder: Path) -> None:
    """Start clients, and kill each when it is as far as it says."""
    killed = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        for _ in range(AT_A_TIME)
    ]
    for process in killed:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(
    "ends",
    [
        f"client.sql({ENDLESS!r})",
        f"next(client.sql({LONG!r}).batches())",
        "next(client.stream('watched').progress())",
    ],
    ids=["while it waits", "while it reads rows", "while it reads a stream"],
)
def test_clients_that_are_killed_leave_nothing(server: Observed, tmp_path: Path, ends: str) -> None:
    program = (
        "import sys, time; from plait.client import Client\n"
        f"client = Client({server.address!r}, session='killed')\nheld = {ends}\n"
        "print('there', flush=True); time.sleep(600)"
    )
    with server.client() as client:
        watched = client.start_stream(FEED, nowhere=True, name="watched")
        for _ in range(KILLED // AT_A_TIME):
            kill(program, tmp_path)
        assert watched.stop().state == "stopped"
        watched.stop()
    server.rests(f"killed: {ends[:20]}")
    with server.client(session="killed") as heir:
        heir.close_session()


def test_a_result_larger_than_the_heap_passes_in_constant_memory(server: Observed) -> None:
    # Each partition alone is larger than the heap of 1 GiB.
    rows = GIBIBYTES * 1_500_000
    sql = f"SELECT id, repeat(CAST(id AS STRING), 200) AS s FROM range(0, {rows}, 1, {GIBIBYTES})"
    heap, resident, disk = server.live_bytes, server.resident_bytes, server.scratch_bytes
    grown, size, seen = [], 0, 0
    with server.client() as client:
        for batch in client.sql(sql).batches():
            seen += batch.num_rows
            size += batch.nbytes
            if size >> 28 > len(grown):  # four times a GiB
                grown.append((server.live_bytes - heap, server.resident_bytes - resident))
    assert seen == rows
    assert size > GIBIBYTES << 30
    assert until(lambda: server.scratch_bytes <= disk + (1 << 20), 30)
    told = [f"{live >> 20}+{held >> 20}" for live, held in grown]
    print(f"{size >> 20} MiB passed; MiB more in the JVM and in Python: {' '.join(told)}")
    assert len(grown) >= 4 * GIBIBYTES
    assert max(live for live, _ in grown) < HELD_BY_THE_JVM, told
    assert max(held for _, held in grown) < HELD_BY_PYTHON, told
    server.rests("a large result")


def test_in_the_end_heap_threads_sessions_and_views_are_back_where_they_were(
    server: Observed,
) -> None:
    server.is_back_at(server.before, "all")
