# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: joins of two streams of which a side keeps few rows of a key.

The oracle is the definition, batch by batch, over lists of rows.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, ParseException, StreamingQueryException
from tests.python.queries import settings
from tests.python.streams import (
    DELAY,
    END,
    START,
    WITHIN,
    Batch,
    Feeds,
    custom,
    output,
    quick_session,
    run,
)

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.python.frames import Rows
    from tests.python.streams import Row

pytestmark = pytest.mark.spark

NEAR = f"l.k = r.k AND {WITHIN}"
MOST = "spark.plait.stream.max-rows-per-key"
AT_LIMIT = "spark.plait.stream.at-limit"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def keeping(most: int) -> dict[str, str | int | bool]:
    return {MOST: most, AT_LIMIT: "evict"}


session = pytest.fixture(scope="module", name="session")(quick_session)


def rows(first: int, *times: int, key: int = 1) -> list[Row]:
    return [(first + i, key, time, 0) for i, time in enumerate(times)]


def test_of_a_key_that_has_too_many_rows_those_leave_whose_reach_ends_first(
    session: SparkSession, feeds: Feeds
) -> None:
    # Left row 3 comes last and is the oldest; key 2 has one row.
    feeds.add((rows(1, 1000, 1003, 999) + rows(9, 1000, key=2), []))
    feeds.add(([], rows(11, 1000) + rows(19, 1000, key=2)))
    feeds.end()
    with settings(session, keeping(2)):
        df = feeds.join(session, "INNER", NEAR)
        progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter([(1, 11), (2, 11), (9, 19)])
    assert custom(progress, "leftRowsEvicted") == 1
    assert custom(progress, "rightRowsEvicted") == 0
    report = plait.stream_report(progress)
    assert (report.rows()[0].rows_evicted, report.rows()[0].largest_key) == (1, 3)
    assert report.rows()[0].rows_stored == 3
    # Of each side the newest row that has come with a batch or before it, at its end the last one.
    newest = {"left": (1003, 1003, END), "right": (1000, 1000, END)}
    batches = set()
    for row in report:
        if isinstance(row.frontier, datetime):
            batches.add(row.batch)
            time = EPOCH + timedelta(seconds=newest[row.side][min(row.batch, 2)])
            assert row.lag == time - row.frontier
    assert batches >= {2, 3}


def test_pairs_of_a_batch_are_found_before_rows_leave(session: SparkSession, feeds: Feeds) -> None:
    feeds.add((rows(1, 1000, 1001, 1002), rows(11, 1000)))
    feeds.end()
    with settings(session, keeping(1)):
        df = feeds.join(session, "INNER", NEAR)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter([(1, 11), (2, 11), (3, 11)])


def limited(batches: list[Batch], how: str, most: int) -> Rows:
    """Return what the definition gives of rows of which none is ever late or pruned."""
    out: Rows = Counter()
    kept: list[list[Row]] = [[], []]
    matched: set[int] = set()
    for batch in batches:
        there = [kept[i] + batch[i] for i in range(2)]
        new = {row[0] for side in batch for row in side}
        for left in there[0]:
            for right in there[1]:
                near = left[1] == right[1] and -5 <= (right[2] or 0) - (left[2] or 0) <= 8
                if near and {left[0], right[0]} & new:
                    matched.add(left[0])
                    out[left[0], right[0]] += 1
        for i, side in enumerate(there):
            kept[i] = []
            for key in sorted({row[1] or 0 for row in side}):
                of_key = sorted((r for r in side if r[1] == key), key=lambda r: (r[2], r[0]))
                kept[i] += of_key[-most:]
                alone = [r[0] for r in of_key[:-most] if i == 0 and r[0] not in matched]
                out.update((id_, None) for id_ in alone if how == "LEFT")
    if how == "LEFT":
        out.update((left[0], None) for left in kept[0] if left[0] not in matched)
    return out


@pytest.mark.parametrize("how", ["INNER", "LEFT"])
def test_each_row_comes_out_once_over_a_restart(
    session: SparkSession, feeds: Feeds, how: str
) -> None:
    random = Random(how)
    ids = iter(range(1000))

    def some(at: int) -> list[Row]:
        times = random.sample(range(at, at + 9), random.randint(2, 8))
        return [(next(ids), random.choice([1, 1, 1, 2]), START + time, 0) for time in times]

    # All within the watermark, so nothing leaves for another reason.
    batches = [(some(i), some(i)) for i in (0, 0, 1, 1, 1)]
    with settings(session, keeping(3)):
        feeds.add(*batches[:3])
        run(feeds.join(session, how, NEAR), feeds.folder)
        feeds.add(*batches[3:])
        feeds.end()
        df = feeds.join(session, how, NEAR)
        progress = run(df, feeds.folder)
    assert DELAY > 9
    assert output(df, feeds.folder) == limited(batches, how, 3)
    assert custom(progress, "leftRowsEvicted") > 0
    assert progress[-1]["stateOperators"][0]["numRowsTotal"] <= 2


