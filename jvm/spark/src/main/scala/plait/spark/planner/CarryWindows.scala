// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{
  PlaitJoinHint,
  StreamAsOfCarrier,
  StreamJoinCarrier,
  WindowEdge,
  WindowLast
}

/** Lets the windows of streams carry their watermark on. `window_start` and `window_end` are of the wall clock
  * and no instants, so Spark and we go by the last instant of the window, [[WindowLast]], which follows from
  * either:
  *
  * {{{
  * GROUP BY k, window_start, window_end          GROUP BY k, window_start, window_end, window_last
  * l JOIN r ON l.k = r.k                         l JOIN r ON l.window_last = r.window_last AND l.k = r.k
  *   AND l.window_end = r.window_end               AND l.window_end = r.window_end
  * }}}
  *
  *   1. Groups and pairs are the same: what is added is equal where the edges are, or where the `window_time` is.
  *   1. It is done where nothing else carries a watermark: a group that has an event time goes by that.
  *   1. Joins that Spark runs are left alone, and a query of WITH that is named in several places.
  */
object CarryWindows extends PredicateHelper {

  /** Of a query that starts, under the settings that count for it. */
  def apply(plan: LogicalPlan): LogicalPlan =
    if (plan.isStreaming && WindowEdges.areIn(plan)) carried(inlined(plan)) else plan

  /** Columns are brought up through a query of WITH where it stands, if that is in one place of its own statement. */
  private def inlined(plan: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUp {
        case statement: WithCTE if isInOnePlace(statement) =>
          InlineCTE(alwaysInline = true)(unhinted(statement))
      }
    }

  /** A hint in a query of WITH says nothing of the join that reads it, as in Spark. */
  private def unhinted(statement: WithCTE): WithCTE = statement.copy(cteDefs =
    statement.cteDefs.map(query =>
      query.copy(child =
        Seq(PlaitJoinHint.SYMMETRIC_HASH, PlaitJoinHint.NO_SYMMETRIC_HASH)
          .foldLeft(query.child)(StreamJoins.unhinted)
      )
    )
  )

  private def isInOnePlace(statement: WithCTE): Boolean = {
    val refs = statement.collectWithSubqueries { case ref: CTERelationRef => ref.cteId }
    val here = statement.cteDefs.map(_.id)
    refs.distinct.size == refs.size && refs.forall(here.contains)
  }

  private def carried(plan: LogicalPlan): LogicalPlan = plan match {
    case carrier: StreamJoinCarrier =>
      val join = carrier.join.mapChildren(carried).asInstanceOf[Join]
      def hidden(join: Join) = carrier.copy(child = join.copy(joinType = Inner))
      compared(join).fold[LogicalPlan](hidden(join))(j => Project(carrier.output, hidden(j)))
    // It holds a join of which it goes by its own rules.
    case carrier: StreamAsOfCarrier => carrier.copy(child = carrier.child.mapChildren(carried))
    case _ =>
      plan.mapChildren(carried) match {
        case join: Join if StreamJoins.isTaken(join) =>
          compared(join).fold[LogicalPlan](join)(Project(join.output, _))
        case aggregate: Aggregate if aggregate.isStreaming =>
          ofAggregate(aggregate)
        case other => other
      }
  }

  private def compared(join: Join): Option[Join] = {
    val conjuncts = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    val found =
      if (conjuncts.exists(comparesLasts)) Nil
      else pairs(join, conjuncts).flatMap { case (l, r) => compared(join, l, r) }
    found.headOption
  }

  private def compared(join: Join, l: Attribute, r: Attribute): Option[Join] = for {
    (left, leftLast) <- WindowLasts.above(join.left, l)
    (right, rightLast) <- WindowLasts.above(join.right, r)
    if leftLast.exprId != rightLast.exprId
  } yield join.copy(
    left = left,
    right = right,
    condition = join.condition.map(And(EqualTo(leftLast, rightLast), _))
  )

  /** Edges that are compared, ends before starts. */
  private def pairs(join: Join, conjuncts: Seq[Expression]): Seq[(Attribute, Attribute)] = {
    lazy val edges = new WindowEdges(join)
    lazy val (left, right) = (edges.of(join.left), edges.of(join.right))
    conjuncts
      .collect { case EqualTo(a: Attribute, b: Attribute) =>
        (a, b)
      }
      .map { case (a, b) => if (join.left.outputSet.contains(a)) (a, b) else (b, a) }
      .flatMap { case (a, b) =>
        for {
          l <- left.get(a.exprId)
          r <- right.get(b.exprId) if l.end == r.end && l.shape == r.shape
        } yield (l.end, (a, b))
      }
      .sortBy { case (end, _) => endsFirst(end) }
      .map(_._2)
  }

  private def endsFirst(end: WindowEdge.End): Int = if (end == WindowEdge.Last) 0 else 1

  /** Is it such a comparison as this rule adds? */
  def comparesLasts(conjunct: Expression): Boolean = conjunct match {
    case EqualTo(l: Attribute, r: Attribute) => WindowLast.isColumn(l) && WindowLast.isColumn(r)
    case _ => false
  }

  private def ofAggregate(aggregate: Aggregate): LogicalPlan =
    if (aggregate.groupingExpressions.exists(EventTimes.isTime)) aggregate
    else {
      val edges = new WindowEdges(aggregate).of(aggregate.child)
      aggregate.groupingExpressions
        .collect { case column: Attribute => column }
        .sortBy(column => edges.get(column.exprId).fold(2)(edge => endsFirst(edge.end)))
        .flatMap(WindowLasts.above(aggregate.child, _))
        .headOption
        .fold[LogicalPlan](aggregate) { case (child, last) =>
          aggregate.copy(
            groupingExpressions = aggregate.groupingExpressions :+ last,
            child = child
          )
        }
    }
}
