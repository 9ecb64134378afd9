# SPDX-License-Identifier: Apache-2.0
"""Examples, oracle: `plait serve` over a real Spark, beside spark.sql in this process."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.cases import cases
from tests.python.endless import ENDLESS
from tests.python.endpoint import until
from tests.python.hostile import mangled
from tests.python.server_process import ROOT, ServerProcess
from tests.python.wire import Wire

from plait.client import Client, RemoteError
from plait.errors import PlaitError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MANGLED = cases(200, soak=5_000)
SEED = 20261123

# How a statement may end that is wrong, not allowed, too large, or takes Spark's parser too long.
TOLD = (
    *("INVALID_ARGUMENT", "PERMISSION_DENIED", "FAILED_PRECONDITION"),
    *("RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"),
)


EVERY_TYPE = """
SELECT CAST(id AS TINYINT) AS tiny, CAST(id AS SMALLINT) AS small, CAST(id AS INT) AS i, id AS l,
  id / 4 AS double_, CAST(id AS FLOAT) AS float_, CAST(id AS DECIMAL(38, 3)) / 7 AS dec,
  id % 2 = 0 AS b,
  CAST(id AS STRING) AS s, CAST(CAST(id AS STRING) AS BINARY) AS bin,
  DATE '2026-01-01' + CAST(id AS INT) AS d,
  TIMESTAMP '2026-03-29 00:30:00' + id * INTERVAL 1 HOUR AS ts,
  TIMESTAMP_NTZ '2026-03-29 00:30:00' AS ntz, id * INTERVAL 1 SECOND AS dt, NULL AS nothing,
  IF(id % 3 = 0, NULL, id) AS sometimes, array(id, NULL) AS a, struct(id AS x, 'y' AS y) AS st,
  map('k', id) AS m
FROM range(0, 50, 1, 5)
"""

JOINS = {
    "an interval join": """
        SELECT l.id AS l, r.id AS r FROM range(1000) l JOIN range(0, 3000, 3) r
        ON l.id % 5 = r.id % 5 AND r.id BETWEEN l.id AND l.id + 10""",
    "an as-of join": """
        SELECT l.id AS l, r.id AS r FROM range(0, 1000, 7) l LEFT ASOF JOIN range(0, 1000, 11) r
        MATCH_CONDITION (l.id >= r.id) ON l.id % 2 = r.id % 2""",
    "windows": """
        SELECT window_start, count(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 10 MINUTES)
        GROUP BY window_start""",
}
VIEW = "TEMP VIEW t AS SELECT timestamp_seconds(id * 100) AS ts, id FROM range(500)"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Iterator[ServerProcess]:
    started = ServerProcess(
        tmp_path_factory.mktemp("server"), "--allow-path", str(data), reattach_seconds=3
    )
    is_free(started.client())  # the first query of a JVM takes seconds
    yield started
    assert started.stop() == 0, started.logs[-2000:]


@pytest.fixture
def client(server: ServerProcess) -> Iterator[Client]:
    with server.client() as client:
        yield client


def rows_of(answer: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in answer), key=repr)


# Seconds after which Spark's cores are to be free of what was ended: one until that has reached
# its jobs, and what a busy machine takes for a small query.
SOON = 5.0


def is_free(client: Client) -> bool:
    """Whether Spark's cores are free for a small query; prints how soon."""
    began = time.monotonic()
    assert list(client.sql("SELECT sum(id) FROM range(0, 1000, 1, 4)")) == [(499500,)]
    took = time.monotonic() - began
    print(f"free after {took:.2f} s")
    return took < SOON


def test_values_of_every_type_are_those_of_spark_sql(client: Client, spark: SparkSession) -> None:
    table = client.sql(EVERY_TYPE).arrow()
    expected = spark.sql(EVERY_TYPE).toArrow()
    assert table.num_rows == 50
    assert table.to_pylist() == expected.to_pylist()
    assert table.schema.names == expected.schema.names


@pytest.mark.parametrize("name", JOINS)
def test_joins_give_the_rows_of_spark_sql(client: Client, spark: SparkSession, name: str) -> None:
    list(client.sql(f"CREATE {VIEW}"))
    spark.sql(f"CREATE OR REPLACE {VIEW}")
    expected = spark.sql(JOINS[name]).toArrow().to_pylist()
    assert rows_of(client.sql(JOINS[name])) == rows_of(row.values() for row in expected)
    assert expected


