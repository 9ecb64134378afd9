# SPDX-License-Identifier: Apache-2.0
"""The one place that reaches into Spark's JVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plait.errors import PlaitError, PlaitNotLoaded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client, which has no JVM of its own."""
    return not hasattr(spark, "_jvm")


def report(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitReport`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitReport", "pruning reports")


def solver(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitBounds`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitBounds", "bounds")


def remote(spark: SparkSession) -> Any:
    """Return the Scala object ``PlaitRemote`` of a session that carries Plait's jar."""
    return _scala_object(spark, "PlaitRemote", "endpoints")


def session(spark: SparkSession) -> Any:
    """Return the JVM's session of a classic one."""
    return spark._jsparkSession


def _scala_object(spark: SparkSession, name: str, what: str) -> Any:
    if is_connect(spark):
        raise PlaitError(
            "This is a Spark Connect session, which has no JVM to ask: "
            f"{what} are for classic sessions only so far."
        )
    from py4j.java_gateway import JavaClass
    from py4j.protocol import Py4JError

    try:
        found = getattr(spark._jvm.plait.spark, name)  # type: ignore[union-attr]
    except Py4JError:
        found = None
    if not isinstance(found, JavaClass):
        raise PlaitNotLoaded(
            "This Spark session runs without Plait's jar: start it in a new Python process with "
            "plait.session() or plait.register(builder), or with spark-submit --jars and the "
            "path that plait.jar_path() returns."
        )
    return found


def query_execution(df: DataFrame) -> Any:
    """Return the JVM's QueryExecution of a classic DataFrame."""
    return df._jdf.queryExecution()
