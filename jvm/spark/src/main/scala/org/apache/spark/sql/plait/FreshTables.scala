// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.plait

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.datasources.v2.V2TableRefreshUtil

/** A plan with the tables of its catalogs loaded anew, each with the columns that it had. Spark does so for
  * tables that have versions before every query; asked for all tables, its function shows only in its
  * package.
  */
object FreshTables {
  def of(session: SparkSession, plan: LogicalPlan): LogicalPlan =
    V2TableRefreshUtil.refresh(session, plan)
}