def test_the_counters_of_a_join_come_with_its_rows(client: Client) -> None:
    cursor = client.sql(
        JOINS["an interval join"].replace("SELECT", "SELECT /*+ SYMMETRIC_HASH(l, r) */")
    )
    count = sum(1 for _ in cursor)
    [join] = cursor.counters["joins"]
    assert join["join"].startswith("SymmetricHashJoin Inner on")
    assert join["metrics"]["leftRowsIn"] == 1000
    found = join["metrics"]["pairsByProbingLeft"] + join["metrics"]["pairsByProbingRight"]
    assert found == count == cursor.counters["rows"]


def test_rows_come_in_the_order_of_the_query_over_many_partitions(client: Client) -> None:
    rows = client.sql("SELECT id FROM range(0, 20000, 1, 60) ORDER BY id DESC")
    assert [row.id for row in rows] == list(range(19_999, -1, -1))
    unordered = client.sql("SELECT id FROM range(0, 20000, 1, 700)")
    assert [row.id for row in unordered] == list(range(20_000))


def test_rows_that_are_in_the_driver_already_come_in_batches_of_bounded_size(
    client: Client,
) -> None:
    values = ", ".join(f"({number})" for number in range(40))
    cursor = client.sql(f"SELECT repeat('x', 500000 + n) AS s FROM (VALUES {values}) AS t(n)")
    batches = list(cursor.batches())
    assert sum(batch.num_rows for batch in batches) == 40
    assert max(batch.nbytes for batch in batches) < 4 << 20


def test_columns_of_one_name_come_both(client: Client) -> None:
    [row] = client.sql("SELECT a.id, b.id FROM range(1) a JOIN range(1) b ON a.id = b.id")
    assert (row.names, tuple(row)) == (("id", "id"), (0, 0))


@pytest.mark.parametrize(
    ("value", "sql_type"),
    [
        (True, "BOOLEAN"),
        (-(1 << 63), "BIGINT"),
        (0.1, "DOUBLE"),
        (float("inf"), "DOUBLE"),
        ("it's -- 'quoted' :x ?", "STRING"),
        (b"\x00\xff", "BINARY"),
        (Decimal("-12.340"), "DECIMAL(5,3)"),
        (date(1, 1, 1), "DATE"),
        (datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC), "TIMESTAMP"),
        (datetime(2026, 3, 29, 2, 30), "TIMESTAMP_NTZ"),
        (timedelta(days=-3, microseconds=1), "INTERVAL DAY TO SECOND"),
        (None, "VOID"),
    ],
)
def test_parameters_arrive_as_they_are_by_name_and_by_place(
    client: Client, value: object, sql_type: str
) -> None:
    named = list(client.sql("SELECT :x AS x, typeof(:x) AS t", x=value))
    placed = list(client.sql("SELECT ? AS x, typeof(?) AS t", value, value))
    assert named == placed == [(value, sql_type.lower())]


def test_a_parameter_of_an_as_of_join_works(client: Client) -> None:
    rows = client.sql(
        "SELECT l.id, r.id FROM range(3) l ASOF JOIN range(3) r "
        "MATCH_CONDITION (l.id >= r.id + :back)",
        back=1,
    )
    assert rows_of(rows) == [(1, 0), (2, 1)]


