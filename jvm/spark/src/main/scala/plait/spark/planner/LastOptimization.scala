// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** A rule for the end of the optimizer. Extensions cannot ask for that place; a session can be given rules for
  * it, once it is there, which is when the rules of an extension are built.
  */
object LastOptimization {

  /** What an extension injects to have the rule added to each session, once. */
  def add(rule: Rule[LogicalPlan])(session: SparkSession): Rule[LogicalPlan] = {
    val experimental = session.experimental
    if (!experimental.extraOptimizations.contains(rule))
      experimental.extraOptimizations = experimental.extraOptimizations :+ rule
    Nothing
  }

  /** What stands in the place where the rule cannot be. */
  private object Nothing extends Rule[LogicalPlan] {
    override def apply(plan: LogicalPlan): LogicalPlan = plan
  }
}
