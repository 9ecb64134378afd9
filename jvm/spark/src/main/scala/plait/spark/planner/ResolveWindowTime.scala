// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.{Star, UnresolvedAttribute, UnresolvedHaving}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project, Sort}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.WindowEdge

/** Gives `window_time` ([[LastMillisecond]]) wherever `window_end` is.
  *
  * {{{
  * SELECT window_time FROM TUMBLE(...)        SELECT the last millisecond before window_end AS window_time FROM TUMBLE(...)
  * }}}
  *
  * It is no column that `*` selects, and a column of the user's own that has this name comes first.
  */
object ResolveWindowTime extends Rule[LogicalPlan] {
  private val Name = "window_time"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!WindowEdges.areIn(plan)) plan
    else {
      val edges = new WindowEdges(plan)
      plan.resolveOperatorsUp {
        case groups: Aggregate
            if !groups.resolved && groups.childrenResolved && isGroupedBy(groups) =>
          grouped(groups, edges)
        case node if !node.resolved && node.childrenResolved && node.expressions.exists(asks) =>
          node.transformExpressions {
            case name: UnresolvedAttribute if isAsked(name) =>
              found(name, scopes(node), edges).getOrElse(name)
            case query: SubqueryExpression => fromOutside(query, node.children, edges)
          }
      }
    }

  /** Spark finds a column that rows are grouped by wherever HAVING and ORDER BY name it, an expression not
    * everywhere. A star would take it up: it has to be known what the star stands for.
    */
  private def isGroupedBy(groups: Aggregate): Boolean =
    groups.groupingExpressions.exists(asks) && !groups.aggregateExpressions.exists {
      _.exists(_.isInstanceOf[Star])
    }

  private def grouped(groups: Aggregate, edges: WindowEdges): LogicalPlan = {
    val names = groups.groupingExpressions.flatMap(_.collect {
      case name: UnresolvedAttribute if isAsked(name) => name
    })
    val ends = names.flatMap(windowEnd(_, groups.children, edges)).distinctBy(_._1.exprId)
    if (ends.isEmpty) groups
    else {
      val times = ends.map { case (end, edge) => windowTime(end, edge) }
      groups.copy(child = Project(groups.child.output ++ times, groups.child))
    }
  }

  private def asks(e: Expression): Boolean = e.exists {
    case query: SubqueryExpression => query.plan.exists(_.expressions.exists(asks))
    case other => isAsked(other)
  }

  private def isAsked(e: Expression): Boolean = e match {
    case UnresolvedAttribute(parts) => parts.last.equalsIgnoreCase(Name)
    case _ => false
  }

  /** What it is in the first of the scopes that knows of it. Of what is not in the first, Spark is asked for the end
    * of the window: it knows what groups pass on.
    */
  private def found(
      name: UnresolvedAttribute,
      scopes: Seq[Seq[LogicalPlan]],
      edges: WindowEdges
  ): Option[Expression] = {
    val without = scopes.takeWhile(scope => !has(scope, name.nameParts))
    without.zipWithIndex.flatMap { case (scope, i) =>
      windowEnd(name, scope, edges).map { case (end, edge) =>
        windowTime(if (i == 0) end else UnresolvedAttribute(endOf(name)), edge)
      }
    }.headOption
  }

  private def has(scope: Seq[LogicalPlan], name: Seq[String]): Boolean =
    scope.flatMap(_.output).exists(isNamed(_, name))

  /** ORDER BY and HAVING may also name what the SELECT below them leaves out. */
  private def scopes(node: LogicalPlan): Seq[Seq[LogicalPlan]] = node match {
    case Sort(_, _, having @ Filter(_, select: Aggregate), _) => Seq(Seq(having), select.children)
    case Sort(_, _, select @ Project(_, Filter(_, groups: Aggregate)), _) =>
      Seq(Seq(select), groups.children)
    case Sort(_, _, select @ (_: Project | _: Aggregate), _) => Seq(Seq(select), select.children)
    case UnresolvedHaving(_, select: Aggregate) => Seq(Seq(select), select.children)
    case _ => Seq(node.children)
  }

  /** A subquery names the columns around it by their relation; Spark looks up what it is given here. */
  private def fromOutside(
      query: SubqueryExpression,
      around: Seq[LogicalPlan],
      edges: WindowEdges
  ): Expression =
    if (!asks(query)) query
    else
      query.withNewPlan(query.plan.transformAllExpressions {
        case name: UnresolvedAttribute if isAsked(name) && name.nameParts.size > 1 =>
          windowEnd(name, around, edges).fold[Expression](name) { case (_, edge) =>
            windowTime(UnresolvedAttribute(endOf(name)), edge)
          }
      })

  private def windowEnd(
      name: UnresolvedAttribute,
      scope: Seq[LogicalPlan],
      edges: WindowEdges
  ): Option[(NamedExpression, WindowEdge)] =
    if (has(scope, name.nameParts)) None
    else
      scope.flatMap(_.output).filter(isNamed(_, endOf(name))) match {
        case Seq(end) =>
          scope
            .flatMap(edges.of)
            .toMap
            .get(end.exprId)
            .filter(_.end == WindowEdge.Last)
            .map(end -> _)
        case _ => None
      }

  /** Columns only, no fields: Spark says of `x.y` that a number x has none. */
  private def isNamed(column: Attribute, name: Seq[String]): Boolean = {
    val parts = (column.qualifier :+ column.name).takeRight(name.size)
    parts.size == name.size && parts.zip(name).forall { case (a, b) => conf.resolver(a, b) }
  }

  private def endOf(name: UnresolvedAttribute): Seq[String] =
    name.nameParts.init :+ WindowEdge.Last.name

  private def windowTime(end: NamedExpression, edge: WindowEdge): NamedExpression = {
    val qualifier = if (end.resolved) end.qualifier else Seq.empty
    Alias(LastMillisecond.of(end, edge.timeType), Name)(qualifier = qualifier)
  }
}
