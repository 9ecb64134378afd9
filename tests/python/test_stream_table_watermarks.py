# SPDX-License-Identifier: Apache-2.0
"""Examples: tables that say how late the rows of their streams may come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import IllegalArgumentException
from tests.python.declared_streams import Stream, running, session_of_two_partitions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

WATERMARK = "plait.watermark"


session = pytest.fixture(scope="module", name="session")(session_of_two_partitions)


@pytest.fixture
def events(session: SparkSession, tmp_path: Path) -> Iterator[Stream]:
    """A table of events, which says how late they may come."""
    stream = Stream(session, tmp_path, "files", "k INT, ts TIMESTAMP, ts2 TIMESTAMP")
    session.sql(
        f"CREATE TABLE events ({stream.schema}) USING json LOCATION '{stream.folder}' "
        f"TBLPROPERTIES ('{WATERMARK}' = 'ts - INTERVAL 20 SECONDS')"
    )
    yield stream
    session.sql("DROP TABLE events")


def delays(df: DataFrame) -> list[tuple[str, str]]:
    """The columns and delays of the watermarks of a plan."""
    plan = df._jdf.queryExecution().analyzed().toString()
    return re.findall(r"EventTimeWatermark [^,]*, (\w+)#\d+: timestamp, (.*)", plan)


def test_a_table_declares_the_watermark_of_its_stream(
    session: SparkSession, events: Stream
) -> None:
    df = session.sql(
        "SELECT a.k, a.ts, b.ts2 FROM STREAM events a LEFT JOIN STREAM events b "
        "ON a.k = b.k + 1 AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS"
    )
    with running(session, df.selectExpr("k", "second(ts)", "second(ts2)")) as run:
        events.add([(1, "2026-01-01T00:00:10", None), (0, "2026-01-01T00:00:12", None)])
        events.add([(7, "2026-01-01T00:00:36", "2026-01-01T00:00:36")])
        assert run.rows() == Counter(["(1, 10, None)"]), "16 is the watermark"
        assert run.waiting() > 0


READERS: dict[str, tuple[Callable[[SparkSession], DataFrame], list[tuple[str, str]]]] = {
    "SQL": (lambda s: s.sql("SELECT k FROM STREAM events"), [("ts", "20 seconds")]),
    "a DataFrame": (lambda s: s.readStream.table("events"), [("ts", "20 seconds")]),
    "SQL with a watermark": (
        lambda s: s.sql("SELECT * FROM STREAM events WATERMARK ts2 DELAY OF INTERVAL 5 SECONDS"),
        [("ts2", "5 seconds")],
    ),
    "a DataFrame with a watermark": (
        lambda s: s.readStream.table("events").where("k > 0").withWatermark("ts", "5 seconds"),
        [("ts", "5 seconds")],
    ),
    "a batch": (lambda s: s.table("events"), []),
}


@pytest.mark.parametrize("how", READERS)
def test_what_a_query_says_goes_before_the_watermark_of_its_table(
    session: SparkSession, events: Stream, how: str
) -> None:
    assert events
    reader, expected = READERS[how]
    assert delays(reader(session)) == expected


@pytest.mark.parametrize(
    "text",
    ["ts", "nope - INTERVAL 20 SECONDS", "ts + INTERVAL 1 DAY", "k - INTERVAL 1 DAY", "ts -"],
)
def test_a_wrong_watermark_of_a_table_is_an_error_that_names_it(
    session: SparkSession, events: Stream, text: str
) -> None:
    assert events
    session.sql(f"ALTER TABLE events SET TBLPROPERTIES ('{WATERMARK}' = '{text}')")
    if text == "ts":
        assert delays(session.readStream.table("events")) == [("ts", "0 seconds")]
        return
    with pytest.raises(IllegalArgumentException) as caught:
        session.sql("SELECT * FROM STREAM events")
    for part in (WATERMARK, "spark_catalog.default.events", f"'{text}'", "are ts, ts2"):
        assert part in str(caught.value)
    assert "as 'ts - INTERVAL 20 SECONDS'" in str(caught.value)
