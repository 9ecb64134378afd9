// SPDX-License-Identifier: Apache-2.0
// Examples: joins of tables of which the planning fails. The oracle is Spark's own join.
package plait.spark.planner

import org.apache.spark.sql.classic

import plait.spark.{PlaitConf, PlaitReport, SparkSuite}

class BatchPlanningSuite extends SparkSuite {
  private def register(): Unit = spark match {
    case open: classic.SparkSession =>
      open.sessionState.functionRegistry.createOrReplaceTempFunction(
        "broken_at_most",
        sides => BrokenAtMost(sides.head, sides.last),
        "scala_udf"
      )
    case other => fail(s"$other")
  }

  private def table(name: String) = s"(SELECT id, id % 3 AS k FROM range(40)) $name"

  for (
    (what, on) <- Seq(
      "by key" -> "l.k = r.k AND l.id < r.id AND broken_at_most(l.id, r.id)",
      "without a key" -> "l.id < r.id AND broken_at_most(l.id, r.id)"
    );
    join <- Seq("", "LEFT", "LEFT SEMI")
  ) {
    val query = s"SELECT l.* FROM ${table("l")} $join JOIN ${table("r")} ON $on"
    test(s"a $join JOIN $what whose planning fails is Spark's, and says why") {
      register()
      withConf(PlaitConf.PlanningOnError -> "spark", PlaitConf.JoinStrategy -> "always") {
        val df = spark.sql(query)
        val rows = df.collect().toSeq.map(_.toString).sorted
        val said = PlaitReport.explain(df.queryExecution).toString
        assert(said.contains("no such value"), said)
        assert(said.endsWith("[PLANNING_FAILED]"), said)
        withConf(PlaitConf.Enabled -> "false") {
          assertEquals(rows, spark.sql(query).collect().toSeq.map(_.toString).sorted)
        }
      }
    }

    test(s"with spark.plait.planning.on-error=fail the error of a $join JOIN $what is raised") {
      register()
      val error = withConf(PlaitConf.JoinStrategy -> "always") {
        intercept[Exception](spark.sql(query).collect())
      }
      assert(error.getMessage.contains("no such value"), error.getMessage)
    }
  }
}