@pytest.mark.parametrize("most", ["unset", "none", "3"])
def test_by_default_and_at_the_limit_every_row_is_kept(
    session: SparkSession, feeds: Feeds, most: str
) -> None:
    feeds.add((rows(1, 1000, 1003, 999), []), ([], rows(11, 1000)))
    feeds.end()
    with settings(session, {} if most == "unset" else {MOST: most}):
        df = feeds.join(session, "LEFT", NEAR)
        progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter([(1, 11), (2, 11), (3, 11)])
    assert custom(progress, "leftRowsEvicted") == 0


def test_by_default_the_query_ends_with_the_side_the_key_and_what_to_do(
    session: SparkSession, feeds: Feeds
) -> None:
    feeds.add((rows(1, 1000), []), (rows(2, 1001), []), (rows(3, 1002), []))
    with settings(session, {MOST: 2}):
        df = feeds.join(session, "LEFT", NEAR)
        with pytest.raises(StreamingQueryException) as error:
            run(df, feeds.folder)
    words = ("left side", "more than 2 rows", "k = 1,", f"{MOST} is 2", f"{AT_LIMIT}=evict")
    assert [word for word in words if word not in str(error.value)] == []
    # What was there before the batch is there still, and goes on with a higher limit.
    feeds.end()
    with settings(session, {MOST: 3}):
        df = feeds.join(session, "LEFT", NEAR)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter([(1, None), (2, None), (3, None)])


AS_OF = """SELECT l.id AS l, r.id AS r FROM {l} l LEFT ASOF JOIN {r} r
    MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"""


def test_a_row_of_an_as_of_join_that_may_not_wait_is_answered_at_once(
    session: SparkSession, feeds: Feeds
) -> None:
    # Of left rows 1 to 3 the first may not wait for versions 12 and 13; of versions 11 to 13, the
    # first is not there any more when left row 4 asks for it.
    feeds.add((rows(1, 1005, 1006, 1012), rows(11, 1000)), ([], rows(12, 1004, 1010)))
    feeds.add((rows(4, 1001), []))
    feeds.end()
    with settings(session, keeping(2)):
        df = session.sql(AS_OF, l=feeds.left.df(session), r=feeds.right.df(session))
        progress = run(df, feeds.folder)
    assert output(df, feeds.folder) == Counter([(1, 11), (2, 12), (3, 13), (4, None)])
    assert custom(progress, "leftRowsEvicted") == 1 + 1
    assert custom(progress, "rightRowsEvicted") == 1
    report = plait.stream_report(progress).rows()
    assert [(row.side, row.largest_key) for row in report[:4]] == [
        ("left", 3),
        ("right", 1),
        ("left", 0),
        ("right", 3),
    ]


def test_a_limit_of_an_as_of_join_ends_the_query_too(session: SparkSession, feeds: Feeds) -> None:
    feeds.add(([], rows(11, 1000, 1001)))
    with settings(session, {MOST: 1}):
        df = session.sql(AS_OF, l=feeds.left.df(session), r=feeds.right.df(session))
        with pytest.raises(StreamingQueryException, match=r"right side .* of the key .*k = 1,"):
            run(df, feeds.folder)


@pytest.mark.parametrize("most", ["0", "-1", "many", "1.5"])
def test_a_limit_that_is_no_number_is_refused_when_the_query_starts(
    session: SparkSession, feeds: Feeds, most: str
) -> None:
    with settings(session, {MOST: most}), pytest.raises(Exception, match=f"{MOST} is '{most}'"):
        run(feeds.join(session, "INNER", NEAR), feeds.folder)


def test_without_an_equality_there_are_no_keys_to_be_limited(
    session: SparkSession, feeds: Feeds
) -> None:
    with (
        settings(session, {MOST: 5}),
        pytest.raises((AnalysisException, ParseException), match=f"no keys. Set {MOST}=none"),
    ):
        run(feeds.join(session, "INNER", WITHIN), feeds.folder)
