// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.WindowEdge

/** Which columns of a plan are edges of windows, by whatever name and however far above the call.
  *
  * {{{
  * SELECT k, window_end AS e FROM TUMBLE(...) GROUP BY k, window_end         e ends a window of TUMBLE
  * SELECT window_end FROM TUMBLE(...) UNION ALL SELECT window_end FROM HOP(...)      of no one shape
  * }}}
  *
  * @param whole
  *   where the queries of WITH stand that a part of it refers to
  */
final private class WindowEdges(whole: LogicalPlan) {
  private lazy val queries: Map[Long, LogicalPlan] =
    whole.collectWithSubqueries { case query: CTERelationDef => query.id -> query.child }.toMap

  def of(plan: LogicalPlan): Map[ExprId, WindowEdge] = plan match {
    case union: Union =>
      val sides = union.children.map(side => side.output.zip(side.output.map(edgeIn(side))))
      union.output
        .zip(sides.map(_.map(_._2)).transpose)
        .flatMap { case (column, edges) =>
          edges.reduce((a, b) => if (isOneShape(a, b)) a else None).map(column.exprId -> _)
        }
        .toMap
    case ref: CTERelationRef if !ref.recursive =>
      queries.get(ref.cteId).fold(Map.empty[ExprId, WindowEdge]) { query =>
        val edges = of(query)
        ref.output
          .zip(query.output)
          .flatMap { case (column, from) =>
            edges.get(from.exprId).map(column.exprId -> _)
          }
          .toMap
      }
    case node =>
      val below = node.children.flatMap(of).toMap
      below ++ node.expressions.flatMap {
        case column: Alias => edge(column.child, below).map(column.exprId -> _)
        case _ => None
      }
  }

  private def edgeIn(side: LogicalPlan): Attribute => Option[WindowEdge] = {
    val edges = of(side)
    column => edges.get(column.exprId)
  }

  private def isOneShape(a: Option[WindowEdge], b: Option[WindowEdge]): Boolean =
    a.map(e => e.end -> e.shape) == b.map(e => e.end -> e.shape)

  private def edge(e: Expression, below: Map[ExprId, WindowEdge]): Option[WindowEdge] = e match {
    case edge: WindowEdge => Some(edge)
    case column: Attribute => below.get(column.exprId)
    case Cast(column: Attribute, to, _, _) if column.dataType == to => below.get(column.exprId)
    case _ => None
  }
}

private object WindowEdges {

  /** Almost no plan has windows. */
  def areIn(plan: LogicalPlan): Boolean = plan.exists { node =>
    node.expressions.exists(_.exists {
      case _: WindowEdge => true
      case query: SubqueryExpression => areIn(query.plan)
      case _ => false
    })
  }
}
