# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: with what a query of streams goes on that is started again.

Oracle: DuckDB's join of all rows.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import StreamingQueryException
from tests.python.queries import settings
from tests.python.streams import (
    NEAR,
    OFF,
    OURS,
    SPARKS,
    WITHIN,
    Feeds,
    Script,
    in_spark,
    joined,
    output,
    quick_session,
    restarted,
    run,
    timed,
)

import plait

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.python.frames import Rows

pytestmark = pytest.mark.spark

Conf = dict[str, str]

session = pytest.fixture(scope="module", name="session")(quick_session)


@pytest.mark.parametrize(
    ("how", "ours"), [("INNER", False), ("LEFT", False), ("LEFT", True), ("LEFT ANTI", True)]
)
def test_a_query_goes_on_with_the_join_that_its_checkpoint_was_made_with(
    session: SparkSession, feeds: Feeds, tmp_path: Path, how: str, ours: bool
) -> None:
    script = timed(Script(12, how))
    with settings(session, {"spark.plait.enabled": ours}):
        df, progress = restarted(session, feeds, script, {"spark.plait.enabled": not ours})
    assert output(df, tmp_path) == joined(script.batches, how, script.condition)
    names = {p["stateOperators"][0]["operatorName"] for p in progress}
    assert names == {OURS if ours else SPARKS}


def test_another_condition_is_refused_for_the_rows_that_wait(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "LEFT")
    feeds.add(*script.batches[:2])
    run(feeds.join(session, "LEFT", NEAR), tmp_path)
    feeds.add(*script.batches[2:])
    for changed in (NEAR.replace("8", "9"), f"{NEAR} AND l.v < r.v", NEAR.replace("=", "<=>")):
        with pytest.raises(StreamingQueryException, match="was written by another query"):
            run(feeds.join(session, "LEFT", changed), tmp_path)
    renamed = f"SELECT a.id AS l, b.id AS r FROM {{l}} a LEFT JOIN {{r}} b ON {in_spark(NEAR)}"
    renamed = renamed.replace("l.", "a.").replace("r.", "b.")
    frames = {"l": feeds.left.df(session), "r": feeds.right.df(session)}
    feeds.end()
    df = session.sql(renamed, **frames)
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(script.batches, "LEFT", NEAR)


def test_what_another_query_is_told_of_are_its_columns_by_their_names(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    feeds.add(*Script(12, "LEFT").batches[:2])
    run(feeds.join(session, "LEFT", f"{NEAR} AND l.v < r.v"), tmp_path)
    feeds.end()
    with pytest.raises(StreamingQueryException) as told:
        run(feeds.join(session, "LEFT", f"{NEAR} AND l.v > r.v"), tmp_path)
    before, now = re.findall("'(condition .*?)'[,.]", str(told.value))
    assert "(left.v < right.v)" in before
    assert "(left.v > right.v)" in now


def test_a_condition_of_which_the_parts_change_places_is_the_same(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "LEFT")
    more = "l.v + r.v < 5"
    feeds.add(*script.batches[:3])
    run(feeds.join(session, "LEFT", f"{NEAR} AND l.v <> r.v AND {more}"), tmp_path)
    feeds.add(*script.batches[3:])
    feeds.end()
    df = feeds.join(session, "LEFT", f"{more} AND {NEAR} AND l.v <> r.v")
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(
        script.batches, "LEFT", f"{NEAR} AND l.v <> r.v AND {more}"
    )


def test_a_checkpoint_that_has_the_condition_as_it_was_written_goes_on(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    script = Script(12, "LEFT")
    feeds.add(*script.batches[:3])
    run(feeds.join(session, "LEFT", NEAR), tmp_path)
    path = tmp_path / "checkpoint/state/0/_plait/format"
    lines = path.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("condition "))
    high, low = lines[at].removeprefix("condition ").split(" AND ")
    assert "<=" in high
    assert ">=" in low
    lines[at] = f"condition ({low} AND {high})"
    path.write_text("\n".join(lines))
    (path.parent / ".format.crc").unlink()
    feeds.add(*script.batches[3:])
    feeds.end()
    df = feeds.join(session, "LEFT", NEAR)
    run(df, tmp_path)
    assert output(df, tmp_path) == joined(script.batches, "LEFT", NEAR)


def test_columns_of_another_type_are_named_with_both_types(
    session: SparkSession, feeds: Feeds, tmp_path: Path
) -> None:
    sql = f"SELECT l.id AS l, l.v, r.id AS r FROM {{l}} l LEFT JOIN {{r}} r ON {in_spark(NEAR)}"

    def query(type_: str) -> DataFrame:
        left = feeds.left.df(session).selectExpr("id", "k", "s", f"CAST(v AS {type_}) AS v", "ts")
        return session.sql(sql, l=left, r=feeds.right.df(session))

    feeds.add(*Script(12, "LEFT").batches[:2])
    run(query("INT"), tmp_path)
    feeds.end()
    with pytest.raises(StreamingQueryException, match="left v was INT and is STRING") as told:
        run(query("STRING"), tmp_path)
    assert "new checkpoint" in str(told.value)


@pytest.mark.parametrize("line_break", ["\n", "\r", "\\\r\n"], ids=["LF", "CR", "escaped CR LF"])
def test_a_query_with_a_line_break_in_its_texts_and_names_goes_on(
    session: SparkSession, feeds: Feeds, tmp_path: Path, line_break: str
) -> None:
    name, text = f"`of{line_break}v`", line_break.replace("\\", "\\\\")
    sql = f"""SELECT l.id AS l, r.id AS r FROM (SELECT *, v * v AS {name} FROM {{l}}) l
        JOIN {{r}} r ON {in_spark(NEAR)} AND l.{name} < r.v + 100
        AND concat_ws('{text}', l.k, l.k) = concat_ws('{text}', r.k, r.k)
        AND concat_ws('{text}', l.v, r.v) <> concat_ws('{text}', r.id, 'none')"""

    def query(sql: str) -> DataFrame:
        return session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))

    batches = Script(12, "INNER").batches
    feeds.add(*batches[:3])
    run(query(sql), tmp_path)
    feeds.add(*batches[3:])
    feeds.end()
    with pytest.raises(StreamingQueryException, match="was written by another query"):
        run(query(sql.replace(f"('{text}', r.id", "(' ', r.id")), tmp_path)
    run(query(sql), tmp_path)
    assert output(query(sql), tmp_path) == joined(batches, "INNER", NEAR)
    waiting = plait.state(str(tmp_path / "checkpoint"), "left", spark=session)
    assert dict(waiting.dtypes)["_order"] == "timestamp"


