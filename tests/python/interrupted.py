# SPDX-License-Identifier: Apache-2.0
"""A process of its own whose calls are interrupted: it hangs where gRPC was broken."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.python.endpoint import Endpoint

if TYPE_CHECKING:
    from plait.client import Client

ROUNDS = 30


def press(begun: Callable[[], bool], later: float) -> threading.Thread:
    """Press Ctrl-C as soon as something has begun, or so many seconds later."""

    def wait() -> None:
        while not begun():
            pass
        time.sleep(later)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressed = threading.Thread(target=wait, daemon=True)
    pressed.start()
    return pressed


def interrupted(act: Callable[[], object], begun: Callable[[], bool], later: float) -> bool:
    """Whether what is pressed is told of."""
    is_told = False
    pressed = press(begun, later)
    try:
        act()
        pressed.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        is_told = True
    pressed.join()
    return is_told


def rounds(endpoint: Endpoint, client: Client, sql: str, later: Callable[[], float]) -> int:
    """Interrupt a statement again and again, each time with one behind it that is answered."""
    told = 0
    for _ in range(ROUNDS):
        before = len(endpoint.engine.sources)
        told += interrupted(
            lambda: list(client.sql(sql)),
            lambda before=before: len(endpoint.engine.sources) > before,
            later(),
        )
        told -= len(client.sql("rows 1").arrow()) != 3
    return told


def unary(client: Client, later: Callable[[], float]) -> int:
    """Interrupt calls with one answer, of which none comes."""
    told = 0
    for _ in range(ROUNDS):
        begun = threading.Event()

        def validate(begun: threading.Event = begun) -> None:
            begun.set()
            client.validate("hang")

        told += interrupted(validate, begun.is_set, later())
        told -= len(client.sql("rows 1").arrow()) != 3
    return told


def main() -> None:
    """Interrupt statements as they are sent, rows as they come, and calls with one answer."""
    endpoint, chance = Endpoint.start(), random.Random(7)
    client = endpoint.client()
    sent = rounds(endpoint, client, "hang", lambda: 0.0)
    read = rounds(endpoint, client, "rows 5000", lambda: chance.uniform(0, 0.02))
    asked = unary(client, lambda: chance.uniform(0, 0.002))
    endpoint.stop()
    print(sent, read, asked, flush=True)


if __name__ == "__main__":
    main()
