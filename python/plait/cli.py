# SPDX-License-Identifier: Apache-2.0
"""The command ``plait``; each subcommand is imported only when it is asked for."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from plait.errors import PlaitError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 for an error of Plait's, 2 for a wrong call."""
    # What follows the subcommand is the subcommand's own to read, its --help too.
    arguments, rest = _parser().parse_known_args(argv)
    if arguments.version:
        import plait

        print(f"plait {plait.__version__}")
        return 0
    if arguments.command is None:
        _parser().print_help()
        return 2
    try:
        return COMMANDS[arguments.command](rest)
    except PlaitError as error:
        print(f"plait: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait", description="Plait gives Apache Spark SQL the joins it lacks."
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, help_text in HELP.items():
        commands.add_parser(name, add_help=False, help=help_text)
    return parser


def _demo(argv: Sequence[str]) -> int:
    from plait import demo

    return demo.main(argv) or 0


def _serve(argv: Sequence[str]) -> int:
    from plait.server import main as server

    return server.serve(argv)


def _token(argv: Sequence[str]) -> int:
    from plait.server import main as server

    return server.token(argv)


HELP = {
    "demo": "join real flights and weather, with Plait and stock Spark",
    "serve": "serve Plait SQL over gRPC",
    "token": "make a token for a client of plait serve",
}
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "demo": _demo,
    "serve": _serve,
    "token": _token,
}
