// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan._

/** Brings the last instants of windows up to where their edges are known, through the nodes between.
  *
  * {{{
  * Project k, window_end AS e                           Project k, window_end AS e, window_last
  *   Filter v > 0                                         Filter v > 0
  *     Project k, v, window_end                     ->      Project k, v, window_end, window_last
  *       Project k, v, floor(ts) + 5 AS window_end, ...       Project k, v, floor(ts) + 5 AS window_end, ...
  * }}}
  *
  *   1. The nodes give out the columns that they gave out before and that one, which may be there already.
  *   1. In each row it is that of the same row's edge: NULL where an outer join has made the edge NULL.
  *   1. It stays an event time all the way, or there is none: a watermark declared anew ends it.
  *   1. There is none of a query of WITH, through joins of streams that Spark runs, and through what makes other
  *      rows of its rows.
  */
private object WindowLasts {

  /** @param edge
    *   a column of the plan
    * @return
    *   None: it is no edge of windows over an event time, and not their `window_time`
    */
  def above(plan: LogicalPlan, edge: Attribute): Option[(LogicalPlan, Attribute)] =
    lifted(plan, edge).flatMap { case (carrying, last) =>
      carrying.output
        .find(_.exprId == last.exprId)
        .filter(EventTimes.isTime)
        .map(carrying -> _)
    }

  private def lifted(plan: LogicalPlan, edge: Attribute): Option[(LogicalPlan, Attribute)] =
    plan match {
      case project: Project => throughProject(project, edge)
      case aggregate: Aggregate => throughAggregate(aggregate, edge)
      case carrier: StreamJoinCarrier =>
        throughJoin(carrier.join, edge).map { case (join, last) =>
          (carrier.copy(child = join.copy(joinType = Inner)), last)
        }
      case join: Join if !StreamJoins.isOfStreams(join) || StreamJoins.isTaken(join) =>
        throughJoin(join, edge)
      case union: Union => throughUnion(union, edge)
      case _: SubqueryAlias | _: Filter | _: ResolvedHint | _: EventTimeWatermark | _: Claim |
          _: Generate | _: RepartitionOperation | _: CollectMetrics | _: View =>
        throughOne(plan, edge)
      case _ => None
    }

  private def throughOne(plan: LogicalPlan, edge: Attribute) = plan.children match {
    case Seq(child) if child.outputSet.contains(edge) =>
      above(child, edge).map { case (carrying, last) =>
        (plan.withNewChildren(Seq(carrying)), last)
      }
    case _ => None
  }

  private def throughProject(project: Project, edge: Attribute) =
    source(project.projectList, edge).flatMap {
      case made: WindowEdge => lastIn(project.projectList, made).map(project -> _.toAttribute)
      case time @ LastMillisecond(end) =>
        above(project.child, end).map { case (child, last) =>
          val ofTime = lastOfTime(project.projectList, time, last)
          // The facts of the one are in terms of the other.
          val both = withLast(withLast(project.projectList, last), ofTime)
          (Project(both, child), ofTime.toAttribute)
        }
      case column: Attribute =>
        above(project.child, column).map { case (child, last) =>
          (Project(withLast(project.projectList, last), child), last)
        }
      case _ => None
    }

  /** Rows of a group are of one window, if the group is one of its last instant. */
  private def throughAggregate(aggregate: Aggregate, edge: Attribute) =
    source(aggregate.aggregateExpressions, edge).flatMap {
      case column: Attribute if aggregate.groupingExpressions.exists(_.semanticEquals(column)) =>
        above(aggregate.child, column).collect {
          case (child, last) if aggregate.groupingExpressions.exists(_.semanticEquals(last)) =>
            val columns = withLast(aggregate.aggregateExpressions, last)
            (aggregate.copy(aggregateExpressions = columns, child = child), last)
        }
      case _ => None
    }

  private def throughJoin(join: Join, edge: Attribute): Option[(Join, Attribute)] = {
    val isInOutput = join.joinType match {
      case LeftExistence(_) => join.left.outputSet.contains(edge)
      case _ => true
    }
    if (!isInOutput) None
    else if (join.left.outputSet.contains(edge))
      above(join.left, edge).map { case (left, last) => (join.copy(left = left), last) }
    else above(join.right, edge).map { case (right, last) => (join.copy(right = right), last) }
  }

  private def throughUnion(union: Union, edge: Attribute) = {
    val at = union.output.indexWhere(_.exprId == edge.exprId)
    if (at < 0 || areEdgesOfSeveralShapes(union, at)) None else throughBranches(union, at)
  }

  /** Of windows that begin together the last instants differ if their shapes do. A `window_time` is no edge: of that the
    * last instant follows whatever the shape.
    */
  private def areEdgesOfSeveralShapes(union: Union, at: Int): Boolean = {
    val edges = new WindowEdges(union)
    def isEdge(plan: LogicalPlan) = edges.of(plan).contains(plan.output(at).exprId)
    union.children.exists(isEdge) && !isEdge(union)
  }

  private def throughBranches(union: Union, at: Int) = {
    val branches = union.children.map { child =>
      above(child, child.output(at)).map { case (carrying, last) =>
        Project(child.output.filterNot(_.exprId == last.exprId) :+ last, carrying)
      }
    }
    if (branches.exists(_.isEmpty)) None
    else {
      val carrying = union.copy(children = branches.flatten)
      Some((carrying, carrying.output.last))
    }
  }

  private def source(columns: Seq[NamedExpression], edge: Attribute): Option[Expression] =
    columns.find(_.exprId == edge.exprId).map {
      case Alias(Cast(column: Attribute, to, _, _), _) if column.dataType == to => column
      case Alias(value, _) => value
      case column => column
    }

  private def lastIn(columns: Seq[NamedExpression], edge: WindowEdge): Option[Alias] = {
    val lasts = columns.collect { case a @ Alias(last: WindowLast, _) => last.of -> a }.toMap
    lasts.get(edge.end).orElse(lasts.get(WindowEdge.Last))
  }

  /** The same column as before, if this was asked before. */
  private def lastOfTime(
      columns: Seq[NamedExpression],
      time: Expression,
      last: Attribute
  ): NamedExpression = {
    val made = LastMillisecond.lastInstant(time, last)
    columns
      .collectFirst { case a @ Alias(known: WindowLast, _) if known.semanticEquals(made) => a }
      .getOrElse(made.columnOf(last))
  }

  private def withLast(columns: Seq[NamedExpression], last: NamedExpression) =
    if (columns.exists(_.exprId == last.exprId)) columns else columns :+ last
}
