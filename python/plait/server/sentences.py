# SPDX-License-Identifier: Apache-2.0
"""What the registry says where it refuses or ends something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plait.server.failure import Failure
from plait.server.items import Way

if TYPE_CHECKING:
    from plait.server.config import Server
    from plait.server.items import Terms


def cancelled() -> Failure:
    """Say that somebody has cancelled it."""
    return Failure("cancelled", "OPERATION_CANCELED", "The operation was cancelled.")


def server_stops() -> Failure:
    """Say that the server takes and keeps nothing."""
    return Failure("ending", "SERVER_STOPS", "The server is shutting down.")


def past_deadline() -> Failure:
    """Say that the time of the call is over."""
    return Failure("deadline", "DEADLINE_EXCEEDED", "The deadline of the call has passed.")


def other_server() -> Failure:
    """Say that the request is meant for another server."""
    return Failure(
        "other",
        "OTHER_SERVER",
        "The request names another server: this one was started since, or is another one. It has "
        "run nothing.",
    )


def session_ended(session: str) -> Failure:
    """Say that the settings that the caller counts on are gone."""
    return Failure(
        "other",
        "SESSION_ENDED",
        f"The session {session!r} has ended: it was idle for too long, had to give way to a new "
        "one, was closed, or the server was restarted. Its settings, temporary views, variables "
        "and prepared statements are gone, and nothing was run. The next call begins a new "
        "session: set up there what you need.",
    )


def operation_exists(operation: str) -> Failure:
    """Say that the id is taken."""
    return Failure(
        "exists",
        "OPERATION_EXISTS",
        f"There is an operation {operation!r} in this session already: attach to it, "
        "or take another id.",
    )


def operation_forgotten(operation: str) -> Failure:
    """Say that there was one of this id, so that nobody begins it again."""
    return Failure(
        "missing",
        "OPERATION_FORGOTTEN",
        f"The operation {operation!r} has begun here, and was ended and forgotten: somebody has "
        "cancelled it or closed its session. It may have run, or in part: a query can be run "
        "again under another id, of a command look first what it has done.",
    )


def not_prepared(name: str) -> Failure:
    """Say that the session keeps no such statement."""
    return Failure(
        "missing",
        "PREPARED_NOT_FOUND",
        f"There is no prepared statement {name!r} in this session: it was never prepared here, or "
        "the session has been idle for too long. Prepare it again.",
    )


def too_many_sessions(limit: int, whose: str) -> Failure:
    """Say that no session can be opened."""
    return Failure(
        "limit",
        "TOO_MANY_SESSIONS",
        f"{limit} sessions {whose} are open, the server's limit, and none of them is idle: use one "
        "of them, or wait until an operation has ended and was read.",
    )


def too_many_submitted(limits: Server) -> Failure:
    """Say that the caller has submitted enough."""
    return Failure(
        "limit",
        "TOO_MANY_SUBMITTED",
        f"{limits.submitted} submitted operations of this caller have not ended, the server's "
        "limit: read some by Attach, or cancel them.",
    )


def too_many_prepared(limits: Server) -> Failure:
    """Say that the session keeps enough statements."""
    return Failure(
        "limit",
        "TOO_MANY_PREPARED",
        f"A session keeps {limits.prepared} prepared statements: unprepare one, or take its name.",
    )


def too_long_prepared(limits: Server) -> Failure:
    """Say that the session keeps enough text."""
    return Failure(
        "limit",
        "TOO_MANY_PREPARED",
        f"The prepared statements of a session have {limits.prepared_bytes} bytes together, the "
        "server's limit: unprepare one.",
    )


def too_many_subscriptions(limits: Server) -> Failure:
    """Say that no more calls can wait for progress."""
    return Failure(
        "limit",
        "TOO_MANY_SUBSCRIPTIONS",
        f"{limits.subscriptions} calls of StreamProgress wait, the server's limit: try again "
        "later, or ask for what is kept only.",
    )


def too_many_calls(places: int) -> Failure:
    """Say that no call can be taken."""
    return Failure(
        "limit",
        "TOO_MANY_CALLS",
        f"The server is busy with {places} calls of this kind, its limit: try again later.",
    )


def queue_full(running: int, waiting: int) -> Failure:
    """Say that no operation can wait."""
    return Failure(
        "limit",
        "QUEUE_FULL",
        f"{running} operations run and {waiting} wait, the server's limits: try again later.",
    )


def waited_too_long(limits: Server) -> Failure:
    """Say that no place became free."""
    return Failure(
        "limit",
        "QUEUE_TIMEOUT",
        f"The operation waited {limits.queue_seconds:g} seconds and no place became free: "
        f"{limits.running} operations run at a time. Try again later.",
    )


def too_many_parked() -> Failure:
    """Say that the results of too many clients that have gone wait."""
    return Failure(
        "limit",
        "TOO_MANY_PARKED",
        "The operation was cancelled: its client went, and results that wait for such clients are "
        "more than the server holds; this one had waited longest.",
    )


def unread(limits: Server) -> Failure:
    """Say that its reader took nothing for too long."""
    return Failure(
        "limit",
        "RESULT_NOT_READ",
        "The operation was ended: batches of its result waited for its client, which took none "
        f"for {limits.unread_seconds:g} seconds, the server's limit. Run it again and read it to "
        "the end, or submit it, and read it when there is time; cancel what is not wanted.",
    )


def no_desk(limits: Server) -> Failure:
    """Say that too many statements are looked at."""
    return Failure(
        "limit",
        "QUEUE_TIMEOUT",
        f"The call waited {limits.queue_seconds:g} seconds: {limits.running} statements "
        "are looked at already. Try again later.",
    )


def left_alone(terms: Terms) -> Failure:
    """Say that nobody read it."""
    if terms.way is Way.SUBMITTED:
        why = f"nobody attached to it or asked for its status for {terms.patience:g} seconds"
    else:
        why = f"its client went, and nobody attached for {terms.patience:g} seconds"
    return Failure("cancelled", "CLIENT_GONE", f"The operation was cancelled: {why}.")
