# SPDX-License-Identifier: Apache-2.0
"""A process of its own whose statements are interrupted: it hangs where gRPC was broken."""

from __future__ import annotations

import random
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

from tests.python.endpoint import Endpoint

if TYPE_CHECKING:
    from plait.client import Client

ROUNDS = 30


def press(endpoint: Endpoint, later: float) -> threading.Thread:
    """Press Ctrl-C as soon as the next statement is at the server, or so many seconds later."""
    before = len(endpoint.engine.sources)

    def wait() -> None:
        while len(endpoint.engine.sources) <= before:
            pass
        time.sleep(later)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressed = threading.Thread(target=wait, daemon=True)
    pressed.start()
    return pressed


def interrupted(client: Client, endpoint: Endpoint, statement: str, later: float) -> bool:
    """Whether what was pressed is told of, and the next statement is answered."""
    pressed = press(endpoint, later)
    is_told = False
    try:
        for _ in client.sql(statement):
            pass
        pressed.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        is_told = True
    pressed.join()
    return is_told and len(client.sql("rows 1").arrow()) == 3


def main() -> None:
    """Interrupt statements as they are sent, and rows as they come."""
    endpoint, chance = Endpoint.start(), random.Random(7)
    client = endpoint.client()
    sent = sum(interrupted(client, endpoint, "hang", 0.0) for _ in range(ROUNDS))
    read = sum(
        interrupted(client, endpoint, "rows 5000", chance.uniform(0, 0.02)) for _ in range(ROUNDS)
    )
    endpoint.stop()
    print(sent, read)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
