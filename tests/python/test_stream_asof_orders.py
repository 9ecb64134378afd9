# SPDX-License-Identifier: Apache-2.0
"""Oracle: as-of joins of two streams whose orders are declared, rising or falling.

The oracle is the definition, a loop over all pairs of the rows that ever came.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, ParseException
from tests.python.declared_streams import Stream, running
from tests.python.streams import quick_session

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SCHEMA = "id INT, k STRING, s BIGINT"
# Rows of the left side, then of the right one, batch by batch as s rises.
BATCHES = [
    ([(1, "a", 3), (2, "a", 12), (3, "b", 14)], [(1, "a", 2), (2, "a", 11), (3, "a", 13)]),
    ([(4, "a", 15), (5, None, 15), (6, "b", 18)], [(4, "b", 17), (5, "a", 19), (6, None, 17)]),
    ([(7, "a", 19), (8, "b", 29), (9, "b", 34)], [(7, "b", 20), (8, "b", 20), (9, "a", 35)]),
]
END = 1000


session = pytest.fixture(scope="module", name="session")(quick_session)


def sign(direction: str) -> int:
    return -1 if direction == "DESC" else 1


class Feeds:
    def __init__(self, session: SparkSession, folder: Path, direction: str) -> None:
        self.session, self.sign = session, sign(direction)
        self.sides = [Stream(session, folder, name, SCHEMA) for name in ("asof_l", "asof_r")]
        self.hint = f"ORDERED(l, 's {direction}'), ORDERED(r, 's {direction}')"

    def df(self, match: str) -> DataFrame:
        return self.session.sql(
            f"""SELECT /*+ {self.hint} */ l.id, r.id AS rid FROM asof_l l LEFT ASOF JOIN asof_r r
            MATCH_CONDITION ({match} TIES ORDER BY r.id) ON l.k = r.k""",
            l=self.sides[0].df,
            r=self.sides[1].df,
        )


@pytest.mark.parametrize(
    ("match", "direction"),
    [
        ("l.s >= r.s", "ASC"),
        ("l.s DIV 10 >= r.s DIV 10", "ASC"),
        ("2 * l.s >= 2 * r.s - 5", "ASC"),
        ("-l.s >= -r.s", "DESC"),
    ],
)
def test_what_rises_along_the_declared_order_is_picked_as_of(
    session: SparkSession, tmp_path: Path, match: str, direction: str
) -> None:
    feeds = Feeds(session, tmp_path, direction)
    with running(session, feeds.df(match)) as run:
        for batch in [*BATCHES, ([(90, "end", END)], [(90, "end", END)])]:
            for stream, rows in zip(feeds.sides, batch, strict=True):
                stream.add((id_, k, feeds.sign * s) for id_, k, s in rows)
            run.rows()
        for stream in feeds.sides:
            stream.add([(91, None, feeds.sign * (END + 1000))])
        out = run.rows()
    lefts, rights = ([r for r in s.rows if r[2] * feeds.sign <= END] for s in feeds.sides)
    assert +out == Counter(str(pick(match, row, rights)) for row in lefts) + Counter(
        text for text in out if text.startswith("(91")
    )


def pick(match: str, left: tuple[int, str, int], rights: list[tuple[int, str, int]]) -> object:
    def value(side: str, s: int) -> int:
        term = match.split(" >= ")["lr".index(side)]
        return int(eval(term.replace("DIV", "//").replace(f"{side}.s", str(s))))

    id_, key, s = left
    found = [
        (value("r", r[2]), r[0])
        for r in rights
        if key is not None and r[1] == key and value("l", s) >= value("r", r[2])
    ]
    return id_, max(found)[1] if found else None


@pytest.mark.parametrize(
    ("match", "direction"),
    [
        ("l.s >= r.s", "DESC"),
        ("l.s >= r.s TOLERANCE 5", "DESC"),
        ("NEAREST (l.s, r.s) TOLERANCE 5", "DESC"),
        ("l.s DIV 10 >= r.s DIV 10", "DESC"),
        ("-l.s >= -r.s", "ASC"),
    ],
)
def test_an_order_in_which_match_values_fall_helps_no_row_to_leave(
    session: SparkSession, tmp_path: Path, match: str, direction: str
) -> None:
    df = Feeds(session, tmp_path, direction).df(match)
    with pytest.raises(
        (AnalysisException, ParseException),
        match=r"(?s)left rows would wait for ever.*may fall.*MATCH_FALLS",
    ):
        df.writeStream.format("memory").queryName("refused_order").start()
