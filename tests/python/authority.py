# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests."""

from __future__ import annotations

from pathlib import Path

import trustme


class Authority:
    """An authority, and the PEM files of those whom it vouches for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ca = trustme.CA()
        self.file = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(str(self.file))

    def issue(self, name: str, *hosts: str) -> tuple[Path, Path]:
        issued = self._ca.issue_cert(*hosts, common_name=name)
        certificate, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        issued.private_key_pem.write_to_path(str(key))
        certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
        return certificate, key
