# SPDX-License-Identifier: Apache-2.0
"""Reads and runs `*.test`: SQL and the rows it gives, in the format of sqllogictest.

A file is a list of records with empty lines between them; lines that begin with `#` are comments.

    statement ok
    CREATE TEMP VIEW l AS SELECT * FROM VALUES (1, 'a'), (2, NULL) AS l(id, k)

    planned SymmetricHashJoin
    query IT rowsort
    SELECT id, k FROM l
    ----
    1	a
    2	NULL

1. `statement ok`: the SQL up to the empty line runs.
2. `query <types> [rowsort]`: the SQL up to `----` gives the rows up to the empty line, a tab
   between values; with `rowsort` in any sequence, else in this one. A letter for each column: `I`
   for an integer of any width, `T` for everything else.
3. A value is what `CAST(value AS STRING)` gives in the session of the file; `NULL`, and `(empty)`
   for the empty text.
4. `planned SymmetricHashJoin` before a query: where sides are dealt by key, its plan has this node;
   `planned CollectedJoin`: where a side is broadcast, it has this one. `left to Spark`: with Plait
   on, it has neither. Without any of the three, nothing is said.
5. `planned AsOfJoin` before a query: its plan has this node. `with Plait` before any record: its
   SQL is not stock Spark's. Neither runs without Plait.
6. `statement error`: the SQL up to `----` ends with an error in which the regular expression up to
   the empty line is found. Plait refuses before it plans, so what it says is asked for once.
7. By Spark's shuffled hash join those queries run that join `r` by an equality, as `HASHED` finds
   them: a hint asks for it, and their plan must have it.
8. The records of a file run in sequence in a session of their own, so SET ends with the file. The
   file runs once for each of `STRATEGIES`, and the rows must be the same; one that joins nothing,
   for the first of Plait's and without.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NODES = ("SymmetricHashJoin", "CollectedJoin")
OWN = "AsOfJoin"
INTEGERS = ("tinyint", "smallint", "int", "bigint")
WITHOUT_PLAIT = {"spark.plait.enabled": "false"}
BROADCASTING = {"spark.sql.autoBroadcastJoinThreshold": "10MB"}
SORTING = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.join.preferSortMergeJoin": "true",
}
# Adaptive execution takes a job a shuffle, and would put five small partitions together to one.
ONE = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
FIVE = {"spark.sql.shuffle.partitions": "5", "spark.sql.adaptive.enabled": "false"}
# What the code that Spark generates must give, its interpreter must give too, and sooner.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

# Both ways in which a task joins what it would sort first.
BY_BUCKET = {"spark.plait.join.radix": "always"}

# However few rows of the small side share a key.
INDEXED = {"spark.plait.join.index": "always"}

STRATEGIES: Mapping[str, Mapping[str, str]] = {
    "plait, 1 partition": ONE | INTERPRETED,
    "plait, 5 partitions": FIVE | BY_BUCKET,
    "plait, broadcast": FIVE | BROADCASTING | INDEXED | INTERPRETED,
    "spark as it is, which broadcasts": WITHOUT_PLAIT | ONE | BROADCASTING | INTERPRETED,
    "spark's merge join": WITHOUT_PLAIT | SORTING | FIVE | INTERPRETED,
    "spark's hash join": WITHOUT_PLAIT | SORTING | FIVE | INTERPRETED,
}
FIRST = next(iter(STRATEGIES))

# It hashes no key of which two that are equal may differ in their bytes.
HASHED = re.compile(r"SELECT( [^(]* JOIN r ON .* (?:=|<=>) (?!.*COLLATE).*)", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A statement that runs, or ends with an error that is like this."""

    line: int
    sql: str
    error: str | None = None
    plait_only: bool = False


@dataclass(frozen=True)
class Query:
    """A query with its rows, and the node that it is planned with.

    ``planned`` is empty if Plait leaves it to Spark, and None if nothing is said.
    """

    line: int
    sql: str
    types: str
    sorted: bool
    planned: str | None
    rows: tuple[tuple[str, ...], ...]
    plait_only: bool = False


