# SPDX-License-Identifier: Apache-2.0
"""Examples: the line that tells on a terminal how far a statement is."""

from __future__ import annotations

import io
import threading
from types import SimpleNamespace

import pytest
from tests.python.endpoint import Start, endpoints, until

from plait._proto import plait_pb2
from plait.client import RemoteError, progress
from plait.client.progress import ProgressLine, Show

start = pytest.fixture(name="start")(endpoints)

HALF = plait_pb2.Progress(tasks=4, tasks_done=2, stages=2, stages_done=1)


class Terminal(io.StringIO):
    """A terminal, of which `seen` is what its lowest line shows."""

    def isatty(self) -> bool:
        return True

    @property
    def seen(self) -> str:
        shown = ""
        for text in self.getvalue().split("\r"):
            shown = text + shown[len(text) :]
        return shown.rstrip()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The standard error, on which the line appears at once."""
    terminal = Terminal()
    # pytest puts a standard error of its own in the place of any that a fixture sets.
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=terminal))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return terminal


def test_the_line_is_written_over_itself_and_taken_away(terminal: Terminal) -> None:
    line = ProgressLine(Show.ON_TERMINAL)
    line.show(plait_pb2.Progress(tasks=1000, stages=2))
    assert terminal.seen == f"[>{' ' * 29}] 0 of 1000 tasks, 0 of 2 stages, 0 s"
    line.show(HALF)
    assert terminal.seen == f"[{'=' * 15}>{' ' * 14}] 2 of 4 tasks, 1 of 2 stages, 0 s"
    line.clear()
    assert terminal.seen == ""
    assert terminal.getvalue().endswith("\r")
    assert "\n" not in terminal.getvalue()


def test_a_statement_that_is_quick_shows_none(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    line = ProgressLine(Show.ON_TERMINAL)
    line.show(HALF)
    line.clear()
    assert terminal.getvalue() == ""


def test_what_is_no_terminal_gets_nothing(terminal: Terminal) -> None:
    file = io.StringIO()
    ProgressLine(Show.ON_TERMINAL, file).show(HALF)
    ProgressLine(Show.NEVER).show(HALF)
    assert file.getvalue() == terminal.getvalue() == ""


def test_a_client_shows_the_line_while_a_statement_runs_and_not_behind_it(
    start: Start, terminal: Terminal
) -> None:
    cursor = start().client().sql("rows 1; hang")

    def read() -> None:
        with pytest.raises(RemoteError, match="cancelled"):
            list(cursor)

    reading = threading.Thread(target=read)
    reading.start()
    assert until(lambda: "1 of 2 tasks, 0 of 1 stages" in terminal.seen)
    cursor.cancel()
    reading.join()
    assert terminal.seen == ""
