# SPDX-License-Identifier: Apache-2.0
"""Examples: for how long a server knows the names of operations that it was told to forget."""

from __future__ import annotations

import time

import pytest

from plait.server.forgotten import Forgotten


def name(operation: str) -> tuple[str, str, str]:
    return "alice", "s", operation


@pytest.fixture(name="clock")
def clock_that_is_moved(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_a_name_is_known_for_its_time_and_of_its_caller_and_session(clock: list[float]) -> None:
    forgotten = Forgotten(30.0)
    forgotten.add(name("o"), began=90.0)
    assert name("o") in forgotten
    assert ("bob", "s", "o") not in forgotten
    assert ("alice", "t", "o") not in forgotten
    clock[0] += 29.9
    assert name("o") in forgotten
    clock[0] += 0.1
    assert name("o") not in forgotten
    assert forgotten.remembered_seconds == 30.0


def test_where_names_are_too_many_it_says_for_how_long_none_is_missing(clock: list[float]) -> None:
    forgotten = Forgotten(30.0, most=2)
    for number, began in enumerate((91.0, 97.0, 95.0, 99.0)):
        forgotten.add(name(f"{number}"), began)
    assert [name(f"{number}") in forgotten for number in range(4)] == [False, False, True, True]
    assert forgotten.remembered_seconds == 3.0  # what began at 97 may be missing
    clock[0] += 60.0
    assert forgotten.remembered_seconds == 30.0


def test_what_is_over_its_time_makes_room_and_is_not_missing(clock: list[float]) -> None:
    forgotten = Forgotten(30.0, most=2)
    for number in range(2):
        forgotten.add(name(f"{number}"), began=100.0)
    clock[0] += 30.0
    for number in range(2, 4):
        forgotten.add(name(f"{number}"), began=130.0)
    assert forgotten.remembered_seconds == 30.0
