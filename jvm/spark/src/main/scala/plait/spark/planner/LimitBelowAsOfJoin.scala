// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.catalyst.plans.logical.{LocalLimit, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.AsOfJoin

/** Limits the left rows of a LEFT as-of join whose rows are limited: each comes out once. As Spark's own
  * `LimitPushDown` does of its joins.
  *
  * {{{
  * SELECT * FROM l LEFT ASOF JOIN r ... LIMIT 5        five rows of l are joined
  * }}}
  */
object LimitBelowAsOfJoin extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case limit @ LocalLimit(most, join: AsOfJoin) if isLimitable(join, most) =>
      limit.copy(child = limited(join, most))
    case limit @ LocalLimit(most, select @ Project(_, join: AsOfJoin)) if isLimitable(join, most) =>
      limit.copy(child = select.copy(child = limited(join, most)))
  }

  private def isLimitable(join: AsOfJoin, most: Expression): Boolean =
    join.joinType == LeftOuter && !join.isStreaming && (most.eval() match {
      case most: Int => join.left.maxRowsPerPartition.forall(_ > most)
      case _ => true
    })

  private def limited(join: AsOfJoin, most: Expression): AsOfJoin =
    join.copy(left = LocalLimit(most, join.left))
}
