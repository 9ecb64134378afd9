# SPDX-License-Identifier: Apache-2.0
"""Examples: above an as-of join of streams the times of its right side are times like any other.

A version may be as old as it likes: taken for an event time, its time would make its row late.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from tests.python.streams import START, quick_session
from tests.python.watermarked import LATER, Streams

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
session = pytest.fixture(scope="module", name="session")(quick_session)

PICKED = "{l} l ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"
ABOVE = {
    "a join": f"SELECT l.id, r.ts AS since, c.id AS c FROM {PICKED} "
    "JOIN {c} c ON c.k = l.k AND c.ts BETWEEN l.ts AND l.ts + INTERVAL 10 SECONDS",
    "a join of a query": "SELECT p.id, p.since, c.id AS c "
    f"FROM (SELECT l.id, l.k, l.ts, r.ts AS since FROM {PICKED}) p "
    "JOIN {c} c ON c.k = p.k AND c.ts BETWEEN p.ts AND p.ts + INTERVAL 10 SECONDS",
    "an as-of join": f"SELECT l.id, r.ts AS since, c.id AS c FROM {PICKED} "
    "ASOF JOIN {c} c MATCH_CONDITION (l.ts <= c.ts TOLERANCE INTERVAL 10 SECONDS) ON c.k = l.k",
}


@pytest.mark.parametrize("above", ABOVE)
def test_a_row_whose_version_is_old_is_not_late_above(
    session: SparkSession, tmp_path: Path, above: str
) -> None:
    streams = Streams(session, tmp_path, ABOVE[above], l=0, r=0, c=0)
    old, now = START + 1, START + 150
    streams.add(r=[(7, 1, old, 0)], l=[(-1, 9, START + 100, 0)], c=[(-1, 9, START + 100, 0)])
    streams.run()
    other = [(-1, 9, now, 0)]
    streams.add(l=[(1, 1, now, 0)], r=other, c=other)
    streams.run()
    streams.add(c=[(2, 1, now + 5, 0)])
    streams.run()
    streams.end()
    streams.run()
    ids = Counter((row[0], row[2]) for row in streams.output())
    assert ids == {(1, 2): 1}


def test_no_window_of_a_version_is_over(session: SparkSession, tmp_path: Path) -> None:
    by_version = f"SELECT window(r.ts, '10 seconds') AS w, count(*) AS n FROM {PICKED} GROUP BY 1"
    streams = Streams(session, tmp_path, by_version, l=0, r=0)
    streams.add(l=[(1, 1, LATER, 0)], r=[(1, 1, START, 0)])
    with pytest.raises(AnalysisException, match=r"[Ww]atermark"):
        streams.run()
