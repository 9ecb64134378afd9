// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.ExprId
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import plait.spark.RecentlyUsed
import plait.spark.plan.VersionTable

/** Of which queries something was said of their versions when they ran: of a checkpoint Spark keeps rows and
  * columns, and nothing else of the query.
  *
  * {{{
  * h = rates.hint("VERSION_DELETED", ...);  c = h.localCheckpoint()      c has the columns of h: VERSION_DELETED is lost
  * }}}
  *
  * A query is known by the numbers of its columns; of those that have the same ones the last that ran counts.
  * No more than a thousand are known.
  */
object CheckpointedVersions {
  private val said = new RecentlyUsed[Seq[ExprId], Seq[String]](most = 1000)

  def ran(plan: LogicalPlan): Unit = {
    val hasHints = plan.exists(_.isInstanceOf[VersionTable])
    val parts = if (hasHints) SaidVersions.of(plan).parts else Nil
    if (parts.nonEmpty) said.put(columns(plan), parts)
    else if (!said.isEmpty) said.remove(columns(plan))
  }

  /** The hints that were lost with the query of these rows. */
  def lost(rows: LogicalPlan): Seq[String] = said.get(columns(rows)).getOrElse(Nil)

  private def columns(plan: LogicalPlan): Seq[ExprId] = plan.output.map(_.exprId)
}
