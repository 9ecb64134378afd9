# SPDX-License-Identifier: Apache-2.0
"""Examples: streams, and tables that they fill, over a real Spark."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.python.conftest import QUICK
from tests.python.endpoint import until
from tests.python.server_process import ServerProcess

import plait
from plait.cli import main
from plait.client import Client, RemoteError
from plait.commands.names import Names
from plait.commands.output import Out
from plait.commands.place import Server
from plait.commands.shell import Shell, prompt
from plait.server.callers import digest

pytestmark = pytest.mark.spark

# Derby's catalog outlives the server, as that of a real one does.
SETTINGS = QUICK | {"spark.sql.catalogImplementation": "hive"}

TABLES = (
    "CREATE TABLE orders (id INT, k STRING, t TIMESTAMP) USING parquet",
    "CREATE TABLE shipments (id INT, k STRING, t TIMESTAMP) USING parquet",
    "INSERT INTO orders VALUES (1, 'a', TIMESTAMP'2026-03-01 10:00:00')",
    "INSERT INTO shipments VALUES (7, 'a', TIMESTAMP'2026-03-01 11:00:00')",
)
MATCHED = """
SELECT o.id AS o, s.id AS s
FROM STREAM orders WATERMARK t DELAY OF INTERVAL 10 MINUTES AS o
JOIN STREAM shipments WATERMARK t DELAY OF INTERVAL 10 MINUTES AS s
  ON o.k = s.k AND s.t BETWEEN o.t AND o.t + INTERVAL 4 HOURS"""
TOKENS = {
    "alice": ["stream"],
    "bob": ["stream"],
    "carol": ["read"],
    "maker": ["stream"],
    "admin": ["read", "stream", "admin"],
}

ID = "SELECT id FROM STREAM orders"


class Place:
    """A folder with a server in it, which may be started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state, self.data = folder / "state", folder / "data"
        self.data.mkdir()
        (folder / "plait.toml").write_text(
            "".join(
                f'[[token]]\nname = "{name}"\nsha256 = "{digest(name)}"\nscopes = {scopes}\n'
                for name, scopes in TOKENS.items()
            )
        )
        self.server = self._start()

    def _start(self) -> ServerProcess:
        config = ("--config", str(self.folder / "plait.toml"), "--state", str(self.state))
        paths = ("--allow-path", str(self.data))
        told = [w for key, value in SETTINGS.items() for w in ("--spark", f"{key}={value}")]
        return ServerProcess(self.folder / "server", *config, *paths, *told, streams=4)

    def restart(self, how: signal.Signals) -> None:
        self.server.stop(how)
        self.server = self._start()

    def client(self, name: str) -> Client:
        return self.server.client(token=name)

    @property
    def written_down(self) -> list[list[str]]:
        file = self.state / "tables.json"
        tables = json.loads(file.read_text())["tables"] if file.exists() else []
        return [table["name"] for table in tables]

    @property
    def kept(self) -> list[Path]:
        """The folders of tables."""
        return list(self.state.glob("tables/*"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("place"))
    with place.client("admin") as admin:
        for statement in TABLES:
            list(admin.sql(statement))
    yield place
    assert place.server.stop() == 0, place.server.logs[-2000:]


@pytest.fixture
def maker(place: Place) -> Iterator[Client]:
    with place.client("maker") as client:
        yield client
        for found in client.streams():  # of a test that has failed
            list(client.sql(f"DROP TABLE {found.table}"))


@pytest.fixture
def admin(place: Place) -> Iterator[Client]:
    with place.client("admin") as client:
        yield client


@pytest.fixture
def alice(place: Place) -> Iterator[Client]:
    with place.client("alice") as client:
        yield client


def add(admin: Client, table: str, number: int) -> None:
    list(admin.sql(f"INSERT INTO {table} VALUES ({number}, 'a', TIMESTAMP'2026-03-01 10:00:00')"))


def rows(client: Client, table: str) -> list[Any]:
    return sorted(client.sql(f"SELECT * FROM {table}"))


def test_a_join_of_streams_fills_a_folder_and_tells_what_its_sides_did(
    alice: Client, place: Place
) -> None:
    query = f"{MATCHED} WHERE s.id < :most"
    settings: dict[str, Any] = {
        "path": str(place.data / "out"),
        "checkpoint": str(place.data / "c"),
    }
    stream = alice.start_stream(query, {"most": 9}, trigger="available now", **settings)
    records = list(stream.progress())
    assert stream.status().state == "finished"
    assert sum(record.rows_in for record in records) == 2
    assert {(s.side, s.rows_in) for s in records[0].sides} == {("left", 1), ("right", 1)}
    assert sum(side.pairs for record in records for side in record.sides) == 1
    # Ten minutes behind the slower stream.
    assert records[-1].sides[0].frontier == 1_772_358_600_000_001
    report = plait.stream_report([record.progress for record in records])
    assert [side.rows_stored for side in report] == [
        side.rows_stored for record in records for side in record.sides
    ]
    read = f"SELECT * FROM parquet.`{place.data}/out`"
    assert list(alice.sql(read)) == [(1, 7)]
    again = alice.start_stream(query, {"most": 9}, trigger="available now", **settings)
    assert sum(record.rows_in for record in again.progress()) == 0
    assert list(alice.sql(read)) == [(1, 7)]


def test_streams_of_two_callers_are_two_worlds(place: Place, alice: Client) -> None:
    with (
        place.client("bob") as bob,
        alice.start_stream(ID, nowhere=True, name="s") as stream,
    ):
        assert next(stream.progress()).rows_in == 1
        for call in (bob.stream("s").stop, bob.stream("s").status):
            with pytest.raises(RemoteError) as caught:
                call()
            assert (caught.value.status, caught.value.condition) == (
                "NOT_FOUND",
                "STREAM_NOT_FOUND",
            )
        with bob.start_stream(ID, nowhere=True, name="s"):
            assert [found.state for found in bob.streams()] == ["running"]
        assert stream.status().state == "running"
        with pytest.raises(RemoteError, match="A stream 's' of this caller runs already"):
            alice.start_stream(ID, nowhere=True, name="s")


def test_a_checkpoint_in_use_is_refused_and_its_stream_goes_on(place: Place, alice: Client) -> None:
    settings: dict[str, Any] = {"nowhere": True, "checkpoint": str(place.data / "used")}
    with alice.start_stream(ID, **settings) as stream:
        assert next(stream.progress()).rows_in == 1
        with place.client("bob") as bob, pytest.raises(RemoteError) as caught:
            bob.start_stream(ID, **settings)
        assert (caught.value.status, caught.value.condition) == (
            "ALREADY_EXISTS",
            "CHECKPOINT_IN_USE",
        )
        assert stream.status().state == "running"


def test_only_an_admin_starts_a_stream_over_files_that_no_stream_has_written(
    place: Place, alice: Client
) -> None:
    folder = place.data / "others"
    folder.mkdir()
    (folder / "part-0.parquet").write_bytes(b"rows")
    with pytest.raises(RemoteError, match="files that no stream has written") as caught:
        alice.start_stream(ID, path=str(folder), checkpoint=str(place.data / "oc"))
    assert caught.value.condition == "SCOPE_NOT_GRANTED"
    assert [file.name for file in folder.iterdir()] == ["part-0.parquet"]


def test_a_caller_has_no_more_streams_than_the_server_lets_run(alice: Client) -> None:
    running = [alice.start_stream(ID, nowhere=True) for _ in range(4)]
    with pytest.raises(RemoteError, match="4 streams of this caller run") as caught:
        alice.start_stream(ID, nowhere=True)
    assert (caught.value.status, caught.value.condition) == (
        "RESOURCE_EXHAUSTED",
        "TOO_MANY_STREAMS",
    )
    assert {stream.stop().state for stream in running} == {"stopped"}


INTO_FILES: dict[str, Any] = {"path": "DATA/o2", "checkpoint": "DATA/c2"}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("SELECT id FROM orders", {}, "INVALID_ARGUMENT NO_STREAM"),
    ("CREATE TABLE x (a INT)", {}, "INVALID_ARGUMENT INVALID_REQUEST"),
    ("SELECT x FROM STREAM orders", {}, "INVALID_ARGUMENT UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ("SELEC", {}, "INVALID_ARGUMENT PARSE_SYNTAX_ERROR"),
    (
        "SELECT reflect('java.lang.System', 'nanoTime') FROM STREAM orders",
        {},
        "PERMISSION_DENIED FUNCTION_NOT_ALLOWED",
    ),
    (
        "SELECT k, count(*) AS n FROM STREAM orders GROUP BY k",
        {},
        "INVALID_ARGUMENT STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
    ),
    (ID, INTO_FILES | {"path": "/etc/x"}, "PERMISSION_DENIED PATH_NOT_ALLOWED"),
    (ID, INTO_FILES | {"path": "DATA/../o"}, "PERMISSION_DENIED PATH_NOT_ALLOWED"),
    (ID, INTO_FILES | {"checkpoint": "/etc/c"}, "PERMISSION_DENIED PATH_NOT_ALLOWED"),
    (ID, INTO_FILES | {"format": "jdbc"}, "PERMISSION_DENIED FORMAT_NOT_ALLOWED"),
    (ID, INTO_FILES | {"options": {"a.b": "x"}}, "PERMISSION_DENIED OPTION_NOT_ALLOWED"),
    (ID, INTO_FILES | {"options": {"PATH": "/e"}}, "PERMISSION_DENIED OPTION_NOT_ALLOWED"),
    (ID, {"path": "DATA/o2"}, "INVALID_ARGUMENT INVALID_REQUEST"),
    (
        ID,
        {"table": "shipments", "checkpoint": "DATA/c2"},
        "PERMISSION_DENIED SCOPE_NOT_GRANTED",
    ),
]


@pytest.mark.parametrize(("sql", "settings", "error"), REFUSED)
def test_what_a_stream_may_not_do_is_refused_as_a_statement_is(
    alice: Client, place: Place, sql: str, settings: dict[str, Any], error: str
) -> None:
    told: dict[str, Any] = {
        name: value.replace("DATA", str(place.data)) if isinstance(value, str) else value
        for name, value in (settings or {"nowhere": True}).items()
    }
    before = len(alice.streams())
    with pytest.raises(RemoteError) as caught:
        alice.start_stream(sql, **told)
    assert f"{caught.value.status} {caught.value.condition}" == error
    assert len(alice.streams()) == before


def test_a_token_without_the_scope_stream_starts_none(place: Place) -> None:
    with place.client("carol") as carol, pytest.raises(RemoteError) as caught:
        carol.start_stream(ID, nowhere=True)
    assert (caught.value.status, caught.value.condition) == (
        "PERMISSION_DENIED",
        "SCOPE_NOT_GRANTED",
    )


def test_a_stream_makes_its_table_which_every_session_reads_as_it_grows(
    place: Place, alice: Client
) -> None:
    settings: dict[str, Any] = {"table": "copied", "checkpoint": str(place.data / "copy")}
    with (
        place.client("admin") as admin,
        alice.start_stream(ID, trigger="100 ms", **settings),
    ):
        assert until(lambda: list(alice.sql("SELECT * FROM copied")) == [(1,)], 30)
        assert rows(admin, "copied") == [(1,)]
        list(admin.sql("INSERT INTO orders VALUES (2, 'z', TIMESTAMP'2026-03-01 10:00:00')"))
        for client in (alice, admin):
            assert until(lambda c=client: len(list(c.sql("SELECT * FROM copied"))) == 2, 30)
    # The table is there now, and another's to change: to go on takes more than the scope stream.
    with pytest.raises(RemoteError, match="already or in another catalog, needs the scope admin"):
        alice.start_stream(ID, **settings)


def test_a_stream_whose_batch_fails_tells_sparks_error(alice: Client) -> None:
    stream = alice.start_stream("SELECT 1 / (id - id) FROM STREAM orders", nowhere=True)
    with pytest.raises(RemoteError) as caught:
        list(stream.progress())
    assert (caught.value.status, caught.value.condition) == ("INVALID_ARGUMENT", "DIVIDE_BY_ZERO")
    assert caught.value.sql_state == "22012"
    assert stream.status().state == "failed"
    stream.stop()
    assert stream.name not in {found.name for found in alice.streams()}


def test_the_command_lists_watches_starts_and_stops_streams(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_TOKEN", "bob")

    def streams(command: str, *words: str) -> tuple[int, str, str]:
        code = main(["streams", command, "--server", place.server.address, *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    query = "SELECT id FROM STREAM orders WHERE id < :x"
    assert streams("start", "--name", "mine", "--nowhere", "-p", "x=2", query) == (0, "mine\n", "")
    assert until(lambda: "1 rows in" in streams("progress", "mine", "--once")[1], 30)
    code, out, _ = streams("progress", "mine", "--once", "--format", "json")
    assert (code, json.loads(out.splitlines()[0])["rows_in"]) == (0, 1)
    _, out, _ = streams("list", "--format", "csv")
    assert ["mine", "running"] in [line.split(",")[:2] for line in out.splitlines()]
    assert streams("stop", "mine")[:2] == (0, "mine stopped\n")
    code, out, err = streams("progress", "nobody")
    assert (code, out) == (1, "")
    assert "There is no stream 'nobody'" in err
    code, _, err = streams("start", "--nowhere", "SELECT x FROM STREAM orders")
    assert code == 1
    assert err.splitlines()[-1].endswith("^")


def test_the_command_and_the_shell_make_streaming_tables_too(
    place: Place, maker: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAIT_TOKEN", "maker")

    def sql(text: str) -> str:
        assert main(["sql", "--server", place.server.address, text]) == 0
        return capsys.readouterr().out

    def typed(text: str) -> str:
        out, errors = io.BytesIO(), io.StringIO()
        with create_pipe_input() as keys, place.client("maker") as client:
            names = Names(lambda _: [])
            session = prompt(names, InMemoryHistory(), keys, DummyOutput())
            assert Shell(Server(client), session, Out(out, 80), errors, names).answer(text)
        assert errors.getvalue() == ""
        return out.getvalue().decode()

    few = "SELECT id FROM STREAM orders WHERE id = 1"
    for run, name in ((sql, "by_command"), (typed, "by_shell")):
        run(f"CREATE STREAMING TABLE {name} AS {few};")
        assert until(lambda name=name: rows(maker, name) == [(1,)], 30)
        assert "1" in run(f"SELECT id FROM {name};")
        run(f"DROP TABLE {name};")
    assert maker.streams() == []


def test_a_streaming_table_fills_while_it_is_read_and_goes_when_it_is_dropped(
    place: Place, maker: Client, admin: Client
) -> None:
    assert list(maker.sql(f"CREATE STREAMING TABLE matched COMMENT 'pairs' AS {MATCHED}")) == []
    assert until(lambda: rows(maker, "matched") == [(1, 7)], 30)
    add(admin, "shipments", 8)
    assert until(lambda: rows(maker, "matched") == [(1, 7), (1, 8)], 30)
    assert rows(admin, "default.MATCHED") == [(1, 7), (1, 8)]
    [stream] = maker.streams()
    assert (stream.name, stream.table) == ("default.matched", "spark_catalog.default.matched")
    assert stream.last is not None
    assert {side.side for side in stream.last.sides} == {"left", "right"}
    [table] = maker.catalog("matched")
    assert (table.comment, [column.name for column in table.columns]) == ("pairs", ["o", "s"])
    list(maker.sql("DROP TABLE matched"))
    with pytest.raises(RemoteError, match="TABLE_OR_VIEW_NOT_FOUND"):
        rows(maker, "matched")
    assert maker.streams() == []
    assert place.written_down == []
    assert place.kept == []


def test_a_materialized_view_over_streams_does_the_same(maker: Client) -> None:
    sql = "CREATE MATERIALIZED VIEW few PARTITIONED BY (k) AS SELECT id, k FROM STREAM orders"
    list(maker.sql(f"{sql} WHERE id < :most", most=5))
    assert until(lambda: (1, "a") in rows(maker, "few"), 30)
    list(maker.sql("DROP TABLE few"))


def test_a_stream_that_is_started_for_a_table_has_its_trigger_and_name(maker: Client) -> None:
    sql = "CREATE STREAMING TABLE slow AS SELECT id FROM STREAM orders"
    stream = maker.start_stream(sql, name="mine", trigger="1 hour")
    assert (stream.name, stream.table) == ("mine", "spark_catalog.default.slow")
    with pytest.raises(RemoteError, match=r"DROP TABLE spark_catalog\.default\.slow ends it"):
        stream.stop()
    stream.close()  # leaves it
    assert stream.status().state == "running"
    with pytest.raises(RemoteError, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        list(maker.sql(sql))
    with pytest.raises(RemoteError, match=r"There is a table .* already, so no stream was started"):
        maker.start_stream(sql.replace("TABLE", "TABLE IF NOT EXISTS"))
    assert list(maker.sql(sql.replace("TABLE", "TABLE IF NOT EXISTS"))) == []
    list(maker.sql("DROP TABLE slow"))


def test_only_its_maker_and_an_admin_drop_a_table_and_nobody_else_writes_to_it(
    place: Place, maker: Client, admin: Client
) -> None:
    with place.client("bob") as bob:
        list(maker.sql("CREATE STREAMING TABLE guarded AS SELECT id FROM STREAM orders"))
        with pytest.raises(RemoteError, match="DROP TABLE needs the scope admin"):
            list(bob.sql("DROP TABLE guarded"))
        for statement in (
            "INSERT INTO guarded VALUES (1)",
            "TRUNCATE TABLE guarded",
            "ALTER TABLE guarded RENAME TO other",
            "ALTER TABLE guarded SET TBLPROPERTIES ('a' = 'b')",
            "CREATE OR REPLACE TABLE guarded AS SELECT 1 AS a",
            "INSERT INTO IDENTIFIER('guarded') VALUES (1)",
            "INSERT OVERWRITE IDENTIFIER('default.guarded') SELECT 1",
            "TRUNCATE TABLE IDENTIFIER('spark_catalog.default.GUARDED')",
            "ALTER TABLE IDENTIFIER('guarded') RENAME TO other",
            "CREATE OR REPLACE TABLE IDENTIFIER('guarded') AS SELECT 1 AS a",
            "DROP DATABASE default CASCADE",
            "DROP DATABASE IDENTIFIER('spark_catalog.default') CASCADE",
        ):
            with pytest.raises(
                RemoteError, match=r"is filled by a stream|which a stream fills"
            ) as caught:
                list(admin.sql(statement))
            assert caught.value.condition == "CONTINUOUS_TABLE"
        assert [found.state for found in maker.streams()] == ["running"]
        assert not [found for found in bob.streams() if found.table]
        with pytest.raises(RemoteError, match="DROP TABLE needs the scope admin"):
            list(bob.sql("DROP TABLE IDENTIFIER('guarded')"))
        list(admin.sql("DROP TABLE IDENTIFIER(:name)", name="guarded"))
        assert (maker.streams(), place.written_down, place.kept) == ([], [], [])


def test_the_name_of_a_continuous_table_may_be_a_parameter(maker: Client) -> None:
    sql = "CREATE STREAMING TABLE IDENTIFIER(:name) AS SELECT id FROM STREAM IDENTIFIER(:of)"
    list(maker.sql(sql, name="named", of="orders"))
    assert [found.table for found in maker.streams()] == ["spark_catalog.default.named"]
    list(maker.sql("DROP TABLE IDENTIFIER(:name)", name="named"))
    assert maker.streams() == []


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("MATERIALIZED VIEW x AS SELECT id FROM orders", "reads no stream.*CREATE VIEW"),
        ("STREAMING TABLE x AS SELECT id FROM orders", "reads no stream.*Write STREAM t"),
        (
            "STREAMING TABLE x AS SELECT k, count(*) AS n FROM STREAM orders GROUP BY k",
            "may change after it has come out.*only grows.*Give the stream a watermark",
        ),
        ("STREAMING TABLE x", "would be filled by flows.*CREATE STREAMING TABLE ... AS SELECT"),
        ("STREAMING TABLE x (a INT) AS SELECT id FROM STREAM orders", "A list of columns"),
        (
            "STREAMING TABLE x PARTITIONED BY (bucket(2, id)) AS SELECT id FROM STREAM orders",
            "is partitioned by columns",
        ),
        ("STREAMING TABLE x AS SELECT id FROM mine", "outlives its session.*temporary views"),
        ("STREAMING TABLE x AS SELECT y FROM STREAM orders", "UNRESOLVED_COLUMN"),
        (
            "STREAMING TABLE x AS SELECT reflect('a', 'b') FROM STREAM orders",
            "The function reflect is not allowed",
        ),
        ("STREAMING TABLE x USING jdbc AS SELECT id FROM STREAM orders", "jdbc is not allowed"),
    ],
)
def test_what_would_take_rows_back_or_not_outlive_the_session_is_refused_and_leaves_nothing(
    place: Place, maker: Client, sql: str, message: str
) -> None:
    list(maker.sql("CREATE OR REPLACE TEMP VIEW mine AS SELECT * FROM STREAM orders"))
    before = place.written_down
    with pytest.raises(RemoteError, match=f"(?s){message}"):
        list(maker.sql(f"CREATE {sql}"))
    assert maker.catalog("x") == []
    assert maker.streams() == []
    assert place.written_down == before
    assert place.kept == []


def test_a_continuous_table_is_validated_and_not_explained(maker: Client) -> None:
    sql = f"CREATE STREAMING TABLE x AS {ID}"
    assert maker.validate(sql).kind == "command"
    with pytest.raises(RemoteError, match="To explain a continuous table is not supported yet"):
        maker.explain(sql)


def test_a_token_without_the_scope_stream_makes_no_table(place: Place) -> None:
    with place.client("carol") as carol, pytest.raises(RemoteError) as caught:
        list(carol.sql(f"CREATE STREAMING TABLE x AS {ID}"))
    assert caught.value.condition == "SCOPE_NOT_GRANTED"


LOST = "CREATE STREAMING TABLE IF NOT EXISTS lost AS SELECT a FROM STREAM gone"


def test_a_server_that_is_killed_and_started_again_takes_its_tables_up_where_they_were(
    place: Place,
) -> None:
    with place.client("admin") as admin, place.client("maker") as maker:
        list(admin.sql("CREATE TABLE gone (a INT) USING parquet"))
        list(maker.sql(LOST))
        list(admin.sql("DROP TABLE gone"))
        add(admin, "orders", 50)
        list(maker.sql("SET spark.sql.session.timeZone = Asia/Tokyo"))
        list(
            maker.sql(
                "CREATE STREAMING TABLE kept AS SELECT id, date_format(t, 'HH') AS hour "
                "FROM STREAM orders WHERE id BETWEEN :least AND 51",
                least=50,
            )
        )
        assert until(lambda: rows(maker, "kept") == [(50, "19")], 30)
    place.restart(signal.SIGKILL)
    with place.client("admin") as admin, place.client("maker") as maker:
        states = {found.name: found for found in maker.streams()}
        assert states["default.kept"].state == "running"
        assert states["default.lost"].state == "failed"
        error = states["default.lost"].error
        assert error is not None
        assert (error.status, error.condition) == ("INVALID_ARGUMENT", "TABLE_OR_VIEW_NOT_FOUND")
        assert '"message": "not taken up: ' in place.server.logs
        assert rows(maker, "kept") == [(50, "19")]
        add(admin, "orders", 51)
        assert until(lambda: rows(maker, "kept") == [(50, "19"), (51, "19")], 30)
        # What could not be taken up is tried again by its statement.
        list(admin.sql("CREATE TABLE gone (a INT) USING parquet"))
        list(maker.sql(LOST))
        list(admin.sql("INSERT INTO gone VALUES (3)"))
        assert until(lambda: rows(maker, "lost") == [(3,)], 30)
        for table in ("kept", "lost"):
            list(maker.sql(f"DROP TABLE {table}"))
        assert (place.written_down, place.kept) == ([], [])
