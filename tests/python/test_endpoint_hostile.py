# SPDX-License-Identifier: Apache-2.0
"""Examples: statements that reach for the server's files, code, settings and connections.

Each goes unmangled to a server over a real Spark, from a client that has every scope, in many
disguises. The guard refuses it, or Spark's parser does; nothing else will do, for what fails later
may have failed by luck. Afterwards all is as it was: see `Traces`.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.python.hostile import (
    BLOCKS,
    DISGUISES,
    OF_QUERIES,
    OF_STATEMENTS,
    formats,
    queries,
    statements,
)

from plait.client import Client, RemoteError
from plait.server.app import serve
from plait.server.config import Config, Server
from plait.server.engine import JvmSession, SparkEngine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# What the guard may say; a missing scope is another matter.
GUARDS = {
    f"{what}_NOT_ALLOWED"
    for what in ("STATEMENT", "FUNCTION", "PATH", "FORMAT", "OPTION", "CONF", "SCRIPT", "NAME")
}

DATABASE = "hostile_canaries"


class Engine(SparkEngine):
    """Remembers its sessions, to look into them."""

    def __init__(self, spark: SparkSession, limits: Server) -> None:
        super().__init__(spark, limits)
        self.sessions: list[JvmSession] = []

    def open_session(self) -> JvmSession:
        self.sessions.append(super().open_session())
        return self.sessions[-1]


class Traces:
    """What hostile statements would leave: in folders, the catalog, settings and the JVM."""

    def __init__(self, spark: SparkSession, engine: Engine, folder: Path) -> None:
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._engine = engine
        self._folder = folder

    def now(self) -> Mapping[str, object]:
        context: Any = self._spark.sparkContext._jsc.sc()
        [session] = self._engine.sessions
        catalog = session.sessionState().catalog()
        found: dict[str, object] = {
            "files": {
                str(file.relative_to(self._folder)): file.read_bytes() if file.is_file() else b""
                for file in self._folder.rglob("*")
            },
            "settings": session.conf().getAll().toString(),
            "static settings": self._spark.sparkContext.getConf().getAll(),
            "Hadoop's settings": context.hadoopConfiguration().size(),
            "jars": context.listJars().toString(),
            "added files": context.listFiles().toString(),
            "archives": context.listArchives().toString(),
            "properties of the JVM": sorted(self._jvm.System.getProperties().keySet().toArray()),
            "databases": catalog.listDatabases().toString(),
            "temporary views": catalog.listLocalTempViews("*").toString(),
            "where it stands": catalog.getCurrentDatabase(),
            "cached": session.sharedState().cacheManager().isEmpty(),
            "streams": len(self._spark.streams.active),
        }
        for database in ("default", DATABASE):
            found[f"functions of {database}"] = catalog.listFunctions(database).toString()
            tables = catalog.listTables(database)
            for name in (tables.apply(number) for number in range(tables.size())):
                if name.database().isDefined():
                    found[name.toString()] = catalog.getTableMetadata(name).toString()
        return found


class Canaries:
    """A client with every scope, a folder that is open to it, and one that is not."""

    def __init__(self, spark: SparkSession, client: Client, traces: Traces, outside: Path) -> None:
        self._spark = spark
        self.client = client
        self.traces = traces
        self.outside = str(outside)
        self.hostile = [*statements(self.outside), *queries(self.outside)]

    def tell(self, sql: str, run: Callable[[Client, str], Any]) -> str:
        """Say what became of a statement: `guard`, `parser`, or what is wrong."""
        try:
            run(self.client, sql)
        except RemoteError as error:
            if error.status == "PERMISSION_DENIED" and error.condition in GUARDS:
                return "guard"
            if error.status == "INVALID_ARGUMENT" and self._is_refused_by_the_parser(sql):
                return "parser"
            return f"{error.status} {error.condition}"
        return "ADMITTED"

    def _is_refused_by_the_parser(self, sql: str) -> bool:
        state: Any = self._spark._jsparkSession.sessionState()
        try:
            state.sqlParser().parsePlan(sql)
        except Exception:  # one of scripts is none of PySpark's
            return True
        return False

    def assert_refused(
        self,
        hostile: Iterable[str],
        by: Iterable[str] = ("guard",),
        run: Callable[[Client, str], Any] = lambda client, sql: client.sql(sql).arrow(),
    ) -> None:
        """Send them all, say at once which were not refused, and look for traces."""
        before = self.traces.now()
        told = [(self.tell(sql, run), sql) for sql in hostile]
        print(Counter(what for what, _ in told))
        assert [(what, sql) for what, sql in told if what not in by] == []
        after = self.traces.now()
        assert {what for what in after if after[what] != before.get(what)} == set()
        assert before.keys() == after.keys()


@pytest.fixture(scope="module")
def canaries(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    folder = tmp_path_factory.mktemp("canaries")
    opened, outside = folder / "open", folder / "outside"
    for made in (opened, outside):
        made.mkdir()
    (outside / "canary.txt").write_text("sings")
    (opened / "link").symlink_to(outside)
    spark.sql(f"CREATE DATABASE {DATABASE} LOCATION '{folder}/database'")
    spark.sql(f"CREATE TABLE {DATABASE}.t (a INT, b STRING) USING parquet")
    spark.sql(f"INSERT INTO {DATABASE}.t VALUES (1, 'x')")
    spark.sql(f"CREATE TABLE {DATABASE}.plain (a STRING) USING csv")
    server = Server(
        port=0,
        drain_seconds=0.2,
        allow_paths=(str(opened),),
        scopes=("read", "stream", "admin"),
        state=str(folder / "state"),
    )
    engine = Engine(spark, server)
    served = serve(Config(server), engine)
    with Client(f"localhost:{served.port}") as client:
        client.sql(f"USE {DATABASE}").arrow()
        # A variable is harmless; what it hides must not be.
        client.sql(f"DECLARE VARIABLE hidden STRING DEFAULT 'text.`{outside}`'").arrow()
        client.sql("DECLARE VARIABLE order STRING DEFAULT 'DROP TABLE t'").arrow()
        assert client.sql("SELECT a FROM t").arrow().to_pylist() == [{"a": 1}]
        yield Canaries(spark, client, Traces(spark, engine, folder), outside)
    served.stop()
    spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def test_the_guard_refuses_each_as_it_is(canaries: Canaries) -> None:
    assert len(canaries.hostile) > 100
    canaries.assert_refused(canaries.hostile)


def test_the_guard_refuses_every_source_that_spark_has_but_those_of_files(
    canaries: Canaries, spark: SparkSession
) -> None:
    jvm: Any = spark.sparkContext._jvm
    register = jvm.Class.forName("org.apache.spark.sql.sources.DataSourceRegister")
    found = jvm.java.util.ServiceLoader.load(register).iterator()
    names = set()
    while found.hasNext():
        names.add(str(found.next().shortName()))
    assert {"jdbc", "statestore", "binaryFile", "socket", "parquet"} <= names
    others = sorted(names - {"parquet", "orc", "csv", "json", "text", "avro"})
    canaries.assert_refused(sql for name in others for sql in formats(name, canaries.outside))


@pytest.mark.parametrize("around", OF_STATEMENTS)
def test_what_stands_around_a_statement_does_not_hide_it(canaries: Canaries, around: str) -> None:
    by = ["guard", "parser"] if "EXPLAIN" in around else ["guard"]
    canaries.assert_refused(
        (around.format(sql.replace('"', '\\"')) for sql in canaries.hostile), by
    )


@pytest.mark.parametrize("blocks", [BLOCKS[:1], BLOCKS[1:]], ids=["BEGIN", "blocks in it"])
def test_a_script_around_a_statement_does_not_hide_it(
    canaries: Canaries, blocks: list[str]
) -> None:
    around = itertools.cycle(blocks)
    canaries.assert_refused(
        (next(around).format(sql) for sql in canaries.hostile), ["guard", "parser"]
    )


@pytest.mark.parametrize("around", OF_QUERIES)
def test_what_stands_around_a_query_does_not_hide_it(canaries: Canaries, around: str) -> None:
    canaries.assert_refused(around.format(sql) for sql in queries(canaries.outside))


def test_a_function_around_a_query_does_not_hide_it(canaries: Canaries) -> None:
    def make_and_use(client: Client, sql: str) -> Any:
        try:
            client.sql(sql).arrow()
            return client.sql("SELECT * FROM hiding()").arrow()
        finally:
            client.sql("DROP TEMPORARY FUNCTION IF EXISTS hiding").arrow()

    canaries.assert_refused(
        (
            f"CREATE TEMPORARY FUNCTION hiding() RETURNS TABLE (x STRING) RETURN {sql}"
            for sql in queries(canaries.outside)
        ),
        run=make_and_use,
    )


@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda disguise: disguise.__name__)
def test_comments_spaces_and_letters_do_not_hide_it(
    canaries: Canaries, disguise: Callable[[str], str]
) -> None:
    canaries.assert_refused(map(disguise, canaries.hostile), ["guard", "parser"])


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(lambda client, sql: client.validate(sql), id="validate"),
        pytest.param(lambda client, sql: client.explain(sql), id="explain"),
        pytest.param(lambda client, sql: client.prepare(sql), id="prepare"),
        pytest.param(lambda client, sql: client.submit(sql).attach().arrow(), id="submit"),
    ],
)
def test_it_is_refused_to_who_asks_in_another_way(
    canaries: Canaries, run: Callable[[Client, str], Any]
) -> None:
    canaries.assert_refused(canaries.hostile, run=run)


def test_it_is_refused_to_who_starts_a_stream(canaries: Canaries) -> None:
    canaries.assert_refused(
        queries(canaries.outside), run=lambda client, sql: client.start_stream(sql, nowhere=True)
    )
    sinks: list[dict[str, Any]] = [
        {"path": canaries.outside, "checkpoint": f"{canaries.outside}/checkpoint"},
        {"nowhere": True, "checkpoint": f"{canaries.outside}/checkpoint"},
        {"table": f"text.`{canaries.outside}`", "checkpoint": f"{canaries.outside}/checkpoint"},
    ]
    for sink in sinks:
        canaries.assert_refused(
            ["SELECT * FROM STREAM plain"],
            run=lambda client, sql, sink=sink: client.start_stream(sql, **sink),
        )


def test_a_name_of_three_parts_is_never_a_path(canaries: Canaries) -> None:
    sql = f"SELECT * FROM spark_catalog.text.`{canaries.outside}`"
    with pytest.raises(RemoteError) as caught:
        canaries.client.sql(sql).arrow()
    assert caught.value.condition == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_parameter_does_not_hide_a_name_or_a_path(canaries: Canaries) -> None:
    path = f"text.`{canaries.outside}`"

    def run(client: Client, sql: str) -> Any:
        return client.execute(sql, {"name": path, "function": "reflect"}).arrow()

    canaries.assert_refused(
        [
            "SELECT * FROM IDENTIFIER(:name)",
            "SELECT * FROM IDENTIFIER(:name || '')",
            "INSERT INTO IDENTIFIER(:name) SELECT 'x'",
            "CREATE TEMPORARY VIEW v AS TABLE IDENTIFIER(:name)",
            "DESCRIBE TABLE IDENTIFIER(:name)",
            "SELECT IDENTIFIER(:function)('java.lang.System', 'getenv', 'HOME')",
            "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM IDENTIFIER(:name))",
        ],
        run=run,
    )


def test_the_canary_can_be_seen_to_fall_silent(canaries: Canaries, spark: SparkSession) -> None:
    """What the server's operator does is seen, so that what a client did would be."""
    outside = Path(canaries.outside)
    before = canaries.traces.now()
    doings: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
        ("files", (outside / "mark").touch, lambda: os.remove(outside / "mark")),
        (
            "databases",
            lambda: spark.sql("CREATE DATABASE seen"),
            lambda: spark.sql("DROP DATABASE seen"),
        ),
        (
            f"`{DATABASE}`.`t`",
            lambda: spark.sql(f"ALTER TABLE {DATABASE}.t SET TBLPROPERTIES ('seen' = '1')"),
            lambda: spark.sql(f"ALTER TABLE {DATABASE}.t UNSET TBLPROPERTIES ('seen')"),
        ),
        (
            "settings",
            lambda: canaries.client.sql("SET spark.sql.shuffle.partitions = 77").arrow(),
            lambda: canaries.client.sql("RESET spark.sql.shuffle.partitions").arrow(),
        ),
    ]
    for what, do, undo in doings:
        do()
        after = canaries.traces.now()
        assert what in {name for name in after if after[name] != before.get(name)}, json.dumps(what)
        undo()
