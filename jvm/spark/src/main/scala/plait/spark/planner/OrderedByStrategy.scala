// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.exec.OrderedByExec
import plait.spark.plan.OrderedBy

/** Plans a declared order as its check. With `spark.plait.enabled=false` nothing is checked. */
object OrderedByStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case OrderedBy(order, frontier, relation, child) =>
      val conf = PlaitConf(SQLConf.get)
      if (!conf.enabled) Seq(planLater(child))
      else
        Seq(OrderedByExec(order, frontier, conf.orderViolation, planLater(child))(relation))
    case _ => Nil
  }
}
