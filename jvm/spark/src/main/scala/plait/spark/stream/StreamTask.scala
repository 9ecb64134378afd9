// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.plait.{TaskMemory, TaskWatch}

import plait.spark.side._
import plait.spark.{AtLimit, LateRows, RowsOfKey}
import plait.stream.{KeyLimit, Lifetime, MarkMeans, StoredRows}
import plait.{BySide, Side}

/** What one task does in a batch: opens the state, gives the rows that come out, and with the last of them has
  * written what waits.
  */
trait StreamTask extends Serializable {

  /** @param finished
    *   called once with the number of rows that wait, when all has been given
    */
  def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow]
}

/** What every kind of task is told of a batch.
  *
  * @param ranks
  *   of each side rank, low and high end of a row
  * @param frontiers
  *   after the batch
  * @param lateness
  *   whether a row of a side is late by its event time
  * @param orders
  *   the orders that are declared of the sides, by which rows may be late too
  * @param bounded
  *   the streams of a side that are said to come to an end
  * @param lifetimes
  *   how long rows of a side are remembered
  * @param atStateTtl
  *   what becomes of those that are older
  * @param limit
  *   of the rows of a key
  */
final case class StreamBatch(
    keys: BySide[Seq[Expression]],
    ranks: BySide[Seq[Expression]],
    outputs: BySide[Seq[Attribute]],
    frontiers: BySide[Long],
    lateness: BySide[Option[Expression]],
    late: LateRows,
    orders: BySide[Option[StreamOrder]],
    bounded: BySide[Seq[String]],
    lifetimes: BySide[Lifetime],
    atStateTtl: AtLimit,
    limit: Option[RowsOfKey],
    metrics: Map[String, SQLMetric]
) {
  def isLate(side: Side): InternalRow => Boolean = lateness(side) match {
    case None => _ => false
    case Some(expression) =>
      CompiledCondition.of(expression, outputs(side), TaskContext.getPartitionId())
  }
}

/** What a task holds for a batch: the state of each side, rows of the batch, and how they are read. */
final class StreamTaskState(batch: StreamBatch, store: StateStore, means: BySide[MarkMeans]) {
  import batch.{metrics, outputs}

  private val context = TaskContext.get()
  val partition: Int = context.partitionId()
  val keys: HashKeyTable = HashKeyTable.of(KeyForm.of(batch.keys.left))
  val counts: StreamCounts = new StreamCounts(metrics)

  private val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
  val pages: BySide[PagedRowStore] =
    outputs.map(o => new PagedRowStore(TaskMemory.of(context), o.size, target))
  context.addTaskCompletionListener[Unit](_ => Side.both.foreach(pages(_).clear()))

  private val layout = new StateLayout(outputs)
  val stored: BySide[StoredRows[UnsafeRow]] = BySide.make { side =>
    new StoredRows[UnsafeRow](
      new StateChunkStore(store, side, layout),
      means(side),
      batch.lifetimes(side),
      () =>
        if (batch.atStateTtl eq AtLimit.Fail)
          throw StateTtlException.of(side, batch.lifetimes(side))
    )
  }

  def readers: BySide[StreamRowReader] = BySide.make { side =>
    val reader = SideReader.create(batch.keys(side), batch.ranks(side), outputs(side))
    new StreamRowReader(reader, keys, TaskWatch.of(context))
  }

  val limit: Option[KeyLimit[UnsafeRow]] =
    batch.limit.map(StreamKeyLimit.of(_, batch.keys, outputs))

  /** Rows that have left because nothing can match them. */
  def pruned(side: Side): Long =
    stored(side).removedRows - stored(side).expiredRows - stored(side).sentAwayRows

  /** The greatest of all tasks counts. */
  def note(side: Side, largestKey: Int, newest: Long, lag: Long): Unit = {
    JoinMetrics.note(metrics(StreamMetrics.largestKey(side)), largestKey.toLong)
    JoinMetrics.note(metrics(StreamMetrics.newest(side)), newest)
    JoinMetrics.note(metrics(StreamMetrics.lag(side)), lag)
  }

  /** Once all has been given. */
  def count(side: Side, rowsIn: Long, pruned: Long, tooMany: Long, waiting: Long): Unit = {
    metrics(StreamMetrics.rowsIn(side)) += rowsIn
    metrics(StreamMetrics.rowsPruned(side)) += pruned
    metrics(StreamMetrics.rowsStored(side)) += waiting
    metrics(StreamMetrics.rowsEvicted(side)) += stored(side).expiredRows + tooMany
    metrics(StreamTaskState.Added) += stored(side).addedRows
    metrics(StreamTaskState.Removed) += stored(side).removedRows
    metrics(StreamMetrics.segments(side)) += stored(side).segmentCount
    metrics(StreamMetrics.bytesStored(side)) += stored(side).storedBytes
  }
}

private object StreamTaskState {

  // Spark's own names.
  val Added = "numUpdatedStateRows"
  val Removed = "numRemovedStateRows"
}