@pytest.mark.parametrize("read", ["l.v", "l.v AS id, l.id AS v", "l.id AS number"])
def test_another_column_of_the_same_type_is_refused_for_the_rows_that_wait_have_the_old_one(
    session: SparkSession, feeds: Feeds, tmp_path: Path, read: str
) -> None:
    """Spark's own join goes on, and gives the old values under the new name."""

    def reading(columns: str) -> DataFrame:
        frames = {"l": feeds.left.df(session), "r": feeds.right.df(session)}
        left = f"SELECT l.k, l.ts, {columns} FROM {{l}} l"
        chosen = f"SELECT l.* EXCEPT (k, ts), r.id FROM ({left}) l JOIN {{r}} r ON {in_spark(NEAR)}"
        return session.sql(chosen, **frames)

    first, second, third, *_ = Script(12, "INNER").batches
    feeds.add(first, second)
    run(reading("l.id"), tmp_path)
    feeds.add(third)
    with pytest.raises(StreamingQueryException, match=r"says 'left columns .*now 'left columns "):
        run(reading(read), tmp_path)


# With what a query is begun and gone on with, of which its values follow; and what is told of it.
BERLIN, TOKYO = ({"spark.sql.session.timeZone": z} for z in ("Europe/Berlin", "Asia/Tokyo"))
ANSI, LEGACY = ({"spark.sql.ansi.enabled": on} for on in ("true", "false"))
SAME_DAY = "l.k = r.k AND date_trunc('DAY', l.ts) = date_trunc('DAY', r.ts)"


def begun(session: SparkSession, feeds: Feeds, condition: str, conf: Conf) -> Rows:
    """Run the first batches with these settings, add the others, and give the rows of all."""
    script = timed(Script(12, "INNER"))
    feeds.add(*script.batches[:3])
    with settings(session, conf):
        run(feeds.join(session, "INNER", condition), feeds.folder)
    feeds.add(*script.batches[3:])
    feeds.end()
    # All rows are of one day.
    return joined(script.batches, "INNER", "l.k = r.k" if condition is SAME_DAY else condition)


@pytest.mark.parametrize(
    ("condition", "confs", "told"),
    [
        (SAME_DAY, (BERLIN, TOKYO), "timeZone=Europe/Berlin, .* runs with .*timeZone=Asia/Tokyo"),
        (f"{NEAR} AND l.v + 1 < r.v", (ANSI, LEGACY), "ansi.enabled=true, .*ansi.enabled=false"),
    ],
    ids=["days of another zone", "sums that wrap"],
)
def test_settings_that_the_values_of_a_join_follow_from_stay_as_they_were(
    session: SparkSession, feeds: Feeds, condition: str, confs: tuple[Conf, Conf], told: str
) -> None:
    first, second = confs
    expected = begun(session, feeds, condition, first)
    with settings(session, second), pytest.raises(StreamingQueryException, match=told):
        run(feeds.join(session, "INNER", condition), feeds.folder)
    with settings(session, first):
        df = feeds.join(session, "INNER", condition)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == expected


