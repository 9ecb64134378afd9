// SPDX-License-Identifier: Apache-2.0
// Oracle: joins whose rows do not fit in memory, against Spark's own join.
package plait.spark

import scala.collection.mutable
import scala.concurrent.duration.Duration

import munit.FunSuite
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.{Row, SparkSession}

import plait.spark.exec.SymmetricHashJoinExec
import plait.spark.side.JoinMetrics

/** Memory is settled when the context starts, so each case has a context of its own. */
class SpillSuite extends FunSuite with AdaptiveSparkPlanHelper {
  override val munitTimeout: Duration = Duration(5, "min")

  // Some 2 MB a side, all of it within reach, where a task has 1.8 MB.
  private def table(name: String): String =
    "(SELECT id, IF(id % 13 = 0, NULL, id % 1000) AS k, IF(id % 17 = 0, NULL, id * 7 % 10000) AS t, " +
      s"repeat('x', CAST(id % 400 AS INT)) AS payload FROM range(10000)) $name"

  private def query(joinType: String, condition: String): String = {
    val right = if (joinType.endsWith("SEMI") || joinType.endsWith("ANTI")) "l.id" else "r.payload"
    s"SELECT /*+ SYMMETRIC_HASH(l, r) */ count(*), sum(hash(l.id, l.payload, $right)) " +
      s"FROM ${table("l")} $joinType JOIN ${table("r")} ON l.k = r.k $condition"
  }

  private def inLittleMemory[A](offHeap: Boolean)(body: SparkSession => A): A = {
    SparkSession.getDefaultSession.foreach(_.stop())
    val session = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "1")
      .config("spark.sql.autoBroadcastJoinThreshold", "-1")
      .config("spark.buffer.pageSize", "64k")
      .config("spark.testing.memory", "3000000")
      .config("spark.testing.reservedMemory", "0")
      .config("spark.memory.offHeap.enabled", offHeap.toString)
      .config("spark.memory.offHeap.size", "1800000")
      .config(PlaitConf.PlanningOnError, "fail")
      .getOrCreate()
    try body(session)
    finally session.stop()
  }

  private def run(session: SparkSession, query: String): (Seq[Row], Option[Long]) = {
    val df = session.sql(query)
    val rows = df.collect().toSeq
    val join = collect(df.queryExecution.executedPlan) { case join: SymmetricHashJoinExec => join }
    (rows, join.headOption.map(_.metrics(JoinMetrics.SpillSize).value))
  }

  // A row of every third key has no partner.
  private val expected = mutable.Map.empty[String, Seq[Row]]

  private def ofSpark(session: SparkSession, query: String): Seq[Row] = {
    session.conf.set(PlaitConf.Enabled, "false")
    try run(session, query)._1
    finally session.conf.set(PlaitConf.Enabled, "true")
  }

  private val never = "AND r.t BETWEEN l.t - 9000 AND l.t + 9000 AND l.k % 3 <> 0"

  private val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI")

  for (mode <- Seq("on heap" -> false, "off heap" -> true))
    test(
      s"rows held that do not fit go to disk, and each type gives the rows of Spark's (${mode._1})"
    ) {
      inLittleMemory(mode._2) { session =>
        val cases = types.map(query(_, never)) :+ query("INNER", "")
        for (sql <- cases) {
          val (rows, spilled) = run(session, sql)
          assertEquals(rows, expected.getOrElseUpdate(sql, ofSpark(session, sql)), sql)
          assert(spilled.exists(_ > 100000), s"$spilled bytes spilled: $sql")
        }
      }
    }
}
