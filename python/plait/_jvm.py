# SPDX-License-Identifier: Apache-2.0
"""The one place that reaches into Spark's JVM."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError, PlaitNotLoaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client, which has no JVM of its own."""
    return not hasattr(spark, "_jvm")


def is_same(one: SparkSession, other: SparkSession) -> bool:
    """Whether two objects of Python's are one session."""
    if is_connect(one) or is_connect(other):
        of_client = [getattr(session, "session_id", None) for session in (one, other)]
        return of_client[0] is not None and of_client[0] == of_client[1]
    return bool(one._jsparkSession.equals(other._jsparkSession))


def report(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitReport`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitReport", "pruning reports")


def require(spark: SparkSession) -> None:
    """Raise unless the session has Plait and has it turned on; of Spark Connect only the latter."""
    if not is_connect(spark):
        report(spark)
    if str(spark.conf.get("spark.plait.enabled", "true")).lower() == "false":
        raise PlaitError(
            "Plait is turned off by spark.plait.enabled=false, and Spark alone does not know this "
            "join: set it to true."
        )


def solver(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitBounds`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitBounds", "bounds")


def remote(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitRemote`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitRemote", "endpoints")


def session(spark: SparkSession) -> Any:
    """Return the JVM's session of a classic one."""
    return spark._jsparkSession


def forget(spark: SparkSession, held: Any) -> None:
    """Let the JVM forget an object that Python holds, which is of no use to it any more."""
    spark.sparkContext._gateway.detach(held)  # type: ignore[union-attr]


@contextmanager
def apart() -> Iterator[None]:
    """Start JVMs in a process group of their own, which the signals to this one's do not reach.

    Who ends a whole group, as a terminal or a supervisor does, lets Python stop Spark in order.
    """
    context: Any = import_module("pyspark.core.context")
    launch = context.launch_gateway
    group = {"process_group": 0} if hasattr(os, "setpgid") else {}

    def launched(conf: Any = None, popen_kwargs: dict[str, Any] | None = None) -> Any:
        return launch(conf, {**(popen_kwargs or {}), **group})

    context.launch_gateway = launched
    try:
        yield
    finally:
        context.launch_gateway = launch


def kill(spark: SparkSession) -> None:
    """End the JVM if this process has started it, whether it answers or not."""
    process = getattr(spark.sparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()


def _scala_object(spark: SparkSession, name: str, what: str) -> Any:
    if is_connect(spark):
        raise PlaitError(
            "This is a Spark Connect session, which has no JVM to ask: "
            f"{what} are for classic sessions only so far."
        )
    if (found := _class(spark._jvm, name)) is None:
        raise PlaitNotLoaded(
            "This Spark session runs without Plait's jar: start it in a new Python process with "
            "plait.session() or plait.register(builder), or with spark-submit --jars and the "
            "path that plait.jar_path() returns."
        )
    return found


def has_jar(jvm: Any) -> bool:
    """Whether Plait's jar is in this JVM."""
    return _class(jvm, "PlaitReport") is not None


def _class(jvm: Any, name: str) -> Any:
    from py4j.java_gateway import JavaClass
    from py4j.protocol import Py4JError

    try:
        found = getattr(jvm.plait.spark, name)
    except Py4JError:
        return None
    return found if isinstance(found, JavaClass) else None


def query_execution(df: DataFrame) -> Any:
    """Return the JVM's QueryExecution of a classic DataFrame."""
    return df._jdf.queryExecution()


def arrow(df: DataFrame) -> tuple[Any, Iterator[Any]]:
    """Return the Arrow schema of a classic DataFrame and its rows as record batches.

    Of the rows a partition at a time is held, by the JVM.
    """
    from pyspark.serializers import NoOpSerializer
    from pyspark.util import _local_iterator_from_socket

    from plait.arrow import batch_of, schema_of

    spark = df.sparkSession
    jvm: Any = spark._jvm
    zone = spark.conf.get("spark.sql.session.timeZone")
    shape = jvm.org.apache.spark.sql.plait.ArrowShape(df._jdf.schema(), zone, 1 << 20)
    schema = schema_of(bytes(shape.schemaMessage()))

    def batches() -> Iterator[Any]:
        rows = df._jdf.toArrowBatchRdd().toJavaRDD().rdd()
        served = jvm.PythonRDD.toLocalIteratorAndServe(rows, False)
        for message in _local_iterator_from_socket(served, NoOpSerializer()):
            yield batch_of(message, schema)

    return schema, batches()


def failure(spark: SparkSession, error: Exception, statement: str) -> dict[str, Any] | None:
    """Return what an error of the JVM's says, as the endpoint tells it; None if it is none.

    Its position is one in ``statement``.
    """
    thrown = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if thrown is None:
        return None
    package = spark._jvm.plait.spark.result  # type: ignore[union-attr]
    kept = getattr(getattr(package, "StackTrace$Kept$"), "MODULE$")
    told: dict[str, Any] = json.loads(str(package.Failure.json(thrown, kept, statement)))
    return told
