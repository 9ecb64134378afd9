# SPDX-License-Identifier: Apache-2.0
"""Where the statements of a command run: on a server, or on a Spark of this very process."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from plait.client import Client, Cursor, Tls


class Result(Protocol):
    """A statement that runs, and its rows; errors are ``PlaitError`` with a ``position``."""

    @property
    def schema(self) -> pa.Schema:
        """The columns; waits until they are known."""
        ...

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows, as they come."""
        ...

    def cancel(self) -> None:
        """End the statement and its jobs; returns when it is asked for."""
        ...


class Place(Protocol):
    """Where statements run."""

    name: str

    def run(self, text: str, parameters: Mapping[str, object]) -> Result:
        """Begin a statement."""
        ...

    def explain(self, text: str) -> str:
        """Tell how Plait plans a statement, which is not run."""
        ...

    def close(self) -> None:
        """End it, and what still runs."""
        ...


class Server:
    """A Plait server."""

    def __init__(self, client: Client) -> None:
        """Own a client."""
        self.name = client.address
        self._client = client

    def run(self, text: str, parameters: Mapping[str, object]) -> Cursor:
        """Send a statement."""
        return self._client.execute(text, parameters)

    def explain(self, text: str) -> str:
        """Ask the server."""
        return str(self._client.explain(text))

    def close(self) -> None:
        """Close the client."""
        self._client.close()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where statements run."""
    add_server_options(parser).add_argument(
        "--spark",
        action="append",
        type=_setting,
        default=[],
        metavar="KEY=VALUE",
        help="a setting of the own Spark, as spark.master=local[4]; may come again",
    )


def add_server_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options that name a server, and give their group."""
    group = parser.add_argument_group(
        "where", "Without --server, a Spark of this command's own runs the statements."
    )
    group.add_argument("--server", metavar="HOST:PORT", help="a server: see plait serve")
    group.add_argument(
        "--token", help="the server's token (default: the environment's PLAIT_TOKEN)"
    )
    add_tls_options(group)
    return group


def add_tls_options(group: argparse._ActionsContainer) -> None:
    """Add the options that say whether a server is to be believed."""
    group.add_argument("--tls", action="store_true", help="speak TLS with the server")
    group.add_argument(
        "--ca", type=Path, metavar="FILE", help="the authority to trust, as PEM; means --tls"
    )
    group.add_argument(
        "--server-name", metavar="NAME", help="the name in its certificate, where that is another"
    )
    for name, what in (("certificate", "a client's certificate"), ("key", "the key of it")):
        group.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"{what}, as PEM")


def tls(told: argparse.Namespace) -> Tls | None:
    """Give what those options say; None for no TLS."""
    from plait.client.tls import Tls

    named = Tls(told.ca, told.certificate, told.key, told.server_name)
    return named if told.tls or named != Tls() else None


def check(parser: argparse.ArgumentParser, told: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if told.server is not None and told.spark:
        parser.error("--spark is for a Spark of this command's own, and not for a server's")
    check_server(parser, told)


def check_server(parser: argparse.ArgumentParser, told: argparse.Namespace) -> None:
    """Refuse options of a server where none is named."""
    for name in ("token", "tls", "ca", "certificate", "key", "server_name"):
        if told.server is None and getattr(told, name):
            parser.error(f"--{name.replace('_', '-')} is for a server: say --server HOST:PORT too")


def opened(told: argparse.Namespace) -> Place:
    """Open what the options say; a server is called at the first statement."""
    if told.server is None:
        from plait.commands.local import Local

        return Local(dict(told.spark))
    return Server(client(told))


def client(told: argparse.Namespace) -> Client:
    """Make a client of the server that the options name."""
    from plait.client import Client

    return Client(
        told.server,
        token=told.token or os.environ.get("PLAIT_TOKEN"),
        tls=tls(told) or False,
    )


def _setting(entry: str) -> tuple[str, str]:
    """Read a setting.

    >>> _setting("spark.master=local[4]")
    ('spark.master', 'local[4]')
    """
    key, equals, value = entry.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{entry!r} is not KEY=VALUE")
    return key, value
