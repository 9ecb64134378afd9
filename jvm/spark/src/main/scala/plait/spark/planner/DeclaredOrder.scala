// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedOrdinal
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, SortOrder}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Sort}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import plait.spark.plan.OrderedBy

/** An order as somebody declares it: an expression, perhaps with a direction, and the most that a row
  * may come behind the greatest before it.
  *
  * {{{
  * 'seq DESC', 100             'ts', 'INTERVAL 5 SECONDS'             '(a + b)', '5 seconds'
  * }}}
  */
final case class DeclaredOrder(order: SortOrder, slack: Option[Expression]) {
  def on(relation: LogicalPlan, name: String): OrderedBy =
    OrderedBy.of(order, slack, name, relation)
}

object DeclaredOrder {

  /** The order that a text says, if it says one. */
  def order(text: String): Option[SortOrder] = orders(text).collect { case Seq(order) => order }

  /** The orders that a text lists: a comma may also stand in a name, a text or a call. The number of a column is the
    * place in a SELECT, which is not there.
    */
  def orders(text: String): Option[Seq[SortOrder]] =
    Try(CatalystSqlParser.parsePlan(s"SELECT 1 ORDER BY $text")).toOption.collect {
      case Sort(orders, true, _: Project, _) if !orders.exists(isPlace) => orders
    }

  private def isPlace(order: SortOrder): Boolean = order.child.isInstanceOf[UnresolvedOrdinal]

  /** A number or an interval, written as one or in a text, that is not negative. */
  def slack(value: Any): Option[Literal] = value match {
    case Literal(text, _: StringType) if text != null => slack(text.toString)
    case text: String => parsed(text).orElse(parsed(s"INTERVAL $text"))
    case literal: Literal if isAmount(literal) => Some(literal)
    case number: java.lang.Number => slack(Literal(number))
    case _ => None
  }

  private def parsed(text: String): Option[Literal] =
    Try(CatalystSqlParser.parseExpression(text)).toOption
      .collect { case literal: Literal =>
        literal
      }
      .flatMap(slack)

  private def isAmount(literal: Literal): Boolean = literal.value match {
    case null => false
    case months: Int if literal.dataType.isInstanceOf[YearMonthIntervalType] => months >= 0
    case micros: Long if literal.dataType.isInstanceOf[DayTimeIntervalType] => micros >= 0
    case number: Number => number.doubleValue >= 0
    case decimal: Decimal => decimal.toBigDecimal.signum >= 0
    case _: CalendarInterval | _ => false
  }
}
