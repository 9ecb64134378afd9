# SPDX-License-Identifier: Apache-2.0
"""Examples: `plait sql` and `plait explain`, over a server without Spark, and local with it."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.python.authority import Authority
from tests.python.endpoint import Endpoint, until

from plait.cli import main
from plait.commands import output
from plait.commands.local import Local, StatementFailed
from plait.commands.output import Out
from plait.commands.report import describe
from plait.errors import PlaitError
from plait.server import config
from plait.server.callers import digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    token = config.Token("alice", digest("alice's"), ("read",))
    endpoint = Endpoint.start(tokens=(token,))
    yield endpoint
    endpoint.stop()


@pytest.fixture
def plait_sql(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    monkeypatch.setenv("PLAIT_TOKEN", "alice's")
    return lambda *words: main(["sql", "--server", f"localhost:{endpoint.port}", *words])


@dataclass
class Given:
    """A result that is known."""

    schema: pa.Schema
    parts: list[pa.RecordBatch]
    when_asked: Callable[[int], None] = lambda _: None
    cancelled: bool = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(self.parts):
            self.when_asked(number)
            yield part

    def cancel(self) -> None:
        self.cancelled = True


def given(**columns: Any) -> Given:
    batch = pa.record_batch(columns)
    return Given(batch.schema, [batch])


@dataclass
class Written:
    """What a format makes of a result."""

    out: Out = field(default_factory=lambda: Out(io.BytesIO()))

    def of(self, result: Given, name: str) -> list[str]:
        output.write(result, name, self.out)
        return self.text.splitlines()

    @property
    def text(self) -> str:
        assert isinstance(self.out.stream, io.BytesIO)
        return self.out.stream.getvalue().decode()


# Formats.


def test_a_table_has_numbers_to_the_right_and_shows_null() -> None:
    result = given(n=pa.array([1, None, 200]), t=["a", None, "NULL"])
    assert Written().of(result, "table") == [
        "n     t",
        "----  ------",
        "   1  a",
        "NULL  NULL",
        " 200  'NULL'",
        "(3 rows)",
    ]


def test_a_table_is_no_wider_than_the_terminal() -> None:
    names = {f"c{number}": ["x" * 50] for number in range(3)}
    lines = Written(Out(io.BytesIO(), 40)).of(given(n=[1], **names), "table")
    assert lines[2] == "1  xxxxxxxxxx…  xxxxxxxxxx…  xxxxxxxxxx…"
    assert max(map(len, lines)) == 40


WIDE = {"n": [1] * 1000 + [123456789], "t": ["a"] * 1000 + ["x" * 30], "u": ["b"] * 1001}


def test_where_there_is_no_terminal_nothing_is_cut_however_late_it_comes() -> None:
    lines = Written().of(given(**WIDE), "table")
    assert lines[1001:1003] == ["1  a  b", f"123456789  {'x' * 30}  b"]


def test_on_a_terminal_a_late_value_takes_what_room_there_is_and_a_number_all_it_needs() -> None:
    lines = Written(Out(io.BytesIO(), 20)).of(given(**WIDE), "table")
    assert lines[1002] == "123456789  xxxxx…  b"
    numbers = given(n=[1] * 1000 + [123456789])
    assert Written(Out(io.BytesIO(), 4)).of(numbers, "table")[1002] == "123456789"


def test_a_number_is_not_cut_where_a_text_beside_it_can_be() -> None:
    result = given(n=[1234567890123], t=["x" * 30])
    assert Written(Out(io.BytesIO(), 24)).of(result, "table")[2] == "1234567890123  xxxxxxxx…"
    result = given(t=["x" * 9], n=[1234567890123])
    lines = Written(Out(io.BytesIO(), 14)).of(result, "table")
    assert lines[-1] == "(1 row, 1 more column: other formats have all)"


def test_columns_without_room_are_counted() -> None:
    names = {f"column{number}": ["x" * 9] for number in range(9)}
    lines = Written(Out(io.BytesIO(), 20)).of(given(**names), "table")
    assert lines[-1] == "(1 row, 7 more columns: other formats have all)"
    assert len(lines[0]) <= 20


def test_a_text_cannot_move_the_cursor_of_a_terminal() -> None:
    assert Written().of(given(t=["a\x1b[2Jb\nc"]), "table")[2] == "a\\x1b[2Jb\\nc"


def test_wide_characters_keep_the_columns_in_line() -> None:
    lines = Written().of(given(t=["名前", "a"], u=["x", "y"]), "table")
    assert lines[2:4] == ["名前  x", "a     y"]


def test_csv_tells_null_from_an_empty_text() -> None:
    result = given(t=["a,b", 'say "x"', "", None], n=[1, 2, 3, 4])
    assert Written().of(result, "csv") == ["t,n", '"a,b",1', '"say ""x""",2', '"",3', ",4"]


