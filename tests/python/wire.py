# SPDX-License-Identifier: Apache-2.0
"""A wire to a server that can be cut: it forwards bytes both ways, on the loopback interface."""

from __future__ import annotations

import contextlib
import socket
import threading


class Wire:
    """Connections to ``port`` through ``self.port``; `cut` breaks those that there are."""

    def __init__(self, port: int) -> None:
        self.target = port  # of connections from now on
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.forwarded = 0
        self.cuts = 0
        self.swallows = False  # what clients send
        self.mutes = False  # what servers send
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self.cuts += 1
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self._ends += [near, far]
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                is_from_client = source.getsockname()[1] == self.port
                if self.swallows if is_from_client else self.mutes:
                    continue
                target.sendall(data)
                self.forwarded += len(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
