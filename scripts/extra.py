# SPDX-License-Identifier: Apache-2.0
"""Prints the requirements of one extra of ``pyproject.toml``, extras inside it resolved.

Pip installs an extra only together with the package, whose build needs Spark already installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path


def requirements(extra: str, extras: dict[str, list[str]]) -> Iterator[str]:
    """Yield what ``extra`` asks for.

    >>> list(requirements("a", {"a": ["plait[b,c]", "x"], "b": ["y>=1"], "c": ["z"]}))
    ['y>=1', 'z', 'x']
    """
    for requirement in extras[extra]:
        own = re.fullmatch(r"plait\[([\w,]+)\]", requirement)
        if own:
            for name in own[1].split(","):
                yield from requirements(name, extras)
        else:
            yield requirement


if __name__ == "__main__":
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    print(*requirements(sys.argv[1], project["optional-dependencies"]), sep="\n")
