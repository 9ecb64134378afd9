// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.quoteIfNeeded

import plait.spark.plan.VersionTable

/** Refuses what names versions by columns that their relation does not have, once it is known which it has.
  * What a hint names first may have been meant for a relation: so those are listed, too.
  */
object UnknownVersionColumns extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      case table: VersionTable if table.childrenResolved && !table.resolved =>
        table.expressions.flatMap(unknown).headOption.foreach(name => throw wrong(name, table))
      case _ => ()
    }
    plan
  }

  private def unknown(e: Expression): Option[UnresolvedAttribute] = e.collectFirst {
    case name: UnresolvedAttribute => name
  }

  private def wrong(name: UnresolvedAttribute, table: VersionTable) = {
    val relations = HintedRelations.all(table.child)
    val columns = table.child.output.map(c => quoteIfNeeded(c.name)).mkString(", ")
    val relation =
      if (relations.isEmpty) "the rows have no name"
      else s"the relation is ${relations.mkString(", ")}"
    new IllegalArgumentException(
      s"${said(name, table)} names ${name.name}, which is neither a relation of its query nor a column: " +
        s"$relation, with the columns $columns."
    )
  }

  private def said(name: UnresolvedAttribute, table: VersionTable): String =
    if (table.keys.exists(_.exists(_ == name))) "VERSION_KEY or plait.version-key"
    else if (table.deleted.exists(_.exists(_ == name))) "VERSION_DELETED or plait.version-deleted"
    else "VERSIONED, plait.version-time or plait.version-order"
}
