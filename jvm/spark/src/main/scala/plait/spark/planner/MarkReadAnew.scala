// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{AsOfJoin, ReadAnew}

/** Says of the right side of an as-of join with a stream that it is to be read anew, queries in ON that
  * filter it included.
  */
object MarkReadAnew extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case join: AsOfJoin =>
      val right = ReadAnew.beside(join.left, join.right)
      if (right eq join.right) join else join.copy(right = right)
  }
}
