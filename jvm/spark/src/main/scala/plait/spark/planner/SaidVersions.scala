// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.LogicalRDD

import plait.spark.plan.{LostVersions, NamedVersions, OrderedBy, StreamClaim, VersionTable}

/** What is said of the versions of a join's right side, by hints on it, by hints on the DataFrame or in the
  * view or the query of WITH that it is, and by its table: in the columns of the right side.
  *
  * {{{
  * VersionTable(since valid_from, Project(currency AS c, valid_from, VersionTable(keys currency, rates)))
  *     since valid_from, keys c
  * VersionTable(since a, t) UNION ALL VersionTable(since b, u)           since a, where both stand in one column
  * }}}
  *
  * What stands further out goes before. A column that the right side no longer has keeps its old name, for
  * the error that must follow. What was said of rows from which others are made (by a join, GROUP BY, a
  * UNION of which it was not said of all) is lost.
  *
  * @param query
  *   a query of WITH by its number
  */
final class SaidVersions(query: Long => Option[LogicalPlan]) {

  def of(rows: LogicalPlan): VersionTable = rows match {
    case table: VersionTable => table.orElse(of(table.child)).copy(child = rows)
    case Project(columns, child) => renamed(columns)(of(child)).copy(child = rows)
    case NamedVersions(child) => of(child).copy(child = rows)
    case named: CTERelationRef => ofQuery(named)
    case WithCTE(plan, queries) => within(queries).of(plan).copy(child = rows)
    case union: Union => ofAll(union)
    case _ if SaidVersions.keepsRows(rows) => of(rows.children.head).copy(child = rows)
    case checkpoint: LogicalRDD =>
      val parts = CheckpointedVersions.lost(checkpoint).map(LostVersions(_, "a checkpoint"))
      VersionTable.none(rows).copy(lost = parts)
    case other => lost(other, other.collect { case table: VersionTable => table }, Nil)
  }

  private def within(queries: Seq[CTERelationDef]): SaidVersions = {
    val known = queries.map(q => q.id -> q.child).toMap
    new SaidVersions(id => known.get(id).orElse(query(id)))
  }

  private def ofQuery(named: CTERelationRef): VersionTable =
    query(named.cteId).fold(VersionTable.none(named)) { plan =>
      of(VersionTables.declared(plan)).copy(child = named).in(plan.output.zip(named.output))
    }

  /** What is said of the rows of all its parts alike. */
  private def ofAll(union: Union): VersionTable = {
    val parts = union.children.map(part => of(part).in(part.output.zip(union.output)))
    val isAlike = parts.tail.forall { part =>
      val (one, other) = (parts.head.expressions, part.expressions)
      part.parts == parts.head.parts && one.size == other.size &&
      one.zip(other).forall { case (a, b) => a.semanticEquals(b) }
    }
    if (isAlike) parts.head.copy(lost = parts.flatMap(_.lost).distinct, child = union)
    else lost(union, parts, parts.flatMap(_.lost))
  }

  private def lost(
      rows: LogicalPlan,
      below: Seq[VersionTable],
      others: Seq[LostVersions]
  ): VersionTable = {
    val said = below.flatMap(_.parts).map(LostVersions(_, SaidVersions.nameOf(rows)))
    VersionTable.none(rows).copy(lost = (said ++ others).distinct)
  }

  private def renamed(columns: Seq[NamedExpression])(said: VersionTable): VersionTable =
    said.in(columns.flatMap(column => below(column).map(_ -> column.toAttribute)))

  /** The column that this one is, by another name. A view casts its columns to the types that they had. */
  private def below(column: Expression): Option[Attribute] = column match {
    case Alias(child, _) => below(child)
    case Cast(child: Attribute, to, _, _) if child.dataType == to => Some(child)
    case same: Attribute => Some(same)
    case _ => None
  }

  implicit private class InColumns(said: VersionTable) {
    def in(columns: Seq[(Attribute, Attribute)]): VersionTable = {
      val above = AttributeMap(columns)
      said
        .transformExpressions { case column: Attribute => above.getOrElse(column, column) }
        .asInstanceOf[VersionTable]
    }
  }
}

object SaidVersions {

  def of(right: LogicalPlan): VersionTable = new SaidVersions(_ => None).of(right)

  /** The plan without what is said of its rows. */
  def forgotten(plan: LogicalPlan): LogicalPlan = plan match {
    case table: VersionTable => forgotten(table.child)
    case _: Project | _: Union => plan.mapChildren(forgotten)
    case WithCTE(inner, queries) => WithCTE(forgotten(inner), queries)
    case _ if keepsRows(plan) => plan.mapChildren(forgotten)
    case other => other
  }

  /** Are the rows of this plan rows of its one child, with its columns? */
  private[planner] def keepsRows(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: ResolvedHint | _: View | _: Filter | _: OrderedBy => true
    case _: StreamClaim => true
    case _: Sort | _: GlobalLimit | _: LocalLimit | _: Offset | _: Tail | _: Sample => true
    case _: RepartitionOperation | _: RebalancePartitions | _: Distinct | _: Deduplicate => true
    case _: CollectMetrics | _: Window | _: Generate => true
    case _ => false
  }

  /** As people say it. */
  private def nameOf(plan: LogicalPlan): String = plan match {
    case _: Union => "a UNION"
    case _: Aggregate => "GROUP BY"
    case _: Except => "EXCEPT"
    case _: Intersect => "INTERSECT"
    case other => s"a ${other.nodeName}"
  }
}
