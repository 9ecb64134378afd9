# SPDX-License-Identifier: Apache-2.0
"""What decides between right rows of one time: columns, each with a direction if it is said.

"seq"                      ("seq", "")
"seq DESC NULLS LAST"      ("seq", "DESC NULLS LAST"), unless a column is called so
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plait.join.sides import Sides

DIRECTED = re.compile(r"(.+?)((?:\s+(?:ASC|DESC))?(?:\s+NULLS\s+(?:FIRST|LAST))?)", re.IGNORECASE)


def directed(sides: Sides, tie: str) -> tuple[str, str]:
    """Return the column of the right side that one of ``ties`` names, and its direction."""
    called, direction = tie.strip(), ""
    if not sides.has("right", called) and (found := DIRECTED.fullmatch(called)):
        called, direction = found[1], " ".join(found[2].upper().split())
    return sides.column("right", called, "ties"), direction
