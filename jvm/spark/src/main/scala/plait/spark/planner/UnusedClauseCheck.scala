// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.Origin

import plait.spark.plan._

/** Refuses a plan in which a clause of ours is left that no join has taken up: what a query says is never
  * passed over in silence. No query that is known of gets here; each has its own sentence before.
  */
object UnusedClauseCheck extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreachWithSubqueries { node =>
    node match {
      case AtSystemTime(time, _) => throw unused(time.value.sql, time.value.origin)
      case UsingMatch(clause, _) => throw unused(clause.value.sql, clause.value.origin)
      case _ => ()
    }
    node.expressions.foreach(_.foreach {
      case clause @ (_: MatchCondition | _: SystemTime) => throw unused(clause.sql, clause.origin)
      case check: AfterChoice => throw unused(check.child.sql, check.child.origin)
      case _ => ()
    })
  }

  private def unused(clause: String, at: Origin) = ClauseError(
    s"$clause belongs to a join, and no join has taken it up: write it behind the right side of a join with ON or USING",
    at
  )
}
