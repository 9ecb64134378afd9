// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import java.util.Comparator

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.TaskMemory

import plait.join.{AsOfCore, Keeping, NearestCore}
import plait.spark.side._
import plait.spark.translate.{BestMatch, MatchDirection}
import plait.{BySide, Side}

/** What one task of an as-of join does: builds readers, candidates and conditions, and counts when it
  * ends.
  */
final class AsOfJoinTask(
    joinType: JoinType,
    sides: BySide[SidePlan],
    best: BestMatch,
    conditions: PairConditions[Expression],
    metrics: Map[String, SQLMetric]
) extends Serializable {
  private def scan = MatchScan(best.direction, best.right.dataType)

  def join(inputs: BySide[Iterator[InternalRow]]): Iterator[InternalRow] = {
    val context = TaskContext.get()
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val stores =
      sides.map(s => new PagedRowStore(TaskMemory.of(context), s.output.size, target))
    val compiled = PairConditions.compiled(conditions, sides.map(_.output), context.partitionId())
    val sorted = BySide.make(side => inOrder(sides(side), inputs(side)))
    val rows =
      if (best.direction == MatchDirection.Nearest) nearest(sorted, stores, compiled)
      else toOneSide(sorted, stores.right, compiled)
    context.addTaskCompletionListener[Unit] { _ =>
      metrics(JoinMetrics.OutputRows) += rows.rowsOut
      for (side <- Side.both) metrics(JoinMetrics.rowsIn(side)) += rows.rowsIn(side)
      JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), rows.peak)
      Side.both.foreach(stores(_).clear())
    }
    rows
  }

  private def toOneSide(
      inputs: BySide[Iterator[InternalRow]],
      store: PagedRowStore,
      compiled: PairConditions[PairConditions.Test]
  ): JoinRows = new AsOfJoinIterator(
    inputs,
    readers,
    pace,
    new AsOfCore[SideReader, UnsafeRow](keys, store, precedence, keeping, roles.right.leaves),
    roles,
    compiled,
    JoinOutput.of(joinType, sides.map(_.output))
  )

  private def nearest(
      inputs: BySide[Iterator[InternalRow]],
      stores: BySide[PagedRowStore],
      compiled: PairConditions[PairConditions.Test]
  ): JoinRows = {
    val distance = MatchDistance.of(best, sides.map(_.output))
    val core = new NearestCore[SideReader, UnsafeRow, UnsafeRow, distance.Distance](
      keys,
      stores.left,
      stores.right,
      precedence,
      NearestJoinIterator.pairing(distance, compiled),
      keeping,
      roles.right.leaves
    )
    val output = JoinOutput.of(joinType, sides.map(_.output))
    new NearestJoinIterator(
      inputs,
      readers,
      pace,
      core,
      roles,
      compiled,
      output
    )
  }

  private def keys = HashKeyTable.of(KeyForm.of(sides.left.keys))
  private def readers = sides.map(s => SideReader.create(s.keys, s.ranks, s.output))
  private def pace = scan.pace(best, sides.map(_.output))
  private def roles = JoinOutput.roles(joinType).get
  private def keeping = if (conditions.accepts.isEmpty) Keeping.Best else Keeping.All

  private def inOrder(side: SidePlan, rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (side.isSortedHere) new RankSort(side.ranks.head, side.output, metrics).sorted(rows)
    else rows

  private def precedence: Comparator[InternalRow] =
    GenerateOrdering.generate(scan.order(best.right) +: best.ties, sides.right.output)
}
