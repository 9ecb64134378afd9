# SPDX-License-Identifier: Apache-2.0
"""A client in a process of its own, as clients are: by Plait's endpoint, or by Spark Connect.

    with Caller("plait", "localhost:15110") as caller:
        caller.ask("SELECT 1", times=100).seconds          100 times, one after the other

The process stays, so that it is warm after its first questions. It is asked by lines of JSON. Told
are of the last call its rows, the bytes of its Arrow table, and the sum of its column `id`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.options import ROOT
from plait.client.closing import Closing

if TYPE_CHECKING:
    import pyarrow as pa

Fetch = Callable[[str], "pa.Table"]


@dataclass(frozen=True)
class Answer:
    """The seconds of each call, and what came."""

    seconds: list[float]
    rows: int
    bytes: int
    ids: int | None


class Caller(Closing):
    """The process, until it is closed."""

    def __init__(self, kind: str, address: str) -> None:
        """Start it; ``kind`` is plait or connect."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.caller", kind, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def ask(self, sql: str, times: int = 1) -> Answer:
        """Let it fetch a result so many times."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"sql": sql, "times": times}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a client ended with {self._process.wait()}")
        return Answer(**json.loads(line))

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=60)


def answered(fetch: Fetch, sql: str, times: int) -> Answer:
    """Fetch a result so many times, one after the other."""
    import pyarrow.compute as pc

    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        table = fetch(sql)
        seconds.append(time.perf_counter() - began)
    ids = pc.sum(table["id"]).as_py() if "id" in table.column_names else None
    return Answer(seconds, table.num_rows, table.nbytes, ids)


def _fetching(kind: str, address: str) -> Fetch:
    if kind == "plait":
        from plait.client import Client

        client = Client(address)
        return lambda sql: client.sql(sql).arrow()
    from pyspark.sql.connect.session import SparkSession

    session: Any = SparkSession.builder.remote(f"sc://{address}").getOrCreate()
    return lambda sql: session.sql(sql).toArrow()


def main(kind: str, address: str) -> None:
    """Answer until the input ends."""
    fetch = _fetching(kind, address)
    for line in sys.stdin:
        print(json.dumps(vars(answered(fetch, **json.loads(line)))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
