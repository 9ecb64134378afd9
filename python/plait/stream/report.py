# SPDX-License-Identifier: Apache-2.0
"""What the joins of a streaming query did, batch by batch: from the progress that Spark keeps.

Every batch tells for each side of each join how many rows came in, waited and left::

    {"batchId": 7, "stateOperators": [{"operatorName": "plaitSymmetricHashJoin",
      "customMetrics": {"leftRowsIn": 12, "leftRowsStored": 40, "leftFrontier": 1772359260000001}}]}

1. Progress of an idle query repeats the numbers of the last batch, and is left out.
2. A join's number is its place among all that keeps state in the query, as in ``plait.state``.
3. A frontier is a number, and microseconds if its order is a time. It is taken for a time if each
   of its side lies within ten years of an event time of the query.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from itertools import compress, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from plait.errors import PlaitError

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

JOIN = "plaitSymmetricHashJoin"
SIDES = ("left", "right")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LIKE_A_TIME = timedelta(days=3652)

Progress = Mapping[str, Any]

OVER: Literal["over"] = "over"
_NO_MORE = 2**63 - 1
# The newest row is told up to here: Spark keeps the largest of all tasks tenfold.
_MOST_TOLD = _NO_MORE // 10
EVENT_TIMES = ("max", "watermark")
Frontier = datetime | int | Literal["over"] | None


@dataclass(frozen=True)
class StreamSide:
    """One side of one join in one batch.

    ``rows_late`` came behind the frontier of their side by event time, ``rows_out_of_order`` by an
    order that is declared of it, and ``rows_dropped`` of both were left out; ``rows_stored`` wait
    after the batch; ``rows_pruned`` were proved dead in it, ``rows_evicted`` were forgotten though
    they might still match; ``pairs`` are the matches found by looking for partners among the rows
    of this side, and ``largest_key`` the most of its rows of one key that came or were looked
    at (None of an earlier version). No later row of the side is before ``frontier``, which is None
    before it is known, and OVER once a side that is bounded has come to its end; ``lag`` is how
    far it lies behind the newest row of the side that has come until then, a timedelta of a
    time (None where none has come, or none whose order as a number is above 0, or of an earlier
    version). No row of the side that waits is before ``bound``, which follows from the other
    side's frontier, and is None where nothing follows. ``bytes_stored`` is what the rows take that
    wait, ``state_bytes`` what the state store holds of both sides in memory, ``duration`` what the
    whole batch took.
    """

    batch: int
    time: datetime
    join: int
    side: str
    rows_in: int
    rows_late: int
    rows_out_of_order: int
    rows_dropped: int
    rows_stored: int
    rows_pruned: int
    rows_evicted: int
    pairs: int
    largest_key: int | None
    frontier: Frontier
    lag: timedelta | int | None
    bound: Frontier
    bytes_stored: int
    state_bytes: int
    duration: timedelta


@dataclass(frozen=True)
class StreamReport:
    """The joins of a streaming query over time: a table when printed and in a notebook.

    >>> print(report_of([]))
    No batch has run yet.
    """

    query: str
    sides: tuple[StreamSide, ...]

    def rows(self) -> list[StreamSide]:
        """Return a row for each batch, join and side, the oldest batch first."""
        return list(self.sides)

    def __iter__(self) -> Iterator[StreamSide]:
        return iter(self.sides)

    def __len__(self) -> int:
        return len(self.sides)

    def __str__(self) -> str:
        if not self.sides:
            return "No batch has run yet."
        lines = table(self.sides)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            " ".join(
                cell.ljust(width) if name in TEXTS else cell.rjust(width)
                for name, cell, width in zip(lines[0], line, widths, strict=True)
            ).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        head, *lines = table(self.sides)
        rows = (
            "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in line)
            for kind, line in [("th", head), *(("td", line) for line in lines)]
        )
        return "<table>\n" + "".join(f"<tr>{row}</tr>\n" for row in rows) + "</table>"

    def plot(self, path: str | Path) -> Path:
        """Draw the rows that wait and the lag over time, for each join, and return the file.

        Needs matplotlib, which writes the format that the name ends with (``.png``, ``.svg``).
        """
        if not self.sides:
            raise PlaitError("There is nothing to draw: no batch of the query has run yet.")
        from plait.stream.picture import draw

        return draw(self, Path(path))


HEAD = (
    *("batch", "join", "side", "rows in", "late", "out of order", "dropped"),
    *("stored", "pruned", "evicted", "pairs"),
    *("frontier", "lag", "bound", "bytes", "ms"),
)
TEXTS = ("side", "frontier", "bound")  # flush left
# Columns that are left out if they say 0 throughout.
WHERE_ANY = ("out of order", "dropped", "evicted")


def stream_report(query: StreamingQuery | Sequence[Progress]) -> StreamReport:
    """Return what the joins of a streaming query did in the batches that Spark remembers.

    Takes a query, running or ended, classic or over Spark Connect, of which Spark keeps the last
    ``spark.sql.streaming.numRecentProgressUpdates`` (100) batches; or the progress of its batches,
    as a ``StreamingQueryListener`` or ``query.recentProgress`` gives it.

    >>> len(stream_report([]))
    0
    """
    found = getattr(query, "recentProgress", query)
    if isinstance(found, str | Mapping) or not isinstance(found, Sequence):
        raise PlaitError(
            f"plait.stream_report takes a streaming query or a list of its progress, "
            f"not {type(query).__name__}."
        )
    return report_of([_plain(progress) for progress in found])


def _plain(progress: Any) -> Progress:
    """Return what Spark gives as it is written in JSON."""
    text = getattr(progress, "json", None)
    if isinstance(text, str):
        read: Progress = json.loads(text)
        return read
    if isinstance(progress, Mapping):
        return progress
    raise PlaitError(f"This is no progress of a streaming query: {progress!r}.")


def report_of(progresses: Sequence[Progress]) -> StreamReport:
    """Return the report of progress as it is written in JSON, the oldest first."""
    batches = [p for p in progresses if "addBatch" in p.get("durationMs", {})]
    _check_joins(batches)
    newest = _newest_time(batches)
    times = {key: _is_time(values, newest) for key, values in _frontiers(batches).items()}
    rows = _newest_rows(batches)
    sides = [
        _side(batch, operator, (join, side), times[join, side], rows[i, join, side])
        for i, batch in enumerate(batches)
        for join, operator in joins_of(batch)
        for side in SIDES
    ]
    name = next((str(p["name"]) for p in batches if p.get("name")), "")
    return StreamReport(name, tuple(sides))


def joins_of(progress: Progress) -> list[tuple[int, Progress]]:
    """Give what Plait's joins tell in a batch, each with its number."""
    operators = enumerate(progress.get("stateOperators", ()))
    return [(i, operator) for i, operator in operators if operator["operatorName"] == JOIN]


