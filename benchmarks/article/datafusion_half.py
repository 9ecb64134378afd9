# SPDX-License-Identifier: Apache-2.0
"""DataFusion's half, a program of its own: `python datafusion_half.py FOLDER`, one thread.

Reads a case a line and writes a line of JSON for each:

    SymmetricHashJoinExec 8 8192 128 5
    {"seconds": 0.051, "pairs": 2075, "left": 8491234, "right": 8479876}

A case is the join (or scan), keys, rows, batch size, runs. Seconds are the processor's of this
process, median of the runs after a warm-up; a warm-up of more than SLOW seconds is the only run.
`scan` reads both tables and joins nothing. The symmetric join is planned over unbounded tables with
a declared order, the other over bounded ones.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import pyarrow.compute as pc
from datafusion import SessionConfig, SessionContext

JOIN = """SELECT l.s AS left, r.s AS right
FROM l JOIN r ON l.k = r.k AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10"""
SCAN = "scan"
SLOW = 5.0
KINDS = {"SymmetricHashJoinExec": "UNBOUNDED", "HashJoinExec": "", SCAN: "UNBOUNDED"}


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
    assert join == SCAN or f" {join}:" in plan, plan
    return found


def run(session: SessionContext, join: str) -> tuple[int, int, int]:
    """Return the pairs, the sums of both orders."""
    if join == SCAN:
        for table in ("l", "r"):
            for _ in session.sql(f"SELECT * FROM {table}").execute_stream():
                pass
        return 0, 0, 0
    pairs = left = right = 0
    for batch in session.sql(JOIN).execute_stream():
        arrow = batch.to_pyarrow()
        pairs += arrow.num_rows
        left += pc.sum(arrow["left"]).as_py() or 0
        right += pc.sum(arrow["right"]).as_py() or 0
    return pairs, left, right


def timed(session: SessionContext, join: str) -> tuple[float, tuple[int, int, int]]:
    """Return the processor's seconds of one run, and what it returned."""
    start = time.process_time()
    found = run(session, join)
    return time.process_time() - start, found


def main(folder: str) -> None:
    """Answer the cases."""
    for line in sys.stdin:
        join, keys, rows, batch, runs = line.split()
        session = context(folder, join, keys, rows, batch)
        warm_up, (pairs, left, right) = timed(session, join)
        again = 0 if warm_up > SLOW else int(runs)
        times = [timed(session, join)[0] for _ in range(again)] or [warm_up]
        answer = {
            "seconds": statistics.median(times),
            "pairs": pairs,
            "left": left,
            "right": right,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
