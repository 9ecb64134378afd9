// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.GenerateOrdering

import plait.join.{Neighbours, Outermost}
import plait.spark.side.{AsUnsafe, CompiledCondition, HomedRows, MatchScan}
import plait.spark.translate.BestMatch
import plait.{BySide, Side}

/** What the ranges of an as-of join must know of each other ([[plait.join.Neighbours]]): found by a job of
  * its own over both sides, which reads what the shuffles have written and joins nothing.
  *
  * {{{
  * partition 0   first and last of each side  ---+
  * partition 1   first and last of each side  ---+--> to every task: the rows before and after its range
  * partition 2   first and last of each side  ---+
  * }}}
  *
  * Of the left side something is to be known only where right rows come out that nobody picked.
  *
  * @param eligible
  *   of a row of the side alone: whether it can match at all
  */
final class MatchRanges(
    best: BestMatch,
    outputs: BySide[Seq[Attribute]],
    eligible: BySide[Expression]
) extends Serializable {
  private def scan = MatchScan(best.direction, best.right.dataType)

  def neighbours(
      inputs: BySide[RDD[InternalRow]],
      sides: Seq[Side]
  ): BySide[Option[Neighbours[UnsafeRow]]] = BySide.make { side =>
    if (!sides.contains(side)) None
    else {
      val outermost =
        inputs(side).mapPartitions(rows => Iterator(outermostOf(side, rows))).collect()
      Some(new Neighbours(outermost.toIndexedSeq))
    }
  }

  private def outermostOf(side: Side, rows: Iterator[InternalRow]): (UnsafeRow, UnsafeRow) = {
    val byMatch = scan.order(if (side eq Side.Left) best.left else best.right)
    val ties = if (side eq Side.Left) Nil else best.ties
    val outermost = new Outermost[UnsafeRow](
      GenerateOrdering.generate(Seq(byMatch), outputs(side)),
      GenerateOrdering.generate(byMatch +: ties, outputs(side)),
      kept
    )
    val matches = CompiledCondition.of(eligible(side), outputs(side), TaskContext.getPartitionId())
    val asUnsafe = new AsUnsafe(outputs(side))
    rows.map(asUnsafe(_)).filter(matches).foreach(outermost.see)
    (outermost.first, outermost.last)
  }

  private def kept(before: UnsafeRow, row: UnsafeRow): UnsafeRow =
    if (before == null) row.copy()
    else {
      before.copyFrom(row)
      before
    }
}

object MatchRanges {

  /** The rows around those of a range. */
  final class Around(neighbours: Broadcast[BySide[Option[Neighbours[UnsafeRow]]]])
      extends Serializable {
    def apply(side: Side, range: Int, own: Iterator[InternalRow]): HomedRows = {
      val known = neighbours.value(side)
      new HomedRows(
        own,
        known.fold[UnsafeRow](null)(_.before(range)),
        known.fold[UnsafeRow](null)(_.after(range))
      )
    }
  }
}