@pytest.mark.parametrize(
    ("sql", "status", "condition", "fragment"),
    [
        ("SELECT x", "INVALID_ARGUMENT", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "x"),
        ("SELEC 1", "INVALID_ARGUMENT", "PARSE_SYNTAX_ERROR", None),
        ("SELECT 1 / 0", "INVALID_ARGUMENT", "DIVIDE_BY_ZERO", "1 / 0"),
        (
            "SELECT id / (id - 500) FROM range(0, 1000, 1, 4)",
            "INVALID_ARGUMENT",
            "DIVIDE_BY_ZERO",
            "id / (id - 500)",
        ),
        ("SELECT * FROM nowhere", "INVALID_ARGUMENT", "TABLE_OR_VIEW_NOT_FOUND", "nowhere"),
        ("SELECT :x", "INVALID_ARGUMENT", "UNBOUND_SQL_PARAMETER", None),
        (
            "SELECT reflect('java.lang.System', 'exit', 1)",
            "PERMISSION_DENIED",
            "FUNCTION_NOT_ALLOWED",
            None,
        ),
        ("ADD JAR '/tmp/x.jar'", "PERMISSION_DENIED", "STATEMENT_NOT_ALLOWED", None),
        ("SELECT * FROM parquet.`/etc`", "PERMISSION_DENIED", "PATH_NOT_ALLOWED", None),
        ("SET spark.sql.warehouse.dir = '/'", "PERMISSION_DENIED", "CONF_NOT_ALLOWED", None),
        ("CREATE TABLE x AS SELECT 1 AS a", "PERMISSION_DENIED", "SCOPE_NOT_GRANTED", None),
        ("BEGIN SELECT 1; END", "PERMISSION_DENIED", "SCRIPT_NOT_ALLOWED", None),
    ],
)
def test_a_wrong_statement_is_told_by_name_place_and_state_without_a_stack(
    client: Client, sql: str, status: str, condition: str, fragment: str | None
) -> None:
    with pytest.raises(RemoteError) as caught:
        list(client.sql(sql))
    error = caught.value
    assert (error.status, error.condition) == (status, condition), str(error)
    if fragment is not None:
        assert error.position is not None
        assert error.position["fragment"] == fragment
        start, stop = int(error.position["start"]), int(error.position["stop"])
        assert sql[start : stop + 1] == fragment
    assert len(error.sql_state) == 5
    assert (error.sql_state == "42501") == (status == "PERMISSION_DENIED")
    assert "\tat " not in str(error)
    assert error.stack == ""


def test_no_statement_however_mangled_crashes_or_hangs_the_server(client: Client) -> None:
    random_ = random.Random(SEED)
    list(client.sql(f"CREATE {VIEW}"))
    conditions: Counter[str] = Counter()
    for number in range(MANGLED):
        sql = mangled(random_, [EVERY_TYPE, *JOINS.values()])
        clue = f"seed {SEED}, statement {number}: {sql[:2000]!r}"
        try:
            list(client.execute(sql, timeout=20.0).batches())
            conditions["none"] += 1
        except RemoteError as error:
            conditions[error.condition] += 1
            assert error.status in TOLD, (error, clue)
            assert "\tat " not in f"{error} {error.parameters}", clue
        except PlaitError:  # the client refuses by itself what is no text of gRPC's
            conditions["client"] += 1
    assert len(conditions) > 5, conditions
    assert is_free(client)


def test_views_variables_and_settings_are_the_sessions_own(
    server: ServerProcess, client: Client
) -> None:
    other = server.client()
    for statement in (
        "CREATE TEMP VIEW mine AS SELECT 1 AS a",
        "SET spark.sql.session.timeZone = Asia/Tokyo",
        "DECLARE VARIABLE v INT DEFAULT 5",
    ):
        list(client.sql(statement))
    assert list(client.sql("SELECT a, v, current_timezone() FROM mine")) == [(1, 5, "Asia/Tokyo")]
    for sql in ("SELECT * FROM mine", "SELECT v"):
        with pytest.raises(RemoteError):
            list(other.sql(sql))
    assert list(other.sql("SELECT current_timezone()")) == [("UTC",)]


def test_files_of_an_opened_folder_can_be_read(
    client: Client, spark: SparkSession, data: Path
) -> None:
    spark.range(10).write.parquet(str(data / "ten"))
    assert list(client.sql(f"SELECT count(*) FROM parquet.`{data}/ten`")) == [(10,)]
    with pytest.raises(RemoteError, match="not"):
        list(client.sql(f"SELECT count(*) FROM parquet.`{data}/../`"))


def test_a_cancelled_statement_frees_sparks_cores(client: Client) -> None:
    cursor = client.sql(ENDLESS)
    time.sleep(1.0)
    cursor.cancel()
    assert is_free(client)


def test_a_deadline_frees_sparks_cores(client: Client) -> None:
    with pytest.raises(RemoteError) as caught:
        list(client.execute(ENDLESS, timeout=1.0))
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert is_free(client)


