# SPDX-License-Identifier: Apache-2.0
"""Sums JUnit reports, munit's and pytest's alike, into one line: ``N passed, N failed``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree


def tally(reports: Iterable[Path]) -> str:
    """Count the test cases of all reports; skipped ones are named only if there are any."""
    passed = failed = skipped = 0
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif case.find("skipped") is not None:
                skipped += 1
            else:
                passed += 1
    line = f"{passed} passed, {failed} failed"
    return f"{line}, {skipped} skipped" if skipped else line


if __name__ == "__main__":
    # A pattern without a report reaches us as it is; without any there is nothing to sum.
    found = [path for path in map(Path, sys.argv[1:]) if path.is_file()]
    if found:
        print(tally(found))
