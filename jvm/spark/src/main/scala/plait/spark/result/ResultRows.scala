// SPDX-License-Identifier: Apache-2.0
package plait.spark.result

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.classic.DataFrame
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec
import org.apache.spark.sql.plait.{ArrowBatch, ArrowPartitions, ArrowShape}

/** The rows of a query as Arrow batches, in the query's order, handed out while they are made.
  *
  * Rows that are in the driver already (of a command, of a small table) and those of a `LIMIT` up to
  * [[ResultRows.SmallLimit]], for which Spark looks at as few partitions as it can, come from there; all
  * others from [[PartitionJobs]], so that such a result is never in the driver as a whole.
  */
final class ResultRows(df: DataFrame, shape: ArrowShape) {
  private val query = df.queryExecution

  def foreach(write: ArrowBatch => Unit): Unit = query.executedPlan match {
    case local: LocalTableScanExec => inDriver(local.rows, write)
    case command: CommandResultExec => inDriver(command.rows, write)
    case plan if isSmallLimit(plan) =>
      shape.batches(executed(plan.executeCollect().iterator)).foreach(write)
    case plan => executed(inJobs(plan, write))
  }

  /** As unsafe rows, which know how large they are. */
  private def inDriver(rows: Seq[InternalRow], write: ArrowBatch => Unit): Unit = {
    val unsafe = UnsafeProjection.create(df.schema)
    shape.batches(rows.iterator.map(unsafe(_))).foreach(write)
  }

  private def inJobs(plan: SparkPlan, write: ArrowBatch => Unit): Unit = {
    val partitions = new ArrowPartitions(plan.execute(), shape)
    val jobs = new PartitionJobs(partitions)
    try {
      jobs.foreach(write)
      partitions.dropAll()
    } catch {
      case error: Throwable =>
        jobs.cancel()
        partitions.dropAll()
        // A task that was ending when its job was cancelled may have left a block since.
        Progress.later(ResultRows.LastLook)(partitions.dropAll())
        throw error
    }
  }

  private def executed[A](run: => A): A =
    SQLExecution.withNewExecutionId(query, Some("plait"))(run)

  private def isSmallLimit(plan: SparkPlan): Boolean = plan match {
    case adaptive: AdaptiveSparkPlanExec => isSmallLimit(adaptive.inputPlan)
    case limit: CollectLimitExec => limit.offset >= 0 && isSmall(limit.limit)
    case limit: TakeOrderedAndProjectExec => isSmall(limit.limit)
    case _ => false
  }

  private def isSmall(limit: Int): Boolean = limit >= 0 && limit <= ResultRows.SmallLimit
}

object ResultRows {

  /** So many rows are brought to the driver at once. */
  val SmallLimit = 1000

  /** Milliseconds after which no task of a cancelled job runs any more. */
  private val LastLook = 10000L
}
