// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.util.Comparator

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.execution.streaming.state.StateStore

import plait.join.SortableRowStore
import plait.spark.side._
import plait.stream._
import plait.{BySide, Side}

/** A batch of an as-of join: the left rows that can be answered now, and the right rows that they may pick,
  * go through the as-of join of a batch query.
  *
  * {{{
  *   rows of the batch + rows that wait --> StreamAsOfJoin --> left rows to be answered, candidates
  *                                                                  |
  *                                               AsOfJoinTask <-----+ by match value
  * }}}
  */
final class StreamAsOfTask(joinType: JoinType, asOf: AsOfSpec, batch: StreamBatch)
    extends StreamTask {
  import batch.{metrics, outputs}

  private def scan = MatchScan(asOf.best.direction, asOf.best.right.dataType)
  private def conditions = PairConditions.of(
    asOf.condition,
    asOf.best.within,
    asOf.check,
    outputs.map(AttributeSet(_))
  )

  override def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow] = {
    val state = new StreamTaskState(batch, store, BySide(MarkMeans.Gone, MarkMeans.Gone))
    val core = new StreamAsOfJoin[StreamRowReader, UnsafeRow](
      state.readers,
      state.keys,
      state.pages.map(p => p: SortableRowStore[UnsafeRow]),
      state.stored,
      asOf.superseding,
      precedence,
      batch.frontiers,
      state.limit
    )
    val outcasts = read(inputs, core, state.counts)
    core.run()
    val answers = answered(core, state.pages)
    outcasts.map { row => metrics(JoinMetrics.OutputRows) += 1; row } ++ answers ++
      new Once(() => {
        for (side <- Side.both) {
          state.count(
            side,
            core.rowsIn(side),
            state.pruned(side),
            core.evicted(side),
            core.waiting(side)
          )
          state.note(side, core.largestKey(side), core.newestRank(side), core.lag(side))
        }
        finished(core.waiting(Side.Left) + core.waiting(Side.Right))
      })
  }

  /** Hands all rows to the core. What comes out at once: late left rows, if they do. */
  private def read(
      inputs: BySide[Iterator[InternalRow]],
      core: StreamAsOfJoin[StreamRowReader, UnsafeRow],
      counts: StreamCounts
  ): Iterator[InternalRow] = {
    lazy val output = JoinOutput.of(joinType, outputs)
    val padded = Seq.newBuilder[InternalRow]
    val roles = JoinOutput.roles(joinType).get
    val intake = new StreamIntake(
      batch,
      roles,
      counts,
      core.add,
      core.frontier,
      (side, row) => padded += output.alone(side, row).copy(): Unit
    )
    for (side <- Side.both) intake.read(side, inputs(side).filter(test(side)))
    padded.result().iterator
  }

  /** A right row that cannot be picked must not stand for those before it. */
  private def test(side: Side): InternalRow => Boolean = (side, conditions.ofRight) match {
    case (Side.Right, Some(condition)) =>
      CompiledCondition.of(condition, outputs.right, TaskContext.getPartitionId())
    case _ => _ => true
  }

  private def answered(
      core: StreamAsOfJoin[StreamRowReader, UnsafeRow],
      pages: BySide[PagedRowStore]
  ): Iterator[InternalRow] = {
    val sides = BySide.make { side =>
      val value = if (side eq Side.Left) asOf.best.left else asOf.best.right
      SidePlan(
        batch.keys(side),
        scan.ranks(value),
        outputs(side),
        isSortedHere = asOf.order eq MatchOrder.Unknown
      )
    }
    val rows = BySide.make { side =>
      val handles = core.rows(side)
      val last = handles.size - 1
      val along =
        if (scan.isDownwards) Iterator.range(last, -1, -1) else Iterator.range(0, last + 1)
      along.map(i => pages(side).get(handles(i)): InternalRow)
    }
    val pairs =
      new AsOfJoinTask(joinType, sides, asOf.best, conditions, StreamMetrics.ofAnswers(metrics))
        .join(rows, (_, own) => new HomedRows(own, null, null))
    new JoinedPairs.Rows(pairs, () => JoinOutput.of(joinType, outputs))
  }

  private def precedence: Comparator[InternalRow] =
    GenerateOrdering.generate(asOf.best.ties, outputs.right)
}

/** No rows, but something to do when they are asked for. */
final private class Once(act: () => Unit) extends Iterator[InternalRow] {
  private var isDone = false
  override def hasNext: Boolean = {
    if (!isDone) {
      isDone = true
      act()
    }
    false
  }
  override def next(): InternalRow = throw new NoSuchElementException("there are no rows")
}
