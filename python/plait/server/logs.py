# SPDX-License-Identifier: Apache-2.0
"""Structured logs: one JSON object a line, to the standard error.

    {"time": "2026-01-31T12:34:56.789Z", "level": "info", "logger": "plait.server",
     "message": "execute", "caller": "dashboard", "operation": "0c9f..."}

No statement's text and no token is logged.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

# What every record has; anything else was added by the one who logged.
ORDINARY = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, what was passed as ``extra`` beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        """Format one record."""
        moment = datetime.fromtimestamp(record.created, UTC)
        told: dict[str, object] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told |= {name: value for name, value in vars(record).items() if name not in ORDINARY}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


def to_standard_error() -> None:
    """Send the server's logs there, from level INFO on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("plait.server")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