UTC, ETC = ({"spark.sql.session.timeZone": zone} for zone in ("UTC", "Etc/UTC"))


@pytest.mark.parametrize(
    ("condition", "first", "second"),
    [
        (NEAR, BERLIN | ANSI, TOKYO | LEGACY),
        (WITHIN, BERLIN | ANSI, TOKYO | LEGACY),
        (SAME_DAY, UTC, ETC),
    ],
    ids=[
        "those that no value follows from",
        "nor the range that a row is dealt to",
        "another name of a zone of a fixed offset",
    ],
)
def test_other_settings_may_change(
    session: SparkSession, feeds: Feeds, condition: str, first: Conf, second: Conf
) -> None:
    expected = begun(session, feeds, condition, first)
    with settings(session, second):
        df = feeds.join(session, "INNER", condition)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == expected


def test_the_zone_of_a_checkpoint_counts_for_nothing_where_only_the_range_of_a_row_had_it(
    session: SparkSession, feeds: Feeds
) -> None:
    expected = begun(session, feeds, WITHIN, BERLIN)
    # As it was written before whole numbers were known to have no zone.
    written = feeds.folder / "checkpoint/state/0/_plait/format"
    lines = written.read_text().splitlines()
    place = next((i for i, line in enumerate(lines) if line.startswith("spark.")), len(lines))
    lines.insert(place, "spark.sql.session.timeZone Europe/Berlin")
    written.with_name(f".{written.name}.crc").unlink(missing_ok=True)
    written.write_text("\n".join(lines) + "\n")
    with settings(session, TOKYO):
        df = feeds.join(session, "INNER", WITHIN)
        run(df, feeds.folder)
    assert output(df, feeds.folder) == expected


def test_without_its_hint_a_join_goes_on_where_its_condition_has_the_same_order(
    session: SparkSession, tmp_path: Path
) -> None:
    sql = f"""SELECT /*+ ORDERED(l, 's', 50), ORDERED(r, 's', 50) */ l.id AS l, r.id AS r
        FROM {{l}} l JOIN {{r}} r ON {NEAR}"""
    feeds = Feeds(tmp_path, (None, None))
    script = Script(12, "INNER").batches
    feeds.add(*script[:2])
    run(session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session)), feeds.folder)
    feeds.add(*script[2:])
    with settings(session, OFF):
        df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
        run(df, feeds.folder)
    assert output(df, feeds.folder) == joined(script, "INNER", NEAR)


def test_a_hint_that_is_not_seen_because_plait_is_off_is_named_as_the_cause(
    session: SparkSession, tmp_path: Path
) -> None:
    # Where the rows fall, the join has another order without the hint.
    sql = f"""SELECT /*+ ORDERED(l, 's DESC', 50), ORDERED(r, 's DESC', 50) */
        l.id AS l, r.id AS r FROM {{l}} l JOIN {{r}} r ON {NEAR}"""
    feeds = Feeds(tmp_path, (None, None))
    feeds.add(*Script(12, "INNER").batches[:2])
    run(session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session)), feeds.folder)
    feeds.end()
    with settings(session, OFF):
        df = session.sql(sql, l=feeds.left.df(session), r=feeds.right.df(session))
        with pytest.raises(StreamingQueryException, match=r"not seen while spark\.plait\.enabled"):
            run(df, feeds.folder)


@pytest.mark.parametrize(
    ("file", "found"),
    [("format", "format 1"), ("format", "format 99"), ("frontiers/[0-9]*", "v0")],
    ids=["rows", "rows of a later version", "frontiers"],
)
def test_a_state_of_another_format_is_refused_with_a_sentence(
    session: SparkSession, feeds: Feeds, tmp_path: Path, file: str, found: str
) -> None:
    script = Script(12, "LEFT")
    with settings(session, {"spark.plait.stream.frontier": "side"}):
        feeds.add(*script.batches[:1])
        run(feeds.join(session, "LEFT", NEAR), tmp_path)
        for written in (tmp_path / "checkpoint/state/0/_plait").glob(file):
            lines = written.read_text().splitlines()
            written.with_name(f".{written.name}.crc").unlink(missing_ok=True)
            written.write_text("\n".join([found, *lines[1:]]) + "\n")
        feeds.add(*script.batches[1:])
        with pytest.raises(StreamingQueryException, match=found) as refused:
            run(feeds.join(session, "LEFT", NEAR), tmp_path)
    assert "new checkpoint" in str(refused.value)
    assert "another query" not in str(refused.value)
    assert ("this version of Plait reads format" in str(refused.value)) == (file == "format")
