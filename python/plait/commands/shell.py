# SPDX-License-Identifier: Apache-2.0
"""The command `plait shell`: a prompt for statements, which end with a semicolon.

    plait> SELECT k, count(*) FROM t
      ...> GROUP BY k;

1. Enter sends what is complete, and begins a new line otherwise.
2. Ctrl-C cancels the statement that runs, or drops what has been typed; Ctrl-D ends the shell.
3. An error ends nothing: the next statement runs in the same session.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from plait import sql
from plait.arrow import values_of
from plait.commands import place, script
from plait.commands.names import Names
from plait.commands.output import FORMATS, Out
from plait.commands.report import describe
from plait.commands.sql import opened_out, run
from plait.errors import PlaitError
from plait.extras import how_to_get

try:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.filters import Condition, has_completions, is_done
    from prompt_toolkit.history import FileHistory, History
    from prompt_toolkit.key_binding import KeyBindings
except ModuleNotFoundError as missing:
    raise PlaitError(f"The shell needs {missing.name}: {how_to_get('shell')}.") from missing

if TYPE_CHECKING:
    from prompt_toolkit.document import Document
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyPressEvent
    from prompt_toolkit.output import Output

    from plait.commands.place import Place

PROMPT = "plait> "
CONTINUATION = "  ...> "

COMMANDS = {
    "\\q": "end the shell, as Ctrl-D does",
    "\\?": "this list",
    "\\timing": "tell how long statements take, or tell it no more",
    "\\format": "table, csv or json: how results are shown",
}
SHOWN = [name for name in FORMATS if name != "arrow"]


class Shell:
    """A prompt, and what follows from each line."""

    def __init__(
        self,
        where: Place,
        session: PromptSession[str],
        out: Out,
        errors: TextIO,
        names: Names | None = None,
    ) -> None:
        """Run statements at ``where``, and write to ``out`` and ``errors``."""
        self._where = where
        self._session = session
        self._out = out
        self._errors = errors
        self._names = names
        self.format = "table"
        self.timing = False

    def run(self) -> int:
        """Ask and answer until the end is asked for; gives the exit code."""
        while True:
            try:
                text = self._session.prompt(PROMPT)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return 0
            if not self.answer(text):
                return 0

    def answer(self, text: str) -> bool:
        """Do what was typed; False for the end."""
        if text.strip().startswith("\\"):
            return self._command(*text.split())
        for statement in script.statements(text):
            if not self._statement(statement.text):
                break
        return True

    def _statement(self, text: str) -> bool:
        """Run a statement; whether it ran to its end."""
        began = time.monotonic()
        self._out.results = 0
        try:
            if self._names is not None:
                self._names.check()
            if run(self._where, text, {}, self.format, self._out) is None:
                self._say("done")
            if self.timing:
                self._say(f"{time.monotonic() - began:.3f} s")
            return True
        except PlaitError as error:
            print(describe(error, text), file=self._errors, flush=True)
        except KeyboardInterrupt:
            print("cancelled", file=self._errors, flush=True)
        finally:
            if self._names is not None:
                self._names.forget()
        return False

    def _command(self, name: str, *words: str) -> bool:
        match (name, *words):
            case ("\\q",):
                return False
            case ("\\timing",):
                self.timing = not self.timing
                self._say(f"timing is {'on' if self.timing else 'off'}")
            case ("\\format", chosen) if chosen in SHOWN:
                self.format = chosen
            case ("\\format", *_):
                self._say(f"\\format takes {', '.join(SHOWN)}; it is {self.format}")
            case ("\\?", *_):
                for command, meaning in COMMANDS.items():
                    self._say(f"{command:10}{meaning}")
            case _:
                self._say(f"There is no {name}; there are {' '.join(COMMANDS)}")
        return True

    def _say(self, text: str) -> None:
        self._out.line(text)
        self._out.stream.flush()


class SqlCompleter(Completer):
    """Words of SQL, and names."""

    def __init__(self, names: Names) -> None:
        """Complete ``names`` too."""
        self._names = names

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """Give what the word before the cursor may become."""
        del event
        text, position = document.text, document.cursor_position
        if text.startswith("\\"):
            words = [command for command in COMMANDS if command.startswith(text)]
            typed = text
        else:
            words = sql.complete(text, position, self._names.of(text))
            typed = sql.partial(text, position)
        for word in words:
            yield Completion(word, start_position=-len(typed))


def prompt(
    names: Names,
    history: History | None = None,
    input: Input | None = None,
    output: Output | None = None,
) -> PromptSession[str]:
    """Make a prompt for statements of several lines."""
    return PromptSession(
        multiline=True,
        prompt_continuation=CONTINUATION,
        completer=SqlCompleter(names),
        complete_in_thread=True,
        complete_while_typing=False,
        history=history,
        key_bindings=_keys(),
        input=input,
        output=output,
    )


def names_at(where: Place) -> Names:
    """Give the names of the session of a place."""

    def ask(query: str) -> list[tuple[Any, ...]]:
        return [row for batch in where.run(query, {}).batches() for row in values_of(batch)]

    return Names(ask)


def history_file(environment: dict[str, str]) -> Path:
    """Say where what was typed is kept; the folder is made, for its owner alone.

    XDG_STATE_HOME/plait/history, or ~/.local/state/plait/history.
    """
    state = environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(state) / "plait"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / "history"


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="plait shell",
        description="Type statements at a prompt; each ends with a semicolon.",
        epilog="\n".join(f"  {name:10}{meaning}" for name, meaning in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place.add_options(parser)
    told = parser.parse_args(argv)
    place.check(parser, told)
    if not sys.stdin.isatty():
        parser.error("a prompt needs a terminal: plait sql -f - reads the standard input")
    with opened_out(None) as out, closing(place.opened(told)) as where:
        names = names_at(where)
        session = prompt(names, FileHistory(str(history_file(dict(os.environ)))))
        print(f"Plait SQL on {where.name}. Statements end with ; and \\? helps.")
        return Shell(where, session, out, sys.stderr, names).run()


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def completing() -> bool:
        return bool(has_completions())

    @keys.add("enter", filter=~completing & ~is_done)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        text = buffer.text
        if text.lstrip().startswith("\\") or sql.is_complete(text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return keys
