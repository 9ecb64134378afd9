# SPDX-License-Identifier: Apache-2.0
"""Plait: interval and other ordered joins for Spark SQL, as a pruning symmetric hash join.

Importing this package imports neither pyspark nor anything else that is not in Python itself.
"""

from typing import TYPE_CHECKING

from plait import accessor
from plait.bounds import bounds, trace
from plait.errors import PlaitError, PlaitNotLoaded

# Bound now and not in __getattr__: `plait.session` is a function and a module, and of the two the
# one that is bound last has the name. Both modules import pyspark only when called.
from plait.explain import JoinCounters, Sample, counters, explain
from plait.explanation import ExplainedSide, Explanation
from plait.files import RowGroup, prune_files
from plait.interval import Bounds, Interval, Narrowed, Trace
from plait.join import asof_join, interval_join, range_join, temporal_join, window_join
from plait.session import jar_path, register, session
from plait.stream import StreamReport, StreamSide, state, stream_report

__all__ = [
    "Bounds",
    "ExplainedSide",
    "Explanation",
    "Interval",
    "JoinCounters",
    "Narrowed",
    "PlaitError",
    "PlaitNotLoaded",
    "RowGroup",
    "Sample",
    "StreamReport",
    "StreamSide",
    "Trace",
    "__version__",
    "asof_join",
    "bounds",
    "counters",
    "explain",
    "interval_join",
    "jar_path",
    "prune_files",
    "range_join",
    "register",
    "session",
    "state",
    "stream_report",
    "temporal_join",
    "trace",
    "window_join",
]

accessor.install()


__version__: str

if not TYPE_CHECKING:  # a type checker would take any name for defined

    def __getattr__(name: str) -> str:
        """Look the version up when it is asked for: reading metadata is slow."""
        if name == "__version__":
            from plait.extras import version

            return version()
        raise AttributeError(f"module 'plait' has no attribute {name!r}")
