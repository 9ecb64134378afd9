# SPDX-License-Identifier: Apache-2.0
"""Which version this is, and how what it needs is installed; Plait itself is in no index."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def version() -> str:
    """Return the version of this package, which is the jar's too."""
    try:
        return metadata.version("plait")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return (Path(__file__).parents[2] / "VERSION").read_text().strip()


def how_to_get(extra: str) -> str:
    """Return the commands that bring what an extra of the package needs."""
    return (
        f"pip install '.[{extra}]' in a checkout of Plait, or of its wheel "
        f"pip install 'plait[{extra}] @ file:///path/to/plait-{version()}-py3-none-any.whl'"
    )
