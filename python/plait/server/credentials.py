# SPDX-License-Identifier: Apache-2.0
"""TLS from PEM files that are read again when they change, so that a certificate can be renewed."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc

from plait.errors import PlaitError

if TYPE_CHECKING:
    from plait.server.config import Tls

log = logging.getLogger("plait.server")


class CertificateFiles:
    """The files of `[tls]`; the last good reading of them counts."""

    def __init__(self, tls: Tls) -> None:
        """Read them for the first time; raises ``PlaitError`` if they cannot be read."""
        self._tls = tls
        self._stamps = self._now()
        self.first = self._read()

    def credentials(self) -> grpc.ServerCredentials:
        """Make credentials that follow the files."""
        return grpc.dynamic_ssl_server_credentials(
            self.first, self.changed, require_client_authentication=self._tls.client_ca is not None
        )

    def changed(self) -> Any:
        """Read the files again if they have changed; None if not, or if they are broken."""
        try:
            stamps = self._now()
            if stamps == self._stamps:
                return None
            fresh = self._read()
        except PlaitError as error:
            log.error("the certificate stays as it was: %s", error)
            return None
        self._stamps = stamps
        log.info("the certificate has been read again")
        return fresh

    def _files(self) -> list[Path]:
        files = [self._tls.certificate, self._tls.key]
        return files + ([self._tls.client_ca] if self._tls.client_ca else [])

    def _check_pair(self) -> None:
        """Refuse a key of another certificate; what else is wrong with them is gRPC's to say."""
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
                self._tls.certificate, self._tls.key, lambda: b""
            )
        except ssl.SSLError as error:
            if error.reason == "KEY_VALUES_MISMATCH":
                raise PlaitError(
                    f"The key {self._tls.key} does not belong to the certificate "
                    f"{self._tls.certificate}: [tls] names a pair."
                ) from None

    def _now(self) -> list[tuple[int, int]]:
        try:
            return [(file.stat().st_mtime_ns, file.stat().st_size) for file in self._files()]
        except OSError as error:
            raise PlaitError(f"{error.filename} cannot be read: {error.strerror}.") from error

    def _read(self) -> grpc.ServerCertificateConfiguration:
        try:
            parts = [file.read_bytes() for file in self._files()]
        except OSError as error:
            raise PlaitError(f"{error.filename} cannot be read: {error.strerror}.") from error
        for file, part in zip(self._files(), parts, strict=True):
            if b"-----BEGIN " not in part:
                raise PlaitError(f"{file} is no PEM file: it has no line -----BEGIN ...-----.")
        self._check_pair()
        return grpc.ssl_server_certificate_configuration(
            [(parts[1], parts[0])], root_certificates=parts[2] if len(parts) > 2 else None
        )
