# SPDX-License-Identifier: Apache-2.0
"""How a client knows its server, and shows who it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import grpc

from plait.errors import PlaitError


@dataclass(frozen=True)
class Tls:
    """PEM files: whom to trust (None: the system's authorities), and the client's certificate.

    ``server_name`` is the name in the server's certificate, where it is called by another one.
    """

    ca: Path | str | None = None
    certificate: Path | str | None = None
    key: Path | str | None = None
    server_name: str | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """Read the files."""
        if (self.certificate is None) != (self.key is None):
            raise PlaitError(
                "A client's certificate and its key come together: give both, or none."
            )
        return grpc.ssl_channel_credentials(
            _read(self.ca), _read(self.key), _read(self.certificate)
        )


def _read(file: Path | str | None) -> bytes | None:
    if file is None:
        return None
    try:
        read = Path(file).read_bytes()
    except OSError as error:
        raise PlaitError(f"{file} cannot be read: {error.strerror}.") from error
    if b"-----BEGIN " not in read:
        raise PlaitError(f"{file} is no PEM file: it has no line -----BEGIN ...-----.")
    return read
