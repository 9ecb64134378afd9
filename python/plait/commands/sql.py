# SPDX-License-Identifier: Apache-2.0
"""The command `plait sql`: runs statements, and writes what they give.

Exit codes: 0, all have run; 1, one has failed, and those after it have not run; 2, a wrong call;
130, Ctrl-C, which has cancelled the statement.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from plait.commands import place, script
from plait.commands.output import FORMATS, Out, write
from plait.commands.report import describe
from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.commands.place import Place
    from plait.commands.script import Statement

INTERRUPTED = 130

UNBOUND = re.compile(
    r"(\[UNBOUND_SQL_PARAMETER\] Found the unbound parameter: (\S+)\.) "
    r"Please, fix `args`.*?(?= SQLSTATE|$)",
    re.MULTILINE,
)

EXAMPLES = """\
examples:
  plait sql "SELECT 1"
  plait sql --server db:15110 --tls -p k=a "SELECT * FROM t WHERE k = :k"
  plait sql -f report.sql --format csv --output report.csv
  plait sql -f - --spark spark.master=local[4] < report.sql

A value of -p is a number, NULL, TRUE, FALSE, or a text; '3' is a text.
exit codes: 0 done; 1 a statement failed; 2 wrong call; 130 Ctrl-C, the statement was cancelled
"""


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    parser = _parser()
    told = parser.parse_args(argv)
    _check(parser, told)
    text = told.statement if told.file is None else script.read(told.file)
    statements = script.statements(text)
    if not statements:
        parser.error("there is no statement to run")
    for parameter, _ in told.parameter:
        if not re.search(rf":\s*`?{parameter}\b", text):
            parser.error(f"-p gives a value of :{parameter}, which no statement has")
    with opened_out(told.output) as out, closing(place.opened(told)) as where:
        return _run_all(statements, where, told, out)


def _run_all(
    statements: list[Statement],
    where: Place,
    told: argparse.Namespace,
    out: Out,
) -> int:
    name = "" if told.file is None else {"-": "standard input"}.get(told.file, told.file)
    for statement in statements:
        try:
            run(where, statement.text, dict(told.parameter), told.format, out)
        except PlaitError as error:
            out.stream.flush()
            sentence = describe(error, statement.text, name, statement.line)
            print(_with_option(sentence), file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("plait: cancelled", file=sys.stderr)
            return INTERRUPTED
    return 0


def _with_option(told: str) -> str:
    """Say how a value is given to this command, where Spark says how it is given in a program.

    >>> found = "[UNBOUND_SQL_PARAMETER] Found the unbound parameter: n."
    >>> _with_option(f"{found} Please, fix `args` and ...").removeprefix(found)
    ' Give its value by -p n=VALUE.'
    """
    if (found := UNBOUND.search(told)) is None:
        return told
    is_mark = re.fullmatch(r"_\d+", found[2])
    fix = "Write :n for ?, and give" if is_mark else "Give"
    name = "n" if is_mark else found[2]
    return f"{told[: found.end(1)]} {fix} its value by -p {name}=VALUE.{told[found.end() :]}"


def run(
    where: Place, text: str, parameters: dict[str, object], format_name: str, out: Out
) -> int | None:
    """Run one statement and write its result; what breaks it off cancels it."""
    result = where.run(text, parameters)
    try:
        return write(result, format_name, out)
    except BaseException:
        result.cancel()
        raise


@contextmanager
def opened_out(file: Path | None) -> Iterator[Out]:
    """Open a file, or the standard output if None."""
    if file is None:
        columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        yield Out(sys.stdout.buffer, columns)
        sys.stdout.flush()
        return
    with _created(file) as stream:
        yield Out(stream)


def _created(file: Path) -> BinaryIO:
    try:
        return file.open("wb")
    except OSError as error:
        raise PlaitError(f"{file} cannot be written: {error.strerror}.") from error


def _check(parser: argparse.ArgumentParser, told: argparse.Namespace) -> None:
    if told.statement is not None and told.file is not None:
        parser.error("give a statement, or a file of statements by -f, and not both")
    if told.statement is None and told.file is None:
        parser.error("give a statement, or a file of statements by -f")
    place.check(parser, told)
    if told.format == "arrow" and told.output is None and sys.stdout.isatty():
        parser.error("an Arrow stream is not for a terminal: say --output FILE, or redirect it")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait sql",
        description="Run SQL statements and write what they give.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("statement", nargs="?", help="statements, with ; between them")
    parser.add_argument("-f", "--file", help="a file of statements; - is the standard input")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        help="table, csv, json (an object a line) or arrow (an IPC stream); default: table",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there")
    parser.add_argument(
        "-p",
        "--parameter",
        action="append",
        type=script.parameter,
        default=[],
        metavar="NAME=VALUE",
        help="the value of :NAME; may come again",
    )
    place.add_options(parser)
    return parser
