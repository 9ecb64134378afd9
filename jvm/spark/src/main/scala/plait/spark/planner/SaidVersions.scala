// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import plait.spark.plan.{OrderedBy, VersionTable}

/** What is said of the versions of a join's right side, by hints on it, by hints on the DataFrame or in the
  * view that it is, and by its table: in the columns of the right side.
  *
  * {{{
  * VersionTable(since valid_from, Project(currency AS c, valid_from, VersionTable(keys currency, rates)))
  *     since valid_from, keys c
  * }}}
  *
  * What stands further out goes before. A column that the right side no longer has keeps its old name, for
  * the error that must follow.
  */
object SaidVersions {

  def areResolved(right: LogicalPlan): Boolean = nodes(right).forall(_.resolved)

  def of(right: LogicalPlan): VersionTable =
    nodes(right).foldLeft(VersionTable(None, Nil, Nil, None, right))(_.orElse(_))

  private def nodes(plan: LogicalPlan): Seq[VersionTable] = plan match {
    case table: VersionTable => table +: nodes(table.child)
    case Project(columns, child) => nodes(child).map(renamed(columns))
    case _ if keepsRows(plan) => plan.children.flatMap(nodes)
    case _ => Nil
  }

  /** Are the rows of this plan rows of its one child, with its columns? */
  private[planner] def keepsRows(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: ResolvedHint | _: View | _: Filter | _: OrderedBy => true
    case _: Sort | _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail | _: Sample => true
    case _: RepartitionOperation | _: RebalancePartitions | _: Distinct | _: Deduplicate => true
    case _: CollectMetrics | _: Window | _: Generate => true
    case _ => false
  }

  private def renamed(columns: Seq[NamedExpression])(said: VersionTable): VersionTable = {
    val above = AttributeMap(columns.flatMap(column => below(column).map(_ -> column.toAttribute)))
    said
      .transformExpressions { case column: Attribute => above.getOrElse(column, column) }
      .asInstanceOf[VersionTable]
  }

  /** The column that this one is, by another name. A view casts its columns to the types that they had. */
  private def below(column: Expression): Option[Attribute] = column match {
    case Alias(child, _) => below(child)
    case Cast(child: Attribute, to, _, _) if child.dataType == to => Some(child)
    case same: Attribute => Some(same)
    case _ => None
  }
}
