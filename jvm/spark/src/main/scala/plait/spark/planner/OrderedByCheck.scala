// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types._

import plait.spark.plan.OrderedBy

/** Refuses a declared order that could not be checked: of the rows of a stream, or with a slack where
  * values have no difference.
  */
object OrderedByCheck extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case ordered: OrderedBy =>
      whyNot(ordered).foreach(why => throw new IllegalArgumentException(why))
    case _ => ()
  }

  private def whyNot(ordered: OrderedBy): Option[String] = {
    val order = ordered.order.child
    val claim = s"The order ${ordered.order.sql} that is declared of ${ordered.relation}"
    if (ordered.isStreaming)
      Some(s"$claim is not supported yet on a stream: use a watermark, or join it in batch.")
    else if (ordered.frontier.isDefined && !hasDifference(order.dataType))
      Some(
        s"$claim has a slack, but values of the type ${order.dataType.sql} have no difference: " +
          "declare it without one."
      )
    else None
  }

  private def hasDifference(dataType: DataType): Boolean = dataType match {
    case _: NumericType | DateType | TimestampType | TimestampNTZType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }
}
