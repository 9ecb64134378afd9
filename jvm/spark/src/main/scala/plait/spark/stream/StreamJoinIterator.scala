// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.join.Role
import plait.spark.side.{JoinMetrics, JoinOutput, PairTest}
import plait.stream.{Step, StreamJoin}
import plait.{BySide, Side}

/** The rows that come out of a batch: hands all rows of both sides to the core, and gives what it finds.
  *
  * Conventions:
  *   1. The inputs are read to their ends when the first row is asked for.
  *   2. The row that `next` gives is valid until the next call.
  *
  * @param intake
  *   hands the rows that are in time to the core
  * @param done
  *   called once, after the last row
  */
final class StreamJoinIterator(
    inputs: BySide[Iterator[InternalRow]],
    intake: StreamIntake,
    core: StreamJoin[StreamRowReader, UnsafeRow],
    roles: BySide[Role],
    accepts: PairTest,
    output: JoinOutput,
    counts: StreamCounts
)(done: () => Unit)
    extends Iterator[InternalRow] {
  private val givesMatches = Role.givesMatches(roles)
  private var hasRead = false
  private var isOver = false
  private var found: InternalRow = _

  override def hasNext: Boolean = {
    if (found == null && !isOver) found = findRow()
    found != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("the batch has no more rows")
    val row = found
    found = null
    counts.rowOut()
    row
  }

  private def findRow(): InternalRow = {
    if (!hasRead) Side.both.foreach(side => intake.read(side, inputs(side)))
    hasRead = true
    var row: InternalRow = null
    // Invariant: what the core has found was given or is no row.
    while (row == null && !isOver)
      core.next() match {
        case Step.Pair => row = matched()
        case Step.Alone => row = output.alone(core.stepSide, core.stepRow)
        case Step.End =>
          isOver = true
          done()
      }
    row
  }

  private def matched(): InternalRow = {
    val isLeft = core.stepSide eq Side.Left
    val left = if (isLeft) core.stepRow else core.stepPartner
    val right = if (isLeft) core.stepPartner else core.stepRow
    if (!accepts.isTrueOf(left, right)) null
    else {
      core.accept()
      counts.pairByProbing(core.stepSide.other)
      if (givesMatches) output.matched(left, right) else null
    }
  }
}

/** What an iterator counts as it goes. */
final class StreamCounts(metrics: Map[String, SQLMetric]) {
  private val out = metrics(JoinMetrics.OutputRows)
  private val late = BySide.make(side => metrics(StreamMetrics.rowsLate(side)))
  private val byWatermark = metrics(StreamCounts.DroppedByWatermark)
  private val dropped = BySide.make(side => metrics(StreamMetrics.rowsDropped(side)))
  private val outOfOrder = BySide.make(side => metrics(StreamMetrics.rowsOutOfOrder(side)))
  private val pairs = BySide.make(side => metrics(StreamMetrics.pairsByProbing(side)))

  def rowOut(): Unit = out += 1
  def rowOutOfOrder(side: Side): Unit = outOfOrder(side) += 1
  def rowDropped(side: Side): Unit = dropped(side) += 1
  def pairByProbing(side: Side): Unit = pairs(side) += 1
  def lateRow(side: Side): Unit = {
    late(side) += 1
    byWatermark += 1
  }
}

private object StreamCounts {

  /** Spark's own name. */
  val DroppedByWatermark = "numRowsDroppedByWatermark"
}
