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
import plait.spark.plan.{AsOfJoin, BoundedStream, StateTtl, StreamJoin}
import plait.spark.stream.{
  MicroBatchSide,
  StreamSideExec,
  StreamSpec,
  StreamSymmetricHashJoinExec,
  Supply
}
import plait.spark.translate.EventTimeColumn

/** Plans a join of streams. Rows are dealt by key; without a key by ranges ([[StreamRanges]]), or all are in one
  * task.
  */
object StreamJoinStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: StreamJoin =>
      val toPlan = JoinToPlan.of(join.join)
      val columns = BySide(join.left.output, join.right.output)
      val spec = StreamPlanning.of(join)(StreamPruning.of(toPlan, join.read).spec)
      if (toPlan.hasKeys) Seq(node(join, toPlan.keys, toPlan.residual, spec, columns))
      else Seq(node(join, ranges(join), toPlan.residual, dealt(spec, join), columns))
    case join: AsOfJoin if StreamAsOf.isOfStreams(join) =>
      val AsOfKeys(keys, rest) = AsOfKeys.of(join)
      val columns =
        BySide(join.left.output, join.right.output.map(EventTimeColumn.unmarked))
      Seq(node(join, keys, rest, StreamPlanning.of(join)(StreamAsOf.spec(join)), columns))
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
    val found = BySide(join.left, join.right).map { side =>
      val supply = if (BoundedStream.isIdle(side)) Supply.Nothing else Supply.Rows
      MicroBatchSide(supply, StateTtl.lifetime(side))
    }
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
      columns,
      found
    )
  }

  private val OneTask = Seq(Literal(0L))

  private def ranges(join: StreamJoin): BySide[Seq[Expression]] =
    join.ranges.fold(BySide.make[Seq[Expression]](_ => Nil))(r => r.columns.map(Seq(_)))

  /** With what is to be said of how rows are dealt. */
  private def dealt(spec: StreamSpec, join: StreamJoin): StreamSpec =
    spec.copy(pruning = BySide.make { side =>
      spec
        .pruning(side)
        .and(join.ranges match {
          case None => "all rows are in one task"
          case Some(ranges) if ranges.home eq side =>
            s"dealt by ranges of the order, ${ranges.width} wide"
          case Some(_) => "dealt to each range that it reaches"
        })
    })
}
