// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}

/** Runs a plan; it stands in this package because Spark shows `ofRows` only there. */
object PlanRun {
  def apply(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)
}