@pytest.mark.parametrize("ask", ["validate", "explain", "prepare"])
def test_a_deadline_ends_the_jobs_that_look_for_columns(
    server: ServerProcess, client: Client, data: Path, ask: str
) -> None:
    folder = data / ask
    folder.mkdir()
    first = folder / "0.json"
    first.write_text('{"a": 1, "b": "x", "c": [1, 2, 3]}\n' * 300_000)
    for number in range(1, 400):
        (folder / f"{number}.json").hardlink_to(first)
    with pytest.raises(RemoteError) as caught:
        getattr(server.client(timeout=2.0), ask)(f"SELECT * FROM json.`{folder}`")
    assert caught.value.status == "DEADLINE_EXCEEDED"
    assert is_free(client)


def test_a_client_that_is_killed_in_the_middle_frees_sparks_cores(
    server: ServerProcess, client: Client
) -> None:
    program = (
        "import sys, time; from plait.client import Client;"
        f"c = Client({server.address!r}).sql({ENDLESS!r}); print('sent', flush=True); list(c)"
    )
    killed = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert killed.stdout is not None
    assert killed.stdout.readline() == "sent\n"
    time.sleep(1.0)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    time.sleep(3.5)  # the time of grace
    assert is_free(client)


def test_a_cut_wire_costs_no_row_and_doubles_none(server: ServerProcess) -> None:
    wire = Wire(server.port)
    seen = []
    rows = server.client(address=f"localhost:{wire.port}").sql(
        "SELECT id, repeat('x', 100) AS s FROM range(0, 300000, 1, 9)"
    )
    for row in rows:
        seen.append(row.id)
        if len(seen) in (1, 100_000, 250_000):
            wire.cut()
    wire.close()
    assert seen == list(range(300_000))


def test_who_does_not_read_stops_nobody_elses_progress(client: Client) -> None:
    unread = [
        client.submit("SELECT id, repeat('x', 500) AS s FROM range(0, 1000000, 1, 8)")
        for _ in range(3)
    ]
    time.sleep(3.0)  # all that is taken in without a reader has been
    counting = client.submit(
        "SELECT count(*) FROM range(0, 400000000, 1, 40) WHERE id % 7 = pmod(hash(id), 7)"
    )
    try:
        assert until(lambda: counting.status().progress.get("tasks_done", 0) > 2, 60)
    finally:
        for operation in (counting, *unread):
            operation.cancel()


def test_a_statement_that_asks_for_more_memory_than_there_is_fails_and_the_server_goes_on(
    client: Client,
) -> None:
    with pytest.raises(RemoteError, match=r"memory|heap"):
        list(client.sql("SELECT repeat('x', 2000000000 + CAST(id AS INT)) FROM range(1)"))
    assert is_free(client)


@pytest.mark.parametrize(
    "value",
    ["length(repeat('x', 2000000000))", "size(array_repeat(0, 2000000000))"],
)
def test_a_value_that_the_driver_has_no_memory_for_is_told_so_and_the_server_goes_on(
    client: Client, value: str
) -> None:
    for ask in (lambda sql: list(client.sql(sql)), client.explain):
        with pytest.raises(RemoteError, match="more memory than Spark's driver has") as caught:
            ask(f"SELECT {value}")
        assert (caught.value.status, caught.value.condition) == (
            "RESOURCE_EXHAUSTED",
            "OUT_OF_MEMORY",
        )
    assert is_free(client)


def test_a_statement_that_is_too_deep_to_plan_is_told_so(client: Client) -> None:
    deep = "SELECT 1 FROM range(1)" + ", range(1)" * 6000
    for ask in (lambda sql: list(client.sql(sql)), client.validate):
        with pytest.raises(RemoteError, match="too many parts within one another") as caught:
            ask(deep)
        assert (caught.value.status, caught.value.condition) == (
            "INVALID_ARGUMENT",
            "STATEMENT_TOO_DEEP",
        )


def test_a_server_that_is_stopped_ends_its_statements_with_a_sentence(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, drain_seconds=0.5)
    cursor = server.client().sql(ENDLESS)
    time.sleep(1.0)
    stopping = threading.Thread(target=server.process.send_signal, args=(signal.SIGTERM,))
    stopping.start()
    with pytest.raises(RemoteError, match=r"shutting down|No Plait server|has lost") as caught:
        list(cursor)
    assert caught.value.status in ("UNAVAILABLE", "NOT_FOUND")
    assert server.process.wait(60) == 0
    assert '"message": "stopped"' in server.logs
    own = [line for line in server.logs.splitlines() if '"logger": "plait.server"' in line]
    assert own
    assert not any("range" in line for line in own)  # no statement is logged
