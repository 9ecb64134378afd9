// SPDX-License-Identifier: Apache-2.0
// Examples and an oracle: the sort that the join does itself, in memory and spilled.
package plait.spark

import org.apache.spark.SparkEnv
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side.JoinMetrics

class RankSortSuite extends SparkSuite with AdaptiveSparkPlanHelper {
  private val spillAfter = "spark.shuffle.spill.numElementsForceSpillThreshold"

  // Both sides come backwards; every 17th order and every 13th key is NULL.
  private def table(name: String, rows: Int): String =
    s"(SELECT id, IF(id % 13 = 0, NULL, id % 5) AS k, IF(id % 17 = 0, NULL, $rows - id) AS t, " +
      s"repeat('x', CAST(id % 40 AS INT)) AS payload FROM range($rows)) $name"

  private def query(joinType: String) =
    s"SELECT l.id, length(l.payload), r.id, length(r.payload) FROM ${table("l", 4000)} " +
      s"$joinType JOIN ${table("r", 3000)} ON l.k = r.k AND r.t BETWEEN l.t - 7 AND l.t + 3"

  private def rows(joinType: String): (Seq[String], Option[SymmetricHashJoinExec]) = {
    val df = spark.sql(query(joinType))
    val found = df.collect().map(_.toString).sorted.toSeq
    val join = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec => join }
    (found, join.headOption)
  }

  private def spilling[A](body: => A): A = {
    val conf = SparkEnv.get.conf
    conf.set(spillAfter, "100")
    try body
    finally { val _ = conf.remove(spillAfter) }
  }

  for (joinType <- Seq("INNER", "LEFT", "FULL"))
    test(s"$joinType: inputs that spill give the rows of Spark's join, and count their bytes") {
      withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1") {
        val (expected, _) = withConf(PlaitConf.Enabled -> "false")(rows(joinType))
        val (inMemory, calm) = rows(joinType)
        val (found, spilled) = spilling(rows(joinType))
        assert(expected.size > 3000)
        assertEquals(inMemory, expected)
        assertEquals(found, expected)
        assertEquals(calm.map(_.metrics(JoinMetrics.SpillSize).value), Some(0L))
        assert(spilled.exists(_.metrics(JoinMetrics.SpillSize).value > 0))
      }
    }
}
