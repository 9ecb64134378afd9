# SPDX-License-Identifier: Apache-2.0
"""DataFusion's half, a program of its own: `python datafusion_half.py FOLDER`, one thread.

Reads a case a line and writes a line of JSON for each:

    SymmetricHashJoinExec 8 8192 128 5
    {"seconds": 0.051, "reading": 0.0023, "pairs": 2075, "left": 8491234, "right": 8479876}

A case is the join, keys, rows, batch size, runs. Seconds are the processor's of this process.
`reading` is what a query takes that reads both tables and joins nothing: each round runs both, and
`seconds` is the median of what the join took more. After a warm-up there are as many rounds as
asked for, and more where they are short: a difference of milliseconds is mostly noise. A warm-up
of more than SLOW seconds is the only run. The symmetric join is planned over unbounded tables with
a declared order, the other over bounded ones.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import pyarrow.compute as pc
from datafusion import SessionConfig, SessionContext

JOIN = """SELECT l.s AS left, r.s AS right
FROM l JOIN r ON l.k = r.k AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10"""
SCAN = "SELECT * FROM l UNION ALL SELECT * FROM r"
SLOW = 5.0
T = TypeVar("T")
# Seconds of warm joins that a median is taken of, and the most rounds for that.
ENOUGH, MOST = 1.0, 101
KINDS = {"SymmetricHashJoinExec": "UNBOUNDED", "HashJoinExec": ""}


def context(folder: str, join: str, keys: str, rows: str, batch: str) -> SessionContext:
    """Return a session with both tables, and see that the join is the one asked for."""
    config = SessionConfig().with_target_partitions(1).with_batch_size(int(batch))
    found = SessionContext(config)
    for table in ("l", "r"):
        found.sql(
            f"CREATE {KINDS[join]} EXTERNAL TABLE {table} (k BIGINT, s BIGINT) STORED AS CSV "
            f"WITH ORDER (s ASC) LOCATION '{folder}/{table}-{keys}-{rows}.csv' "
            "OPTIONS ('format.has_header' 'true')"
        ).collect()
    plan = found.sql(JOIN).execution_plan().display_indent()
    assert f" {join}:" in plan, plan
    return found


def joined(session: SessionContext) -> tuple[int, int, int]:
    """Return the pairs, the sums of both orders."""
    pairs = left = right = 0
    for batch in session.sql(JOIN).execute_stream():
        arrow = batch.to_pyarrow()
        pairs += arrow.num_rows
        left += pc.sum(arrow["left"]).as_py() or 0
        right += pc.sum(arrow["right"]).as_py() or 0
    return pairs, left, right


def read(session: SessionContext) -> None:
    """Read both tables."""
    for _ in session.sql(SCAN).execute_stream():
        pass


def timed(run: Callable[[SessionContext], T], session: SessionContext) -> tuple[float, T]:
    """Return the processor's seconds of one run, and what it returned."""
    start = time.process_time()
    found = run(session)
    return time.process_time() - start, found


def rounds(session: SessionContext, warm_up: float, runs: int) -> tuple[float, float]:
    """Return what the join takes, less reading, and what reading takes."""
    reading, _ = timed(read, session)
    times = [(warm_up - reading, reading)]
    if warm_up <= SLOW:
        times = []
        for _ in range(max(runs, min(MOST, int(ENOUGH / warm_up)))):
            reading, _ = timed(read, session)
            times.append((timed(joined, session)[0] - reading, reading))
    differences, readings = zip(*times, strict=True)
    return statistics.median(differences), statistics.median(readings)


def main(folder: str) -> None:
    """Answer the cases."""
    for line in sys.stdin:
        join, keys, rows, batch, runs = line.split()
        session = context(folder, join, keys, rows, batch)
        warm_up, (pairs, left, right) = timed(joined, session)
        seconds, reading = rounds(session, warm_up, int(runs))
        answer = {
            "seconds": seconds,
            "reading": reading,
            "pairs": pairs,
            "left": left,
            "right": right,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
