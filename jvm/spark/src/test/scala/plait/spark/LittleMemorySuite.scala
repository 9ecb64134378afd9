// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.concurrent.duration.Duration

import munit.FunSuite
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.{Row, SparkSession}

/** Memory is settled when the context starts, so each case has a context of its own. */
abstract class LittleMemorySuite extends FunSuite with AdaptiveSparkPlanHelper {
  override val munitTimeout: Duration = Duration(5, "min")

  /** With 3 MB in all, of which a task has 1.8, if the settings do not say another `spark.testing.memory`. */
  def inLittleMemory[A](settings: (String, String)*)(body: SparkSession => A): A = {
    SparkSession.getDefaultSession.foreach(_.stop())
    val builder = SparkSession
      .builder()
      .master("local[1]")
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "1")
      .config("spark.sql.autoBroadcastJoinThreshold", "-1")
      .config("spark.buffer.pageSize", "64k")
      .config("spark.testing.memory", "3000000")
      .config("spark.testing.reservedMemory", "0")
      .config(PlaitConf.PlanningOnError, "fail")
    val session =
      settings.foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
    try body(session)
    finally session.stop()
  }

  /** What Spark's own joins give, in enough memory for them. */
  def ofSparkAlone(queries: Seq[String]): Seq[(String, Seq[Row])] =
    inLittleMemory("spark.testing.memory" -> "600000000", PlaitConf.Enabled -> "false") { session =>
      queries.map(sql => sql -> session.sql(sql).collect().toSeq)
    }
}
