// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import plait.spark.PlaitConf
import plait.spark.exec.OrderedByExec
import plait.spark.plan.OrderedBy
import plait.spark.stream.{OrderedRows, StreamOrderExec}

/** Plans a declared order as its check, or, of a stream, as what notes how far its rows have come: there the
  * join checks them, once they are dealt. With `spark.plait.enabled=false` no batch is checked; a stream goes
  * on as its checkpoint began.
  */
object OrderedByStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case ordered @ OrderedBy(order, frontier, relation, child, _) =>
      val conf = PlaitConf(SQLConf.get)
      if (ordered.isStreaming) {
        val rank = DeclaredFrontiers.rankOf(ordered)
        Seq(rank.fold(planLater(child)) { r =>
          StreamOrderExec(OrderedRows(order, frontier, relation), r, planLater(child))
        })
      } else if (!conf.enabled) Seq(planLater(child))
      else
        Seq(OrderedByExec(order, frontier, conf.orderViolation, planLater(child))(relation))
    case _ => Nil
  }
}
