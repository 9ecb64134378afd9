# SPDX-License-Identifier: Apache-2.0
"""Examples and oracle: windows over streams carry the watermark on, to what stands above them.

Oracle: the answer of Spark's own joins to the same query over all rows, as tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pytest
from pyspark.errors import AnalysisException
from tests.python.queries import settings
from tests.python.streams import Row, quick_session
from tests.python.watermarked import Streams, dropped

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

session = pytest.fixture(scope="module", name="session")(quick_session)

MINUTE = 60
WINDOWS = {
    "TUMBLE": "TUMBLE({}, ts, INTERVAL 10 MINUTES)",
    "HOP": "HOP({}, ts, INTERVAL 5 MINUTES, INTERVAL 10 MINUTES)",
    "CUMULATE": "CUMULATE({}, ts, INTERVAL 5 MINUTES, INTERVAL 15 MINUTES)",
    "gaps": "HOP({}, ts, INTERVAL 15 MINUTES, INTERVAL 10 MINUTES)",
    "offset": "TUMBLE({}, ts, INTERVAL 10 MINUTES, INTERVAL 3 MINUTES)",
}
COUNTED = """SELECT k, window_start, window_end, count(*) AS c, sum(v) AS s FROM {}
    GROUP BY k, window_start, window_end"""


class Windows(Streams):
    """Streams with windows over them, which plain Spark has no words for."""

    oracle: ClassVar = {"spark.plait.join.strategy": "never"}


def windowed(name: str, windows: str = "TUMBLE") -> str:
    return WINDOWS[windows].format(f"{{{name}}}")


def minutely(
    streams: Streams, first: int = 100 * MINUTE, minutes: int = 30, every: int = 11
) -> None:
    """Rows every so many minutes, the last of a side as late as the watermark lets them be."""
    for m in range(0, minutes, every):
        rows: dict[str, list[Row]] = {
            name: [
                (100 * m + i, i % 3, first + (m - (i == 4) * 2) * MINUTE + 7 * i + side, m + i)
                for i in range(side % 2, 5)
            ]
            for side, name in enumerate(streams.feeds)
        }
        streams.add(**rows)


def joined(left: str, how: str, right: str, columns: str, rest: str = "") -> str:
    return f"""(SELECT {columns} FROM {left} a {how} JOIN {right} b ON a.k = b.k
        AND a.window_start = b.window_start AND a.window_end = b.window_end {rest})"""


def holds(streams: Streams) -> None:
    """The streams end; all comes out, and of what waits only the end is left."""
    streams.end()
    progress = streams.run()
    assert dropped(progress) == 0
    for operator in progress[-1]["stateOperators"]:
        assert operator["numRowsTotal"] <= 3 * len(streams.feeds)
    streams.holds()


@pytest.mark.parametrize("windows", WINDOWS)
def test_a_window_comes_out_once_when_the_watermark_has_passed_its_end(
    session: SparkSession, tmp_path: Path, windows: str
) -> None:
    streams = Windows(session, tmp_path, COUNTED.format(windowed("l", windows)), l=120)
    minutely(streams)
    holds(streams)


GROUPS = {
    "start": "SELECT k, window_start, count(*) AS c FROM {} GROUP BY k, window_start",
    "other names": """SELECT e, sum(v) AS s FROM (SELECT v, window_end AS e FROM {} WHERE v > 2)
        GROUP BY e""",
    "time": """SELECT window_end, window_time, count(*) AS c FROM {}
        GROUP BY window_end, window_time HAVING count(*) > 1""",
    "time alone": "SELECT window_time, count(*) AS c FROM {} GROUP BY window_time",
    "time by another name": """SELECT t, sum(v) AS s FROM (SELECT v, window_time AS t FROM {}
        WHERE v > 2) GROUP BY t""",
    "hour": """SELECT window_end, hour(ts) AS h, count(*) AS c FROM {}
        GROUP BY window_end, hour(ts)""",
    "WITH": """WITH w AS (SELECT * FROM {}) SELECT window_end, max(ts) AS t FROM w
        GROUP BY window_end""",
    "union": """SELECT window_end, count(*) AS c FROM (SELECT v, window_end FROM {0}
        UNION ALL SELECT id, window_end FROM {0}) GROUP BY window_end""",
}


@pytest.mark.parametrize("group", GROUPS)
def test_rows_may_be_grouped_by_what_an_edge_has_become(
    session: SparkSession, tmp_path: Path, group: str
) -> None:
    windows = "CUMULATE" if group == "start" else "HOP"
    query = GROUPS[group].format(windowed("l", windows))
    streams = Windows(session, tmp_path, query, l=120)
    minutely(streams, minutes=18)
    holds(streams)


BESIDE = {
    "an as-of join of windows": f"""SELECT a.id AS l, b.id AS r FROM {windowed("l")} a
        LEFT ASOF JOIN {windowed("r")} b MATCH_CONDITION (a.ts >= b.ts)
        ON a.k = b.k AND a.window_end = b.window_end""",
    "a query of WITH in windows of a subquery": f"""WITH s AS (SELECT * FROM {{r}} WHERE v > 0)
        SELECT a.id FROM {windowed("l")} a WHERE EXISTS (SELECT 1
            FROM TUMBLE(s, ts, INTERVAL 10 MINUTES) b
            WHERE b.k = a.k AND b.window_end = a.window_end)""",
}


@pytest.mark.parametrize("query", BESIDE)
def test_windows_stand_beside_what_knows_none(
    session: SparkSession, tmp_path: Path, query: str
) -> None:
    streams = Windows(session, tmp_path, BESIDE[query], l=120, r=120)
    minutely(streams, minutes=18)
    streams.end()
    streams.run()
    streams.holds()


def test_a_row_is_late_for_the_windows_that_are_over_and_no_other(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"SELECT window_end, sum(v) AS s FROM {windowed('l', 'HOP')} GROUP BY window_end"
    streams = Windows(session, tmp_path, query, l=0)
    for i, minute in enumerate((100, 112, 104, 104, 107)):
        streams.add(l=[(i, 1, minute * MINUTE, 10**i)])
    streams.end()
    progress = streams.run()
    # Windows end at 105, 110, ... Spark drops by the watermark that the batch before had. In the
    # third batch that was 100, so its row is in time for both its windows; from then on it is 112,
    # so the fourth row is too late for the windows to 105 and 110, and the fifth for that to 110,
    # but not for that to 115.
    assert dropped(progress) == 3
    ends = {time.minute + 60 * time.hour: s for time, s in streams.output()}
    assert ends == {105: 101, 110: 101, 115: 10010, 120: 10}


@pytest.mark.parametrize(
    ("windows", "how"),
    [
        *zip(WINDOWS, ["INNER", "LEFT", "RIGHT", "LEFT SEMI", "FULL"], strict=True),
        ("HOP", "LEFT ANTI"),
    ],
)
def test_a_window_join_equals_that_of_tables_and_forgets_what_is_over(
    session: SparkSession, tmp_path: Path, windows: str, how: str
) -> None:
    columns = "a.id" if how.startswith("LEFT ") else "a.id, b.id AS r"
    sides = windowed("l", windows), windowed("r", windows)
    query = joined(sides[0], how, sides[1], columns, "AND a.v % 4 = b.v % 4")[1:-1]
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams)
    holds(streams)


UNIONS = {
    "starts of two shapes": """SELECT window_start, count(*) AS c FROM (SELECT window_start FROM {0}
        UNION ALL SELECT window_start FROM {1}) GROUP BY window_start""",
    "a start and an end": """SELECT w, count(*) AS c FROM (SELECT window_start AS w FROM {0}
        UNION ALL SELECT window_end AS w FROM {0}) GROUP BY w""",
}


@pytest.mark.parametrize("union", UNIONS)
def test_windows_of_several_shapes_carry_no_watermark_on(
    session: SparkSession, tmp_path: Path, union: str
) -> None:
    query = UNIONS[union].format(windowed("l"), windowed("l", "HOP"))
    streams = Windows(session, tmp_path, query, l=120)
    minutely(streams, minutes=6)
    with pytest.raises(AnalysisException, match="without watermark"):
        streams.run()


def test_last_milliseconds_of_windows_of_several_shapes_are_one_group(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""SELECT window_time, count(*) AS c FROM (SELECT window_time FROM {windowed("l")}
        UNION ALL SELECT window_time FROM {windowed("l", "HOP")}) GROUP BY window_time"""
    streams = Windows(session, tmp_path, query, l=120)
    minutely(streams, minutes=18)
    holds(streams)


