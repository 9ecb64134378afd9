# SPDX-License-Identifier: Apache-2.0
"""The command `plait streams`: the streaming queries of a server, listed, watched and changed.

plait streams list --server db:15110
name     state    started              batch  rows in  sink
-------  -------  -------------------  -----  -------  -----------------
matched  running  2026-03-01 10:00:00      7       12  parquet /data/out

Exit codes: 0, done; 1, the server refuses, or the stream has failed; 2, a wrong call; 130, Ctrl-C,
which ends the watching and not the stream.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plait.commands import place, script
from plait.commands.output import FORMATS, write
from plait.commands.report import describe
from plait.commands.sql import INTERRUPTED, opened_out
from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.client import Client, StreamRecord, StreamSide, StreamStatus

EXAMPLES = """\
examples:
  plait streams list --server db:15110
  plait streams start --server db:15110 --path /data/out --checkpoint /data/c \\
      --trigger "5 seconds" "SELECT * FROM STREAM orders"
  plait streams progress --server db:15110 NAME
  plait streams stop --server db:15110 NAME
"""

COLUMNS = pa.schema(
    [
        ("name", pa.string()),
        ("state", pa.string()),
        ("started", pa.timestamp("s")),
        ("batch", pa.int64()),
        ("rows in", pa.uint64()),
        ("sink", pa.string()),
        ("error", pa.string()),
    ]
)


def main(argv: Sequence[str]) -> int:
    """Run the command."""
    told = _parser().parse_args(argv)
    command: Callable[[Client, argparse.Namespace], int] = told.command
    with closing(place.client(told)) as client:
        try:
            return command(client, told)
        except PlaitError as error:
            print(describe(error, getattr(told, "statement", "")), file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return INTERRUPTED


class Listed:
    """Streams as the rows of a result."""

    schema = COLUMNS

    def __init__(self, streams: Sequence[StreamStatus]) -> None:
        """Take them as the server told of them."""
        self._streams = streams

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give them all at once."""
        rows = [dict(zip(COLUMNS.names, _cells(told), strict=True)) for told in self._streams]
        yield pa.RecordBatch.from_pylist(rows, COLUMNS)

    def cancel(self) -> None:
        """Do nothing: all is there."""


def lines(record: StreamRecord) -> list[str]:
    """Tell of a micro-batch to people: a line, and one more for each side of a join."""
    head = (
        f"batch {record.batch}  {record.time:%Y-%m-%d %H:%M:%S}  {record.rows_in:,} rows in  "
        f"{record.duration // timedelta(milliseconds=1):,} ms"
    )
    return [head, *map(_side_line, record.sides)]


def _list(client: Client, told: argparse.Namespace) -> int:
    with opened_out(None) as out:
        write(Listed(client.streams(limit=told.limit)), told.format, out)
    return 0


def _progress(client: Client, told: argparse.Namespace) -> int:
    news = client.stream(told.name).progress(after=told.after, follow=not told.once)
    with news:
        for record in news:
            if told.format == "json":
                print(json.dumps(_plain(asdict(record))), flush=True)
            else:
                print("\n".join(lines(record)), flush=True)
    return 0


def _start(client: Client, told: argparse.Namespace) -> int:
    settings: dict[str, Any] = {
        name: getattr(told, name)
        for name in ("name", "table", "path", "nowhere", "checkpoint", "trigger", "mode")
        if getattr(told, name)
    }
    if told.path:
        settings |= {"format": told.format, "options": dict(told.option)}
    stream = client.start_stream(told.statement, dict(told.parameter), **settings)
    print(stream.name)
    return 0


def _stop(client: Client, told: argparse.Namespace) -> int:
    status = client.stream(told.name).stop()
    print(f"{status.name} {status.state}")
    return 0


def _cells(told: StreamStatus) -> tuple[object, ...]:
    started = told.started.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    last = told.last
    numbers = (None, None) if last is None else (last.batch, last.rows_in)
    return told.name, told.state, started, *numbers, told.sink, told.error and str(told.error)


def _side_line(side: StreamSide) -> str:
    frontier = "unknown" if side.frontier is None else f"{side.frontier}"
    return (
        f"  join {side.join} {side.side:5}  {side.rows_in:,} in, {side.rows_late:,} late, "
        f"{side.rows_stored:,} stored, {side.rows_pruned:,} pruned, {side.pairs:,} pairs, "
        f"frontier {frontier}"
    )


def _plain(value: Any) -> Any:
    """Give a record as JSON has it.

    >>> _plain({"time": datetime(2026, 1, 1, tzinfo=UTC), "duration": timedelta(seconds=2)})
    {'time': '2026-01-01T00:00:00+00:00', 'duration': 2.0}
    """
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case datetime():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="plait streams",
        description="List, watch, start and stop the streaming queries of a server.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)

    listing = _add(commands, "list", _list, "your streams, the newest first")
    listing.add_argument("--limit", type=int, default=100, metavar="N", help="at most (100)")
    listing.add_argument("--format", choices=FORMATS, default="table", help="default: table")

    progress = _add(commands, "progress", _progress, "what a stream does, batch by batch")
    progress.add_argument("name", help="the stream's name")
    progress.add_argument("--once", action="store_true", help="what is known, without waiting")
    progress.add_argument(
        "--after", type=int, default=0, metavar="N", help="only records after that of the number"
    )
    progress.add_argument("--format", choices=("text", "json"), default="text")

    start = _add(commands, "start", _start, "a query over streams; prints its name")
    start.add_argument("statement", help="a query, or CREATE STREAMING TABLE ... AS")
    start.add_argument("--name", help="its name (default: one that the server makes)")
    sink = start.add_mutually_exclusive_group()
    sink.add_argument("--table", help="write into this table, made if it is not there")
    sink.add_argument("--path", metavar="DIR", help="write files into this folder of the server")
    sink.add_argument("--nowhere", action="store_true", help="drop the rows")
    start.add_argument("--format", default="parquet", help="of the files of --path (parquet)")
    start.add_argument(
        *("-o", "--option"),
        action="append",
        type=_option,
        default=[],
        metavar="KEY=VALUE",
        help="an option of the format; may come again",
    )
    start.add_argument("--checkpoint", metavar="DIR", help="where it keeps how far it is")
    start.add_argument("--trigger", help="'5 seconds', or 'available now' (one after the other)")
    start.add_argument("--mode", choices=("append", "update", "complete"), help="default: append")
    start.add_argument(
        *("-p", "--parameter"),
        action="append",
        type=script.parameter,
        default=[],
        metavar="NAME=VALUE",
        help="the value of :NAME; may come again",
    )

    stop = _add(commands, "stop", _stop, "a stream; its checkpoint stays")
    stop.add_argument("name", help="the stream's name")
    return parser


def _add(
    commands: Any,
    name: str,
    command: Callable[[Client, argparse.Namespace], int],
    what: str,
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=what, description=what)
    made.set_defaults(command=command)
    group = made.add_argument_group("where")
    group.add_argument(
        "--server", metavar="HOST:PORT", required=True, help="a server: see plait serve"
    )
    group.add_argument(
        "--token", help="the server's token (default: the environment's PLAIT_TOKEN)"
    )
    place.add_tls_options(group)
    return made


def _option(entry: str) -> tuple[str, str]:
    key, equals, value = entry.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{entry!r} is not KEY=VALUE")
    return key, value
