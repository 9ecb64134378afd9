# SPDX-License-Identifier: Apache-2.0
"""Whether a Spark Connect server runs Plait; the client has no JVM to look into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from plait import _jvm
from plait.errors import PlaitNotLoaded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Stock Spark does not read it: TOLERANCE is Plait's word.
PROBE = (
    "SELECT 1 FROM VALUES (1) AS l(t) ASOF JOIN VALUES (1) AS r(t) "
    "MATCH_CONDITION (l.t >= r.t TOLERANCE 1)"
)
_lacking: WeakKeyDictionary[SparkSession, bool] = WeakKeyDictionary()


@contextmanager
def telling(spark: SparkSession) -> Iterator[None]:
    """Raise ``PlaitNotLoaded`` for an error of Spark's if the session's server lacks Plait.

    The server is asked once a session, and only after an error.
    """
    try:
        yield
    except Exception as error:
        if not _jvm.is_connect(spark) or not _lacks_plait(spark):
            raise
        raise PlaitNotLoaded(
            "This Spark Connect server runs without Plait's jar: start it with --jars and the "
            "path that plait.jar_path() returns."
        ) from error


def _lacks_plait(spark: SparkSession) -> bool:
    if spark not in _lacking:
        from pyspark.errors import ParseException, PySparkException

        try:
            _ = spark.sql(PROBE).schema
            _lacking[spark] = False
        except ParseException as error:
            _lacking[spark] = error.getCondition() == "PARSE_SYNTAX_ERROR"
        except PySparkException:
            return False  # nothing is known, as of a server that is gone
    return _lacking[spark]
