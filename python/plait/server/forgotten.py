# SPDX-License-Identifier: Apache-2.0
"""Operations that were forgotten before their time: by Cancel, or with their session.

    INSERT, operation o  ->  runs, ends
    Cancel o             ->  forgotten, but for its name
    Attach o             ->  OPERATION_FORGOTTEN: it did come     (and not: send it again)

A client sends a statement again where the server would know it had it come. So the names stay for
``seconds``, of the MOST latest operations. Where more were forgotten, `remembered_seconds` says for
how long none is missing; that is told, and clients go by it.

Whoever asks holds the registry's lock.
"""

from __future__ import annotations

import time
from itertools import islice

# Some megabytes of names: a thousand operations a second for half a minute.
MOST = 1 << 15

Name = tuple[str, str, str]  # the caller's key, the session, the operation


class Forgotten:
    """Names of operations, in the order in which they were forgotten."""

    def __init__(self, seconds: float, most: int = MOST) -> None:
        """Begin with none."""
        self._seconds = seconds
        self._most = most
        self._names: dict[Name, tuple[float, float]] = {}  # when forgotten, when begun
        self._began = float("-inf")  # of those whose names went too early: the last

    def add(self, name: Name, began: float) -> None:
        """Keep the name of an operation that began then, by the clock `time.monotonic`."""
        self._names.pop(name, None)
        self._names[name] = (time.monotonic(), began)
        for old, forgotten in list(islice(self._names.items(), 2)):  # more go than come
            if self._is_over(forgotten):
                del self._names[old]
            elif len(self._names) > self._most:
                del self._names[old]
                self._began = max(self._began, forgotten[1])

    def __contains__(self, name: Name) -> bool:
        found = self._names.get(name)
        return found is not None and not self._is_over(found)

    @property
    def remembered_seconds(self) -> float:
        """For how long each operation is known at least, or was found here."""
        return max(0.0, min(self._seconds, time.monotonic() - self._began))

    def _is_over(self, forgotten: tuple[float, float]) -> bool:
        return time.monotonic() - forgotten[0] >= self._seconds
