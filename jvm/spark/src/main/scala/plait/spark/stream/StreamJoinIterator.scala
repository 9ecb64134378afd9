// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.join.{Leaving, Role}
import plait.spark.side.{AsUnsafe, JoinMetrics, JoinOutput}
import plait.spark.{LateRows, OrderViolation}
import plait.stream.{Arrival, Step, StreamJoin}
import plait.{BySide, Side}

/** The rows that come out of a batch: hands all rows of both sides to the core, and gives what it finds.
  *
  * Conventions:
  *   1. The inputs are read to their ends when the first row is asked for.
  *   2. The row that `next` gives is valid until the next call.
  *
  * @param isLate
  *   by its event time; the core knows what is late by a declared order
  * @param orders
  *   those that are declared and by which rows may be late
  * @param bounded
  *   the streams of a side that are said to come to an end
  * @param done
  *   called once, after the last row
  */
final class StreamJoinIterator(
    inputs: BySide[Iterator[InternalRow]],
    unsafe: BySide[AsUnsafe],
    core: StreamJoin[StreamRowReader, UnsafeRow],
    roles: BySide[Role],
    accepts: InternalRow => Boolean,
    output: JoinOutput,
    isLate: BySide[InternalRow => Boolean],
    lateRows: LateRows,
    orders: BySide[Option[StreamOrder]],
    bounded: BySide[Seq[String]],
    counts: StreamCounts
)(done: () => Unit)
    extends Iterator[InternalRow] {
  private val pair = new JoinedRow
  // A match of a side whose rows come out if they have none is no row.
  private val givesMatches = !roles.left.eq(Role.Missing)
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
    if (!hasRead) Side.both.foreach(read)
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

  private def read(side: Side): Unit = inputs(side).foreach { source =>
    val row = unsafe(side)(source)
    if (isLate(side)(row)) late(side, row)
    else
      core.add(side, row) match {
        case Arrival.InTime => ()
        case Arrival.Late => orders(side).fold(late(side, row))(outOfOrder(side, row, _))
        case Arrival.AfterEnd => throw StreamOverException.of(side, bounded(side))
      }
  }

  private def late(side: Side, row: UnsafeRow): Unit = {
    counts.lateRow(side)
    lateRows match {
      case LateRows.Drop => ()
      case LateRows.NullPad =>
        if (roles(side).leaves eq Leaving.Aloud) core.addOutcast(side, row)
      case LateRows.Fail => throw LateRowException.of(side)
    }
  }

  private def outOfOrder(side: Side, row: UnsafeRow, order: StreamOrder): Unit = {
    counts.rowOutOfOrder(side)
    if (order.onViolation eq OrderViolation.Fail) throw order.violated(row, core.frontier(side))
  }

  private def matched(): InternalRow = {
    val isLeft = core.stepSide eq Side.Left
    if (isLeft) pair(core.stepRow, core.stepPartner) else pair(core.stepPartner, core.stepRow)
    if (!accepts(pair)) null
    else {
      core.accept()
      counts.pairByProbing(core.stepSide.other)
      if (!givesMatches) null
      else
        output.matched(
          pair.getLeft.asInstanceOf[UnsafeRow],
          pair.getRight.asInstanceOf[UnsafeRow]
        )
    }
  }
}

/** What an iterator counts as it goes. */
final class StreamCounts(metrics: Map[String, SQLMetric]) {
  private val out = metrics(JoinMetrics.OutputRows)
  private val late = BySide.make(side => metrics(StreamMetrics.rowsLate(side)))
  private val dropped = metrics(StreamCounts.DroppedByWatermark)
  private val outOfOrder = BySide.make(side => metrics(StreamMetrics.rowsOutOfOrder(side)))
  private val pairs = BySide.make(side => metrics(StreamMetrics.pairsByProbing(side)))

  def rowOut(): Unit = out += 1
  def rowOutOfOrder(side: Side): Unit = outOfOrder(side) += 1
  def pairByProbing(side: Side): Unit = pairs(side) += 1
  def lateRow(side: Side): Unit = {
    late(side) += 1
    dropped += 1
  }
}

private object StreamCounts {

  /** Spark's own name. */
  val DroppedByWatermark = "numRowsDroppedByWatermark"
}

final class LateRowException(message: String) extends IllegalStateException(message)

object LateRowException {
  def of(side: Side): LateRowException = new LateRowException(
    s"A row of the ${side.name} side came behind what the side had promised (its watermark). Give the " +
      "watermark more delay, or set spark.plait.stream.late " +
      "to drop, which leaves such rows out and counts them, or to null-pad."
  )
}
