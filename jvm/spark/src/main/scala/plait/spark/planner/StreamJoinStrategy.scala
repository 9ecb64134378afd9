// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.{
  JoinConditionSplitPredicates,
  JoinStateWatermarkPredicates
}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import plait.spark.plan.StreamJoin
import plait.spark.stream.{StreamSideExec, StreamSymmetricHashJoinExec}
import plait.{BySide, Side}

/** Plans a join of streams. Rows are dealt by key; without a key all are in one task. */
object StreamJoinStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: StreamJoin => Seq(planned(join))
    case _ => Nil
  }

  private def planned(join: StreamJoin): SparkPlan = {
    val toPlan = JoinToPlan.of(join.join)
    val children = BySide(planLater(join.left), planLater(join.right))
    val keys: BySide[Seq[Expression]] =
      if (toPlan.hasKeys) toPlan.keys else BySide.make((_: Side) => Seq(Literal(0L)))
    new StreamSymmetricHashJoinExec(
      keys.left,
      keys.right,
      StreamSymmetricHashJoinExec.SparksType,
      JoinConditionSplitPredicates(toPlan.residual, children.left, children.right),
      None,
      None,
      None,
      JoinStateWatermarkPredicates(),
      StreamSymmetricHashJoinExec.SparksFormat,
      StreamSideExec(children.left),
      StreamSideExec(children.right),
      None,
      new StreamPruning(toPlan).spec,
      BySide(join.left.output, join.right.output)
    )
  }
}