def _check_joins(batches: Sequence[Progress]) -> None:
    if batches and not any(map(joins_of, batches)):
        names = sorted({o["operatorName"] for p in batches for o in p.get("stateOperators", ())})
        raise PlaitError(
            "This query has no join of streams that is Plait's: "
            + (f"what keeps state in it is {', '.join(names)}." if names else "it keeps no state.")
        )


def _frontiers(batches: Sequence[Progress]) -> dict[tuple[int, str], list[int]]:
    found: dict[tuple[int, str], list[int]] = {}
    for batch in batches:
        for join, operator in joins_of(batch):
            for side in SIDES:
                frontier = _rank(operator, f"{side}Frontier")
                known = frontier not in (0, _NO_MORE)
                found.setdefault((join, side), []).extend([frontier] if known else [])
    return found


def _rank(operator: Progress, name: str) -> int:
    """Return a frontier or a bound as a number, 0 if there is none."""
    return int(operator["customMetrics"].get(name, 0))


def _place(rank: int, is_time: bool) -> Frontier:
    if rank in (0, _NO_MORE):
        return OVER if rank else None
    if not is_time:
        return rank
    try:
        return EPOCH + timedelta(microseconds=rank)
    except OverflowError:
        # A bound before all times: a reach of any length ends no wait.
        return None


def _newest_time(batches: Sequence[Progress]) -> datetime | None:
    """Return the newest event time of the query, None if none is known."""
    told = (b["eventTime"].get(name) for b in batches if "eventTime" in b for name in EVENT_TIMES)
    # The epoch stands for a watermark that is not known.
    known = [time for time in map(_instant, filter(None, told)) if time != EPOCH]
    return max(known, default=None)