def test_a_last_millisecond_below_a_join_carries_its_watermark_through_it(
    session: SparkSession, tmp_path: Path
) -> None:
    left = f"(SELECT k, v, id, window_time, window_end FROM {windowed('l')})"
    query = f"""SELECT a.window_time, count(*) AS c, count(b.id) AS n FROM {left} a
        LEFT JOIN {windowed("r")} b ON a.k = b.k AND a.window_end = b.window_end
        AND a.v % 4 = b.v % 4 GROUP BY a.window_time"""
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams)
    holds(streams)


ABOVE = """SELECT window_start, window_end, count(*) AS c, count(r) AS n{more} FROM {joined}
    GROUP BY window_start, window_end"""


@pytest.mark.parametrize(
    ("windows", "how", "more"),
    [
        ("TUMBLE", "LEFT", ""),
        ("HOP", "INNER", ""),
        ("HOP", "LEFT", ", max(ts) AS t"),
        ("CUMULATE", "LEFT", ", max(ts) AS t"),
    ],
)
def test_what_stands_above_a_window_join_learns_its_watermark(
    session: SparkSession, tmp_path: Path, windows: str, how: str, more: str
) -> None:
    sides = windowed("l", windows), windowed("r", windows)
    columns = "a.id, b.id AS r, a.window_start, a.window_end, a.ts"
    below = joined(sides[0], how, sides[1], columns, "AND a.v % 4 = b.v % 4")
    query = ABOVE.format(joined=below, more=more)
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams)
    holds(streams)


