// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Predicate, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.plait.TaskMemory

import plait.join.{Matching, Rankless, RowStore}
import plait.spark.side._
import plait.stream.{MarkMeans, StoredRows, StreamJoin}
import plait.{BySide, Side}

/** A batch in which all matches come out ([[StreamJoin]]). */
final class StreamJoinTask(
    joinType: JoinType,
    condition: Option[Expression],
    rankless: BySide[Rankless],
    batch: StreamBatch
) extends StreamTask {
  import batch.{metrics, outputs}

  private val layout = new StateLayout(outputs)

  override def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow] = {
    val context = TaskContext.get()
    val table = HashKeyTable.of(KeyForm.of(batch.keys.left))
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val pages =
      outputs.map(o => new PagedRowStore(TaskMemory.of(context), o.size, target))
    context.addTaskCompletionListener[Unit](_ => Side.both.foreach(pages(_).clear()))
    val roles = JoinOutput.roles(joinType).get
    val stored = BySide.make { side =>
      val means =
        if (roles(side).matches eq Matching.Settles) MarkMeans.Gone else MarkMeans.Matched
      new StoredRows[UnsafeRow](new StateChunkStore(store, side, layout), means)
    }
    val core = new StreamJoin[StreamRowReader, UnsafeRow](
      BySide.make(side => StreamRowReader.of(batch, side, table)),
      table,
      pages.map(p => p: RowStore[UnsafeRow]),
      stored,
      roles,
      rankless,
      batch.frontiers
    )
    new StreamJoinIterator(
      inputs,
      outputs.map(new AsUnsafe(_)),
      core,
      roles,
      predicate(context.partitionId()),
      JoinOutput.of(joinType, outputs),
      BySide.make(batch.isLate),
      batch.late,
      batch.orders,
      new StreamCounts(metrics)
    )(() => {
      for (side <- Side.both) {
        val counts = core.counts(side)
        metrics(StreamMetrics.rowsIn(side)) += counts.in
        metrics(StreamMetrics.rowsPruned(side)) += counts.pruned
        metrics(StreamMetrics.rowsStored(side)) += core.waiting(side)
        metrics(StreamMetrics.segments(side)) += stored(side).segmentCount
      }
      finished(core.waiting(Side.Left) + core.waiting(Side.Right))
    })
  }

  private def predicate(partition: Int): InternalRow => Boolean = condition match {
    case None => _ => true
    case Some(expression) =>
      val generated = Predicate.create(expression, outputs.left ++ outputs.right)
      generated.initialize(partition)
      generated.eval
  }
}
