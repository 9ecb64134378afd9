# SPDX-License-Identifier: Apache-2.0
"""Oracle: no row group with a row that matches is ruled out; and examples of some that are."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

ROWS_A_GROUP = 20
NAN = float("nan")
NOON = datetime(2026, 1, 1, 12, 0)


def table(chance: random.Random, groups: int) -> pa.Table:
    """Columns that rise from group to group, with NULL, NaN and both zeros among them."""
    n = groups * ROWS_A_GROUP

    def column(value: Any, kind: pa.DataType, odd: list[Any]) -> pa.Array:
        values: list[Any] = []
        for i in range(n):
            group = i // ROWS_A_GROUP
            # The second group is all NULL, the third has none.
            if group == 1 or (group != 2 and chance.random() < 0.1):
                values.append(None)
            elif odd and group != 2 and chance.random() < 0.1:
                values.append(chance.choice(odd))
            else:
                values.append(value(10 * group + chance.randrange(10)))
        return pa.array(values, kind)

    def day(i: int) -> date:
        return date(1578, 1, 1) + timedelta(days=300 * i)

    def moment(i: int) -> datetime:
        return NOON + timedelta(minutes=i, microseconds=i)

    utc = {unit: pa.timestamp(unit, "UTC") for unit in ("ms", "us", "ns")}
    return pa.table(
        {
            "id": pa.array(range(n), pa.int64()),
            "i": column(lambda i: i - 20, pa.int32(), []),
            "y": column(lambda i: i - 20, pa.int8(), []),
            "u": column(lambda i: 2**31 + i, pa.uint32(), []),
            "x": column(lambda i: (i - 20) / 4, pa.float64(), [NAN, 0.0, -0.0, math.inf]),
            "f": column(lambda i: (i - 20) / 3, pa.float32(), [NAN]),
            "d": column(lambda i: Decimal(i - 20) / 4, pa.decimal128(30, 2), []),
            "e": column(lambda i: Decimal(i - 20) / 4, pa.decimal128(9, 2), []),
            "s": column(lambda i: f"{i:03}" * 40, pa.string(), ["", "é", "\U0001f600"]),
            "b": column(lambda i: i % 20 < 10, pa.bool_(), []),
            "day": column(day, pa.date32(), []),
            "ms": column(moment, utc["ms"], []),
            "us": column(moment, utc["us"], []),
            "ntz": column(moment, pa.timestamp("us"), []),
            "l": column(lambda i: [i], pa.list_(pa.int64()), []),
            "st": pa.array([{"i": i} for i in range(n)], pa.struct([("i", pa.int64())])),
        }
    )


CONDITIONS = [
    "i > 20",
    "i + y < -30",
    "abs(i) <= 3 AND x < 2",
    "i IS NULL",
    "i IS NOT NULL AND y IS NULL",
    "i <=> NULL",
    "u > 2147483700",
    "x > 6",
    "x = 0",
    "x < 0 OR isnan(x)",
    "isnan(f) AND i < 0",
    "f >= 5",
    "x * 2 > i AND x < -3",
    "d = -3.25",
    "e BETWEEN 1.2 AND 1.3",
    "d + e > 12.5",
    "s >= '03' AND s < '04'",
    "s = ''",
    "s > 'a'",
    "s = repeat('041', 40)",
    "b AND i > 0",
    "NOT b",
    "day < DATE'1582-10-04'",
    "day BETWEEN DATE'1590-01-01' AND DATE'1600-01-01'",
    "day > DATE'1610-01-01'",
    "ms > TIMESTAMP'2026-01-01 12:40:00Z'",
    "us - INTERVAL 8 MINUTES < TIMESTAMP'2026-01-01 12:00:00Z'",
    "us = ms",
    "ntz > TIMESTAMP_NTZ'2026-01-01 12:30:00'",
    "CAST(us AS DATE) = DATE'2026-01-02'",
    "l[0] = 3",
    "st.i > 70",
    "id % 20 = 3 AND i IN (5, 6, -20)",
    "coalesce(i, 100) > 90",
    "I > 20 AND upper(S) = '040'",
]


def check(spark: SparkSession, path: Path, *conditions: str) -> list[plait.RowGroup]:
    """Ask for the ids that match all at once; return what the last condition gave."""
    df = spark.read.parquet(str(path))
    truths = [f"({condition}) AS c{i}" for i, condition in enumerate(conditions)]
    rows = df.selectExpr("id", *truths).collect()
    for i, condition in enumerate(conditions):
        ids = {row.id for row in rows if row[f"c{i}"]}
        found = plait.prune_files(path, condition)
        for group in found:
            own = pq.ParquetFile(group.file).read_row_group(group.index, columns=["id"])
            assert len(own) == group.rows
            if not group.kept:
                assert ids.isdisjoint(own["id"].to_pylist()), (condition, group)
    return found


@pytest.fixture(scope="module")
def by_arrow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arrow") / "all.parquet"
    pq.write_table(table(random.Random(42), 6), path, row_group_size=ROWS_A_GROUP)
    return path


@pytest.fixture(scope="module", params=["INT96", "TIMESTAMP_MICROS"])
def by_spark(
    request: pytest.FixtureRequest, by_arrow: Path, spark: SparkSession, tmp_path_factory: Any
) -> Path:
    """As many files as there were row groups, by Spark."""
    path: Path = tmp_path_factory.mktemp("spark") / request.param
    spark.conf.set("spark.sql.parquet.outputTimestampType", request.param)
    try:
        df = spark.read.parquet(str(by_arrow))
        df.repartitionByRange(6, "id").write.parquet(str(path))
    finally:
        spark.conf.unset("spark.sql.parquet.outputTimestampType")
    return path


def test_nothing_that_matches_is_ruled_out_of_a_file_of_arrow(
    spark: SparkSession, by_arrow: Path
) -> None:
    assert len(check(spark, by_arrow, *CONDITIONS)) == 6


def test_nothing_that_matches_is_ruled_out_of_files_of_spark(
    spark: SparkSession, by_spark: Path
) -> None:
    assert len(check(spark, by_spark, *CONDITIONS)) == 6


KEPT = {
    "i BETWEEN 12 AND 18": [3],
    "i + y < -30": [0],
    "d = -3.25": [0],
    "us - ms > INTERVAL 1 DAY": [],
    "ms > TIMESTAMP'2026-01-01 12:41:00Z'": [4, 5],
    "day > DATE'1612-01-01'": [4, 5],
    "i IS NULL AND y IS NOT NULL": [0, 5],
    "s < '02' AND x < -3": [0],
    "i > x AND x > i": [],
}


@pytest.mark.parametrize("condition", KEPT)
def test_others_are_ruled_out(by_arrow: Path, condition: str) -> None:
    found = plait.prune_files(by_arrow, condition)
    assert [group.index for group in found if group.kept] == KEPT[condition]


def test_nan_is_above_every_number_and_in_no_footer(spark: SparkSession, tmp_path: Path) -> None:
    columns = {"id": [0, 1, 2, 3], "x": [1.0, NAN, 1.0, 2.0]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=2)
    assert [g.kept for g in check(spark, tmp_path, "x > 5")] == [True, True]
    found = check(spark, tmp_path, "x > 5 AND NOT isnan(x)")
    assert [g.kept for g in found] == [False, False]


def test_footers_without_statistics_keep_all(spark: SparkSession, tmp_path: Path) -> None:
    columns = {"id": [0, 1], "x": [1, 2]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", write_statistics=False)
    assert [g.kept for g in check(spark, tmp_path, "x > 5")] == [True]
    assert [g.kept for g in check(spark, tmp_path, "x > 5 AND x < 4")] == [False]


def test_a_column_in_the_name_of_a_folder_is_not_that_of_the_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    for x in (1, 9):
        folder = tmp_path / f"x={x}"
        folder.mkdir()
        pq.write_table(pa.table({"id": [x], "x": [5]}), folder / "one.parquet")
    assert [g.kept for g in check(spark, tmp_path, "x > 7")] == [True, True]


def test_files_of_other_columns_or_types_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [0], "x": pa.array([1], pa.int64())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": [1]}), tmp_path / "b.parquet")
    (tmp_path / "_hidden").write_text("no Parquet")
    found = check(spark, tmp_path, "x > 3")
    assert [(g.file.name, g.kept) for g in found] == [("a.parquet", False), ("b.parquet", True)]


def footer_changed(file: Path, old: bytes, new: bytes) -> None:
    """Replace bytes of a footer by as many others."""
    data = file.read_bytes()
    begin = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    assert old in data[begin:], "the footer does not hold what is to be replaced"
    assert len(old) == len(new)
    file.write_bytes(data[:begin] + data[begin:].replace(old, new))


def kept(file: Path, condition: str) -> list[bool]:
    return [group.kept for group in plait.prune_files(file, condition)]


@pytest.mark.parametrize(
    ("writer", "is_kept"),
    [
        ("parquet-mr version 1.10.1 (buil)", False),
        ("parquet-mr version 1.8.1 (build)", True),
        ("another writer version 1.0.0 (b)", True),
    ],
)
def test_old_or_unknown_writers_say_nothing_of_decimals_of_fixed_length(
    tmp_path: Path, writer: str, is_kept: bool
) -> None:
    file = tmp_path / "decimals.parquet"
    pq.write_table(pa.table({"d": pa.array([1, 128], pa.decimal128(20, 0))}), file)
    mine = pq.read_metadata(file).created_by.encode()
    footer_changed(file, mine, writer.encode()[: len(mine)].ljust(len(mine)))
    assert kept(file, "d > 500") == [is_kept]
    assert kept(file, "d = 100") == [True]


def test_a_least_above_the_greatest_says_nothing(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.parquet"
    pq.write_table(pa.table({"i": pa.array([1234, 5678], pa.int32())}), numbers)
    footer_changed(numbers, (1234).to_bytes(4, "little"), (9999).to_bytes(4, "little"))
    assert kept(numbers, "i = 1234") == [True]
    texts = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"s": ["begin", "end"]}), texts)
    footer_changed(texts, b"begin", b"zebra")
    assert kept(texts, "s = 'begin'") == [True]


def test_numbers_wider_than_their_type_to_spark_say_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"a": pa.array([1], pa.int8())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": pa.array([300], pa.int32())}), tmp_path / "b.parquet")
    is_kept = {g.file.name: g.kept for g in plait.prune_files(tmp_path, "a + 0 = 44")}
    seen = spark.read.parquet(str(tmp_path)).schema["a"].dataType.typeName()
    assert is_kept == {"a.parquet": False, "b.parquet": seen == "byte"}


def test_moments_in_utc_and_on_the_wall(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    try:
        moments = pa.array([NOON.replace(tzinfo=UTC)], pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"id": [0], "t": moments}), tmp_path / "t.parquet")
        # It is half past eight in the morning there.
        early = "t > TIMESTAMP'2026-01-01 08:31:00'"
        assert [g.kept for g in check(spark, tmp_path, early)] == [False]
        late = "t > TIMESTAMP'2026-01-01 08:29:00'"
        assert [g.kept for g in check(spark, tmp_path, late)] == [True]
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_what_cannot_be_read_or_understood_is_one_sentence(by_arrow: Path, tmp_path: Path) -> None:
    with pytest.raises(plait.PlaitError, match="no Parquet file"):
        plait.prune_files(tmp_path, "i > 3")
    with pytest.raises(plait.PlaitError, match=r"nothing_of_that_name.*cannot be resolved"):
        plait.prune_files(by_arrow, "nothing_of_that_name > 3")
    with pytest.raises(plait.PlaitError, match="position"):
        plait.prune_files(by_arrow, "i >")
    with pytest.raises(plait.PlaitError, match="text in SQL"):
        plait.prune_files(by_arrow, "")
    with pytest.raises(plait.PlaitError, match="one local file or folder"):
        plait.prune_files([by_arrow], "i > 3")  # type: ignore[arg-type]
    (tmp_path / "words.parquet").write_text("no footer at all")
    with pytest.raises(plait.PlaitError, match=r"words\.parquet is no Parquet file"):
        plait.prune_files(tmp_path, "i > 3")


def test_a_session_that_cannot_answer_is_told_of_before_a_file_is_read(
    connect: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: connect)
    with pytest.raises(plait.PlaitError, match="This is a Spark Connect session"):
        plait.prune_files("s3://nowhere", "id > 3")
