# SPDX-License-Identifier: Apache-2.0
"""A Spark of this process: statements without a server, and without its guard.

    worker thread   spark.sql, then batches  --(two at most)-->  the thread that asks

The thread that asks waits where Ctrl-C can reach it, and can cancel what the other one runs. Of a
result a partition at a time is held.
"""

from __future__ import annotations

import logging
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any

import plait
from plait import _jvm
from plait.errors import PlaitError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

# Seconds between two looks whether the other thread still wants anything.
TICK = 0.1

_END = object()

# What Spark says of CREATE STREAMING TABLE, in words of a pipeline that is not there.
PIPELINE = "UNSUPPORTED_FEATURE.CREATE_PIPELINE_DATASET_QUERY_EXECUTION"


class StatementFailed(PlaitError):
    """Spark refuses a statement; ``position`` is its place in the text, as in ``RemoteError``."""

    def __init__(self, message: str, position: Mapping[str, int | str] | None) -> None:
        """Keep what Spark told."""
        super().__init__(message)
        self.position = position


class LocalResult:
    """A statement that runs, and its rows."""

    def __init__(self, spark: SparkSession, text: str, parameters: Mapping[str, object]) -> None:
        """Begin it."""
        self._spark = spark
        self._tag = f"plait-{uuid.uuid4()}"
        self._items: Queue[Any] = Queue(2)
        self._cancelled = threading.Event()
        self._schema: pa.Schema | None = None
        threading.Thread(target=self._work, args=(text, dict(parameters)), daemon=True).start()

    @property
    def schema(self) -> pa.Schema:
        """The columns; waits until Spark knows them."""
        if self._schema is None:
            self._schema = self._next()
        return self._schema

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows, as they come."""
        _ = self.schema
        while (batch := self._next()) is not _END:
            yield batch

    def cancel(self) -> None:
        """End the statement and its jobs."""
        self._cancelled.set()
        self._spark.sparkContext.cancelJobsWithTag(self._tag)

    def _next(self) -> Any:
        # Invariant: the worker puts an error or the end last, unless it is cancelled.
        while not self._cancelled.is_set():
            with suppress(Empty):
                item = self._items.get(timeout=TICK)
                _clear_line()
                if isinstance(item, Exception):
                    raise item
                return item
        raise PlaitError("The statement was cancelled.")

    def _work(self, text: str, parameters: dict[str, object]) -> None:
        try:
            self._spark.sparkContext.addJobTag(self._tag)
            df = self._spark.sql(text, args=parameters)
            schema, batches = _jvm.arrow(df)
            self._put(schema)
            for batch in batches:
                self._put(batch)
            self._put(_END)
        except _Cancelled:
            pass
        except Exception as error:
            with suppress(_Cancelled):
                self._put(self._told(error, text))

    def _told(self, error: Exception, text: str) -> Exception:
        """Give what is put in any case, for who reads waits for it."""
        try:
            return failure(self._spark, error, text)
        except Exception:
            return error

    def _put(self, item: Any) -> None:
        while not self._cancelled.is_set():
            with suppress(Full):
                self._items.put(item, timeout=TICK)
                return
        raise _Cancelled


class Local:
    """A Spark session with Plait."""

    name = "local"

    def __init__(self, settings: Mapping[str, str], spark: SparkSession | None = None) -> None:
        """Start Spark, or take ``spark``, which stays the caller's to stop."""
        # Errors are told by the command, in its own words, and not by a log too.
        logging.getLogger("SQLQueryContextLogger").disabled = True
        self._owns = spark is None
        self._spark = spark or _start(settings)

    def run(self, text: str, parameters: Mapping[str, object]) -> LocalResult:
        """Begin a statement."""
        return LocalResult(self._spark, text, parameters)

    def explain(self, text: str) -> str:
        """Tell how Plait plans a statement, which is not run."""
        try:
            return str(plait.explain(self._spark.sql(text)))
        except PlaitError:
            raise
        except Exception as error:
            raise failure(self._spark, error, text) from None

    def close(self) -> None:
        """Stop Spark."""
        if self._owns:
            self._spark.stop()


def failure(spark: SparkSession, error: Exception, statement: str) -> Exception:
    """Make an error of Plait's of one of Spark's; others stay what they are."""
    told = _jvm.failure(spark, error, statement)
    if told is None:
        is_sparks = type(error).__module__.startswith("pyspark.")
        return StatementFailed(str(error), None) if is_sparks else error
    if told.get("condition") == PIPELINE:
        return StatementFailed(
            "A continuous table is kept by a server, and not by a Spark of this command's own, "
            "which ends with it: say --server HOST:PORT.",
            None,
        )
    return StatementFailed(told["message"], told.get("position"))


def _start(settings: Mapping[str, str]) -> SparkSession:
    quiet = {
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
    }
    return plait.session(**quiet | dict(settings))


def _clear_line() -> None:
    """Take Spark's progress bar away: rows may go to the same terminal."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


class _Cancelled(Exception):
    """Nobody asks for the rows any more."""
