// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{AsOfJoin, Claim}

/** Rows from which a sample of a value can be taken without computing what lies between: as near to the
  * tables as the value's columns are.
  *
  * {{{
  * of l.ts in (l ASOF JOIN a) ASOF JOIN b           l itself
  * of d in SELECT date(ts) AS d FROM l JOIN a       l, and date(ts)
  * of m in SELECT max(ts) AS m ... GROUP BY k       none: m is of no table
  * }}}
  *
  * Not promised: that the sampled values are those of the rows. A join may leave rows out, and repeat them. It
  * is enough for cuts, which may lie anywhere.
  *
  * @param value
  *   in the columns of `rows`
  */
final case class SampledRows(rows: LogicalPlan, value: Expression)

object SampledRows {
  def of(rows: LogicalPlan, value: Expression): Option[SampledRows] = rows match {
    case _ if !isCheap(value) => None
    case cheap if isCheap(cheap) => Some(SampledRows(cheap, value))
    case Project(columns, child) => below(columns, child, value)
    case Aggregate(_, columns, child, _) => below(columns, child, value)
    case _: Filter | _: Sort | _: RepartitionOperation | _: RebalancePartitions | _: Window |
        _: Generate | _: SubqueryAlias | _: Claim | _: Distinct | _: Deduplicate | _: Join |
        _: AsOfJoin =>
      rows.children.filter(child => isOf(value, child)) match {
        case Seq(only) => of(only, value)
        case _ => None
      }
    case _ => None
  }

  private def below(
      columns: Seq[NamedExpression],
      child: LogicalPlan,
      value: Expression
  ): Option[SampledRows] = {
    val made = AttributeMap(columns.collect { case alias: Alias =>
      alias.toAttribute -> alias.child
    })
    val written = value.transform { case column: Attribute => made.getOrElse(column, column) }
    if (isOf(written, child)) of(child, written) else None
  }

  private def isOf(value: Expression, rows: LogicalPlan): Boolean =
    value.references.nonEmpty && value.references.subsetOf(rows.outputSet) &&
      !value.exists(_.isInstanceOf[aggregate.AggregateExpression])

  /** No more than reading a table, or what is kept in memory. */
  private def isCheap(plan: LogicalPlan): Boolean =
    plan.expressions.forall(isCheap) && plan.children.forall(isCheap) && (plan match {
      case _: LeafNode | _: Project | _: Filter | _: Sample | _: Union => true
      case _: SubqueryAlias | _: Claim | _: LocalLimit => true
      case _ => false
    })

  private def isCheap(e: Expression): Boolean = !e.exists {
    case _: PythonFuncExpression | _: SubqueryExpression => true
    case _ => false
  }
}
