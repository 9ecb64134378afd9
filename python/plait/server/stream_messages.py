# SPDX-License-Identifier: Apache-2.0
"""Streams, from and to the messages of proto/plait/v1; functions of values alone.

>>> every(plait_pb2.StartStreamRequest(trigger={"every_milliseconds": 500}))
500
>>> every(plait_pb2.StartStreamRequest(trigger={"available_now": {}})) is None
True
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from plait._proto import plait_pb2
from plait.server import messages
from plait.server.failure import from_json, request
from plait.stream.report import SIDES, joins_of

# Characters of a table's name, a path and a format; options of a sink; a trigger's milliseconds.
PATH = 4096
FORMAT = 128
OPTIONS = 64
LONGEST = 366 * 24 * 3600 * 1000

MODES = {
    plait_pb2.OUTPUT_MODE_UNSPECIFIED: "append",
    plait_pb2.OUTPUT_MODE_APPEND: "append",
    plait_pb2.OUTPUT_MODE_UPDATE: "update",
    plait_pb2.OUTPUT_MODE_COMPLETE: "complete",
}
MODE_VALUES = {name: value for value, name in MODES.items()}

STATES = {
    "running": plait_pb2.STREAM_STATE_RUNNING,
    "finished": plait_pb2.STREAM_STATE_FINISHED,
    "stopped": plait_pb2.STREAM_STATE_STOPPED,
    "failed": plait_pb2.STREAM_STATE_FAILED,
}


def sink(given: plait_pb2.StartStreamRequest) -> dict[str, Any] | None:
    """Check where the rows go; None where that is not said."""
    match given.WhichOneof("sink"):
        case "table":
            return {"kind": "table", "table": _some("table", given.table)}
        case "files":
            options = dict(given.files.options)
            if len(options) > OPTIONS:
                raise request(f"`options` has {len(options)} entries, and may have {OPTIONS}.")
            for name, value in options.items():
                messages.text("options", name + value, PATH)
            return {
                "kind": "files",
                "format": messages.text("format", given.files.format, FORMAT),
                "path": _some("path", given.files.path),
                "options": options,
            }
        case "nowhere":
            return {"kind": "nowhere"}
    return None


def every(given: plait_pb2.StartStreamRequest) -> int | None:
    """Check the trigger: so many milliseconds, None for what is there now."""
    if given.trigger.WhichOneof("kind") == "available_now":
        return None
    millis = given.trigger.every_milliseconds
    if millis > LONGEST:
        raise request(f"`every_milliseconds` is {millis}, and may be {LONGEST} at most, a year.")
    return int(millis)


def mode(given: plait_pb2.StartStreamRequest) -> str:
    """Check which rows come out."""
    if given.mode not in MODES:
        raise request(f"`mode` is {int(given.mode)}, which this server does not know.")
    return MODES[given.mode]


def stream(told: Mapping[str, Any]) -> plait_pb2.Stream:
    """Tell of a stream."""
    made = plait_pb2.Stream(
        stream=told["name"],
        query=told["query"],
        state=STATES[told["state"]],
        started=told["started"],
        ended=told["ended"],
        sink=told["sink"],
        mode=MODE_VALUES[told["mode"]],
        table=told["table"],
    )
    if "last" in told:
        made.last.CopyFrom(record(told["last"], told["started"]))
        made.last.ClearField("json")
    if "failure" in told:
        failure = from_json(told["failure"])
        made.error.CopyFrom(
            plait_pb2.OperationError(
                status=messages.STATUS[failure.kind].name,
                message=messages.sentence(failure),
                detail=messages.detail(failure, ""),
            )
        )
    return made


def record(told: Mapping[str, Any], started: int) -> plait_pb2.StreamRecord:
    """Tell of a micro-batch of a stream that was started then."""
    progress = told["progress"]
    began = datetime.fromisoformat(progress["timestamp"])
    return plait_pb2.StreamRecord(
        number=told["number"],
        started=started,
        batch=progress["batchId"],
        time=round(began.timestamp() * 1000),
        rows_in=sum(max(0, source.get("numInputRows", 0)) for source in progress["sources"]),
        milliseconds=progress.get("durationMs", {}).get("triggerExecution", 0),
        sides=_sides(progress),
        json=json.dumps(progress),
    )


def _sides(progress: Mapping[str, Any]) -> Iterable[plait_pb2.StreamSide]:
    for join, operator in joins_of(progress):
        counts = operator["customMetrics"]
        for side in SIDES:
            yield plait_pb2.StreamSide(
                join=join,
                side=side,
                rows_in=counts[f"{side}RowsIn"],
                rows_late=counts[f"{side}RowsLate"],
                rows_stored=counts[f"{side}RowsStored"],
                rows_pruned=counts[f"{side}RowsPruned"],
                pairs=counts[f"pairsByProbing{side.capitalize()}"],
                frontier=counts.get(f"{side}Frontier", 0),
                bound=counts.get(f"{side}Bound", 0),
                bytes_stored=counts.get(f"{side}BytesStored", 0),
                state_bytes=operator["memoryUsedBytes"],
            )


def _some(field: str, given: str) -> str:
    if not given.strip():
        raise request(f"`{field}` is empty.")
    return messages.text(field, given, PATH)
