# SPDX-License-Identifier: Apache-2.0
"""Examples: which jobs a real Spark runs for clients, by what its own status tracker tells.

The server is in this process, so that the tracker can be asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.endless import ENDLESS
from tests.python.endpoint import until

from plait._proto import plait_pb2
from plait.client import Client, RemoteError
from plait.server.app import Served, serve
from plait.server.config import Config, Server
from plait.server.engine import SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# Takes both cores for hours too, in stages that adaptive execution starts.
STAGES = (
    "SELECT id % 7 AS k, sum(hash(id)) FROM range(0, 1000000000000, 1, 8) GROUP BY k ORDER BY k"
)

# Seconds within which a cancellation reaches Spark's jobs; where the machine is busy with other
# things, the best of so many tries counts.
SOON = 1.0
TRIES = 3

# Seconds of a deadline.
DEADLINE = 1.0

End = Callable[[], None]


class Jobs:
    """A server, and the jobs of its Spark."""

    def __init__(self, spark: SparkSession, served: Served) -> None:
        self._tracker = spark.sparkContext.statusTracker()
        self._served = served

    def client(self, **settings: Any) -> Client:
        return Client(f"localhost:{self._served.port}", **settings)

    @property
    def are_running(self) -> bool:
        return bool(self._tracker.getActiveJobsIds())

    def started(self, operation: str) -> int:
        """Count those of an operation, those that have ended too."""
        [found] = [o for o in self._served.registry.operations() if o.name == operation]
        source: Any = found._source
        number = f"plait-{source._operation}"
        return len(self._tracker.getJobIdsForGroup(number))


@contextmanager
def jobs_of(spark: SparkSession, **limits: Any) -> Iterator[Jobs]:
    server = Server(port=0, drain_seconds=0.2, **limits)
    served = serve(Config(server), SparkEngine(spark, server))
    try:
        yield Jobs(spark, served)
    finally:
        served.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make files whose columns take Spark a minute to find."""
    folder = tmp_path_factory.mktemp("files")
    first = folder / "0.json"
    first.write_text('{"a": 1, "b": "x", "c": [1, 2, 3]}\n' * 300_000)
    for number in range(1, 400):
        (folder / f"{number}.json").hardlink_to(first)
    return folder


@pytest.fixture(scope="module")
def jobs(spark: SparkSession, folder: Path) -> Iterator[Jobs]:
    with jobs_of(spark, allow_paths=(str(folder),)) as jobs:
        with jobs.client() as client:
            client.sql(
                "SELECT sum(id) FROM range(0, 1000, 1, 4)"
            ).arrow()  # the first takes seconds
        yield jobs


# What a client does: it sends a statement, and says how it ends it.


def cancels(client: Client, sql: str) -> End:
    return client.sql(sql).cancel


def cancels_what_it_submitted(client: Client, sql: str) -> End:
    return client.submit(sql).cancel


def closes_its_client(client: Client, sql: str) -> End:
    cursor = client.sql(sql)

    def end() -> None:
        client.close()
        assert cursor.id  # a cursor that nobody refers to ends by itself

    return end


def closes_its_session(client: Client, sql: str) -> End:
    cursor = client.sql(sql)

    def end() -> None:
        client.close_session()
        assert cursor.id

    return end


def leaves_its_call(client: Client, sql: str) -> End:
    request = plait_pb2.ExecuteRequest(session=client.session, sql=sql)
    return client._stub.Execute(request).cancel  # type: ignore[no-any-return]


def leaves_its_question(client: Client, sql: str) -> End:
    request = plait_pb2.ValidateRequest(session=client.session, sql=sql)
    return client._stub.Validate.future(request).cancel  # type: ignore[no-any-return]


WAYS = [cancels, cancels_what_it_submitted, closes_its_client, closes_its_session, leaves_its_call]


def seconds_to_end(jobs: Jobs, sql: str, way: Callable[[Client, str], End]) -> float:
    """Measure from the cancellation until the tracker knows of no job that runs."""
    with jobs.client() as client:
        end = way(client, sql)
        assert until(lambda: jobs.are_running)
        time.sleep(0.2)
        assert jobs.are_running
        began = time.monotonic()
        end()
        assert until(lambda: not jobs.are_running, 30)
        return time.monotonic() - began


def seconds_past_deadline(jobs: Jobs, ask: Callable[[Client], Any]) -> float:
    """Measure from the deadline of a call until the tracker knows of no job that runs."""
    with jobs.client(timeout=DEADLINE) as client:
        late = time.monotonic() + DEADLINE
        with pytest.raises(RemoteError) as caught:
            ask(client)
        assert caught.value.status == "DEADLINE_EXCEEDED"
        assert until(lambda: not jobs.are_running, 30)
        return time.monotonic() - late


def best(measured: Callable[[], float]) -> float:
    """Measure until it is soon enough, so many times at most."""
    found = []
    while len(found) < TRIES and min(found, default=SOON + 1) > SOON:
        found.append(measured())
    print("seconds:", *(f"{seconds:.3f}" for seconds in found))
    return min(found)


@pytest.mark.parametrize("sql", [ENDLESS, STAGES], ids=["one job", "stages"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_jobs_of_one_who_cancels_end_within_a_second(
    jobs: Jobs, way: Callable[[Client, str], End], sql: str
) -> None:
    assert best(lambda: seconds_to_end(jobs, sql, way)) <= SOON


def test_the_jobs_of_a_question_that_nobody_asks_any_more_end_within_a_second(
    jobs: Jobs, folder: Path
) -> None:
    sql = f"SELECT * FROM json.`{folder}`"
    assert best(lambda: seconds_to_end(jobs, sql, leaves_its_question)) <= SOON


@pytest.mark.parametrize("sql", [ENDLESS, STAGES], ids=["one job", "stages"])
def test_the_jobs_of_a_statement_end_within_a_second_of_its_deadline(jobs: Jobs, sql: str) -> None:
    assert best(lambda: seconds_past_deadline(jobs, lambda c: list(c.sql(sql)))) <= SOON


@pytest.mark.parametrize("ask", ["validate", "explain", "prepare"])
def test_the_jobs_of_a_question_end_within_a_second_of_its_deadline(
    jobs: Jobs, folder: Path, ask: str
) -> None:
    sql = f"SELECT * FROM json.`{folder}`"
    assert best(lambda: seconds_past_deadline(jobs, lambda c: getattr(c, ask)(sql))) <= SOON


PARTITIONS = 10

# Of a partition: 20 MB, more than waits on the way to the client, so that the server is at most in
# the partition behind the one that the client reads.
ROWS = 20_000


def test_no_more_jobs_are_started_than_a_slow_client_makes_use_of(spark: SparkSession) -> None:
    sql = f"SELECT id, repeat('x', 1000) AS s FROM range(0, {PARTITIONS * ROWS}, 1, {PARTITIONS})"
    with jobs_of(spark) as jobs, jobs.client() as client:
        cursor = client.sql(sql)
        operation, read, delivered = cursor.id, 0, 0
        started = []
        for batch in cursor.batches():
            read += batch.num_rows
            if read >= (delivered + 1) * ROWS or not started:
                delivered = read // ROWS
                time.sleep(0.4)  # in which a job ends, and others could begin
                started.append((delivered, jobs.started(operation)))
                assert started[-1][1] <= delivered + 2, started
        print("delivered partitions, started jobs:", started)
        assert read == PARTITIONS * ROWS
        assert started[-1][1] > 3, "that few jobs show nothing"
