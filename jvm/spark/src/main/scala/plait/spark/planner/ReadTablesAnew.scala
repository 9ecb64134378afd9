// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.plait.FreshTables
import org.apache.spark.sql.{SparkSession, classic}

import plait.spark.plan.ReadAnew

/** Reads the tables below a [[ReadAnew]] as they are now: tables of catalogs by Spark's own rule, lists of
  * files by [[FreshFiles]]. All else looks for its rows when it runs, or holds them.
  */
final class ReadTablesAnew(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(_.isInstanceOf[ReadAnew])) plan
    else {
      val spark = session.asInstanceOf[classic.SparkSession]
      val tables = plan.transformUp { case ReadAnew(side) => FreshTables.of(spark, side) }
      val files = new FreshFiles(spark, sides(plan).flatMap(relations))
      tables.transformUpWithSubqueries { case relation: LogicalRelation => files.of(relation) }
    }

  private def sides(plan: LogicalPlan): Seq[LogicalPlan] = plan.collect { case side: ReadAnew =>
    side
  }

  private def relations(side: LogicalPlan): Seq[LogicalRelation] =
    side.collectWithSubqueries { case relation: LogicalRelation => relation }
}
