# SPDX-License-Identifier: Apache-2.0
"""Oracle: as-of and temporal joins of two streams, cut into batches, with a stop in the middle.

The oracle is the definition, a loop over all pairs of the rows that ever came.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException, StreamingQueryException
from tests.python.cases import cases
from tests.python.queries import settings
from tests.python.streams import quick_session

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

pytestmark = pytest.mark.spark

SLACK = 10
END = 1_000_000
Row = tuple[int, str | None, int | None, int]


@dataclass(frozen=True)
class Form:
    """A MATCH_CONDITION, and what it lets a left row pick, best last."""

    match: str
    reaches: Callable[[int, int], bool]
    best: Callable[[int, int], int]
    on: str = ""
    accepts: Callable[[Row, Row], bool] = lambda left, right: True


def before(left: int, right: int) -> int:
    return right


def after(left: int, right: int) -> int:
    return -right


def nearest(left: int, right: int) -> int:
    # Of two as near the earlier one.
    return -2 * abs(left - right) + (right < left)


TS, FIVE = ("l.ts", "r.ts"), "TOLERANCE INTERVAL 5 SECONDS"
FORMS = {
    ">=": Form("l.ts >= r.ts", lambda a, b: a >= b, before),
    ">": Form("l.ts > r.ts", lambda a, b: a > b, before),
    ">= within": Form(f"l.ts >= r.ts {FIVE}", lambda a, b: 0 <= a - b <= 5, before),
    "<= within": Form(f"l.ts <= r.ts {FIVE}", lambda a, b: 0 <= b - a <= 5, after),
    "< within": Form(f"l.ts < r.ts {FIVE}", lambda a, b: 0 < b - a <= 5, after),
    "nearest": Form(f"NEAREST (l.ts, r.ts) {FIVE}", lambda a, b: abs(a - b) <= 5, nearest),
    ">= by minutes": Form(
        "date_trunc('MINUTE', l.ts) >= r.ts", lambda a, b: a - a % 60 >= b, before
    ),
    ">= of minutes": Form(
        "l.ts >= date_trunc('MINUTE', r.ts)",
        lambda a, b: a >= b - b % 60,
        lambda a, b: b - b % 60,
    ),
    ">= if": Form(
        f"l.ts >= r.ts {FIVE}",
        lambda a, b: 0 <= a - b <= 5,
        before,
        " AND l.v < r.v",
        lambda left, right: left[3] < right[3],
    ),
}


def picked(form: Form, left: Row, rights: list[Row]) -> Row | None:
    _, key, ts, _ = left
    found = [
        r
        for r in rights
        if key is not None and r[1] == key and ts is not None and r[2] is not None
        if form.reaches(ts, r[2]) and form.accepts(left, r)
    ]
    # Ties: the last by id.
    return max(found, key=lambda r: (form.best(ts or 0, r[2] or 0), r[0]), default=None)


def expected(how: str, form: Form, lefts: list[Row], rights: list[Row]) -> Counter[Any]:
    picks = [(left[0], picked(form, left, rights)) for left in lefts]
    match how:
        case "LEFT SEMI":
            return Counter((id_,) for id_, r in picks if r)
        case "LEFT ANTI":
            return Counter((id_,) for id_, r in picks if not r)
    return Counter((id_, r and r[0]) for id_, r in picks if r or how == "LEFT")


def rows(random: Random, count: int) -> list[Row]:
    """Rows that come no later than the watermark allows; some without a key or a time."""
    top, out = 100, []
    for id_ in range(count):
        top += random.choice([0, 0, 1, 2, 7])
        key = random.choice(["a", "b", "c", "c", None])
        ts = None if random.random() < 0.05 else top - random.randrange(SLACK)
        out.append((id_, key, ts, random.randrange(6)))
    return out


class Source:
    """A folder of JSON files, read as a stream with a watermark."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.files = 0
        folder.mkdir()

    def add(self, batch: list[Row]) -> None:
        names = ("id", "k", "ts", "v")
        text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in batch)
        hidden = self.folder / f".{self.files}.json"
        hidden.write_text(text)
        hidden.rename(self.folder / f"{self.files}.json")
        self.files += 1

    def df(self) -> DataFrame:
        raw = self.session.readStream.schema("id INT, k STRING, ts BIGINT, v INT")
        read = raw.json(str(self.folder))
        timed = read.selectExpr("id", "k", "timestamp_seconds(ts) AS ts", "v")
        return timed.withWatermark("ts", f"{SLACK} seconds")


session = pytest.fixture(scope="module", name="session")(quick_session)


