# SPDX-License-Identifier: Apache-2.0
"""Examples: the ways in which Spark finds the extension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.python.queries import NODES

import plait

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOIN = "SELECT * FROM range(9) l JOIN range(9) r ON l.id % 2 = r.id % 2 AND l.id < r.id"


def test_the_jar_on_the_class_path_is_enough(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.sql.extensions", None) is None
    assert str(plait.jar_path()) in (conf.get("spark.jars") or "")
    assert NODES[0] in str(plait.explain(spark.sql(JOIN)))


def test_another_session_of_the_same_context_has_it_too(spark: SparkSession) -> None:
    assert NODES[0] in str(plait.explain(spark.newSession().sql(JOIN)))
