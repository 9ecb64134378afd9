// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan}
import org.apache.spark.sql.execution.streaming.operators.stateful.join.StreamingSymmetricHashJoinHelper.{
  JoinConditionSplitPredicates,
  JoinStateWatermarkPredicates
}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

import plait.BySide
import plait.spark.plan.{AsOfJoin, StreamAsOfCarrier, StreamJoin}
import plait.spark.stream.{StreamSideExec, StreamSpec, StreamSymmetricHashJoinExec}

/** Plans a join of streams. Rows are dealt by key; without a key all are in one task. */
object StreamJoinStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: StreamJoin =>
      val toPlan = JoinToPlan.of(join.join)
      val columns = BySide(join.left.output, join.right.output)
      Seq(node(join, toPlan.keys, toPlan.residual, StreamPruning.of(toPlan).spec, columns))
    case join: AsOfJoin if StreamAsOf.isOfStreams(join) =>
      val AsOfKeys(keys, rest) = AsOfKeys.of(join)
      val columns =
        BySide(join.left.output, join.right.output.map(StreamAsOfCarrier.withoutEventTime))
      Seq(node(join, keys, rest, StreamAsOf.spec(join), columns))
    case _ => Nil
  }

  private def node(
      join: BinaryNode,
      keys: BySide[Seq[Expression]],
      condition: Option[Expression],
      spec: StreamSpec,
      columns: BySide[Seq[Attribute]]
  ): SparkPlan = {
    val children = BySide(planLater(join.left), planLater(join.right))
    val dealt = if (keys.left.nonEmpty) keys else BySide(OneTask, OneTask)
    new StreamSymmetricHashJoinExec(
      dealt.left,
      dealt.right,
      StreamSymmetricHashJoinExec.SparksType,
      JoinConditionSplitPredicates(condition, children.left, children.right),
      None,
      None,
      None,
      JoinStateWatermarkPredicates(),
      StreamSymmetricHashJoinExec.SparksFormat,
      StreamSideExec(children.left),
      StreamSideExec(children.right),
      None,
      spec,
      columns
    )
  }

  private val OneTask = Seq(Literal(0L))
}
