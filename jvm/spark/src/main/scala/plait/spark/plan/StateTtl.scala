// SPDX-License-Identifier: Apache-2.0
package plait.spark.plan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types.{DataType, DayTimeIntervalType}

import plait.stream.Lifetime

/** The rows of a stream that a join is to remember for so long, by the clock, and no longer.
  *
  * {{{
  * STATE_TTL(l, INTERVAL 1 DAY)      came in the batch of Monday 10:00
  *                                   forgotten by the first batch after Tuesday 10:00
  * }}}
  *
  * @param length
  *   in microseconds
  * @param now
  *   what Spark makes the time of the micro-batch, which is the same if it is run again
  * @param relation
  *   its name, for people
  */
final case class StateTtl(length: Long, now: MicroBatchTime, relation: String, child: LogicalPlan)
    extends StreamClaim {

  /** As it is written. */
  def text: String =
    s"STATE_TTL($relation, ${Literal(length, DayTimeIntervalType()).sql})"

  override protected def withNewChildInternal(newChild: LogicalPlan): StateTtl =
    copy(child = newChild)
}

/** The time of the micro-batch, which Spark puts in the place of the current one. Within a micro-batch it does not
  * change, though Spark would have it calculated below.
  */
final case class MicroBatchTime(child: Expression) extends UnaryExpression with Unevaluable {
  override lazy val deterministic: Boolean = true
  override def dataType: DataType = child.dataType
  override protected def withNewChildInternal(newChild: Expression): MicroBatchTime =
    copy(child = newChild)
}

object StateTtl {
  def of(length: Long, relation: String, child: LogicalPlan): StateTtl =
    StateTtl(length, MicroBatchTime(CurrentTimestamp()), relation, child)

  /** What is said of the rows that come into a join from a side. Of the streams of a UNION each must be limited,
    * and the longest time counts.
    */
  def on(side: LogicalPlan): Option[StateTtl] =
    StreamClaim.ofEach(side) { case ttl: StateTtl => ttl }.flatMap(_.maxByOption(_.length))

  /** In a micro-batch, once its time is known. */
  def lifetime(side: LogicalPlan): Lifetime = on(side).fold(Lifetime.Endless) { ttl =>
    ttl.now match {
      case MicroBatchTime(Literal(now: Long, _)) => Lifetime(now, ttl.length)
      case other =>
        throw new IllegalStateException(s"the time of the micro-batch is not known: $other")
    }
  }
}
