// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import plait.spark.plan.{AsOfJoin, ClauseError}

/** Refuses an as-of or temporal join of a stream: it would join each micro-batch for itself, which is not
  * what the query says.
  */
object AsOfJoinCheck extends (LogicalPlan => Unit) {
  override def apply(plan: LogicalPlan): Unit = plan.foreach {
    case join: AsOfJoin if join.isStreaming =>
      throw ClauseError(
        "As-of and temporal joins of streams are not supported yet, because a row would see no more than its own " +
          "micro-batch: join in batch, or in foreachBatch",
        join.origin
      )
    case _ => ()
  }
}