def test_json_is_an_object_a_line_with_every_type() -> None:
    values = {
        "dec": [Decimal("1.50")],
        "nan": [float("nan")],
        "ts": pa.array([datetime(2026, 1, 31, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        "d": [date(2026, 1, 31)],
        "dt": pa.array([timedelta(seconds=5)], pa.duration("us")),
        "bin": [b"ab"],
        "a": [[1, None]],
        "s": [{"x": 1, "y": None}],
        "m": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "none": pa.nulls(1),
    }
    (line,) = Written().of(given(**values), "json")
    assert json.loads(line) == {
        "dec": "1.50",
        "nan": "NaN",
        "ts": "2026-01-31 00:00:00+00:00",
        "d": "2026-01-31",
        "dt": "0 00:00:05",
        "bin": "YWI=",
        "a": [1, None],
        "s": {"x": 1, "y": None},
        "m": {"k": 1},
        "none": None,
    }


def test_json_refuses_two_columns_of_one_name() -> None:
    batch = pa.RecordBatch.from_arrays([pa.array([1]), pa.array([2])], ["k", "k"])
    with pytest.raises(PlaitError, match="rename them with AS"):
        Written().of(Given(batch.schema, [batch]), "json")


def test_arrow_is_a_stream_of_one_result() -> None:
    out = Out(io.BytesIO())
    output.write(given(n=[1, 2]), "arrow", out)
    assert isinstance(out.stream, io.BytesIO)
    assert pa.ipc.open_stream(out.stream.getvalue()).read_all().to_pydict() == {"n": [1, 2]}
    with pytest.raises(PlaitError, match="one result"):
        output.write(given(n=[3]), "arrow", out)


@pytest.mark.parametrize("name", ["csv", "json", "arrow"])
def test_what_has_come_is_written_before_more_is_asked_for(name: str) -> None:
    stream = io.BytesIO()
    sizes: list[int] = []
    part = pa.record_batch({"t": ["x" * 1000]})
    result = Given(part.schema, [part] * 3, lambda _: sizes.append(len(stream.getvalue())))
    output.write(result, name, Out(stream))
    assert sizes[1] > 1000
    assert sizes[2] > 2000


def test_a_result_without_columns_writes_nothing() -> None:
    assert Written().of(Given(pa.schema([]), []), "table") == []


# Errors.


@pytest.mark.parametrize(
    ("position", "carets"),
    [
        ({"line": 2, "column": 3, "start": 12, "stop": 14, "fragment": "foo"}, "^^^"),
        ({"line": 2, "column": 3, "start": 0, "stop": 0, "fragment": ""}, "^"),
    ],
)
def test_an_error_shows_its_place_in_the_file(position: dict[str, Any], carets: str) -> None:
    message = "[X] There is no foo. SQLSTATE: 42703; line 2 pos 2;\n'Project ['foo]"
    error = StatementFailed(message, position)
    assert describe(error, "SELECT 1,\n  foo, 2", "a.sql", 7).splitlines() == [
        "plait: [X] There is no foo. SQLSTATE: 42703",
        "a.sql, line 8",
        "      foo, 2",
        f"      {carets}",
    ]


def test_an_error_without_a_place_is_its_message() -> None:
    assert describe(PlaitError("No server."), "SELECT 1") == "plait: No server."


# Over a server.


def test_a_statement_runs_on_the_server(plait_sql: Callable[..., int], capsys: Capture) -> None:
    assert plait_sql("rows 1") == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[2:] == ["0  row 0", "1  row 1", "2  row 2", "(3 rows)"]
    assert told.err == ""


def test_a_file_is_split_into_statements(
    plait_sql: Callable[..., int], capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "a.sql"
    file.write_text("rows 1;\n-- ; two\nrows 0;")
    assert plait_sql("-f", str(file), "--format", "csv") == 0
    expected = "n,text\n0,row 0\n1,row 1\n2,row 2\n\nn,text\n"
    assert capsys.readouterr().out == expected


def test_the_standard_input_is_a_file(
    plait_sql: Callable[..., int], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("rows 1"))
    assert plait_sql("-f", "-", "--format", "json") == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert json.loads(first) == {"n": 0, "text": "row 0"}


def test_a_result_goes_into_a_file(plait_sql: Callable[..., int], tmp_path: Path) -> None:
    file = tmp_path / "out.arrow"
    assert plait_sql("rows 2", "--format", "arrow", "--output", str(file)) == 0
    with pa.ipc.open_stream(file) as stream:
        assert stream.read_all()["n"].to_pylist() == list(range(6))


def test_parameters_go_by_their_types(
    plait_sql: Callable[..., int], endpoint: Endpoint, capsys: Capture
) -> None:
    assert plait_sql("rows 0 :a :b :c", "-p", "a=3", "-p", "b='3'", "-p", "c=NULL") == 0
    assert endpoint.source.statement.named == {
        "a": {"type": "long", "value": "3"},
        "b": {"type": "string", "value": "3"},
        "c": None,
    }


def test_a_failure_is_exit_code_1_and_ends_the_script(
    plait_sql: Callable[..., int], endpoint: Endpoint, capsys: Capture
) -> None:
    before = len(endpoint.engine.sources)
    assert plait_sql("rows 0; fail; rows 1") == 1
    assert len(endpoint.engine.sources) == before + 2
    assert capsys.readouterr().err.startswith("plait: There is no column x.\nline 1\n    fail\n")


def test_a_wrong_token_and_no_server_are_exit_code_1(
    endpoint: Endpoint, plait_sql: Callable[..., int], capsys: Capture
) -> None:
    assert plait_sql("--token", "nobody's", "rows 1") == 1
    assert "does not know this token" in capsys.readouterr().err
    assert main(["sql", "--server", "localhost:1", "rows 1"]) == 1
    assert "No Plait server answers at localhost:1" in capsys.readouterr().err


def test_a_server_that_asks_for_a_clients_certificate_gets_it(
    tmp_path: Path, capsys: Capture
) -> None:
    authority = Authority(tmp_path)
    server, mine = authority.issue("server", "db.example"), authority.issue("me", "me.example")
    endpoint = Endpoint.start(tls=config.Tls(*server, client_ca=authority.file))
    told = ["--server", f"localhost:{endpoint.port}", "--ca", str(authority.file)]
    told += ["--server-name", "db.example", "--certificate", str(mine[0]), "--key", str(mine[1])]
    assert main(["sql", *told, "rows 1"]) == 0
    assert main(["explain", *told, "rows 1"]) == 0
    assert main(["streams", "list", *told]) == 0
    endpoint.stop()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a statement"),
        (["SELECT 1", "-f", "x"], "by -f, and not both"),
        (["-- nothing"], "no statement to run"),
        (["SELECT 1", "--format", "xml"], "invalid choice: 'xml'"),
        (["SELECT 1 AS z", "-p", "z=1"], "-p gives a value of :z, which no statement has"),
        (["SELECT :zz", "-p", "z=1"], "a value of :z, which no statement has"),
        (["SELECT 1", "-p", "3"], "is not NAME=VALUE"),
        (["SELECT 1", "--tls"], "--tls is for a server"),
        (["SELECT 1", "--server-name", "x"], "--server-name is for a server"),
        (["SELECT 1", "--key", "x"], "--key is for a server"),
        (["SELECT 1", "--spark", "x"], "is not KEY=VALUE"),
        (["SELECT 1", "--server", "h:1", "--spark", "a=b"], "--spark is for a Spark"),
    ],
)
def test_a_wrong_call_is_exit_code_2(words: list[str], said: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["sql", *words])
    assert said in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_named(capsys: Capture) -> None:
    assert main(["sql", "-f", "/nowhere/a.sql"]) == 1
    assert "/nowhere/a.sql cannot be read: No such file" in capsys.readouterr().err


def started(endpoint: Endpoint, root: Path, *words: str) -> subprocess.Popen[str]:
    environment = {"PYTHONPATH": str(root / "python"), "PLAIT_TOKEN": "alice's"}
    return subprocess.Popen(
        [sys.executable, "-m", "plait", "sql", "--server", f"localhost:{endpoint.port}", *words],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_cancels_the_statement_and_is_exit_code_130(endpoint: Endpoint, root: Path) -> None:
    before = len(endpoint.engine.sources)
    process = started(endpoint, root, "hang")
    assert until(lambda: len(endpoint.engine.sources) > before, 30)
    process.send_signal(signal.SIGINT)
    assert endpoint.source.cancelled.wait(5.0)
    assert process.communicate(timeout=20) == ("", "plait: cancelled\n")
    assert process.returncode == 130


def test_a_reader_who_has_had_enough_ends_it_quietly(endpoint: Endpoint, root: Path) -> None:
    process = started(endpoint, root, "--format", "csv", "rows 1000000")
    assert process.stdout is not None
    assert process.stdout.readline() == "n,text\n"
    process.stdout.close()
    assert process.wait(30) == 141
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert endpoint.source.cancelled.wait(5.0)


def test_an_output_that_is_full_is_a_sentence(endpoint: Endpoint, root: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m plait sql --server localhost:{endpoint.port} 'rows 1' > /dev/full",
        env=os.environ | {"PYTHONPATH": str(root / "python"), "PLAIT_TOKEN": "alice's"},
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    said = "plait: The output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, said)


# Explain.


def test_explain_over_a_server_prints_what_the_server_tells(
    endpoint: Endpoint, capsys: Capture
) -> None:
    address = f"localhost:{endpoint.port}"
    assert main(["explain", "--server", address, "--token", "alice's", "rows 1"]) == 0
    assert capsys.readouterr().out == "Join on a < b ...\n"


# Local.


@pytest.mark.parametrize("command", ["sql", "explain"])
def test_a_master_that_spark_does_not_know_is_told_before_spark_starts(
    command: str, capsys: Capture
) -> None:
    for master in ("nonsense", "local[x]", "localhost:7077"):
        assert main([command, "--spark", f"spark.master={master}", "SELECT 1"]) == 1
        assert capsys.readouterr().err == (
            f"plait: {master!r} is no master of Spark's: it is local[*], local[4], "
            "spark://HOST:PORT, yarn or k8s://HOST:PORT.\n"
        )


@pytest.mark.parametrize(
    ("home", "missing"), [("JAVA_HOME", "bin/java"), ("SPARK_HOME", "bin/spark-submit")]
)
def test_where_there_is_no_java_or_no_spark_a_sentence_says_so(
    root: Path, tmp_path: Path, home: str, missing: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plait", "sql", "SELECT 1"],
        env=os.environ | {"PYTHONPATH": str(root / "python"), home: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert f"{home} is {tmp_path}, where no {missing} is" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


JOIN = """
SELECT * FROM VALUES ('a', 10) AS l(k, t) JOIN VALUES ('a', 12), ('a', 40) AS r(k, t)
ON l.k = r.k AND r.t BETWEEN l.t AND l.t + 5
"""


@pytest.fixture
def local(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plait.commands.place.opened", lambda _: Local({}, spark))


def test_a_local_statement_gives_what_spark_gives(
    local: None, spark: SparkSession, capsys: Capture
) -> None:
    text = """
        SELECT id, CAST(id AS STRING) AS s, IF(id = 1, NULL, id / 4) AS d, array(id, NULL) AS a,
          TIMESTAMP '2026-03-29 00:30:00' AS ts, INTERVAL '1-2' YEAR TO MONTH AS ym
        FROM range(0, 3, 1, 2)
    """
    assert main(["sql", "--format", "json", text]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = [row.asDict() for row in spark.sql(text).drop("ts", "ym").collect()]
    assert [{name: row[name] for name in ("id", "s", "d", "a")} for row in rows] == expected
    assert rows[0]["ts"] == "2026-03-29 00:30:00+00:00"
    assert rows[0]["ym"] == 14


def test_a_local_script_shares_a_session_and_takes_parameters(local: None, capsys: Capture) -> None:
    script = "CREATE OR REPLACE TEMP VIEW three AS SELECT * FROM range(3);"
    script += "SELECT id + :n AS m FROM three"
    assert main(["sql", "--format", "csv", "-p", "n=10", script]) == 0
    assert capsys.readouterr().out == "m\n10\n11\n12\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT :n", "parameter: n. Give its value by -p n=VALUE. SQLSTATE: 42P02"),
        ("SELECT 1, ?", "Write :n for ?, and give its value by -p n=VALUE. SQLSTATE: 42P02"),
    ],
)
def test_a_parameter_without_a_value_names_the_option(
    local: None, capsys: Capture, text: str, said: str
) -> None:
    assert main(["sql", text]) == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0].endswith(said)
    assert told[1] == "line 1"


@pytest.mark.parametrize(
    ("text", "said", "carets"),
    [
        ("SELECT\n  x FROM range(3)", "UNRESOLVED_COLUMN", "      ^"),
        ("SELECT 1 +", "PARSE_SYNTAX_ERROR", "              ^"),
        ("SELECT 1 / (id - 1) FROM range(3)", "DIVIDE_BY_ZERO", " " * 11 + "^" * 12),
    ],
)
def test_a_local_error_marks_its_place(
    local: None, capsys: Capture, text: str, said: str, carets: str
) -> None:
    assert main(["sql", text]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"plait: [{said}")
    assert "SQLSTATE" in lines[0]
    assert lines[-1] == carets


def test_a_continuous_table_is_none_of_a_spark_that_ends_with_the_command(
    local: None, capsys: Capture
) -> None:
    assert main(["sql", "CREATE MATERIALIZED VIEW v AS SELECT 1 AS a"]) == 1
    assert "is kept by a server" in capsys.readouterr().err


def test_explain_tells_how_a_join_prunes(local: None, capsys: Capture) -> None:
    assert main(["explain", JOIN.replace("SELECT", "SELECT /*+ SYMMETRIC_HASH(l, r) */")]) == 0
    assert "pruned by" in capsys.readouterr().out
    assert main(["explain", "SELECT 1"]) == 0
    assert capsys.readouterr().out == "There is no join in it.\n"


def test_cancelling_a_local_statement_ends_its_jobs(spark: SparkSession) -> None:
    endless = "SELECT count(*) FROM range(0, 1000000000000, 1, 2) WHERE id % 7 = pmod(hash(id), 7)"
    result = Local({}, spark).run(endless, {})
    assert result.schema.names == ["count(1)"]
    status = spark.sparkContext.statusTracker()
    assert until(lambda: len(status.getActiveJobsIds()) == 1)
    result.cancel()
    assert until(lambda: status.getActiveJobsIds() == [])
    with pytest.raises(PlaitError, match="cancelled"):
        list(result.batches())


@pytest.mark.spark
def test_plait_sql_starts_a_spark_of_its_own_and_is_silent_about_it(root: Path) -> None:
    command = [sys.executable, "-m", "plait", "sql", "--spark", "spark.master=local[1]"]
    done = subprocess.run(
        [*command, "--format", "csv", "SELECT 1 AS n;\nSELECT 1 / 0 AS m"],
        env=os.environ | {"PYTHONPATH": str(root / "python")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (1, "n\n1\n\nm\n")
    assert done.stderr.splitlines()[-3:] == ["line 2", "    SELECT 1 / 0 AS m", "           ^^^^^"]
    assert "Exception" not in done.stderr
