// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.concurrent.atomic.AtomicLong

import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.joins.plait.BroadcastRelation

/** A collected side on its way to the executors; each makes its index of it once, all its tasks share it.
  *
  * @param madeAfter
  *   so many rows all tasks of an executor go through by key before there is an index: 0 if it is wanted at once
  */
final class CollectedSide(
    source: Broadcast[Any],
    keys: KeyForm,
    interval: Seq[Expression],
    output: Seq[Attribute],
    madeAfter: Long
) extends Serializable {

  @transient lazy val relation: IntervalRelation = {
    val made = IntervalRelation.of(BroadcastRelation.rows(source.value), keys, interval, output)
    isMade = true
    made
  }

  @transient @volatile private var isMade = false
  @transient private lazy val goneThrough = new AtomicLong

  /** The index, for one task. */
  def index: IntervalRelation = relation.asReadOnlyCopy()

  /** Is there an index, or have so many rows been gone through that it is to be made? */
  def isDue: Boolean = isMade || goneThrough.get >= madeAfter

  /** The tasks report how many rows they went through. */
  def goThrough(rows: Long): Unit = {
    val _ = goneThrough.addAndGet(rows)
  }

  /** The broadcast itself, for one task. */
  def byKey: BroadcastRelation.ByKey = BroadcastRelation.byKey(source.value)
}