def parse(text: str) -> list[Statement | Query]:
    r"""Return the records of a file.

    >>> parse("statement ok\nSET a = b\n\n# one row\nleft to Spark\nquery I\nSELECT 1\n----\n1\n")
    ... # doctest: +NORMALIZE_WHITESPACE
    [Statement(line=1, sql='SET a = b', error=None, plait_only=False),
     Query(line=6, sql='SELECT 1', types='I', sorted=False, planned='', rows=(('1',),),
           plait_only=False)]
    """
    lines = [(n, s) for n, s in enumerate(text.splitlines(), 1) if not s.startswith("#")]
    records: list[Statement | Query] = []
    planned: str | None = None
    plait_only = False
    unread = iter(lines)
    for number, line in unread:
        query = re.fullmatch(r"query ([IT]+)( rowsort)?", line)
        if line == "left to Spark" or line.removeprefix("planned ") in (*NODES, OWN):
            planned = line.removeprefix("planned ") if line.startswith("planned") else ""
            plait_only |= planned == OWN
        elif line == "with Plait":
            plait_only = True
        elif query:
            sql = "\n".join(takewhile(lambda s: s != "----", _block(unread)))
            rows = tuple(tuple(row.split("\t")) for row in _block(unread))
            is_sorted = query[2] is not None
            records.append(Query(number, sql, query[1], is_sorted, planned, rows, plait_only))
            planned, plait_only = None, False
        elif line == "statement ok":
            sql = "\n".join(_block(unread))
            records.append(Statement(number, sql, plait_only=plait_only))
            plait_only = False
        elif line == "statement error":
            sql = "\n".join(takewhile(lambda s: s != "----", _block(unread)))
            error = " ".join(_block(unread))
            records.append(Statement(number, sql, error, plait_only))
            plait_only = False
        elif line:
            raise ValueError(f"line {number}: {line!r} is neither statement, query nor directive")
    return records


def _block(unread: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Give the lines up to an empty one."""
    return takewhile(bool, (line for _, line in unread))


def run(session: SparkSession, records: list[Statement | Query], strategy: str) -> None:
    """Run the records of a file in a session that is theirs alone."""
    for key, value in STRATEGIES[strategy].items():
        session.conf.set(key, value)
    for record in records:
        if not _has(strategy, record):
            continue
        if isinstance(record, Statement):
            _execute(session, record, strategy)
        elif not strategy.endswith("hash join"):
            _check(session.sql(record.sql), record, strategy)
        elif hashed := HASHED.fullmatch(record.sql):
            sql = f"SELECT /*+ SHUFFLE_HASH(r) */{hashed[1]}"
            _check(session.sql(sql), record, strategy)


def runs(records: list[Statement | Query], strategy: str) -> bool:
    """Say whether a strategy has anything to show."""
    queries = [r for r in records if isinstance(r, Query)]
    joins = any(re.search(r"\bJOIN\b", r.sql) for r in records)
    if queries and not joins and strategy.startswith("plait"):
        return strategy == FIRST
    if strategy.endswith("hash join"):
        return any(HASHED.fullmatch(r.sql) for r in queries)
    return any(_has(strategy, r) for r in records if isinstance(r, Query) or r.error)


def _has(strategy: str, record: Statement | Query) -> bool:
    if record.plait_only and isinstance(record, Statement) and record.error:
        return strategy == FIRST
    return strategy.startswith("plait") or not record.plait_only


def _execute(session: SparkSession, statement: Statement, strategy: str) -> None:
    where = f"line {statement.line}, {strategy}: {statement.sql}"
    try:
        session.sql(statement.sql).collect()
    except Exception as error:  # of Spark's many kinds
        found = " ".join(str(error).split())
        assert statement.error is not None, f"{where}: {found}"
        assert re.search(statement.error, found), f"{where}: {found}"
    else:
        assert statement.error is None, f"{where}: no error"


def _check(df: DataFrame, query: Query, strategy: str) -> None:
    where = f"line {query.line}, {strategy}: {query.sql}"
    types = "".join("I" if dtype in INTEGERS else "T" for _, dtype in df.dtypes)
    assert types == query.types, where
    names = [f"c{position}" for position in range(len(types))]
    texts = df.toDF(*names).selectExpr(*(f"CAST({name} AS STRING)" for name in names))
    rows = [tuple(_text(value) for value in row) for row in texts.collect()]
    if query.sorted:
        assert sorted(rows) == sorted(query.rows), where
    else:
        assert rows == list(query.rows), where
    if query.planned is None:
        return
    plan = texts._jdf.queryExecution().executedPlan().toString()
    expected = NODES[1] if strategy.endswith("broadcast") else NODES[0]
    if query.planned == OWN:
        assert OWN in plan, where
    elif not strategy.startswith("plait"):
        assert not any(node in plan for node in NODES), where
        merges = query.planned == NODES[0] and "merge" in strategy
        assert ("SortMergeJoin" in plan) >= merges, where
        assert ("ShuffledHashJoin" in plan) >= strategy.endswith("hash join"), where
    elif query.planned == "":
        assert not any(node in plan for node in NODES), where
    elif query.planned == expected:
        assert expected in plan, where


def _text(value: str | None) -> str:
    return "NULL" if value is None else value or "(empty)"
