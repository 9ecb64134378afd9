# SPDX-License-Identifier: Apache-2.0
"""Which row groups of Parquet files a SQL condition rules out, by what their footers say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait import _jvm
from plait.bounds import active_session, ask, check_condition, running_session
from plait.errors import PlaitError
from plait.extras import how_to_get
from plait.values import encoded

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

# Before these, Spark may shift what it reads, if an old Spark or Hive wrote it: days from the
# Julian calendar before 1582-10-15, and instants by the local mean time of their zone before 1900.
FIRST_SURE_DAY = -141427
FIRST_SURE_MICRO = -2177452800 * 1_000_000  # 1901-01-01

BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
MORE_BITS = 65

MICROS_A_UNIT = {
    "milliseconds": Fraction(1000),
    "microseconds": Fraction(1),
    "nanoseconds": Fraction(1, 1000),
}

# Writers that never cut a text short, or raise the last byte where they do.
WITH_UPPER_ENDS_OF_TEXTS = ("parquet-cpp-arrow version ", "parquet-mr version ")

# Writers that compare decimals of fixed length by value, but for the first parquet-mr: those
# compared byte by byte, so that the least of 1 and 128 was 128.
WITH_ENDS_OF_DECIMALS = WITH_UPPER_ENDS_OF_TEXTS
OF_SIGNED_BYTES = re.compile(r"parquet-mr version (0|1\.[0-9])\.")

# Ends of what a column holds, as the JVM's side reads them, where they are known.
Ends = tuple[dict[str, Any] | None, dict[str, Any] | None]
UNKNOWN: Ends = (None, None)


@dataclass(frozen=True)
class RowGroup:
    """A row group of a Parquet file; ``kept`` is false if no row of it can match."""

    file: Path
    index: int
    rows: int
    kept: bool


def prune_files(path: str | Path, condition: str) -> list[RowGroup]:
    """Tell which row groups of Parquet files hold no row for which the condition is TRUE.

    Takes a local file or a folder of them, and a condition on their columns that means what it
    means to ``spark.read.parquet(path)``. Reads the footers only: least and greatest values and
    counts of NULL. What they do not say for sure is taken for unknown, so what is not kept has no
    match, and what is kept may have none. Footers do not say whether there is NaN, and to Spark
    NaN is above every number: of a DOUBLE column ``x > 5`` rules nothing out, ``x > 5 AND NOT
    isnan(x)`` and ``x BETWEEN 5 AND 9`` do.

    >>> from tempfile import mkdtemp
    >>> from pyspark.sql import SparkSession
    >>> from plait import session
    >>> path = mkdtemp() + "/numbers"
    >>> session(master="local[2]").range(100).coalesce(1).write.parquet(path)
    >>> [(group.rows, group.kept) for group in prune_files(path, "abs(id - 300) < 201")]
    [(100, False)]
    >>> [(group.rows, group.kept) for group in prune_files(path, "abs(id - 300) < 202")]
    [(100, True)]
    """
    check_condition(condition)
    if not isinstance(path, str | Path) or not str(path).strip():
        raise PlaitError(f"The path is that of one local file or folder, not {path!r}.")
    if (running := running_session()) is not None:
        _jvm.solver(running)  # raises for one that cannot answer
    root = Path(path).absolute()
    files = [root] if root.is_file() else sorted(_data_files(root))
    if not files:
        raise PlaitError(
            f"There is no Parquet file at {path}: the path is that of a local file or folder, "
            "without a scheme and without wildcards."
        )
    footers = [(file, _footer(file)) for file in files]
    spark = active_session()
    schema = spark.read.parquet(f"file://{root}").schema
    types = {field.name: field.dataType for field in schema.fields}
    groups = [
        group
        for file, footer in footers
        for group in _groups(file, footer, types, _partitions(file, root))
    ]
    question = {
        "condition": condition,
        "schema": schema.json(),
        "groups": [known for _, known in groups],
    }
    kept = ask(spark, "prune", question)["kept"]
    return [
        RowGroup(group.file, group.index, group.rows, is_kept)
        for (group, _), is_kept in zip(groups, kept, strict=True)
    ]


def _data_files(root: Path) -> Iterator[Path]:
    """Files that Spark reads: none of a hidden name, nor in a folder of one."""
    for file in root.rglob("*"):
        parts = file.relative_to(root).parts
        if file.is_file() and not any(_is_hidden(part) for part in parts):
            yield file


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _partitions(file: Path, root: Path) -> set[str]:
    """Columns that are in the names of folders: those Spark prefers to what is in the file."""
    folders = file.parent.parts
    return {part.split("=")[0].lower() for part in folders if "=" in part}


def _footer(file: Path) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_metadata
    except ModuleNotFoundError as error:
        raise PlaitError(f"Reading footers needs pyarrow: {how_to_get('spark')}.") from error

    try:
        return read_metadata(file)
    except (ArrowException, OSError) as error:
        raise PlaitError(f"{file} is no Parquet file that can be read: {error}") from error


def _groups(
    file: Path, footer: Any, types: Mapping[str, DataType], left_out: set[str]
) -> Iterator[tuple[RowGroup, dict[str, Any]]]:
    columns = {}
    tops = set()
    for j in range(footer.num_columns):
        column = footer.schema.column(j)
        tops.add(column.path.split(".")[0])
        # A column of a struct or a list has another path than its name; so may one with a dot.
        if (
            column.path == column.name
            and "." not in column.name
            and not column.max_repetition_level
        ):
            columns[column.name] = j
    lower = [name.lower() for name in tops]
    known_columns = [
        (j, name)
        for name, j in columns.items()
        if name in types and lower.count(name.lower()) == 1 and name.lower() not in left_out
    ]
    for i in range(footer.num_row_groups):
        group = footer.row_group(i)
        known = {
            name: _possible(footer, group.column(j), j, types[name], group.num_rows)
            for j, name in known_columns
        }
        yield RowGroup(file, i, group.num_rows, True), known


def _possible(footer: Any, chunk: Any, j: int, data_type: DataType, rows: int) -> dict[str, Any]:
    """Say what a column holds in a row group; unknown ends are None."""
    found = chunk.statistics
    nulls = found.null_count if found is not None and found.has_null_count else None
    ends = UNKNOWN
    if found is not None and found.has_min_max:
        ends = _ends(footer, footer.schema.column(j), data_type, found.min_raw, found.max_raw)
    # A count of NULLs beyond the rows is no count.
    is_null = nulls is not None and nulls == rows and rows > 0
    return {
        "spans": [] if is_null else [[ends[0], False, ends[1], False]],
        "null": nulls != 0,
        # Least and greatest values pass over NaN.
        "nan": not is_null,
    }


def _ends(footer: Any, column: Any, data_type: DataType, least: Any, greatest: Any) -> Ends:
    """Read a column's ends if it holds what Spark takes it for."""
    from pyspark.sql import types as t

    # An INT96 and an unsigned integer have no order here, and so no case.
    logical = column.logical_type.type
    physical = column.physical_type
    about = column.logical_type.to_json()
    is_integer = physical in ("INT32", "INT64")
    writer = footer.created_by or ""
    found = UNKNOWN
    match data_type:
        case t.BooleanType() if physical == "BOOLEAN":
            found = encoded(bool(least)), encoded(bool(greatest))
        case t.ByteType() | t.ShortType() | t.IntegerType() | t.LongType() if is_integer and (
            _bits(physical, about) <= BITS[data_type.typeName()]
        ):
            found = _numbers(Fraction(least), Fraction(greatest))
        case t.DayTimeIntervalType() if physical == "INT64" and logical == "NONE":
            found = {"micros": str(least)}, {"micros": str(greatest)}
        case t.DecimalType() if logical == "DECIMAL" and (
            column.scale == data_type.scale and column.precision <= data_type.precision
        ):
            unit = Fraction(1, 10**data_type.scale)
            if is_integer:
                found = _numbers(least * unit, greatest * unit)
            elif physical == "FIXED_LEN_BYTE_ARRAY" and _compares_decimals(writer):
                whole = [int.from_bytes(x, "big", signed=True) for x in (least, greatest)]
                found = _numbers(whole[0] * unit, whole[1] * unit)
        case t.FloatType() if physical == "FLOAT" and logical == "NONE":
            found = _floats(least, greatest)
        case t.DoubleType() if physical == "DOUBLE" and logical == "NONE":
            found = _floats(least, greatest)
        case t.DateType() if physical == "INT32" and logical == "DATE":
            found = _since(FIRST_SURE_DAY, least, greatest, "days")
        case t.TimestampType() | t.TimestampNTZType() if physical == "INT64" and (
            logical == "TIMESTAMP"
        ):
            found = _moments(isinstance(data_type, t.TimestampType), about, least, greatest)
        case t.StringType() if physical == "BYTE_ARRAY" and logical == "STRING":
            found = _texts(writer, least, greatest)
    return found


