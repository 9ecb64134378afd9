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


def operation_exists(operation: str) -> Failure:
    """Say that the id is taken."""
    return Failure(
        "exists",
        "OPERATION_EXISTS",
        f"There is an operation {operation!r} in this session already: attach to it, "
        "or take another id.",
    )


def not_prepared(name: str) -> Failure:
    """Say that the session keeps no such statement."""
    return Failure(
        "missing",
        "PREPARED_NOT_FOUND",
        f"There is no prepared statement {name!r} in this session: it was never prepared here, or "
        "the session has been idle for too long. Prepare it again.",
    )


def too_many_sessions(limits: Server) -> Failure:
    """Say that no session can be opened."""
    return Failure(
        "limit",
        "TOO_MANY_SESSIONS",
        f"The server has {limits.sessions} sessions open, its limit: use one "
        "again, or wait until an idle one has ended.",
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


def too_many_subscriptions(limits: Server) -> Failure:
    """Say that no more calls can wait for progress."""
    return Failure(
        "limit",
        "TOO_MANY_SUBSCRIPTIONS",
        f"{limits.subscriptions} calls of StreamProgress wait, the server's limit: try again "
        "later, or ask for what is kept only.",
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
