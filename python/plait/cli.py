# SPDX-License-Identifier: Apache-2.0
"""The command ``plait``; each subcommand is imported only when it is asked for."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence

from plait.errors import PlaitError
from plait.extras import how_to_get

# How writing fails where there is no room, or the disk is broken.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    1 is an error of Plait's, 2 a wrong call, 130 an interruption by Ctrl-C,
    141 that nobody reads the output any more.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # What follows the subcommand is the subcommand's own to read, its --help too.
    if arguments and arguments[0] in COMMANDS:
        return _run(COMMANDS[arguments[0]], arguments[1:])
    told = _parser().parse_args(arguments)
    if told.version:
        import plait

        print(f"plait {plait.__version__}")
        return 0
    _parser().print_help()
    return 2


def _run(command: Callable[[Sequence[str]], int], arguments: list[str]) -> int:
    try:
        return command(arguments)
    except PlaitError as error:
        print(f"plait: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("plait"):
            raise
        # Of the two extras that run statements each brings what all of them need.
        print(
            f"plait: {error.name} is missing: {how_to_get('client')}; that is for a server's "
            "statements, and with [spark] in the place of [client] for a Spark of your own.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read has had enough, as in `plait sql ... | head`.
        _let_go_of_output()
        return 141
    except OSError as error:
        if error.errno not in FULL:
            raise
        print(f"plait: The output cannot be written: {error.strerror}.", file=sys.stderr)
        _let_go_of_output()
        return 1


def _let_go_of_output() -> None:
    """Throw away what has not been written, so that Python does not try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait",
        description="Plait gives Apache Spark SQL the joins it lacks.",
        epilog="plait COMMAND --help tells more of a command.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, help_text in HELP.items():
        commands.add_parser(name, add_help=False, help=help_text)
    return parser


def _demo(argv: Sequence[str]) -> int:
    from plait import demo

    return demo.main(argv) or 0


def _explain(argv: Sequence[str]) -> int:
    from plait.commands import explain

    return explain.main(argv)


def _health(argv: Sequence[str]) -> int:
    from plait.commands import health

    return health.main(argv)


def _serve(argv: Sequence[str]) -> int:
    from plait.server import main as server

    return server.serve(argv)


def _shell(argv: Sequence[str]) -> int:
    from plait.commands import shell

    return shell.main(argv)


def _sql(argv: Sequence[str]) -> int:
    from plait.commands import sql

    return sql.main(argv)


def _streams(argv: Sequence[str]) -> int:
    from plait.commands import streams

    return streams.main(argv)


def _token(argv: Sequence[str]) -> int:
    from plait.server import main as server

    return server.token(argv)


HELP = {
    "demo": "join real flights and weather, with Plait and stock Spark",
    "explain": "tell how the joins of a statement prune",
    "health": "ask a server whether it takes calls",
    "serve": "serve Plait SQL over gRPC",
    "shell": "type statements at a prompt",
    "sql": "run statements, and write what they give",
    "streams": "start, watch and stop a server's streaming queries",
    "token": "make a token for a client of plait serve",
}
COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "demo": _demo,
    "explain": _explain,
    "health": _health,
    "serve": _serve,
    "shell": _shell,
    "sql": _sql,
    "streams": _streams,
    "token": _token,
}
