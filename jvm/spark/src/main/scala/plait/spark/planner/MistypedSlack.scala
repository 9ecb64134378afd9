// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.types._

import plait.spark.plan.OrderedBy

/** A declared order whose slack is no difference of its values. Spark would refuse the difference of the two, which
  * nobody has written.
  *
  * {{{
  * ORDERED(l, seq, INTERVAL 5 SECONDS)     seq BIGINT: a number is wanted
  * ORDERED(l, ts, 100)                     ts TIMESTAMP: an interval is wanted
  * }}}
  */
object MistypedSlack extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case ordered: OrderedBy if ordered.order.resolved =>
        ordered.frontier.filter(isMistyped).foreach(ahead => throw refused(ordered, ahead))
      case _ => ()
    }
    plan
  }

  /** Types of which the one could be made the other are the same by now; for times and days Spark has its own forms. */
  private def isMistyped(frontier: Expression): Boolean =
    frontier.exists(part => part.childrenResolved && part.checkInputDataTypes().isFailure)

  private def refused(ordered: OrderedBy, frontier: Expression) = {
    val order = ordered.order.child
    val slack = frontier.collect { case literal: Literal => literal.sql }.lastOption
    new IllegalArgumentException(
      s"The order ${ordered.order.sql} that is declared of ${ordered.relation} is ${order.dataType.sql}, and its " +
        s"slack ${slack.mkString}: its rows come late by ${wanted(order.dataType)}."
    )
  }

  private def wanted(order: DataType): String = order match {
    case _: NumericType => "a number, as 100"
    case DateType => "a whole number of days, as 1, or an interval, as INTERVAL 1 DAY"
    case _: YearMonthIntervalType => "an interval, as INTERVAL 1 MONTH"
    case TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      "an interval, as INTERVAL 5 SECONDS"
    case _ => "nothing that can be subtracted, so declare it without one"
  }
}
