// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.physical.{Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AQEUtils

import plait.spark.exec.SymmetricHashJoinExec

/** Notes on the joins of a plan how a `repartition` at its top wants the rows dealt. Where a join deals
  * them so anyway, Spark takes the repartition out; a split of the join would then undo it.
  */
object RepartitionAbove extends Rule[SparkPlan] {
  private val Wanted: TreeNodeTag[Distribution] = TreeNodeTag("plait.repartitionAbove")

  override def apply(plan: SparkPlan): SparkPlan = {
    for (wanted <- AQEUtils.getRequiredDistribution(plan))
      plan.foreach {
        case join: SymmetricHashJoinExec => join.setTagValue(Wanted, wanted)
        case _ =>
      }
    plan
  }

  def of(join: SymmetricHashJoinExec): Distribution =
    join.getTagValue(Wanted).getOrElse(UnspecifiedDistribution)
}
