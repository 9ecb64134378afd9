# SPDX-License-Identifier: Apache-2.0
"""Examples: `plait shell` at a pipe instead of a terminal, over a server without Spark."""

from __future__ import annotations

import io
import os
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput
from tests.python.endpoint import Endpoint, until

from plait.cli import HELP, main
from plait.commands.names import Names
from plait.commands.output import Out
from plait.commands.place import Server
from plait.commands.shell import Shell, SqlCompleter, history_file, names_at, prompt
from plait.errors import PlaitError, RemoteError

ENTER, CONTROL_C, CONTROL_D, UP = "\r", "\x03", "\x04", "\x1b[A"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint.start()
    yield endpoint
    endpoint.stop()


@dataclass
class Terminal:
    """A shell, the keys that are pressed, and what is seen."""

    endpoint: Endpoint
    keys: PipeInput
    out: io.BytesIO = field(default_factory=io.BytesIO)
    errors: io.StringIO = field(default_factory=io.StringIO)
    history: InMemoryHistory = field(default_factory=InMemoryHistory)

    def __post_init__(self) -> None:
        self.names = Names(lambda _: [])
        self.session = prompt(self.names, self.history, self.keys, DummyOutput())

    def type(self, *keys: str) -> list[str]:
        """Press keys, and give the lines that came."""
        self.keys.send_text("".join(keys))
        where = Server(self.endpoint.client())
        shell = Shell(where, self.session, Out(self.out, 80), self.errors, self.names)
        assert shell.run() == 0
        return self.out.getvalue().decode().splitlines()

    def later(self, wait: Callable[[], object], *keys: str) -> None:
        """Press keys when ``wait`` has returned; those that end the shell are to be among them."""

        def press() -> None:
            wait()
            self.keys.send_text("".join(keys))

        threading.Thread(target=press, daemon=True).start()


@pytest.fixture
def terminal(endpoint: Endpoint) -> Iterator[Terminal]:
    with create_pipe_input() as keys:
        yield Terminal(endpoint, keys)


def test_a_statement_runs_when_it_ends_with_a_semicolon(terminal: Terminal) -> None:
    lines = terminal.type("rows 1;", ENTER, "\\q", ENTER)
    assert lines[-4:] == ["0  row 0", "1  row 1", "2  row 2", "(3 rows)"]


def test_a_statement_may_have_several_lines(terminal: Terminal, endpoint: Endpoint) -> None:
    terminal.type("rows", ENTER, "1", ENTER, ";", ENTER, "\\q", ENTER)
    assert endpoint.source.statement.sql == "rows\n1"


def test_several_statements_on_a_line_run_up_to_the_first_that_fails(
    terminal: Terminal, endpoint: Endpoint
) -> None:
    before = len(endpoint.engine.sources)
    lines = terminal.type("rows 1; fail; rows 2;", ENTER, CONTROL_D)
    assert len(endpoint.engine.sources) == before + 2
    assert lines[-1] == "(3 rows)"
    assert (
        terminal.errors.getvalue() == "plait: There is no column x.\nline 1\n    fail\n        ^\n"
    )


def test_an_error_does_not_end_the_shell_nor_its_session(
    terminal: Terminal, endpoint: Endpoint
) -> None:
    lines = terminal.type("fail;", ENTER, "rows 1;", ENTER, CONTROL_D)
    assert lines[-1] == "(3 rows)"


def test_ctrl_c_drops_what_was_typed(terminal: Terminal, endpoint: Endpoint) -> None:
    terminal.type("rows 7", CONTROL_C, "rows 1;", ENTER, CONTROL_D)
    assert endpoint.source.statement.sql == "rows 1"


def test_ctrl_c_cancels_the_running_statement_and_not_the_shell(
    terminal: Terminal, endpoint: Endpoint
) -> None:
    before = len(endpoint.engine.sources)

    def interrupt() -> None:
        until(lambda: len(endpoint.engine.sources) > before)
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: "cancelled" in terminal.errors.getvalue())

    terminal.later(interrupt, "rows 1;", ENTER, CONTROL_D)
    lines = terminal.type("hang;", ENTER)
    assert endpoint.engine.sources[before].cancelled.wait(20.0)
    assert terminal.errors.getvalue() == "cancelled\n"
    assert lines[-1] == "(3 rows)"


def test_what_was_typed_before_comes_back(terminal: Terminal, endpoint: Endpoint) -> None:
    terminal.history.append_string("rows 2;")

    # History is read while the prompt waits.
    buffer = terminal.session.default_buffer
    terminal.later(
        lambda: until(lambda: len(buffer._working_lines) > 1), UP, ENTER, CONTROL_C, CONTROL_D
    )
    terminal.type()
    assert endpoint.source.statement.sql == "rows 2"


