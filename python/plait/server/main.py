# SPDX-License-Identifier: Apache-2.0
"""The commands `plait serve` and `plait token`."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from plait.errors import PlaitError
from plait.extras import how_to_get
from plait.server import config


def serve(argv: Sequence[str]) -> int:
    """Serve until a signal ends it."""
    told = vars(_serve_parser().parse_args(argv))
    file, spark = told.pop("config"), told.pop("spark")
    told["allow_paths"] = told.pop("allow_path")
    given = {name: value for name, value in told.items() if value is not None}
    settings = config.load(file, os.environ, given)
    for entry in spark or ():
        key, equals, value = entry.partition("=")
        if not equals:
            raise PlaitError(f"--spark takes KEY=VALUE, not {entry!r}.")
        settings = replace(settings, spark={**settings.spark, key: value})
    try:
        from plait.server import app, logs
    except ModuleNotFoundError as error:
        raise PlaitError(f"The server needs {error.name}: {how_to_get('server')}.") from error
    logs.to_standard_error()
    app.run(settings)
    return 0


def token(argv: Sequence[str]) -> int:
    """Make a token, and the lines by which a server knows it."""
    from plait.server.callers import digest, new_token

    parser = argparse.ArgumentParser(
        prog="plait token",
        description="Make a token: its secret is shown once, the server's file keeps its hash.",
    )
    parser.add_argument("name", help="what the token is called in the server's logs")
    parser.add_argument(
        "--scope", action="append", choices=config.SCOPES, help="what it allows (default: read)"
    )
    told = parser.parse_args(argv)
    if not told.name.strip():
        parser.error("the token needs a name, by which the server's logs tell of it")
    made = new_token()
    name = json.dumps(told.name, ensure_ascii=False).replace("\x7f", "\\u007f")  # is TOML's too
    scopes = ", ".join(f'"{scope}"' for scope in told.scope or ["read"])
    print(f"# give this to the client, it is not stored: {made}")
    print(f'[[token]]\nname = {name}\nsha256 = "{digest(made)}"\nscopes = [{scopes}]')
    return 0


def _serve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait serve",
        description="Serve Plait SQL over gRPC; prints `listening on HOST:PORT` when ready.",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings as TOML")
    parser.add_argument("--host", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, help="port; 0 takes a free one (15110)")
    parser.add_argument("--running", type=int, metavar="N", help="operations at a time (8)")
    parser.add_argument("--queued", type=int, metavar="N", help="operations that may wait (64)")
    parser.add_argument(
        "--allow-path",
        action="append",
        metavar="DIR",
        help="a folder that statements may read and write files in; may come again",
    )
    parser.add_argument(
        "--state",
        metavar="DIR",
        help="the folder of continuous tables, which executors see too (none: there are none)",
    )
    parser.add_argument(
        "--scopes",
        metavar="SCOPE,...",
        help="what callers may do where there are no tokens: read, stream, admin (read)",
    )
    parser.add_argument(
        "--spark",
        action="append",
        metavar="KEY=VALUE",
        help="a Spark setting, as spark.master=local[4]; may come again",
    )
    return parser
