# SPDX-License-Identifier: Apache-2.0
"""The server's folder for continuous tables, which one server has at a time."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from plait.errors import PlaitError


class StateFolder:
    """The folder, locked until it is closed; what is in it says TableFolder.scala."""

    def __init__(self, lock: IO[str] | None) -> None:
        """Hold a lock; None where there is no folder."""
        self._lock = lock

    @classmethod
    def open(cls, path: str) -> StateFolder:
        """Make the folder, for its owner alone, and lock it; nothing if the path is empty."""
        if not path:
            return cls(None)
        try:
            Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = (Path(path) / "lock").open("w")
        except OSError as error:
            raise PlaitError(f"state: {path} cannot be used: {error.strerror}.") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise PlaitError(
                f"state: another server has the folder {path}: stop it, or take another folder."
            ) from None
        return cls(lock)

    def close(self) -> None:
        """Let another server have it."""
        if self._lock is not None:
            self._lock.close()
