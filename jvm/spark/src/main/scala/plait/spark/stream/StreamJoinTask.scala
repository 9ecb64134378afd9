// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.plait.TaskMemory

import plait.join.{Matching, Rankless, RowStore}
import plait.spark.LateRows
import plait.spark.side._
import plait.stream.{MarkMeans, StoredRows, StreamJoin}
import plait.{BySide, Side}

/** What one task does in a batch of a join of streams: opens the state, builds readers and core, gives the
  * rows that come out, and with the last of them has the state saved.
  */
final class StreamJoinTask(
    joinType: JoinType,
    condition: Option[Expression],
    ranks: BySide[Seq[Expression]],
    rankless: BySide[Rankless],
    keys: BySide[Seq[Expression]],
    outputs: BySide[Seq[Attribute]],
    frontiers: BySide[Long],
    lateness: BySide[Option[Expression]],
    late: LateRows,
    orders: BySide[Option[StreamOrder]],
    metrics: Map[String, SQLMetric]
) extends Serializable {

  private val layout = new StateLayout(outputs)

  /** @param finished
    *   called once with the rows that wait, when all has been given
    */
  def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow] = {
    val context = TaskContext.get()
    val table = HashKeyTable.of(KeyForm.of(keys.left))
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
      BySide.make { side =>
        val reader = SideReader.create(keys(side), ranks(side), outputs(side))
        new StreamRowReader(reader, table)
      },
      table,
      pages.map(p => p: RowStore[UnsafeRow]),
      stored,
      roles,
      rankless,
      frontiers
    )
    new StreamJoinIterator(
      inputs,
      outputs.map(new AsUnsafe(_)),
      core,
      roles,
      predicate(context.partitionId()),
      JoinOutput.of(joinType, outputs),
      BySide.make(isLate),
      late,
      orders,
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

  private def isLate(side: Side): InternalRow => Boolean = lateness(side) match {
    case None => _ => false
    case Some(expression) => Predicate.create(expression, outputs(side)).eval
  }

  private def predicate(partition: Int): InternalRow => Boolean = condition match {
    case None => _ => true
    case Some(expression) =>
      val generated = Predicate.create(expression, outputs.left ++ outputs.right)
      generated.initialize(partition)
      generated.eval
  }
}
