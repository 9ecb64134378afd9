# SPDX-License-Identifier: Apache-2.0
"""How many random cases a test tries: a number for ``make test``, and one for ``make soak``.

    SEEDS = range(cases(200, soak=5_000))

``make soak`` sets ``PLAIT_SOAK``.
"""

from __future__ import annotations

import os

SOAKING = "PLAIT_SOAK" in os.environ


def cases(test: int, *, soak: int) -> int:
    """Return the number of the two that this run tries."""
    return soak if SOAKING else test
