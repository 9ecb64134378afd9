# SPDX-License-Identifier: Apache-2.0
"""What the server knows, as the messages of proto/plait/v1; functions of values alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plait._proto import plait_pb2
from plait.server import messages
from plait.server.frames import Columns, Progressed
from plait.server.items import Batch, Finished, Item, Snapshot, State

if TYPE_CHECKING:
    from plait.server.analysis import Explained, Page, Validated
    from plait.server.failure import Failure

STATES = {
    State.QUEUED: plait_pb2.OPERATION_STATE_QUEUED,
    State.RUNNING: plait_pb2.OPERATION_STATE_RUNNING,
    State.FINISHED: plait_pb2.OPERATION_STATE_FINISHED,
    State.FAILED: plait_pb2.OPERATION_STATE_FAILED,
    State.CANCELLED: plait_pb2.OPERATION_STATE_CANCELLED,
}


KINDS = {
    "table": plait_pb2.TABLE_KIND_TABLE,
    "view": plait_pb2.TABLE_KIND_VIEW,
    "temporary": plait_pb2.TABLE_KIND_TEMPORARY_VIEW,
}


def response(operation: str, item: Item) -> plait_pb2.ExecuteResponse:
    """Convert one item of a result."""
    match item:
        case Columns(arrow):
            schema = plait_pb2.Schema(arrow=arrow)
            return plait_pb2.ExecuteResponse(operation=operation, schema=schema)
        case Batch(offset, rows, arrow):
            batch = plait_pb2.Batch(offset=offset, rows=rows, arrow=arrow)
            return plait_pb2.ExecuteResponse(operation=operation, batch=batch)
        case Progressed(counts):
            return plait_pb2.ExecuteResponse(operation=operation, progress=_progress(counts))
        case Finished():
            return plait_pb2.ExecuteResponse(operation=operation, finished=_finished(item))


def _progress(counts: dict[str, int]) -> plait_pb2.Progress:
    return plait_pb2.Progress(
        stages=counts["stages"],
        stages_done=counts["stagesDone"],
        tasks=counts["tasks"],
        tasks_done=counts["tasksDone"],
        tasks_failed=counts["tasksFailed"],
    )


def _finished(item: Finished) -> plait_pb2.Finished:
    counts = item.counts
    return plait_pb2.Finished(
        rows=counts["rows"],
        batches=item.batches,
        bytes=counts["bytes"],
        milliseconds=round(item.seconds * 1000),
        joins=[
            plait_pb2.JoinCounters(join=join["join"], metrics=join["metrics"])
            for join in counts["joins"]
        ],
    )


def operation(session: str, told: Snapshot) -> plait_pb2.Operation:
    """Tell where an operation is."""
    made = plait_pb2.Operation(
        session=session,
        operation=told.name,
        state=STATES[told.state],
        created=round(told.created * 1000),
        started=round(told.started * 1000),
        ended=round(told.ended * 1000),
        batches=told.batches,
    )
    if told.progress is not None:
        made.progress.CopyFrom(_progress(told.progress.counts))
    if isinstance(told.end, Finished):
        made.finished.CopyFrom(_finished(told.end))
    elif told.end is not None:
        made.error.CopyFrom(_error(told.end, told.name))
    return made


def listed(session: str, told: Snapshot) -> plait_pb2.Operation:
    """Do as `operation` does, without what joins have counted: there may be many."""
    made = operation(session, told)
    if made.HasField("finished"):
        made.finished.ClearField("joins")
    return made


def _error(failure: Failure, name: str) -> plait_pb2.OperationError:
    return plait_pb2.OperationError(
        status=messages.STATUS[failure.kind].name,
        message=messages.sentence(failure),
        detail=messages.detail(failure, name),
    )


def validated(told: Validated) -> plait_pb2.ValidateResponse:
    """Tell what a statement is."""
    return plait_pb2.ValidateResponse(
        kind=(
            plait_pb2.STATEMENT_KIND_COMMAND if told.is_command else plait_pb2.STATEMENT_KIND_QUERY
        ),
        schema=plait_pb2.Schema(arrow=told.schema),
        parameters=[
            plait_pb2.Parameter(name=name, position=messages.position(place))
            for name, place in told.parameters
        ],
    )


def explained(told: Explained) -> plait_pb2.ExplainResponse:
    """Tell how a statement would run."""
    return plait_pb2.ExplainResponse(
        plan=told.plan, report=told.report, sides=[_side(side) for side in told.sides]
    )


def _side(told: Mapping[str, Any]) -> plait_pb2.ExplainedSide:
    side = plait_pb2.ExplainedSide(
        join=told["join"],
        node=told["node"],
        side=told["side"],
        pruned_by=told.get("prunedBy", ""),
        text=told["text"],
    )
    if "code" in told:
        side.why_not.code, side.why_not.sentence = told["code"], told["sentence"]
        side.why_not.arguments.extend(told["arguments"])
    return side


def page(told: Page) -> plait_pb2.CatalogResponse:
    """Tell of tables."""
    return plait_pb2.CatalogResponse(
        tables=[_table(table) for table in told.tables], next_page_token=told.next
    )


def _table(told: Mapping[str, Any]) -> plait_pb2.Table:
    return plait_pb2.Table(
        catalog=told["catalog"],
        database=told["database"],
        name=told["name"],
        kind=KINDS[told["kind"]],
        comment=told["comment"],
        columns=[plait_pb2.Column(**column) for column in told["columns"]],
    )
