# SPDX-License-Identifier: Apache-2.0
"""A query of one job that takes both cores for hours: for tests that cancel, kill and wait."""

from __future__ import annotations

ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 8) WHERE id % 7 = pmod(hash(id), 7)"
