// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import plait.spark.plan.StreamClaim

/** What is said of a stream is no work: the join above has asked by now. */
object StreamClaimStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case claim: StreamClaim => Seq(planLater(claim.child))
    case _ => Nil
  }
}
