// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.CTE

import plait.spark.plan._

/** Marks the queries of WITH that are looked up `FOR SYSTEM_TIME AS OF`, before anything is known of them:
  *
  * {{{
  * WITH w AS (SELECT /*+ VERSIONED(v, since) */ * FROM v) SELECT ... FROM o JOIN w FOR SYSTEM_TIME AS OF o.t ON ...
  *     Join(o, SubqueryAlias(w, NamedVersions(CTERelationRef)), ..., SystemTime(o.t))
  * }}}
  *
  * Until [[ResolveNamedQueries]] has seen the query itself, Spark takes the join for unresolved.
  */
object MarkNamedQueries extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.containsPattern(CTE)) marked(plan) else plan

  private def marked(plan: LogicalPlan): LogicalPlan =
    plan
      .resolveOperatorsUp {
        case join @ Join(_, right, _, Some(condition), _)
            if condition.exists(_.isInstanceOf[SystemTime]) =>
          join.copy(right = inside(right))
        case using @ UsingMatch(clause, join: Join) if clause.value.isInstanceOf[SystemTime] =>
          using.copy(child = join.copy(right = inside(join.right)))
      }
      .resolveOperatorsUp(NamedQueries.inSubqueries(marked))

  private def inside(right: LogicalPlan): LogicalPlan = right match {
    case named: CTERelationRef if !named.resolved => NamedVersions(named)
    case _: NamedVersions => right
    case unary: UnaryNode => unary.mapChildren(inside)
    case other => other
  }
}

/** Puts what a query of WITH says of its versions where it is looked up. */
object ResolveNamedQueries extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.containsPattern(CTE)) plan
    else {
      val queries = plan.collectWithSubqueries {
        case query: CTERelationDef if query.resolved => query.id -> query.child
      }.toMap
      if (queries.isEmpty) plan else said(plan, queries)
    }

  private def said(plan: LogicalPlan, queries: Map[Long, LogicalPlan]): LogicalPlan =
    plan
      .resolveOperatorsUp {
        case NamedVersions(named: CTERelationRef)
            if named.resolved && queries.contains(named.cteId) =>
          val found = new SaidVersions(queries.get).of(named)
          if (found.parts.isEmpty && found.lost.isEmpty) named else found
      }
      .resolveOperatorsUp(NamedQueries.inSubqueries(said(_, queries)))
}

private object NamedQueries {
  def inSubqueries(
      change: LogicalPlan => LogicalPlan
  ): PartialFunction[LogicalPlan, LogicalPlan] = {
    case plan if plan.expressions.exists(SubqueryExpression.hasSubquery) =>
      plan.transformExpressions { case query: SubqueryExpression =>
        query.withNewPlan(change(query.plan))
      }
  }
}