def _newest_rows(batches: Sequence[Progress]) -> dict[tuple[int, int, str], int | None]:
    """Return the newest row of each side up to each batch, as a number, None before one came."""
    newest: dict[tuple[int, str], int] = {}
    found = {}
    for i, batch in enumerate(batches):
        for join, operator in joins_of(batch):
            for side in SIDES:
                came = _rank(operator, f"{side}Newest")
                if came:
                    newest[join, side] = max(came, newest.get((join, side), came))
                found[i, join, side] = newest.get((join, side))
    return found


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _is_time(frontiers: Sequence[int], newest: datetime | None) -> bool:
    if newest is None:
        return False
    micros = (newest - EPOCH) // timedelta(microseconds=1)
    return all(abs(f - micros) < LIKE_A_TIME // timedelta(microseconds=1) for f in frontiers)


def _lag(frontier: int, newest: int | None, is_time: bool) -> timedelta | int | None:
    if frontier in (0, _NO_MORE) or newest is None or newest >= _MOST_TOLD:
        return None
    behind = max(newest - frontier, 0)
    return timedelta(microseconds=behind) if is_time else behind


def _side(
    batch: Progress,
    operator: Progress,
    place: tuple[int, str],
    is_time: bool,
    newest: int | None,
) -> StreamSide:
    join, side = place
    metrics = operator["customMetrics"]
    frontier = _rank(operator, f"{side}Frontier")
    return StreamSide(
        batch=int(batch["batchId"]),
        time=_instant(batch["timestamp"]),
        join=join,
        side=side,
        rows_in=metrics[f"{side}RowsIn"],
        rows_late=metrics[f"{side}RowsLate"],
        rows_out_of_order=metrics.get(f"{side}RowsOutOfOrder", 0),
        rows_dropped=metrics.get(f"{side}RowsDropped", 0),
        rows_stored=metrics[f"{side}RowsStored"],
        rows_pruned=metrics[f"{side}RowsPruned"],
        # Of a version that could not limit keys there is none.
        rows_evicted=metrics.get(f"{side}RowsEvicted", 0),
        pairs=metrics[f"pairsByProbing{side.capitalize()}"],
        largest_key=metrics.get(f"{side}LargestKey"),
        frontier=_place(frontier, is_time),
        lag=_lag(frontier, newest, is_time),
        bound=_place(_rank(operator, f"{side}Bound"), is_time),
        bytes_stored=metrics.get(f"{side}BytesStored", 0),
        state_bytes=operator["memoryUsedBytes"],
        duration=timedelta(milliseconds=batch["durationMs"]["triggerExecution"]),
    )


def table(sides: Sequence[StreamSide]) -> list[tuple[str, ...]]:
    """Return the lines of the table, the names of its columns first."""
    lines = [cells(side) for side in sides]
    shown = [
        name not in WHERE_ANY or any(line[i] != "0" for line in lines)
        for i, name in enumerate(HEAD)
    ]
    return [tuple(compress(line, shown)) for line in (HEAD, *lines)]


def cells(side: StreamSide) -> tuple[str, ...]:
    """Return the texts of a row of the table."""
    rows = (
        *(side.rows_in, side.rows_late, side.rows_out_of_order, side.rows_dropped),
        *(side.rows_stored, side.rows_pruned, side.rows_evicted),
    )
    return (
        *(str(side.batch), str(side.join), side.side),
        *(f"{number:,}" for number in (*rows, side.pairs)),
        _frontier_text(side.frontier),
        _lag_text(side.lag),
        _frontier_text(side.bound),
        f"{side.bytes_stored:,}",
        f"{side.duration // timedelta(milliseconds=1):,}",
    )


def _lag_text(lag: timedelta | int | None) -> str:
    match lag:
        case None:
            return ""
        case timedelta():
            return str(timedelta(seconds=round(lag.total_seconds())))
        case _:
            return f"{lag:,}"


def _frontier_text(frontier: Frontier) -> str:
    match frontier:
        case None:
            return ""
        case str():
            return frontier
        case datetime():
            # A frontier of Spark's is a microsecond behind a watermark of whole milliseconds.
            return frontier.strftime("%Y-%m-%d %H:%M:%S")
        case _:
            return f"{frontier:,}"


def by_join(report: StreamReport) -> dict[int, list[StreamSide]]:
    """Return the rows of each join, by its number."""
    rows = sorted(report.sides, key=lambda row: row.join)
    return {join: list(found) for join, found in groupby(rows, key=lambda row: row.join)}
