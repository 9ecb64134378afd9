# SPDX-License-Identifier: Apache-2.0
"""Examples: the report of a streaming query, from progress as Spark writes it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import plait
from plait import PlaitError, StreamSide

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
NAMES = ("RowsIn", "RowsLate", "RowsStored", "RowsPruned", "Frontier")


def micros(time: datetime) -> int:
    return int(time.timestamp()) * 1_000_000


def join(
    left: tuple[int, ...],
    right: tuple[int, ...],
    pairs: int = 0,
    newest: tuple[datetime | int | None, datetime | int | None] = (None, None),
) -> dict[str, Any]:
    metrics = {"pairsByProbingLeft": pairs, "pairsByProbingRight": 2 * pairs, "leftSegments": 1}
    for side, values in (("left", left), ("right", right)):
        metrics |= {f"{side}{name}": value for name, value in zip(NAMES, values, strict=True)}
        metrics[f"{side}BytesStored"] = 40 * values[2]
        if values[4] >= micros(NOON):
            metrics[f"{side}Bound"] = values[4] - 3_600_000_000
    for side, time in zip(("left", "right"), newest, strict=True):
        if time is not None:
            metrics[f"{side}Newest"] = micros(time) if isinstance(time, datetime) else time
    return {
        "operatorName": "plaitSymmetricHashJoin",
        "memoryUsedBytes": 4096,
        "customMetrics": metrics,
    }


def progress(
    batch: int, *operators: dict[str, Any], newest: str = "", watermark: str = "1970-01-01T00:00:00"
) -> dict[str, Any]:
    event_time = {"watermark": f"{watermark}.000Z"} | ({"max": f"{newest}.000Z"} if newest else {})
    return {
        "name": "matched",
        "timestamp": f"2026-03-02T00:00:{batch:02}.000Z",
        "batchId": batch,
        "durationMs": {"addBatch": 100, "triggerExecution": 1234},
        "eventTime": event_time,
        "stateOperators": list(operators),
    }


FIRST = progress(
    0,
    join((3, 0, 3, 0, 0), (5, 0, 5, 0, 0), 7, (NOON + 20 * MINUTE, NOON + 10 * MINUTE)),
    newest="2026-03-01T12:10:00",
)
SECOND = progress(
    1,
    join(
        (0, 1, 2, 1, micros(NOON)),
        (2000, 0, 2005, 0, micros(NOON)),
        newest=(0, NOON + 30 * MINUTE),
    ),
    newest="2026-03-01T12:30:00",
    watermark="2026-03-01T12:00:00",
)
IDLE = progress(2, SECOND["stateOperators"][0]) | {"durationMs": {"triggerExecution": 3}}


def test_there_is_a_row_for_each_batch_and_side() -> None:
    rows = plait.stream_report([FIRST, SECOND]).rows()
    assert [(row.batch, row.join, row.side) for row in rows] == [
        (0, 0, "left"),
        (0, 0, "right"),
        (1, 0, "left"),
        (1, 0, "right"),
    ]
    assert rows[2] == StreamSide(
        batch=1,
        time=datetime(2026, 3, 2, 0, 0, 1, tzinfo=UTC),
        join=0,
        side="left",
        rows_in=0,
        rows_late=1,
        rows_out_of_order=0,
        rows_dropped=0,
        rows_stored=2,
        rows_pruned=1,
        rows_evicted=0,
        pairs=0,
        largest_key=None,
        frontier=NOON,
        lag=timedelta(minutes=20),
        bound=NOON - timedelta(hours=1),
        bytes_stored=80,
        state_bytes=4096,
        duration=timedelta(milliseconds=1234),
    )
    assert [row.pairs for row in rows[:2]] == [7, 14]


def test_progress_of_an_idle_query_repeats_the_last_batch_and_is_left_out() -> None:
    assert plait.stream_report([FIRST, SECOND, IDLE]).sides[-1].batch == 1
    assert len(plait.stream_report([IDLE])) == 0


def test_progress_is_also_taken_as_spark_hands_it_out() -> None:
    class OfSpark(dict[str, Any]):
        json = json.dumps(FIRST)

    assert len(plait.stream_report([OfSpark()])) == 2


def test_a_frontier_that_no_event_time_is_near_is_a_number() -> None:
    numbered = progress(0, join((1, 0, 1, 0, 500), (1, 0, 1, 0, micros(NOON))))
    assert [row.frontier for row in plait.stream_report([numbered])] == [500, micros(NOON)]
    newest = (530, NOON + 10 * MINUTE)
    timed = progress(
        0,
        join((1, 0, 1, 0, 500), (1, 0, 1, 0, micros(NOON)), newest=newest),
        newest="2026-03-01T12:10:00",
    )
    left, right = plait.stream_report([timed])
    assert (left.frontier, left.lag) == (500, 30)
    assert (right.frontier, right.lag) == (NOON, 10 * MINUTE)


def test_the_lag_of_a_side_is_that_of_its_own_newest_row_however_old_its_batch() -> None:
    def batch(number: int, at: int, *newest: datetime | int | None) -> dict[str, Any]:
        frontier = micros(NOON + at * MINUTE)
        sides = (1, 0, 1, 0, frontier), (1, 0, 1, 0, frontier)
        return progress(
            number, join(*sides, newest=(newest[0], newest[1])), newest="2026-03-01T12:40:00"
        )

    batches = [
        batch(0, 0, NOON + 9 * MINUTE, None),
        batch(1, 5, NOON + 7 * MINUTE, NOON + 40 * MINUTE),
        batch(2, 10, 0, 0),
    ]
    lags = [row.lag for row in plait.stream_report(batches)]
    assert lags == [9 * MINUTE, None, 4 * MINUTE, 35 * MINUTE, 0 * MINUTE, 30 * MINUTE]


def test_a_newest_row_that_is_too_far_to_be_told_says_nothing_of_the_lag() -> None:
    numbered = join((1, 0, 1, 0, 2**62), (1, 0, 1, 0, 7), newest=((2**63 - 1) // 10, 9))
    assert [row.lag for row in plait.stream_report([progress(0, numbered)])] == [None, 2]


def test_a_bound_before_all_times_is_none() -> None:
    batch = json.loads(json.dumps(SECOND))
    batch["stateOperators"][0]["customMetrics"]["leftBound"] = -9_221_599_672_674_775_806
    left, right = plait.stream_report([batch]).rows()
    assert left.bound is None
    assert right.bound == NOON - timedelta(hours=1)


def test_joins_are_numbered_among_all_that_keeps_state_and_the_rest_left_out() -> None:
    two = progress(
        0,
        {"operatorName": "stateStoreSave"},
        join((1, 0, 1, 0, 0), (2, 0, 2, 0, 0)),
        join((3, 0, 3, 0, 0), (4, 0, 4, 0, 0)),
    )
    rows = plait.stream_report([two]).rows()
    assert [(row.join, row.side, row.rows_in) for row in rows] == [
        (1, "left", 1),
        (1, "right", 2),
        (2, "left", 3),
        (2, "right", 4),
    ]


TEXT = """
batch join side  rows in late stored pruned pairs frontier                lag bound                bytes    ms
    0    0 left        3    0      3      0     7                                                    120 1,234
    0    0 right       5    0      5      0    14                                                    200 1,234
    1    0 left        0    1      2      1     0 2026-03-01 12:00:00 0:20:00 2026-03-01 11:00:00     80 1,234
    1    0 right   2,000    0  2,005      0     0 2026-03-01 12:00:00 0:30:00 2026-03-01 11:00:00 80,200 1,234
