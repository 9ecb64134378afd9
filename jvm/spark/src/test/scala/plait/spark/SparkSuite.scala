// SPDX-License-Identifier: Apache-2.0
package plait.spark

import scala.concurrent.duration.Duration

import munit.FunSuite
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType

/** One local session for all suites of a run, with Plait registered by its service file, and failing
  * where planning fails.
  */
abstract class SparkSuite extends FunSuite {
  // A first Spark session takes its time on a busy machine.
  override val munitTimeout: Duration = Duration(5, "min")

  lazy val spark: SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "3")
    .config("spark.sql.autoBroadcastJoinThreshold", "-1")
    .config("spark.sql.warehouse.dir", System.getProperty("java.io.tmpdir") + "/plait-warehouse")
    .config(PlaitConf.PlanningOnError, "fail")
    .getOrCreate()

  /** Runs `body` under settings and puts the old ones back. */
  def withConf[A](settings: (String, String)*)(body: => A): A = {
    val before = settings.map { case (key, _) => key -> spark.conf.getOption(key) }
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    try body
    finally
      before.foreach {
        case (key, Some(value)) => spark.conf.set(key, value)
        case (key, None) => spark.conf.unset(key)
      }
  }
}

object Rows {

  /** A maker of unsafe rows, each of its own bytes. */
  def of(types: DataType*): Seq[Any] => UnsafeRow = {
    val projection = UnsafeProjection.create(types.toArray)
    values => projection(InternalRow.fromSeq(values)).copy()
  }
}
