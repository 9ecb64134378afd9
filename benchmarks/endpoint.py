# SPDX-License-Identifier: Apache-2.0
"""The endpoint: a result of 5M rows, and `SELECT 1`, beside Spark Connect.

Both serve the same Spark, in one JVM; their clients are Python processes of their own, which take
the result as one Arrow table. Nobody has TLS, for Spark Connect's server has none. `SELECT 1` is
also collected by classic PySpark, in the process that has the JVM: no client in between.

Claims:
  1. 5M rows of a number, a text and two doubles come in at most the time that Spark Connect takes;
  2. half of the calls of `SELECT 1` take at most 1.2 times of what half of `collect` take.

Who comes first changes with the round. All give the same rows.
"""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import spark as sparks
from benchmarks.caller import Caller
from benchmarks.options import Extent
from benchmarks.peer import Measured
from benchmarks.race import Laps, race
from benchmarks.result import Case, Result
from benchmarks.table import Claim

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from benchmarks.options import Options

TITLE = "Endpoint: results of a remote client"
WHOLE = "from the text to the Arrow table of its rows; of SELECT 1, 1,000 times the median call"
PLAIT, CONNECT, DIRECT = "Plait", "Spark Connect", "collect"

ONE = "SELECT 1"
CALLS = 300

PORT = "spark.connect.grpc.binding.port"


def rows_of(count: int) -> str:
    """Return the query of so many rows, of about 40 bytes each.

    >>> rows_of(10)
    "SELECT id, concat('row ', id) AS s, id / 7 AS a, sqrt(id) AS b FROM range(0, 10, 1, 8)"
    """
    return (
        "SELECT id, concat('row ', id) AS s, id / 7 AS a, sqrt(id) AS b "
        f"FROM range(0, {count}, 1, 8)"
    )


@dataclass
class ResultPeer:
    """A client that fetches a result; ``bytes`` is the size of its table."""

    name: str
    caller: Caller
    sql: str
    bytes: int = 0

    def run(self) -> Measured:
        """Fetch it once."""
        found = self.caller.ask(self.sql)
        self.bytes = found.bytes
        return Measured(found.seconds[0], (found.rows, found.ids))

    def first(self) -> float | None:
        """Nothing is asked of the first row."""
        return None


@dataclass
class CallPeer:
    """Many calls of `SELECT 1`, one after the other."""

    name: str
    call: Callable[[int], Sequence[float]]
    calls: int
    rounds: list[Sequence[float]] = field(default_factory=list)

    def run(self) -> Measured:
        """Call; what is measured is 1,000 times the median."""
        self.rounds.append(self.call(self.calls))
        return Measured(1000 * statistics.median(self.rounds[-1]))

    def first(self) -> float | None:
        """Nothing is asked of the first row."""
        return None

    @property
    def told(self) -> str:
        """The percentiles of all rounds after the warm-up, or of that if there is no other."""
        found = sorted(s for round_ in self.rounds[1:] or self.rounds for s in round_)
        p50, p99 = (found[int(part * (len(found) - 1))] * 1000 for part in (0.5, 0.99))
        return f"  {self.name:<14} p50 {p50:6.1f} ms   p99 {p99:6.1f} ms   {len(found):,} calls"


@contextmanager
def callers(spark: SparkSession) -> Iterator[dict[str, Caller]]:
    """Serve a session both ways, and give a client of each."""
    from plait.server.app import serve
    from plait.server.config import Config, Server
    from plait.server.engine import SparkEngine

    limits = Server(port=0)
    with ExitStack() as ends:
        served = serve(Config(limits), SparkEngine(spark, limits))
        ends.callback(served.stop)
        addresses = {
            PLAIT: ("plait", f"localhost:{served.port}"),
            CONNECT: ("connect", f"localhost:{connect_port(spark)}"),
        }
        yield {name: ends.enter_context(Caller(*told)) for name, told in addresses.items()}


def connect_port(spark: SparkSession) -> int:
    """Return where Spark Connect listens in the JVM of a session; it begins to if it did not."""
    jvm: Any = spark._jvm
    context: Any = spark._jsc.sc()
    if not context.conf().contains(PORT):
        with socket.socket() as free:
            free.bind(("localhost", 0))
            context.conf().set(PORT, str(free.getsockname()[1]))
        jvm.org.apache.spark.sql.connect.service.SparkConnectService.start(context)
    return int(context.conf().get(PORT))


def collecting(spark: SparkSession) -> Callable[[int], list[float]]:
    """Return what collects `SELECT 1` so many times, and tells the seconds of each."""

    def call(times: int) -> list[float]:
        seconds = []
        for _ in range(times):
            began = time.perf_counter()
            spark.sql(ONE).collect()
            seconds.append(time.perf_counter() - began)
        return seconds

    return call


def race_results(by: dict[str, Caller], rows: int, runs: int) -> tuple[Laps, list[str]]:
    """Race results of so many rows, and tell how fast they came."""
    peers = [ResultPeer(name, caller, rows_of(rows)) for name, caller in by.items()]
    laps = race(peers, runs)
    speeds = [
        f"  {peer.name:<14} {peer.bytes / laps[peer.name].median / 1e6:6.0f} MB/s of Arrow, "
        f"{peer.bytes / 1e6:,.0f} MB"
        for peer in peers
    ]
    return laps, speeds


def race_calls(
    spark: SparkSession, by: dict[str, Caller], calls: int, runs: int
) -> tuple[Laps, list[str]]:
    """Race calls of `SELECT 1`, and tell their percentiles."""

    def asking(caller: Caller) -> Callable[[int], Sequence[float]]:
        return lambda times: caller.ask(ONE, times).seconds

    peers = [CallPeer(DIRECT, collecting(spark), calls)]
    peers += [CallPeer(name, asking(caller), calls) for name, caller in by.items()]
    laps = race(peers, runs)
    return laps, [peer.told for peer in peers]


def run(spark: SparkSession, options: Options, folder: Path) -> None:
    """Run both, and keep the result."""
    del folder
    result = Result("endpoint", TITLE, sparks.jdk(spark), options, WHOLE)
    with callers(spark) as by:
        for rows in options.sizes(5_000_000):
            laps, speeds = race_results(by, rows, options.runs)
            title = f"a result of {rows:,} rows"
            result.add(Case(title, laps, speeds), Claim(title, PLAIT, CONNECT, 1.0))
        calls = CALLS if options.extent is Extent.WHOLE else CALLS // 15
        laps, percentiles = race_calls(spark, by, calls, options.runs)
        result.add(Case(ONE, laps, percentiles), Claim(ONE, PLAIT, DIRECT, 1.2))
    print("\n".join(result.judged))
