// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.{
  BinaryExpression,
  Expression,
  Literal,
  TimeZoneAwareExpression,
  TimestampAddInterval
}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY
import org.apache.spark.sql.types.{DataType, DayTimeIntervalType, TimestampNTZType, TimestampType}

/** A timestamp and a day-time interval, added as the microseconds that both are:
  *
  * {{{
  * ts + INTERVAL '1' SECOND        1770000000000000 + 1000000
  * }}}
  *
  * Spark's own sum goes by the calendar of the session's zone, which takes some hundred nanoseconds, and a
  * join asks for it for each pair. Both are the same where no calendar is needed: in a zone whose offset never
  * changes, and for less than a day, which Spark adds to the instant in every zone.
  *
  * Beyond the last microsecond that a long holds it is an ArithmeticException, as Spark's is.
  */
final case class InstantSum(left: Expression, right: Expression) extends BinaryExpression {
  override def dataType: DataType = left.dataType
  override def nullIntolerant: Boolean = true

  override protected def nullSafeEval(instant: Any, interval: Any): Any =
    Math.addExact(instant.asInstanceOf[Long], interval.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    defineCodeGen(ctx, ev, (instant, interval) => s"Math.addExact($instant, $interval)")

  /** In Spark's words. */
  override def toString: String = s"$left + $right"
  override def sql: String = s"${left.sql} + ${right.sql}"

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): InstantSum = copy(left = newLeft, right = newRight)
}

object InstantSum {

  /** The same condition with those of Spark's sums replaced that need no calendar. */
  def in(condition: Expression): Expression = condition.transform {
    case sum @ TimestampAddInterval(instant, interval, _) if is(sum) =>
      InstantSum(instant, interval)
  }

  /** Does Spark's sum need no calendar? */
  def is(sum: TimestampAddInterval): Boolean =
    isOfMicros(sum.dataType) && sum.right.dataType.isInstanceOf[DayTimeIntervalType] &&
      (hasFixedOffset(sum, sum.dataType) || (sum.right match {
        case Literal(micros: Long, _) =>
          math.abs(micros) < MICROS_PER_DAY && micros != Long.MinValue
        case _ => false
      }))

  /** Spark has instants of finer parts, which are no longs. */
  def isOfMicros(instant: DataType): Boolean =
    instant == TimestampType || instant == TimestampNTZType

  /** Of this type, and in this zone. */
  def hasFixedOffset(expression: TimeZoneAwareExpression, dataType: DataType): Boolean =
    dataType match {
      case TimestampNTZType => true
      case TimestampType =>
        expression.timeZoneId.isDefined && expression.zoneId.getRules.isFixedOffset
      case _ => false
    }
}