class Run:
    """A query that is stopped and started again, and what came out of it."""

    def __init__(self, session: SparkSession, folder: Path, sql: str) -> None:
        self.session, self.folder, self.sql = session, folder, sql
        self.left, self.right = Source(session, folder / "l"), Source(session, folder / "r")
        self.batches: dict[int, list[tuple[Any, ...]]] = {}
        self.query: StreamingQuery | None = None

    def start(self, mode: str = "append") -> None:
        def keep(df: DataFrame, batch: int) -> None:
            self.batches[batch] = [tuple(row) for row in df.collect()]

        df = self.session.sql(self.sql, l=self.left.df(), r=self.right.df())
        writer = df.writeStream.foreachBatch(keep).outputMode(mode)
        self.query = writer.option("checkpointLocation", str(self.folder / "cp")).start()

    def settle(self) -> None:
        assert self.query is not None
        self.query.processAllAvailable()

    def stop(self) -> None:
        assert self.query is not None
        self.query.stop()

    def out(self) -> Counter[Any]:
        return Counter(row for batch in self.batches.values() for row in batch)


CASES = [
    ("INNER", ">="),
    ("LEFT", ">="),
    ("LEFT SEMI", ">"),
    ("LEFT", ">"),
    ("LEFT ANTI", ">= within"),
    ("LEFT", ">= within"),
    ("LEFT", "<= within"),
    ("INNER", "< within"),
    ("LEFT", "nearest"),
    ("LEFT", ">= if"),
    ("LEFT", ">= by minutes"),
    ("LEFT", ">= of minutes"),
]


@pytest.mark.parametrize("number", range(cases(1, soak=25)))
@pytest.mark.parametrize(("how", "name"), CASES)
def test_streams_cut_into_batches_give_what_the_join_of_all_rows_gives(
    session: SparkSession, tmp_path: Path, how: str, name: str, number: int
) -> None:
    form, random = FORMS[name], Random(f"{how} {name}" + f" {number}" * (number > 0))
    columns = "l.id" if how in ("LEFT SEMI", "LEFT ANTI") else "l.id, r.id AS rid"
    sql = (
        f"SELECT {columns} FROM {{l}} l {how} ASOF JOIN {{r}} r "
        f"MATCH_CONDITION ({form.match} TIES ORDER BY r.id) ON l.k = r.k{form.on}"
    )
    run = Run(session, tmp_path, sql)
    lefts, rights = rows(random, 30), rows(random, 30)
    run.start()
    for i, cut in enumerate(range(0, 30, 10)):
        left, right = lefts[cut : cut + 10], rights[cut : cut + 10]
        # One side is idle in some batches, and comes twice as fast in others.
        if i != 1:
            run.left.add(random.sample(left, 10))
        run.right.add(random.sample(right, 10))
        run.settle()
        if i == 1:
            run.stop()
            run.start()
            run.left.add(random.sample(left, 10))
            run.settle()
    for source in (run.left, run.right):
        source.add([(-1, "end", END, 0)])
    run.settle()
    assert run.query is not None
    state = run.query.lastProgress["stateOperators"][0]
    run.stop()
    # The last left row may be answered already: by its minute, which has passed.
    found = Counter({row: n for row, n in run.out().items() if row[0] != -1})
    assert found == expected(how, form, lefts, rights)
    # Of the right side what may still be picked: the last of each key, or nothing but the end.
    kept = 4 if name in (">=", ">", ">= by minutes", ">= of minutes") else 1
    assert state["numRowsTotal"] <= 1 + kept


def test_a_row_that_looks_forward_waits_for_no_time_after_its_match(
    session: SparkSession, tmp_path: Path
) -> None:
    match = "MATCH_CONDITION (l.ts <= r.ts TOLERANCE INTERVAL 1 HOUR)"
    sql = f"SELECT l.id, r.id AS rid FROM {{l}} l LEFT ASOF JOIN {{r}} r {match} ON l.k = r.k"
    run = Run(session, tmp_path, sql)
    run.start()
    run.left.add([(1, "a", 1000, 0), (2, "a", 1010, 0), (3, "b", 1000, 0)])
    run.right.add([(1, "a", 1005, 0), (2, "a", 1012, 0)])
    run.settle()
    assert not run.out(), "an earlier one may still come"
    late = 1005 + SLACK + 2  # of both sides: the watermark is the lesser one
    for source in (run.left, run.right):
        source.add([(4, "c", late, 0)])
    run.settle()
    assert run.out() == Counter([(1, 1)])
    run.stop()
    run.start()  # and knows from then on how long the others wait
    for source in (run.left, run.right):
        source.add([(5, "c", late + 7, 0)])
    run.settle()
    run.stop()
    # The row of the same second as another's has that one for its match.
    assert run.out() == Counter([(1, 1), (2, 2)])