def _bits(physical: str, about: str) -> int:
    """Return the width of a signed integer; of anything else, more than a type of Spark's has.

    Spark cuts what is wider than its type, and a cut number may be anything.

    >>> _bits("INT32", '{"Type":"Int","bitWidth":8,"isSigned":true}')
    8
    >>> _bits("INT64", '{"Type":"None"}'), _bits("INT64", '{"Type":"Decimal"}')
    (64, 65)
    """
    if '"Type":"None"' in about:
        return int(physical.removeprefix("INT"))
    said = re.search(r'"bitWidth":(\d+),"isSigned":true', about)
    return int(said[1]) if said else MORE_BITS


def _compares_decimals(writer: str) -> bool:
    return writer.startswith(WITH_ENDS_OF_DECIMALS) and not OF_SIGNED_BYTES.match(writer)


def _numbers(least: Fraction, greatest: Fraction) -> Ends:
    """Return both; a least above the greatest says that the writer has another order."""
    return (encoded(least), encoded(greatest)) if least <= greatest else UNKNOWN


def _floats(least: float, greatest: float) -> Ends:
    """Of a least or a greatest NaN neither says anything; zeros are 0, whatever their sign."""
    return (encoded(least), encoded(greatest)) if least <= greatest else UNKNOWN


def _since(first_sure: int, least: int, greatest: int, kind: str) -> Ends:
    """Keep an end that lies after: what lies before may be read as another value that does."""
    if least > greatest:
        return UNKNOWN
    return (
        {kind: str(least)} if least >= first_sure else None,
        {kind: str(greatest)} if greatest >= first_sure else None,
    )


def _moments(is_instant: bool, about: str, least: int, greatest: int) -> Ends:
    if f'"isAdjustedToUTC":{str(is_instant).lower()}' not in about:
        return UNKNOWN
    factor = next((f for unit, f in MICROS_A_UNIT.items() if f'"{unit}"' in about), None)
    if factor is None:
        return UNKNOWN
    micros = math.floor(least * factor), math.ceil(greatest * factor)
    kind = "instant" if is_instant else "local"
    return _since(FIRST_SURE_MICRO, *micros, kind)


def _texts(writer: str, least: bytes, greatest: bytes) -> Ends:
    """Keep the least text, whose beginning is an end too; that of the greatest is none."""
    if least > greatest:
        return UNKNOWN
    is_end = writer.startswith(WITH_UPPER_ENDS_OF_TEXTS)
    return _text(least, is_end=True), _text(greatest, is_end=is_end)


def _text(raw: bytes, *, is_end: bool) -> dict[str, Any] | None:
    try:
        return encoded(raw.decode()) if is_end else None
    except UnicodeDecodeError:
        return None
