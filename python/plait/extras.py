# SPDX-License-Identifier: Apache-2.0
"""How what Plait needs is installed; Plait itself is in no index."""

from __future__ import annotations


def how_to_get(extra: str) -> str:
    """Return the commands that bring what an extra of the package needs."""
    from plait.session import version

    return (
        f"pip install '.[{extra}]' in a checkout of Plait, or of its wheel "
        f"pip install 'plait[{extra}] @ file:///path/to/plait-{version()}-py3-none-any.whl'"
    )
