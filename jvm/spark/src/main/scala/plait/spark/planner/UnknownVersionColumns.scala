// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.quoteIfNeeded

import plait.spark.Spelling
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
    val columns = table.child.output.map(c => quoteIfNeeded(c.name))
    val there = s"the columns ${columns.mkString(", ")}"
    val asked = Spelling.asked(name.nameParts.last, columns)
    // A hint stands above the name of a table, and what the table says directly on it.
    val sentence = TableProperties.of(table.child) match {
      case Some((called, _)) =>
        s"The table property ${saidBy(name, table).property} of $called names ${name.name}, which is no column of it: " +
          s"it has $there."
      case None =>
        s"The hint ${saidBy(name, table).hint} names ${name.name}, which is neither a relation of its query nor a " +
          s"column: ${relationOf(table)}, with $there."
    }
    new IllegalArgumentException(s"$sentence$asked")
  }

  private def relationOf(table: VersionTable): String = {
    val relations = HintedRelations.all(table.child)
    if (relations.isEmpty) "the rows have no name"
    else s"the relation is ${relations.mkString(", ")}"
  }

  /** By what a column may be named. */
  final private case class SaidBy(hint: String, property: String)

  private def saidBy(name: UnresolvedAttribute, table: VersionTable): SaidBy = {
    def isIn(part: Iterable[Expression]) = part.exists(_.exists(_ == name))
    if (isIn(table.keys)) SaidBy("VERSION_KEY", "plait.version-key")
    else if (isIn(table.deleted)) SaidBy("VERSION_DELETED", "plait.version-deleted")
    else if (isIn(table.since)) SaidBy("VERSIONED", "plait.version-time")
    else SaidBy("VERSIONED", "plait.version-order")
  }
}
