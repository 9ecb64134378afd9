// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.{TempResolvedColumn, UnresolvedHaving}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.WindowEdge

/** Lets a group of `window_end` tell its `window_time`, which follows from it: a column that is not grouped by
  * would be an error.
  *
  * {{{
  * SELECT window_end, window_time, count(*) FROM TUMBLE(...) GROUP BY window_end
  * SELECT k FROM TUMBLE(...) GROUP BY k, window_end HAVING window_time > ... ORDER BY window_time
  * }}}
  *
  * The end of a `window_time` is the column `window_end` of the same relation, if it has one of that name.
  */
object GroupedWindowTime extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!WindowEdges.areIn(plan)) plan
    else {
      val edges = new WindowEdges(plan)
      plan.resolveOperatorsUpWithNewOutput {
        case a: Aggregate if a.childrenResolved && a.expressions.forall(_.resolved) =>
          val told = a.copy(aggregateExpressions =
            a.aggregateExpressions.map(column => named(column, ungrouped(a, edges)(column)))
          )
          told -> a.output.zip(told.output).filter { case (was, is) => was.exprId != is.exprId }
        case having @ UnresolvedHaving(condition, a: Aggregate) if a.childrenResolved =>
          having.copy(havingCondition = above(a, edges)(condition)) -> Nil
        case having @ Filter(condition, a: Aggregate) if a.childrenResolved =>
          having.copy(condition = above(a, edges)(condition)) -> Nil
        case sort @ Sort(order, _, a: Aggregate, _) if a.childrenResolved =>
          sort.copy(order = order.map(above(a, edges)(_).asInstanceOf[SortOrder])) -> Nil
      }
    }

  private def named(was: NamedExpression, is: Expression): NamedExpression = is match {
    case same: NamedExpression => same
    case value => Alias(value, was.name)(qualifier = was.qualifier)
  }

  /** What stands outside of the functions of an aggregate, and in none of its groups. */
  private def ungrouped(a: Aggregate, edges: WindowEdges)(e: Expression): Expression = e match {
    case _: AggregateExpression => e
    case group if a.groupingExpressions.exists(_.semanticEquals(group)) => group
    case time: Attribute => endOf(time, a, edges).fold[Expression](time)(timeOf)
    case other => other.mapChildren(ungrouped(a, edges))
  }

  /** The same of a column below the aggregate, which Spark has found there for HAVING and ORDER BY. */
  private def above(a: Aggregate, edges: WindowEdges)(e: Expression): Expression = e match {
    case _: AggregateExpression => e
    case found @ TempResolvedColumn(time: Attribute, _, _)
        if !a.groupingExpressions.exists(_.semanticEquals(time)) =>
      endOf(time, a, edges).fold[Expression](found) { case (end, edge) =>
        LastMillisecond.of(TempResolvedColumn(end, end.qualifier :+ end.name), edge.timeType)
      }
    case other => other.mapChildren(above(a, edges))
  }

  private def timeOf(end: (Attribute, WindowEdge)): Expression =
    LastMillisecond.of(end._1, end._2.timeType)

  /** The group by whose `window_end` the time follows. */
  private def endOf(
      time: Attribute,
      a: Aggregate,
      edges: WindowEdges
  ): Option[(Attribute, WindowEdge)] = {
    lazy val known = edges.of(a.child)
    def isEnd(column: Attribute) =
      conf.resolver(column.name, WindowEdge.Last.name) && column.qualifier == time.qualifier
    if (!conf.resolver(time.name, WindowEdge.Time.name)) None
    else
      for {
        edge <- known.get(time.exprId) if edge.end == WindowEdge.Time
        end <- onlyOne(grouped(a).output.filter(isEnd))
        of <- known.get(end.exprId) if of.end == WindowEdge.Last && of.shape == edge.shape
        group <- a.groupingExpressions.collectFirst {
          case column: Attribute if origin(column, a.child).semanticEquals(end) => column
        }
      } yield (group, edge)
  }

  private def onlyOne(columns: Seq[Attribute]): Option[Attribute] = columns match {
    case Seq(one) => Some(one)
    case _ => None
  }

  /** What was grouped: for ROLLUP, CUBE and GROUPING SETS Spark makes each row several. */
  private def grouped(a: Aggregate): LogicalPlan = a.child match {
    case Expand(_, _, Project(_, below)) => below
    case below => below
  }

  /** The column of which ROLLUP and the like have made a group, NULL in some of the rows. */
  private def origin(group: Attribute, plan: LogicalPlan): Attribute = plan match {
    case Expand(rows, output, Project(made, _)) =>
      val at = output.indexWhere(_.exprId == group.exprId)
      val below = rows.map(_.lift(at)).collectFirst { case Some(column: Attribute) => column }
      below
        .flatMap(column => made.find(_.exprId == column.exprId))
        .collect { case Alias(column: Attribute, _) => column }
        .getOrElse(group)
    case _ => group
  }
}
