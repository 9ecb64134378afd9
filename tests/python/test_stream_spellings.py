# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: ways to write a join of streams. Oracle: the same join of all rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import pytest
from tests.python.streams import DELAY, Feeds, output, quick_session, run
from tests.python.watermarked import Streams

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
session = pytest.fixture(scope="module", name="session")(quick_session)

ROWS = {
    "l": [(1, 1, 1000, 0), (2, 2, 1001, 0)],
    "r": [(11, 1, 1000, 0), (12, 3, 1002, 0)],
}
BY_NAME = {
    "inner": [(1, 11)],
    "left": [(1, 11), (2, None)],
    "right": [(1, 11), (None, 12)],
    "full": [(1, 11), (2, None), (None, 12)],
    "left_semi": [(1,)],
    "left_anti": [(2,)],
}


@pytest.mark.parametrize("how", BY_NAME)
def test_streams_are_joined_by_the_names_of_columns(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    feeds = Feeds(tmp_path)
    feeds.add((ROWS["l"], ROWS["r"]))
    feeds.end()
    left = feeds.left.df(session).selectExpr("id AS l", "k", "ts")
    right = feeds.right.df(session).selectExpr("id AS r", "k", "ts")
    df = left.join(right, ["k", "ts"], how)
    df = df.select([name for name in ("l", "r") if name in df.columns])
    run(df, tmp_path)
    assert output(df, tmp_path) == Counter(BY_NAME[how])


class OursOnly(Streams):
    """Of what stock Spark has no join for."""

    oracle: ClassVar = {}


WITHIN = "r.ts + INTERVAL 1 SECOND BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS"
ON = f"ON l.k = r.k AND {WITHIN}"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT l.id, r.id AS r FROM {{l}} l LEFT JOIN {{r}} r {ON}",
        f"SELECT l.id, r.id AS r FROM {{l}} l FULL JOIN {{r}} r {ON}",
        f"SELECT l.id FROM {{l}} l LEFT SEMI JOIN {{r}} r {ON}",
        f"SELECT l.id FROM {{l}} l LEFT ANTI JOIN {{r}} r {ON}",
        "SELECT l.id FROM {l} l WHERE NOT EXISTS "
        f"(SELECT 1 FROM {{r}} r WHERE l.k = r.k AND {WITHIN})",
        "SELECT l.id, r.id AS r FROM {l} l LEFT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) "
        "ON l.k = r.k AND r.k + 1 BETWEEN -5 AND 5",
    ],
)
def test_a_value_that_between_compares_twice_may_be_an_expression(
    session: SparkSession, tmp_path: Path, query: str
) -> None:
    kind = OursOnly if "ASOF" in query else Streams
    streams = kind(session, tmp_path, query, l=DELAY, r=DELAY)
    streams.add(**ROWS)
    streams.end()
    streams.run()
    streams.holds()
