// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{LocalTableScanExec, SparkPlan, SparkStrategy}

import plait.spark.plan.IdleStream

/** Keeps the sources of joins of streams that have nothing for a micro-batch from the optimizer. */
object KeepIdleStreams extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.isStreaming || !StreamJoins.settled(plan).exists(StreamJoins.typeOf(_).isDefined))
      plan
    else
      plan.transformUp { case idle @ LocalRelation(_, Nil, true, _) =>
        IdleStream(idle)
      }
}

/** Plans them as Spark plans a relation without rows. */
object IdleStreamStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case IdleStream(relation) =>
      Seq(LocalTableScanExec(relation.output, Nil, relation.stream))
    case _ => Nil
  }
}