def test_timing_tells_seconds(terminal: Terminal) -> None:
    lines = terminal.type("\\timing", ENTER, "rows 0;", ENTER, "\\timing", ENTER, "\\q", ENTER)
    assert (lines[0], lines[-1]) == ("timing is on", "timing is off")
    assert lines[-2].endswith(" s")


def test_the_format_can_be_changed(terminal: Terminal) -> None:
    lines = terminal.type("\\format csv", ENTER, "rows 1;", ENTER, "\\format xml", ENTER, CONTROL_D)
    assert lines == [
        "n,text",
        "0,row 0",
        "1,row 1",
        "2,row 2",
        "\\format takes table, csv, json; it is csv",
    ]


def test_help_lists_the_commands_and_an_unknown_one_does_too(terminal: Terminal) -> None:
    lines = terminal.type("\\?", ENTER, "\\dance", ENTER, CONTROL_D)
    assert [line.split()[0] for line in lines[:4]] == ["\\q", "\\?", "\\timing", "\\format"]
    assert lines[4] == "There is no \\dance; there are \\q \\? \\timing \\format"


# Completion.


@dataclass
class Catalog:
    """Answers as a server does, and counts."""

    asked: list[str] = field(default_factory=list)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        self.asked.append(query)
        if query == "SHOW TABLES":
            return [("default", "trades", False), ("", "order items", True), ("", "gone", True)]
        if query == "SHOW COLUMNS IN `gone`":
            raise PlaitError("it was dropped meanwhile")
        return [("price",), ("primary key",)]


def completed(catalog: Catalog, text: str) -> list[str]:
    completer = SqlCompleter(Names(catalog.ask))
    return [found.text for found in completer.get_completions(Document(text), CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select * from tr", "trades"),
        ("SELECT * FROM ord", "`order items`"),
        ("SELECT * FROM l asof j", "join"),
        ("SELECT t.pri FROM trades t WHERE t.pri", "price"),
        ("SELECT * FROM trades WHERE pri", "`primary key`"),
        ("\\ti", "\\timing"),
    ],
)
def test_words_tables_and_columns_are_completed(text: str, words: str) -> None:
    assert words in completed(Catalog(), text)


def test_columns_of_other_tables_are_not_offered() -> None:
    assert "price" not in completed(Catalog(), "SELECT * FROM gone WHERE pr")


def test_names_are_asked_for_once_until_a_statement_has_run() -> None:
    catalog = Catalog()
    names = Names(catalog.ask)
    assert names.of("trades") == names.of("trades")
    assert catalog.asked == ["SHOW TABLES", "SHOW COLUMNS IN `trades`"]
    names.forget()
    assert names.tables() == ["trades", "order items", "gone"]
    assert len(catalog.asked) == 3


def test_a_server_that_does_not_answer_leaves_the_words_of_sql(endpoint: Endpoint) -> None:
    names = names_at(Server(endpoint.client(port=1)))
    assert names.of("SELECT") == []


def test_a_session_whose_end_the_completion_heard_of_is_told_to_who_types(
    terminal: Terminal,
) -> None:
    ended = RemoteError("It ended.", status="FAILED_PRECONDITION", condition="SESSION_ENDED")

    def ask(query: str) -> list[tuple[Any, ...]]:
        raise ended

    terminal.names = Names(ask)
    before = len(terminal.endpoint.engine.sources)
    assert terminal.names.tables() == []
    terminal.type("rows 1;\r", "rows 1;\r", "\\q\r")
    assert "It ended." in terminal.errors.getvalue()
    assert len(terminal.endpoint.engine.sources) == before + 1  # the second statement


# The command.


def test_history_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    file = history_file({"XDG_STATE_HOME": str(tmp_path)})
    assert file == tmp_path / "plait" / "history"
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    FileHistory(str(file)).append_string("SELECT 1;")
    assert list(FileHistory(str(file)).load_history_strings()) == ["SELECT 1;"]


def test_without_xdg_history_is_in_the_home(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert history_file({}) == tmp_path / ".local" / "state" / "plait" / "history"


def test_a_shell_needs_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 1;"))
    with pytest.raises(SystemExit, match="2"):
        main(["shell"])
    assert "plait sql -f - reads the standard input" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["sql", "explain", "shell"])
def test_each_command_helps(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert told.startswith(f"usage: plait {command}")
    assert "--server HOST:PORT" in told


@pytest.mark.parametrize("command", HELP)
def test_every_command_says_what_it_takes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    told = capsys.readouterr().out
    assert told.startswith(f"usage: plait {command}")
    assert "-h, --help" in told
