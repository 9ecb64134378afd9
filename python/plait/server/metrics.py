# SPDX-License-Identifier: Apache-2.0
"""Prometheus' view of the server, over HTTP at a port of its own; no statements and no callers.

| metric | is |
|---|---|
| plait_operations{state} | operations that the server knows, now |
| plait_running, plait_queued | operations with a place, and those that wait for one |
| plait_sessions, plait_kept_bytes | open sessions, and bytes of results in the server |
| plait_threads | threads that take results from Spark or start what was submitted |
| plait_streams | streams that run, those of continuous tables too |
| plait_sent_rows_total, plait_sent_bytes_total | of results, on their way to clients |
| plait_operations_ended_total{state} | operations by their end |
| plait_operation_failures_total{kind} | operations that did not finish, by the kind of failure |
| plait_call_failures_total{kind} | calls that ended with an error, by its kind |
| plait_operation_seconds | how long operations took, in the queue too: a histogram |
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from plait.errors import PlaitError
from plait.server.tally import SECONDS, Counts

if TYPE_CHECKING:
    from plait.server.engine import Engine
    from plait.server.registry import Registry

# How the names of threads begin that work for one operation, and end with it.
BUSY = ("plait-pump-", "plait-submit-")

GAUGES = {
    "running": "Operations that run.",
    "queued": "Operations that wait for a place.",
    "sessions": "Sessions that are open.",
    "kept_bytes": "Bytes of results that the server holds.",
}


class ServerMetrics(Collector):
    """Reads a registry, and asks an engine, whenever it is asked."""

    def __init__(self, registry: Registry[Any], engine: Engine) -> None:
        """Tell of ``registry``, and of the streams of ``engine``."""
        self._registry = registry
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        """Give the metrics, as they are now."""
        now = self._registry.counts()
        for name, sentence in GAUGES.items():
            yield GaugeMetricFamily(f"plait_{name}", sentence, value=now[name])
        streams = self._engine.running_streams()
        yield GaugeMetricFamily("plait_streams", "Streams that run.", value=streams)
        threads = sum(thread.name.startswith(BUSY) for thread in threading.enumerate())
        yield GaugeMetricFamily("plait_threads", "Threads that work for operations.", value=threads)
        states = {state.name: count for state, count in self._registry.states().items()}
        yield _labelled(
            GaugeMetricFamily("plait_operations", "Operations by state.", labels=["state"]), states
        )
        yield from _sums(self._registry.tally.counts())


def _sums(counts: Counts) -> Iterable[Metric]:
    yield CounterMetricFamily("plait_sent_rows", "Rows sent.", value=counts.rows)
    yield CounterMetricFamily("plait_sent_bytes", "Bytes of rows sent.", value=counts.bytes)
    ended = CounterMetricFamily("plait_operations_ended", "Operations ended.", labels=["state"])
    yield _labelled(ended, {state.name: count for state, count in counts.ended.items()})
    operations = CounterMetricFamily(
        "plait_operation_failures", "Operations that did not finish.", labels=["kind"]
    )
    yield _labelled(operations, counts.operations_failed)
    calls = CounterMetricFamily(
        "plait_call_failures", "Calls that ended with an error.", labels=["kind"]
    )
    yield _labelled(calls, counts.calls_failed)
    sums = accumulate(counts.seconds[end] for end in SECONDS)
    buckets = [
        ("+Inf" if end == float("inf") else str(end), float(below))
        for end, below in zip(SECONDS, sums, strict=True)
    ]
    yield HistogramMetricFamily(
        "plait_operation_seconds",
        "Seconds that operations took.",
        buckets=buckets,
        sum_value=counts.seconds_sum,
    )


def _labelled(
    family: GaugeMetricFamily | CounterMetricFamily, values: Mapping[str, int]
) -> GaugeMetricFamily | CounterMetricFamily:
    for label, value in values.items():
        family.add_metric([label.lower()], value)
    return family


class MetricsPort:
    """The port where the metrics can be read, open until `close`."""

    def __init__(self, registry: Registry[Any], engine: Engine, host: str, port: int) -> None:
        """Open it."""
        metrics = CollectorRegistry()
        metrics.register(ServerMetrics(registry, engine))
        try:
            self._server, self._thread = start_http_server(port, host, metrics)
        except OSError as error:
            raise PlaitError(
                f"The metrics cannot be served on {host}:{port}: {error.strerror}. Take another "
                "metrics_port; 0 turns them off."
            ) from None

    def close(self) -> None:
        """Close it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
