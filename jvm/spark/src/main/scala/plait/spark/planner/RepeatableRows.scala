// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.expressions.{Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}

import plait.spark.plan.OrderedBy
import plait.spark.{OrderViolation, PlaitConf}

/** Whether a plan has the same rows each time that it is run within a query, in whatever sequence they come.
  *
  * {{{
  * SELECT lo, hi FROM files WHERE lo > 3                  it has
  * SELECT k, min(t), max(t) FROM files GROUP BY k         it has
  * SELECT lo, hi FROM files LIMIT 10                      it has not: which rows come first?
  * SELECT k, sum(a_double) FROM files GROUP BY k          it has not: sums are rounded as the rows come
  * a table of a data base, rows that an RDD computes      it has not, for all that is known
  * }}}
  *
  * What is not known to be repeatable is not. A function that a user has declared as deterministic is taken for
  * such, as Spark does.
  *
  * What it does not promise: that nobody adds files to a table, or writes them anew, while the query runs.
  */
object RepeatableRows {

  /** A part of the plan that may have other rows the next time. */
  def whyNot(plan: LogicalPlan): Option[String] =
    plan.children
      .flatMap(whyNot)
      .headOption
      .orElse(plan.expressions.flatMap(whyNotComputed).headOption)
      .orElse(whyNotItself(plan))

  private def whyNotItself(plan: LogicalPlan): Option[String] = plan match {
    case _: LocalRelation | _: Range | _: OneRowRelation => None
    case LogicalRelation(_: HadoopFsRelation, _, _, _, _) => None
    case cached: InMemoryRelation => whyNot(cached.cacheBuilder.logicalPlan)
    case rows: LogicalRDD if rows.rdd.isCheckpointed => None
    case claim: OrderedBy => Option.when(dropsRows(claim))("rows that ORDERED drops")
    case _: Project | _: Filter | _: SubqueryAlias | _: View | _: Join | _: Union | _: Sort |
        _: RepartitionOperation | _: RebalancePartitions | _: Generate | _: Expand =>
      None
    case group: Aggregate => whyNotGrouped(group.groupingExpressions)
    case distinct: Distinct => whyNotGrouped(distinct.output)
    case _: LocalLimit | _: GlobalLimit | _: Offset | _: Tail => Some("LIMIT")
    case relation: LogicalRelation => Some(relation.relation.getClass.getSimpleName)
    case other => Some(other.nodeName)
  }

  /** Which of the rows, hangs on which come first. */
  private def dropsRows(claim: OrderedBy): Boolean =
    PlaitConf(claim.conf).orderViolation == OrderViolation.Drop

  private def whyNotComputed(e: Expression): Option[String] =
    if (!e.deterministic) Some(e.sql)
    else
      e.collect {
        case subquery: SubqueryExpression => whyNot(subquery.plan)
        case aggregate: AggregateExpression => whyNotAggregated(aggregate.aggregateFunction)
      }.flatten
        .headOption

  /** Exact, and the same however the rows come. */
  private def whyNotAggregated(function: AggregateFunction): Option[String] = function match {
    case _: Min | _: Max | _: Count => None
    case _: Sum | _: Average if !isRounded(function.dataType) => None
    case other => Some(other.sql)
  }

  private def isRounded(dataType: DataType): Boolean =
    dataType == DoubleType || dataType == FloatType

  /** Of values that are equal but not the same, a group has any. */
  private def whyNotGrouped(by: Seq[Expression]): Option[String] =
    by.find(e => !UnsafeRowUtils.isBinaryStable(e.dataType)).map(e => s"groups of ${e.sql}")
}
