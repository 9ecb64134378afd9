// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  Expression,
  ExpressionWithRandomSeed
}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

import plait.spark.plan.OrderedBy
import plait.spark.{OrderViolation, PlaitConf}

/** Refuses a declared order that could not be checked: by a value that is never the same, as rand() is; with a slack
  * where values have no difference; or of a stream whose rows are to be kept though they come against it.
  */
object OrderedByCheck extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = {
    plan.foreach {
      case ordered: OrderedBy => refuse(ordered, whyNot(ordered))
      case _ => ()
    }
    plan match {
      case write: WriteToStream => write.inputQuery.foreach(ofStream)
      case _ => ()
    }
  }

  private def ofStream(plan: LogicalPlan): Unit = plan match {
    case ordered: OrderedBy if ordered.isStreaming =>
      if (PlaitConf(SQLConf.get).orderViolationInStreams eq OrderViolation.Keep)
        refuse(
          ordered,
          Some(
            s"cannot be run with ${PlaitConf.OnViolation}=keep on a stream, because rows that a late one might match " +
              "are gone: set it to drop, which leaves late rows out and counts them, or to fail"
          )
        )
    case _ => ()
  }

  private def refuse(ordered: OrderedBy, why: Option[String]): Unit = why.foreach { sentence =>
    throw new IllegalArgumentException(
      s"The order ${asWritten(ordered).sql} that is declared of ${ordered.relation} $sentence."
    )
  }

  private def whyNot(ordered: OrderedBy): Option[String] = {
    val dataType = ordered.order.child.dataType
    if (asWritten(ordered).exists(_.isInstanceOf[ExpressionWithRandomSeed]))
      Some("has other values each time it is computed: declare an order by columns")
    else if (ordered.order.child.references.isEmpty)
      Some(
        "names no column, so that rows come in it however they come: declare an order by columns"
      )
    else
      Option.when(ordered.frontier.isDefined && !hasDifference(dataType)) {
        s"has a slack, but values of the type ${dataType.sql} have no difference: declare it without one"
      }
  }

  /** Spark has put what has other values each time below the claim, under a name of its own. (Numbers of rows and
    * partitions are there, too, and an order for all that.)
    */
  private def asWritten(ordered: OrderedBy): Expression = ordered.child match {
    case Project(list, _) =>
      val below = AttributeMap(list.collect {
        case alias: Alias if !alias.deterministic => (alias.toAttribute: Attribute) -> alias.child
      })
      ordered.order.transform { case attribute: Attribute => below.getOrElse(attribute, attribute) }
    case _ => ordered.order
  }

  private def hasDifference(dataType: DataType): Boolean = dataType match {
    case _: NumericType | DateType | TimestampType | TimestampNTZType => true
    case _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _ => false
  }
}
