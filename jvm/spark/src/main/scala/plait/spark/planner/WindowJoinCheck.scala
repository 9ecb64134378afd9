// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{ClauseError, WindowEdge}

/** Refuses a window join over windows of different shapes: that some of them begin or end together says
  * nothing, and is rarely meant.
  *
  * {{{
  * TUMBLE(TABLE l, DESCRIPTOR(ts), INTERVAL 5 SECONDS) JOIN HOP(TABLE r, ...) ON l.window_start = r.window_start
  * }}}
  *
  * An equality of two edges counts in ON and in WHERE, in EXISTS and IN. A cast of an edge is no edge.
  */
object WindowJoinCheck extends (LogicalPlan => Unit) with PredicateHelper {
  private type Edges = Map[ExprId, WindowEdge]

  override def apply(plan: LogicalPlan): Unit =
    if (WindowEdges.areIn(plan)) check(plan, new WindowEdges(plan), Map.empty)

  private def check(plan: LogicalPlan, edges: WindowEdges, outer: Edges): Unit = plan.foreach {
    node =>
      lazy val here = outer ++ node.children.flatMap(edges.of)
      val conditions = node match {
        case join: Join => join.condition.toSeq
        case filter: Filter => Seq(filter.condition)
        case _ => Seq.empty
      }
      for (Equality(a, b) <- conditions.flatMap(splitConjunctivePredicates))
        compare(a, here, b, here)
      node.expressions.foreach(_.foreach {
        case InSubquery(values, query) =>
          val inside = edges.of(query.plan)
          for ((a, b) <- values.zip(query.plan.output)) compare(a, here, b, inside)
        case query: SubqueryExpression => check(query.plan, edges, here)
        case _ => ()
      })
  }

  private def compare(a: Expression, inA: Edges, b: Expression, inB: Edges): Unit =
    for {
      left <- column(a).flatMap(c => inA.get(c.exprId))
      right <- column(b).flatMap(c => inB.get(c.exprId))
      if left.shape != right.shape
    } throw ClauseError(
      s"A window join needs windows of one shape on both sides: ${text(a)} is of ${left.shape.sql}, " +
        s"${text(b)} of ${right.shape.sql}",
      a.origin
    )

  private def column(e: Expression): Option[NamedExpression] = e match {
    case OuterReference(outer) => Some(outer)
    case attribute: Attribute => Some(attribute)
    case _ => None
  }

  private def text(e: Expression): String = column(e).fold(e.sql)(_.sql)

  private object Equality {
    def unapply(e: Expression): Option[(Expression, Expression)] = e match {
      case EqualTo(a, b) => Some((a, b))
      case EqualNullSafe(a, b) => Some((a, b))
      case _ => None
    }
  }
}
