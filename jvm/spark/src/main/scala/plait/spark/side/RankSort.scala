// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.concurrent.TimeUnit

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeProjection}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.TaskMemory
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}
import org.apache.spark.{SparkEnv, TaskContext}

/** The rows of one side of a task by their rank, ascending: Spark's external sorter with the rank as
  * its key, so that a side of any type is sorted by radix and never row against row.
  *
  * {{{
  * rows  (k 1, s 7) (k 2, s 5) (k 1, s NULL)      ranks  7 5 -
  * gives (k 1, s NULL) (k 2, s 5) (k 1, s 7)
  * }}}
  *
  * Conventions:
  *   1. The input is read when the first row is asked for, not before.
  *   2. Rows without a rank stand first. Rows of one rank stand in any sequence.
  *   3. A row is valid until the next one is asked for. The sorter spills when memory is short, and
  *      gives it back with the last row, by [[release]], or with the end of the task.
  */
final class RankSort(rank: Expression, output: Seq[Attribute], metrics: Map[String, SQLMetric]) {

  def sorted(rows: Iterator[InternalRow]): Iterator[InternalRow] = new Iterator[InternalRow] {
    private lazy val inOrder = sort(rows)
    override def hasNext: Boolean = inOrder.hasNext
    override def next(): InternalRow = inOrder.next()
  }

  private var held: Option[UnsafeExternalRowSorter] = None

  /** No more rows will be asked for. */
  def release(): Unit = {
    held.foreach(_.cleanupResources())
    held = None
  }

  private def sort(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val task = TaskContext.get().taskMetrics()
    val spilledBefore = task.memoryBytesSpilled
    val sorter = newSorter()
    held = Some(sorter)
    val asUnsafe = new AsUnsafe(output)
    while (rows.hasNext) sorter.insertRow(asUnsafe(rows.next()))
    val inOrder = sorter.sort()
    metrics(JoinMetrics.SortTime) += TimeUnit.NANOSECONDS.toMillis(sorter.getSortTimeNanos)
    metrics(JoinMetrics.SpillSize) += task.memoryBytesSpilled - spilledBefore
    TaskMemory.notePeak(TaskContext.get(), sorter.getPeakMemoryUsage)
    inOrder
  }

  private def newSorter() = UnsafeExternalRowSorter.createWithRecordComparator(
    DataTypeUtils.fromAttributes(output),
    () => RankSort.NoComparison,
    PrefixComparators.LONG,
    new RankSort.ByRank(UnsafeProjection.create(Seq(rank), output)),
    SparkEnv.get.memoryManager.pageSizeBytes,
    true
  )
}

object RankSort {

  final private class ByRank(rankOf: UnsafeProjection)
      extends UnsafeExternalRowSorter.PrefixComputer {
    private val prefix = new UnsafeExternalRowSorter.PrefixComputer.Prefix

    override def computePrefix(row: InternalRow): UnsafeExternalRowSorter.PrefixComputer.Prefix = {
      val ranked = rankOf(row)
      prefix.isNull = ranked.isNullAt(0)
      prefix.value = if (prefix.isNull) Long.MinValue else ranked.getLong(0)
      prefix
    }
  }

  /** Ranks say all: rows of one rank may stand in any sequence. */
  private object NoComparison extends RecordComparator {
    override def compare(
        a: Any,
        aOffset: Long,
        aSize: Int,
        b: Any,
        bOffset: Long,
        bSize: Int
    ): Int =
      0
  }
}
