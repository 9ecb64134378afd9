// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{
  AttributeSeq,
  BindReferences,
  Cast,
  Expression,
  UnsafeRow
}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

import plait.join.{Leaving, Role}
import plait.spark.side.AsUnsafe
import plait.spark.{LateRows, OrderViolation}
import plait.stream.Arrival
import plait.{BySide, Side}

/** What becomes of the rows of a batch as they come in:
  *
  * {{{
  * in time                                 handed to the join
  * late by event time, or by a frontier    left out, counted; or comes out alone; or an error
  * behind a declared order                 left out, counted; or an error
  * after the end of a bounded side         an error
  * }}}
  *
  * A row is late by event time before the join is asked; by the rest, if the join says so.
  *
  * @param add
  *   hands a row to the join
  * @param frontier
  *   what the rows of a side may not be behind, for those who are told of one that is
  * @param outcast
  *   takes a late row that comes out alone
  */
final class StreamIntake(
    batch: StreamBatch,
    roles: BySide[Role],
    counts: StreamCounts,
    add: (Side, UnsafeRow) => Arrival,
    frontier: Side => Long,
    outcast: (Side, UnsafeRow) => Unit
) {

  def read(side: Side, rows: Iterator[InternalRow]): Unit = {
    val unsafe = new AsUnsafe(batch.outputs(side))
    val isLate = batch.isLate(side)
    val order = batch.orders(side)
    rows.foreach { source =>
      val row = unsafe(source)
      if (isLate(row)) late(side, row)
      else
        add(side, row) match {
          case Arrival.InTime => ()
          case Arrival.Late => order.fold(late(side, row))(outOfOrder(side, row, _))
          case Arrival.AfterEnd => throw StreamOverException.of(side, batch.bounded(side))
        }
    }
  }

  private def late(side: Side, row: UnsafeRow): Unit = {
    counts.lateRow(side)
    batch.late match {
      case LateRows.Drop => counts.rowDropped(side)
      case LateRows.NullPad =>
        if (roles(side).leaves eq Leaving.Aloud) outcast(side, row) else counts.rowDropped(side)
      case LateRows.Fail => throw LateRowException.of(side, times(side, row))
    }
  }

  /** The values of a row by which it is late, by name. */
  private def times(side: Side, row: UnsafeRow): Seq[String] = {
    val columns = batch.outputs(side)
    for {
      column <- batch.lateness(side).toSeq.flatMap(_.references)
      value = BindReferences.bindReference[Expression](column, columns)
      text = Cast(value, StringType, Some(SQLConf.get.sessionLocalTimeZone)).eval(row)
    } yield s"${column.name} = $text"
  }

  private def outOfOrder(side: Side, row: UnsafeRow, order: StreamOrder): Unit = {
    counts.rowOutOfOrder(side)
    if (order.onViolation eq OrderViolation.Fail) throw order.violated(row, frontier(side))
    counts.rowDropped(side)
  }
}

final class LateRowException(message: String) extends IllegalStateException(message)

object LateRowException {

  /** @param times
    *   the event times of the row, by name, where it is late by those
    */
  def of(side: Side, times: Seq[String]): LateRowException = new LateRowException(
    s"A row of the ${side.name} side${if (times.isEmpty) "" else times.mkString(" with ", ", ", "")} " +
      "came behind what the side had promised (its watermark). Give the " +
      "watermark more delay, or set spark.plait.stream.late " +
      "to drop, which leaves such rows out and counts them, or to null-pad."
  )
}

/** A row came of a side that was over. */
final class StreamOverException(message: String) extends IllegalStateException(message)

object StreamOverException {
  def of(side: Side, streams: Seq[String]): StreamOverException = {
    val said =
      if (streams.isEmpty) "the hint BOUNDED of an earlier run"
      else streams.mkString("BOUNDED(", ", ", ")")
    new StreamOverException(
      s"A row of the ${side.name} side came after the end of that side: $said says that all its rows are there when the " +
        "query starts, and its source had no more, so rows that this one might match were not kept. Start the query with a " +
        "new checkpoint, and without the hint if more rows are to come."
    )
  }
}