def test_other_ties_are_refused_for_the_versions_that_were_dropped_by_the_old_ones(
    session: SparkSession, tmp_path: Path
) -> None:
    sql = (
        "SELECT l.id, r.id AS rid FROM {l} l LEFT ASOF JOIN {r} r "
        "MATCH_CONDITION (l.ts >= r.ts TIES ORDER BY r.v) ON l.k = r.k"
    )
    run = Run(session, tmp_path, sql)
    run.start()
    run.right.add([(1, "a", 5, 1), (2, "a", 5, 2)])
    run.settle()
    run.stop()
    run.sql = sql.replace("r.v)", "r.v DESC)")
    run.start()
    run.right.add([(3, "a", 6, 1)])
    with pytest.raises(StreamingQueryException, match="was written by another query"):
        run.settle()
    run.stop()


def test_a_version_is_that_of_the_time_of_a_row_whichever_stream_comes_first(
    session: SparkSession, tmp_path: Path
) -> None:
    hints = "VERSIONED(r, ts, id), VERSION_KEY(r, k), VERSION_DELETED(r, (v < 0))"
    sql = (
        f"SELECT /*+ {hints} */ l.id, r.id AS rid "
        "FROM {l} l LEFT JOIN {r} FOR SYSTEM_TIME AS OF l.ts AS r ON l.k = r.k"
    )
    run = Run(session, tmp_path, sql)
    run.start()
    run.left.add([(1, "a", 5, 0), (2, "a", 10, 0), (3, "a", 15, 0), (4, "b", 9, 0)])
    run.settle()
    assert not run.out(), "a later version may still come"
    run.right.add([(1, "a", 4, 1), (2, "a", 10, 1), (3, "a", 12, -1), (4, "b", 10, 1)])
    run.settle()
    for source in (run.left, run.right):
        source.add([(-1, "end", END, 0)])
    run.settle()
    run.stop()
    assert run.out() == Counter([(1, 1), (2, 2), (3, None), (4, None)])


@pytest.mark.parametrize(
    ("clause", "why"),
    [
        ("RIGHT ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts)", "RIGHT OUTER ASOF JOIN of two"),
        ("FULL ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts)", "FULL OUTER ASOF JOIN of two"),
        ("ASOF JOIN {r} r MATCH_CONDITION (l.ts <= r.ts)", "needs a TOLERANCE"),
        ("ASOF JOIN {r} r MATCH_CONDITION (NEAREST (l.ts, r.ts))", "needs a TOLERANCE"),
        ("ASOF JOIN {r} r MATCH_CONDITION (l.k >= r.k)", "STRING are not supported"),
    ],
)
def test_what_would_wait_for_ever_is_refused_with_a_sentence(
    session: SparkSession, tmp_path: Path, clause: str, why: str
) -> None:
    run = Run(session, tmp_path, "")
    with pytest.raises((AnalysisException, ParseException), match=why):
        session.sql(
            f"SELECT l.id FROM {{l}} l {clause} ON l.v = r.v",
            l=run.left.df(),
            r=run.right.df(),
        )


def test_without_a_watermark_on_the_right_side_the_query_does_not_start(
    session: SparkSession, tmp_path: Path
) -> None:
    run = Run(session, tmp_path, "")
    plain = session.readStream.schema("k STRING, ts TIMESTAMP").json(str(run.right.folder))
    df = session.sql(
        "SELECT l.id FROM {l} l ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
        l=run.left.df(),
        r=plain,
    )
    with pytest.raises(
        (AnalysisException, ParseException), match="give the right side a watermark"
    ):
        df.writeStream.format("memory").queryName("refused").start()


def test_without_one_on_the_left_side_versions_wait_for_ever_which_is_told(
    session: SparkSession, tmp_path: Path
) -> None:
    run = Run(session, tmp_path, "")
    plain = session.readStream.schema("id INT, k STRING, ts BIGINT").json(str(run.left.folder))

    def started(match: str, hint: str = "") -> StreamingQuery:
        sql = f"""SELECT {hint} l.id, r.id AS rid
            FROM (SELECT id, k, timestamp_seconds(ts) AS ts FROM {{l}}) l
            LEFT ASOF JOIN {{r}} r MATCH_CONDITION ({match}) ON l.k = r.k"""
        df = session.sql(sql, l=plain, r=run.right.df())
        assert ("NO_FRONTIER" in str(plait.explain(df))) == (not hint)
        return df.writeStream.format("memory").queryName("versions").start()

    for match in ("l.ts >= r.ts", f"l.ts > r.ts {FIVE}"):
        with (
            settings(session, {"spark.plait.stream.unbounded-state": "error"}),
            pytest.raises(AnalysisException, match=r"keeps right rows for ever: .*left side a w"),
        ):
            started(match)
    for hint in ("", "/*+ ORDERED(l, ts) */", "/*+ STATE_TTL(r, INTERVAL 1 DAY) */"):
        query = started("l.ts >= r.ts", hint)
        try:
            if not hint:
                run.right.add([(1, "a", 5, 0), (2, "b", 100, 0)])
                run.left.add([(3, "a", 7, 0)])
            query.processAllAvailable()
            assert Counter(map(tuple, session.table("versions").collect())) == Counter([(3, 1)])
        finally:
            query.stop()


