// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.{CTE, JOIN}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.plan.DeclaredBy

/** The orders that tables declare of themselves, where they are joined:
  *
  * {{{
  * ALTER TABLE t SET TBLPROPERTIES ('plait.ordered-by' = 'seq DESC', 'plait.ordered-slack' = '100')
  * }}}
  *
  * A hint on the table in a query goes before its properties. A table that is not joined is not
  * checked, nor one that is cached ([[CachedTables]]). Of a query in WITH that is joined the table is checked
  * wherever else the query is used.
  */
object OrderedTables extends Rule[LogicalPlan] {
  private val OrderedBy = "plait.ordered-by"
  private val Slack = "plait.ordered-slack"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!PlaitConf(SQLConf.get).enabled) plan
    else {
      val claimed = plan.resolveOperatorsUpWithPruning(_.containsPattern(JOIN)) {
        case join: Join if join.childrenResolved => join.mapChildren(declared)
      }
      if (claimed.containsPattern(CTE)) inNamedQueries(claimed) else claimed
    }

  /** The same in the queries of WITH that are joined: there a side ends in a reference. */
  private def inNamedQueries(plan: LogicalPlan): LogicalPlan = {
    val definitions =
      plan.collectWithSubqueries { case named: CTERelationDef => named.id -> named.child }.toMap
    @tailrec def withTheirs(joined: Set[Long]): Set[Long] = {
      val all = joined ++ joined.flatMap(definitions.get).flatMap(referred)
      if (all == joined) joined else withTheirs(all)
    }
    val sides = plan.collectWithSubqueries {
      case join: Join if join.childrenResolved => join.children
    }.flatten
    val joined = withTheirs(sides.flatMap(referred).toSet)
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      plan.transformUpWithSubqueries {
        case named: CTERelationDef if joined(named.id) => named.mapChildren(declared)
      }
    }
  }

  private def referred(plan: LogicalPlan): Seq[Long] = plan match {
    case reference: CTERelationRef => Seq(reference.cteId)
    case within: WithCTE => referred(within.plan)
    case same if hasRowsOfItsChild(same) => same.children.flatMap(referred)
    case _ => Nil
  }

  private def hasRowsOfItsChild(plan: LogicalPlan): Boolean = plan match {
    case _: SubqueryAlias | _: View | _: Project | _: Filter | _: ResolvedHint |
        _: EventTimeWatermark =>
      true
    case _ => false
  }

  /** A relation under this side of a join, with its claim. */
  private def declared(plan: LogicalPlan): LogicalPlan = plan match {
    case same if hasRowsOfItsChild(same) => same.mapChildren(declared)
    case relation =>
      TableProperties.of(relation).fold(plan) { case (table, property) =>
        claimed(relation, table, property)
      }
  }

  private def claimed(
      relation: LogicalPlan,
      table: String,
      property: String => Option[String]
  ): LogicalPlan = property(OrderedBy).fold(relation) { text =>
    val order = DeclaredOrder
      .order(text)
      .getOrElse(throw TableProperties.wrong(table, OrderedBy, text, "one order, as 'seq DESC'"))
    order.references.collect { case column: UnresolvedAttribute => column }.foreach { column =>
      if (relation.resolve(column.nameParts, conf.resolver).isEmpty)
        throw TableProperties.wrong(
          table,
          OrderedBy,
          text,
          s"an order of its columns ${relation.output.map(_.name).mkString(", ")}"
        )
    }
    val slack = property(Slack).map { text =>
      DeclaredOrder
        .slack(text)
        .getOrElse(
          throw TableProperties
            .wrong(
              table,
              Slack,
              text,
              "a number or an interval that is not negative, as '100' or 'INTERVAL 5 SECONDS'"
            )
        )
    }
    DeclaredOrder(order, slack).on(relation, table).copy(declared = DeclaredBy.Table)
  }
}
