# SPDX-License-Identifier: Apache-2.0
"""The command `plait explain`: how Plait plans the joins of a statement, which is not run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from plait.commands import place, script
from plait.commands.report import describe
from plait.errors import PlaitError

EXAMPLES = """\
example:
  plait explain "SELECT * FROM a JOIN b ON a.k = b.k AND b.t BETWEEN a.t AND a.t + 5"

Statements before the last one run, so that they can make the views that it reads.
exit codes: 0 done; 1 a statement failed; 2 wrong call
"""


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    parser = _parser()
    told = parser.parse_args(argv)
    place.check(parser, told)
    if told.statement is not None and told.file is not None:
        parser.error("give a statement, or a file of statements by -f, and not both")
    if told.statement is None and told.file is None:
        parser.error("give a statement, or a file of statements by -f")
    text = told.statement if told.file is None else script.read(told.file)
    statements = script.statements(text)
    if not statements:
        parser.error("there is no statement to explain")
    with closing(place.opened(told)) as where:
        for statement in statements:
            try:
                if statement is statements[-1]:
                    print(where.explain(statement.text))
                else:
                    list(where.run(statement.text, {}).batches())
            except PlaitError as error:
                print(describe(error, statement.text, "", statement.line), file=sys.stderr)
                return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait explain",
        description="Tell for each join of a statement how it prunes, or why it is Spark's.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("statement", nargs="?", help="the statement, perhaps with others before")
    parser.add_argument("-f", "--file", help="a file of statements; - is the standard input")
    place.add_options(parser)
    return parser