"""  # noqa: E501


def test_printed_it_is_a_table() -> None:
    assert str(plait.stream_report([FIRST, SECOND])) == TEXT.strip("\n")
    assert str(plait.stream_report([])) == "No batch has run yet."


EVICTED = """
batch join side  rows in late stored pruned evicted pairs frontier lag bound bytes    ms
    0    0 left        9    0      3      0       6     0                      120 1,234
    0    0 right       5    0      5      0       0     0                      200 1,234
"""


def test_rows_of_keys_that_had_too_many_have_a_column_if_there_are_any() -> None:
    limited = join((9, 0, 3, 0, 0), (5, 0, 5, 0, 0))
    limited["customMetrics"] |= {"leftRowsEvicted": 6, "leftLargestKey": 7, "rightRowsEvicted": 0}
    report = plait.stream_report([progress(0, limited)])
    assert str(report) == EVICTED.strip("\n")
    assert report._repr_html_().count("<td>") == 2 * 14
    assert [(side.rows_evicted, side.largest_key) for side in report] == [(6, 7), (0, None)]


def test_a_notebook_shows_a_table_of_html() -> None:
    html = plait.stream_report([FIRST])._repr_html_()
    assert html.count("<tr>") == 3
    assert "<th>rows in</th>" in html
    assert "<td>right</td><td>5</td>" in html
    assert "<td>" not in plait.stream_report([])._repr_html_()


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_it_is_drawn(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    both = progress(1, *SECOND["stateOperators"], *FIRST["stateOperators"])
    path = plait.stream_report([FIRST, both]).plot(tmp_path / "new" / f"joins.{suffix}")
    assert path.stat().st_size > 5000


def test_without_matplotlib_or_without_a_batch_nothing_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("plait.stream.picture.util.find_spec", lambda _: None)
    with pytest.raises(PlaitError, match="pip install matplotlib"):
        plait.stream_report([FIRST]).plot(tmp_path / "a.png")
    with pytest.raises(PlaitError, match="no batch of the query has run yet"):
        plait.stream_report([]).plot(tmp_path / "a.png")


def test_what_is_no_query_with_a_join_of_plaits_is_told() -> None:
    with pytest.raises(PlaitError, match="what keeps state in it is symmetricHashJoin"):
        plait.stream_report([progress(0, {"operatorName": "symmetricHashJoin"})])
    with pytest.raises(PlaitError, match="it keeps no state"):
        plait.stream_report([progress(0)])
    with pytest.raises(PlaitError, match="a streaming query or a list of its progress, not int"):
        plait.stream_report(3)  # type: ignore[arg-type]
    with pytest.raises(PlaitError, match="no progress of a streaming query: 3"):
        plait.stream_report([3])  # type: ignore[list-item]
