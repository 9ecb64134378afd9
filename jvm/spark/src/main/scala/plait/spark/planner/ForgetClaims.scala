// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import plait.spark.plan.{StreamClaim, VersionTable}

/** Takes out what was said of versions, before a plan is cached, found in the cache or optimized: every join
  * that asks has its answer then, and a DataFrame that is hinted has kept the hint until its last use. And what
  * is said of a stream where there is none.
  */
object ForgetClaims extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = {
    if (plan.resolved) CheckpointedVersions.ran(plan)
    plan.transformUpWithSubqueries {
      case table: VersionTable => table.child
      case claim: StreamClaim if !claim.isStreaming => claim.child
    }
  }
}
