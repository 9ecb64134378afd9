// SPDX-License-Identifier: Apache-2.0
// Examples: what the extension does in a session, by its settings and in its plans.
package plait.spark

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.functions.udf

import plait.spark.exec.SymmetricHashJoinExec

class ExtensionsSuite extends SparkSuite with AdaptiveSparkPlanHelper {
  private val query =
    """SELECT * FROM VALUES (1, 10), (1, 20), (2, 30) AS l(k, s)
      |JOIN VALUES (1, 9), (1, 21), (2, 29) AS r(k, s)
      |ON l.k = r.k AND l.s BETWEEN r.s AND r.s + 5""".stripMargin

  private def planned(df: DataFrame): Int =
    collect(df.queryExecution.executedPlan) { case j: SymmetricHashJoinExec => j }.size

  private def rows(df: DataFrame) = df.collect().map(_.toString).toSeq.sorted

  test("spark.plait.enabled=false leaves every join to Spark, and true takes it again") {
    withConf(PlaitConf.Enabled -> "false")(assertEquals(planned(spark.sql(query)), 0))
    assertEquals(planned(spark.sql(query)), 1)
  }

  test("a setting that is no such value is an error that lists what is") {
    val error = withConf(PlaitConf.Enabled -> "maybe") {
      intercept[IllegalArgumentException](spark.sql(query).queryExecution.executedPlan)
    }
    assert(error.getMessage.contains("must be one of true, false"), error.getMessage)
  }

  test("equal joins share their exchanges: the node has a canonical form") {
    val a = spark.sql(query)
    val b = spark.sql(query)
    assertEquals(
      a.queryExecution.executedPlan.canonicalized,
      b.queryExecution.executedPlan.canonicalized
    )
    spark.range(1000).selectExpr("id % 7 AS k", "id AS s").createOrReplaceTempView("numbers")
    val join = "SELECT l.k, count(*) AS c FROM numbers l JOIN numbers r ON l.k = r.k " +
      "AND l.s BETWEEN r.s AND r.s + 9 GROUP BY l.k"
    withConf(
      "spark.sql.adaptive.enabled" -> "false",
      "spark.sql.autoBroadcastJoinThreshold" -> "-1"
    ) {
      val twice = spark.sql(s"SELECT * FROM ($join) x JOIN ($join) y ON x.k = y.k")
      val reused = collect(twice.queryExecution.executedPlan) { case r: ReusedExchangeExec => r }
      assert(reused.nonEmpty, twice.queryExecution.executedPlan.treeString)
      assertEquals(twice.count(), 7L)
    }
  }

  test("explain in every mode names order, reach and the conjunct that prunes") {
    for (mode <- Seq("simple", "extended", "cost", "formatted")) {
      val text =
        spark.sql(s"EXPLAIN ${if (mode == "simple") "" else mode} $query").head().getString(0)
      assert(text.contains("SymmetricHashJoin"), s"$mode: $text")
      assert(text.contains("pruned by"), s"$mode: $text")
    }
  }

  test("a user-defined function in the condition gives no bound, and the right rows") {
    spark.udf.register("half", udf((x: Int) => x / 2))
    val rows = spark.sql(
      """SELECT l.s, r.s FROM VALUES (1, 10), (1, 20) AS l(k, s) JOIN VALUES (1, 4), (1, 12) AS r(k, s)
        |ON l.k = r.k AND half(l.s) <= r.s AND l.s < r.s""".stripMargin
    )
    assertEquals(planned(rows), 1)
    assertEquals(this.rows(rows), Seq("[10,12]"))
  }
}
