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

import plait.join.{AsOfCore, Keeping}
import plait.spark.side._
import plait.spark.translate.BestMatch
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
    val partition = context.partitionId()
    val roles = JoinOutput.roles(joinType).get
    val target = new SpillTarget.LocalFolder(metrics(JoinMetrics.SpillSize))
    val store = new PagedRowStore(TaskMemory.of(context), sides.right.output.size, target)
    val core = new AsOfCore[SideReader, UnsafeRow](
      HashKeyTable.of(KeyForm.of(sides.left.keys)),
      store,
      precedence,
      if (conditions.accepts.isEmpty) Keeping.Best else Keeping.All,
      roles.right.leaves
    )
    val rows = new AsOfJoinIterator(
      BySide.make(side => inOrder(sides(side), inputs(side))),
      sides.map(s => SideReader.create(s.keys, s.ranks, s.output)),
      scan.pace(best, sides.map(_.output)),
      core,
      roles,
      PairConditions.compiled(conditions, sides.map(_.output), partition),
      JoinOutput.of(joinType, sides.map(_.output))
    )
    context.addTaskCompletionListener[Unit] { _ =>
      metrics(JoinMetrics.OutputRows) += rows.rowsOut
      for (side <- Side.both) metrics(JoinMetrics.rowsIn(side)) += rows.rowsIn(side)
      JoinMetrics.note(metrics(JoinMetrics.PeakBuffered), core.peak)
      store.clear()
    }
    rows
  }

  private def inOrder(side: SidePlan, rows: Iterator[InternalRow]): Iterator[InternalRow] =
    if (side.isSortedHere) new RankSort(side.ranks.head, side.output, metrics).sorted(rows)
    else rows

  private def precedence: Comparator[InternalRow] =
    GenerateOrdering.generate(scan.order(best.right) +: best.ties, sides.right.output)
}
