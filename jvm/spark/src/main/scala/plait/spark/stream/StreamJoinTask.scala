// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.streaming.state.StateStore

import plait.join.{Matching, Rankless, SortableRowStore}
import plait.spark.side._
import plait.stream.{MarkMeans, StreamJoin}
import plait.{BySide, Side}

/** A batch in which all matches come out ([[StreamJoin]]). */
final class StreamJoinTask(
    joinType: JoinType,
    condition: Option[Expression],
    rankless: BySide[Rankless],
    batch: StreamBatch
) extends StreamTask {
  import batch.outputs

  override def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow] = {
    val roles = JoinOutput.roles(joinType).get
    val means =
      roles.map(r => if (r.matches eq Matching.Settles) MarkMeans.Gone else MarkMeans.Matched)
    val state = new StreamTaskState(batch, store, means)
    val core = new StreamJoin[StreamRowReader, UnsafeRow](
      state.readers,
      state.keys,
      state.pages.map(p => p: SortableRowStore[UnsafeRow]),
      state.stored,
      roles,
      rankless,
      batch.frontiers,
      state.limit
    )
    new StreamJoinIterator(
      inputs,
      new StreamIntake(batch, roles, state.counts, core.add, core.frontier, core.addOutcast),
      core,
      roles,
      PairTest.stoppable(condition, outputs, TaskContext.get()),
      JoinOutput.of(joinType, outputs),
      state.counts
    )(() => {
      for (side <- Side.both) {
        val counts = core.counts(side)
        // To those who watch a stream a side that is over is a frontier like others.
        val pruned = counts.pruned + counts.freed
        state.count(side, counts.in, pruned, core.evicted(side), core.waiting(side))
        state.note(side, core.largestKey(side), core.newestRank(side), core.lag(side))
      }
      finished(core.waiting(Side.Left) + core.waiting(Side.Right))
    })
  }
}