def test_windows_above_an_interval_join_of_them_are_over_when_its_rows_are(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""SELECT window_end, count(*) AS c, count(r) AS n FROM (
        SELECT a.id, b.id AS r, a.window_end FROM {windowed("l", "HOP")} a
        LEFT JOIN {{r}} b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 7 MINUTES
        AND a.v % 4 = b.v % 4) GROUP BY window_end"""
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams)
    holds(streams)


@pytest.mark.parametrize(("first", "second"), [("INNER", "LEFT"), ("LEFT", "INNER")])
def test_a_window_join_above_another_forgets_and_carries_on(
    session: SparkSession, tmp_path: Path, first: str, second: str
) -> None:
    below = joined(windowed("l"), first, windowed("r"), "a.*, b.id AS r", "AND a.v % 4 = b.v % 4")
    columns = "a.id, b.id AS r, a.window_start, a.window_end"
    above = joined(below, second, windowed("x"), columns, "AND a.v % 3 = b.v % 3")
    query = ABOVE.format(joined=above, more="")
    streams = Windows(session, tmp_path, query, l=120, r=120, x=120)
    minutely(streams)
    holds(streams)


def test_sessions_of_a_stream_are_refused(session: SparkSession, tmp_path: Path) -> None:
    streams = Windows(session, tmp_path, "SELECT * FROM SESSION({l}, ts, INTERVAL 1 MINUTE)", l=0)
    with pytest.raises(AnalysisException, match="SESSION is not supported yet on a stream"):
        streams.df()


def test_windows_that_are_counted_are_joined(session: SparkSession, tmp_path: Path) -> None:
    left, right = (f"({COUNTED.format(windowed(name))})" for name in "lr")
    query = joined(left, "LEFT", right, "a.k, a.window_end, a.c, b.s")[1:-1]
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams)
    holds(streams)


ZONES = {
    "west": ("America/Los_Angeles", 100 * MINUTE),
    "east": ("Asia/Kolkata", 100 * MINUTE),
    # From 02:00 the clocks show the same for an hour again, at 01:00 UTC.
    "autumn": ("Europe/Berlin", 1729987200),
    # They show no time from 02:00 to 03:00, where windows of 40 minutes end too, at 01:00 UTC.
    "spring": ("Europe/Berlin", 1711845000),
}


@pytest.mark.parametrize("where", ZONES)
def test_windows_of_any_zone_are_over_when_no_row_of_theirs_can_come(
    session: SparkSession, tmp_path: Path, where: str
) -> None:
    zone, first = ZONES[where]
    left, right = (f"TUMBLE({{{name}}}, ts, INTERVAL 40 MINUTES)" for name in "lr")
    columns = "a.id, b.id AS r, a.window_start, a.window_end, a.ts"
    below = joined(left, "LEFT", right, columns, "AND a.v % 4 = b.v % 4")
    query = ABOVE.format(joined=below, more=", max(ts) AS t")
    streams = Windows(session, tmp_path, query, l=120, r=120)
    if zone == "Europe/Berlin":
        minutely(streams, first, minutes=126, every=18)
    else:
        minutely(streams, first, minutes=42)
    with settings(session, {"spark.sql.session.timeZone": zone}):
        holds(streams)


@pytest.mark.parametrize("where", ["autumn", "spring"])
def test_windows_of_one_last_millisecond_are_one_group_wherever_the_clocks_are_put(
    session: SparkSession, tmp_path: Path, where: str
) -> None:
    zone, first = ZONES[where]
    windows = "HOP({l}, ts, INTERVAL 30 MINUTES, INTERVAL 1 HOUR)"
    query = f"SELECT window_time, count(*) AS c, max(ts) AS t FROM {windows} GROUP BY window_time"
    streams = Windows(session, tmp_path, query, l=120)
    minutely(streams, first, minutes=126, every=18)
    with settings(session, {"spark.sql.session.timeZone": zone}):
        holds(streams)


@pytest.mark.parametrize("then", ["auto", "never"])
def test_what_waits_outlives_a_restart(session: SparkSession, tmp_path: Path, then: str) -> None:
    columns = "a.id, b.id AS r, a.window_start, a.window_end"
    below = joined(windowed("l", "HOP"), "LEFT", windowed("r", "HOP"), columns)
    streams = Windows(session, tmp_path, ABOVE.format(joined=below, more=""), l=120, r=120)
    minutely(streams, minutes=18)
    assert sum(o["numRowsTotal"] for o in streams.run()[-1]["stateOperators"]) > 20
    minutely(streams, first=118 * MINUTE, minutes=18)
    with settings(session, {"spark.plait.join.strategy": then}):
        holds(streams)


def test_a_checkpoint_of_sparks_own_window_join_stays_with_it(
    session: SparkSession, tmp_path: Path
) -> None:
    query = joined(windowed("l"), "INNER", windowed("r"), "a.id, b.id AS r")[1:-1]
    streams = Windows(session, tmp_path, query, l=120, r=120)
    minutely(streams, minutes=12)
    with settings(session, Windows.oracle):
        streams.run()
    minutely(streams, first=112 * MINUTE, minutes=12)
    progress = streams.run()
    assert progress[-1]["stateOperators"][0]["operatorName"] == "symmetricHashJoin"
    streams.holds()


def test_a_query_of_with_that_is_named_twice_carries_no_watermark_on(
    session: SparkSession, tmp_path: Path
) -> None:
    query = f"""WITH w AS (SELECT * FROM {windowed("l")})
        SELECT window_end, count(*) AS c FROM (SELECT * FROM w UNION ALL SELECT * FROM w)
        GROUP BY window_end"""
    streams = Windows(session, tmp_path, query, l=120)
    minutely(streams, minutes=6)
    with pytest.raises(AnalysisException, match="without watermark"):
        streams.run()
