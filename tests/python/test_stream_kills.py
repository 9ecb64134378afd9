# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: queries of streams whose process ends at any moment.

Oracle: DuckDB's join of all rows; of as-of joins, the newest of all rows that fit.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from itertools import accumulate
from random import Random
from statistics import median
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest
from tests.python import stream_process
from tests.python.cases import cases
from tests.python.streams import NEAR, Batch, Feeds, Row, Script, joined, output, quick_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)


def declared(session: SparkSession, feeds: Feeds, how: str) -> DataFrame:
    return session.sql(
        f"""SELECT /*+ ORDERED(l, s, 10), ORDERED(r, s, 10) */ l.id AS l, r.id AS r
        FROM {{l}} l {how} JOIN {{r}} r ON {NEAR}""",
        l=feeds.left.df(session),
        r=feeds.right.df(session),
    )


def read(df: DataFrame, checkpoint: Path, seen: Callable[[int], None]) -> Rows:
    """Run a query over what is there; ``seen`` is called with each batch before it is committed."""
    rows = Counter[tuple]()

    def collect(batch: DataFrame, number: int) -> None:
        rows.update(map(tuple, batch.collect()))
        seen(number)

    writer = df.writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(collect)
    writer.trigger(availableNow=True).start().awaitTermination()
    return rows


def test_what_the_rows_of_a_batch_promise_is_known_if_the_process_ends_after_its_commit(
    session: SparkSession, tmp_path: Path
) -> None:
    feeds = Feeds(tmp_path, (None, None))
    feeds.add(([(1, 1, 1000, 0)], [(11, 1, 5000, 0)]))
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    def keep(batch: int) -> None:
        if batch == 0:
            shutil.copytree(whole, killed)

    read(declared(session, feeds, "LEFT"), whole, keep)
    for file in ("0", ".0.crc"):
        shutil.copy(whole / "commits" / file, killed / "commits" / file)
    # The right side is idle from then on.
    feeds.left.add([(2, 1, 4000, 0)])
    rows = read(declared(session, feeds, "LEFT"), killed, lambda _: None)
    assert rows == Counter([(1, None), (2, None)])


KILLS = {
    stream_process.WATERMARKS: cases(2, soak=100),
    stream_process.DECLARED: cases(1, soak=100),
    stream_process.AS_OF: cases(1, soak=100),
}


def expected(kind: str, batches: list[Batch]) -> Rows:
    if kind != stream_process.AS_OF:
        return joined(batches, stream_process.HOW, stream_process.CONDITION)
    lefts, rights = ([row for batch in batches for row in batch[side]] for side in range(2))
    return Counter((left[0], newest(left, rights)) for left in lefts)


def newest(left: Row, rights: list[Row]) -> int | None:
    """Return the number of the right row that is the newest as of a left one, of its key."""
    _, key, time, _ = left
    if key is None or time is None:
        return None
    fit = [(s, id_) for id_, k, s, _ in rights if k == key and s is not None and s <= time]
    return max(fit)[1] if fit else None


def files_of_state(folder: Path) -> int:
    """Count all but what Spark was writing when it was killed, which nobody removes."""
    return sum(f.is_file() and ".tmp" not in f.name for f in folder.glob("**/*"))


@pytest.mark.parametrize("kind", KILLS)
def test_a_query_that_is_killed_again_and_again_gives_each_row_exactly_once(
    session: SparkSession, tmp_path: Path, kind: str
) -> None:
    random, kills = Random(8), KILLS[kind]
    until = [0, *accumulate(random.randint(0, 2) for _ in range(kills))]
    feeds = stream_process.feeds_of(kind, tmp_path)
    # A process goes on until the moment to kill it, and none may be done before.
    script = Script(21, stream_process.HOW, size=until[-1] + kills + 2)
    feeds.add(*script.batches)
    feeds.end()
    commits = tmp_path / "checkpoint" / "commits"

    def committed() -> int:
        return max((int(f.name) + 1 for f in commits.glob("[0-9]*")), default=0)

    files = []
    with ExitStack() as stack:
        waiting = stream_process.StreamProcess(tmp_path, 1, kind)
        stack.callback(lambda: waiting.is_over or waiting.kill())
        for kill in range(kills + 1):
            running, number = waiting, committed()
            running.go()
            if kill == kills:
                assert running.process.wait(60 + kills) == 0, (tmp_path / "log").read_text()[-2000:]
                break
            # The next one starts its Spark meanwhile.
            waiting = stream_process.StreamProcess(tmp_path, kill % 3 + 1, kind)
            deadline = monotonic() + 60
            while committed() < number + until[kill + 1] - until[kill] and not running.is_over:
                assert monotonic() < deadline, (tmp_path / "log").read_text()[-2000:]
                sleep(0.02)
            sleep(random.random())
            assert not running.is_over, (tmp_path / "log").read_text()[-2000:]
            running.kill()
            files.append(files_of_state(tmp_path / "checkpoint" / "state"))
    df = stream_process.query(kind, session, feeds)
    assert output(df, tmp_path) == expected(kind, script.batches)
    early, late = files[20:60], files[60:]
    # Files of processes that were killed lie there for some batches, and of many more may.
    assert max(files) < (100 if late else 60), files
    if late:
        assert median(late) < 1.25 * median(early), files
