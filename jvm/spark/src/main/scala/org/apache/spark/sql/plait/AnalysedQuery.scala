// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.{DataFrame, Dataset, SparkSession}

/** The DataFrame of a plan; making it runs the plan if that is a command.
  *
  * It stands in this package because Spark's own way does not show outside of it.
  */
object AnalysedQuery {
  def dataFrame(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)
}
