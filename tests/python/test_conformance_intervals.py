# SPDX-License-Identifier: Apache-2.0
"""Examples of others: what DataFusion's tests expect of its interval solver, equal or tighter here.

    left + 1 > right + 11 AND left + 3 < right + 33     left from 0, right from 0
    theirs   left from 10, right from 0                 ours   left from 11, right from 0

The cases are not part of this repository, see ``test_conformance``. That what is ruled out beyond
theirs holds no solution is tried on all integers near the ends.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.python.test_conformance import FOLDER

import plait

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

FILE = Path(FOLDER) / "intervals" / "cp_solver.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"] if FILE.exists() else []
TYPES = {"left": "BIGINT", "right": "BIGINT"}
NEAR = np.arange(-200, 201)


def solutions(case: dict[str, Any]) -> dict[str, Any]:
    """Return the values of either side, in pairs near their ends, for which it is TRUE."""
    told = case["expected"] or case["given"]
    ends = {side: [end for end in told[side] if end is not None] for side in TYPES}
    known = [end for side in TYPES for end in ends[side]]
    near = [NEAR + (ends[side] or known)[0] for side in TYPES]
    pairs = dict(zip(TYPES, np.meshgrid(*near), strict=True))
    is_match = np.full(pairs["left"].shape, fill_value=True)
    for comparison in case["expr"].split(" AND "):
        is_match &= eval(comparison, {}, pairs)
    for side, (least, greatest) in case["given"].items():
        is_match &= True if least is None else pairs[side] >= least
        is_match &= True if greatest is None else pairs[side] <= greatest
    return {side: values[is_match] for side, values in pairs.items()}


@pytest.mark.skipif(not CASES, reason=f"other systems' cases are not beside this clone: {FILE}")
def test_bounds_are_as_tight_as_datafusions_tests_want_them_or_tighter() -> None:
    assert len(CASES) == 81
    tried = 0
    for case in CASES:
        given = {side: tuple(ends) for side, ends in case["given"].items()}
        found = plait.bounds(case["expr"], types=TYPES, **given)
        matching = solutions(case)
        if case["expected"] is None:
            assert not found, case
            assert not matching["left"].size, case
            continue
        for side, (least, greatest) in case["expected"].items():
            assert least is None or found[side].lower >= least, (case, found)
            assert greatest is None or found[side].upper <= greatest, (case, found)
            # Of integers some conditions are never TRUE.
            if not matching[side].size:
                continue
            tried += 1
            least_match, greatest_match = matching[side].min(), matching[side].max()
            assert found[side].lower is None or found[side].lower <= least_match, (case, found)
            assert found[side].upper is None or found[side].upper >= greatest_match, (case, found)
    assert tried >= 80, tried
