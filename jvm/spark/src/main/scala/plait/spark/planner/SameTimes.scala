// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{EqualNullSafe, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** Which event times of a stream are one value under several names: `t2 <=> ts` of `SELECT *, ts AS t2`, since a row
  * without a time has none under either.
  */
private object SameTimes {
  def of(times: Seq[Expression], plan: LogicalPlan): Seq[Expression] =
    times
      .combinations(2)
      .collect { case Seq(a, b) if areOne(a, b, plan) => EqualNullSafe(a, b) }
      .toSeq

  private def areOne(a: Expression, b: Expression, plan: LogicalPlan): Boolean =
    a.semanticEquals(b) || Lineage.below(a, plan).zip(Lineage.below(b, plan)).exists {
      case ((one, child), (other, _)) => areOne(one, other, child)
    }
}
