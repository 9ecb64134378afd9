// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Predicate}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStore

import plait.spark.LateRows
import plait.{BySide, Side}

/** What one task does in a batch: opens the state, gives the rows that come out, and with the last of them has
  * written what waits.
  */
trait StreamTask extends Serializable {

  /** @param finished
    *   called once with the number of rows that wait, when all has been given
    */
  def join(store: StateStore, inputs: BySide[Iterator[InternalRow]])(
      finished: Long => Unit
  ): Iterator[InternalRow]
}

/** What every kind of task is told of a batch.
  *
  * @param ranks
  *   of each side rank, low and high end of a row
  * @param frontiers
  *   after the batch
  * @param lateness
  *   whether a row of a side is late by its event time
  * @param orders
  *   the orders that are declared of the sides, by which rows may be late too
  */
final case class StreamBatch(
    keys: BySide[Seq[Expression]],
    ranks: BySide[Seq[Expression]],
    outputs: BySide[Seq[Attribute]],
    frontiers: BySide[Long],
    lateness: BySide[Option[Expression]],
    late: LateRows,
    orders: BySide[Option[StreamOrder]],
    metrics: Map[String, SQLMetric]
) {
  def isLate(side: Side): InternalRow => Boolean = lateness(side) match {
    case None => _ => false
    case Some(expression) => Predicate.create(expression, outputs(side)).eval
  }
}