LATE_PAIRS = "SELECT l.id, r.id AS rid FROM {l} l %s ASOF JOIN {r} r " + (
    "MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k"
)


def come_late(run: Run) -> None:
    """A left and a right row that come behind the watermark, which is 90 then."""
    run.left.add([(1, "a", 50, 0), (2, "a", 100, 0)])
    run.right.add([(1, "a", 40, 0), (2, "a", 100, 0)])
    run.settle()
    run.left.add([(3, "a", 60, 0), (4, "a", 101, 0)])
    run.right.add([(3, "a", 55, 0), (4, "a", 101, 0)])
    run.settle()
    for source in (run.left, run.right):
        source.add([(-1, "end", END, 0)])
    run.settle()


@pytest.mark.parametrize("late", ["drop", "null-pad"])
def test_late_rows_pick_nothing_and_late_versions_are_not_picked(
    session: SparkSession, tmp_path: Path, late: str
) -> None:
    run = Run(session, tmp_path, LATE_PAIRS % "LEFT")
    with settings(session, {"spark.plait.stream.late": late}):
        run.start()
        come_late(run)
    assert run.query is not None
    counts = Counter[str]()
    for progress in run.query.recentProgress:
        counts.update(progress["stateOperators"][0]["customMetrics"])
    run.stop()
    found = Counter({row: n for row, n in run.out().items() if row[0] != -1})
    padded = [(3, None)] if late == "null-pad" else []
    assert found == Counter([(1, 1), (2, 2), (4, 4), *padded])
    assert counts["leftRowsLate"] == counts["rightRowsLate"] == counts["rightRowsDropped"] == 1
    assert counts["leftRowsDropped"] == (late == "drop")


def test_a_late_row_of_an_as_of_join_ends_the_query_if_asked_for(
    session: SparkSession, tmp_path: Path
) -> None:
    run = Run(session, tmp_path, LATE_PAIRS % "LEFT")
    with settings(session, {"spark.plait.stream.late": "fail"}):
        run.start()
        with pytest.raises(StreamingQueryException, match="came behind what the side had promised"):
            come_late(run)
    run.stop()


@pytest.mark.parametrize("how", ["", "LEFT SEMI", "LEFT", "LEFT ANTI"])
def test_in_output_mode_update_an_as_of_join_gives_matches_and_nothing_alone(
    session: SparkSession, tmp_path: Path, how: str
) -> None:
    sql = LATE_PAIRS % how
    run = Run(session, tmp_path, sql.replace(", r.id AS rid", "") if "LEFT " in how else sql)
    if how in ("LEFT", "LEFT ANTI"):
        with pytest.raises(AnalysisException, match="cannot run in output mode update"):
            run.start("update")
        return
    run.start("update")
    come_late(run)
    run.stop()
    picks = [(1, 1), (2, 2), (4, 4)]
    assert run.out() == Counter([pick[:1] for pick in picks] if how else picks)


def test_the_event_time_of_the_rows_is_that_of_the_left_side(
    session: SparkSession, tmp_path: Path
) -> None:
    sql = (
        "SELECT window(l.ts, '10 seconds').start AS w, count(*) AS n FROM {l} l "
        "ASOF JOIN {r} r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k "
        "GROUP BY window(l.ts, '10 seconds')"
    )
    run = Run(session, tmp_path, sql)
    run.start()
    run.right.add([(1, "a", 1, 0)])
    run.left.add([(i, "a", i, 0) for i in range(5, 25)])
    run.settle()
    for _ in range(2):
        for source in (run.left, run.right):
            source.add([(-1, "end", END, 0)])
        run.settle()
    run.stop()
    counts = sorted((row[0].timestamp() % 60, row[1]) for row in run.out().elements())
    assert counts == [(0, 5), (10, 10), (20, 5)]
