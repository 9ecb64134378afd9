// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.PlaitConf
import plait.spark.plan.{
  AsOfJoin,
  KeptTogether,
  PlaitJoinHint,
  StreamAsOfCarrier,
  StreamJoin,
  StreamJoinCarrier
}

/** Which joins are joins of streams that Plait runs: all whose sides are both streams, unless it is turned
  * off or a hint says otherwise.
  */
object StreamJoins {
  def isTaken(join: Join): Boolean = {
    val hints = strategies(join)
    val wanted = hints.contains(PlaitJoinHint.SYMMETRIC_HASH) ||
      PlaitConf(SQLConf.get).turnedOff.isEmpty
    isOfStreams(join) && wanted && !hints.contains(PlaitJoinHint.NO_SYMMETRIC_HASH)
  }

  /** Why Spark runs a join of streams, for the node that it planned. */
  def whyLeft(node: SparkPlan): Option[WhyNot] =
    node.logicalLink.collect { case join: Join if isOfStreams(join) => join }.flatMap { join =>
      if (strategies(join).contains(PlaitJoinHint.NO_SYMMETRIC_HASH))
        Some(WhyNot.HintedOtherwise(PlaitJoinHint.NO_SYMMETRIC_HASH.displayName))
      else PlaitConf(SQLConf.get).turnedOff.map(WhyNot.TurnedOff(_))
    }

  private def strategies(join: Join) =
    Seq(join.hint.leftHint, join.hint.rightHint).flatten.flatMap(_.strategy)

  def isOfStreams(join: Join): Boolean = join.left.isStreaming && join.right.isStreaming

  /** With this said of who is to run it, whatever was said before. */
  def hinted(join: Join, strategy: JoinStrategyHint): Join = {
    val info = join.hint.leftHint.getOrElse(HintInfo()).copy(strategy = Some(strategy))
    val right =
      join.hint.rightHint.map(h => if (h.strategy.exists(isOurs)) h.copy(strategy = None) else h)
    join.copy(hint = JoinHint(Some(info), right))
  }

  private def isOurs(strategy: JoinStrategyHint): Boolean =
    strategy == PlaitJoinHint.SYMMETRIC_HASH || strategy == PlaitJoinHint.NO_SYMMETRIC_HASH
}

/** Hides joins of streams from Spark's check of what a stream may do. Not one without a condition, as `df.join(other,
  * "k", "left")` makes at first, and asks what columns it has, before it writes the condition.
  */
object CarryStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = OwnEventTimes(plan.resolveOperatorsUp {
    case join @ Join(_, _, joinType, Some(_), _)
        if join.resolved && joinType != Inner && joinType != Cross && StreamJoins.isTaken(join) =>
      writtenOut(StreamJoinCarrier(join.copy(joinType = Inner), joinType))
    case join: AsOfJoin if join.resolved && StreamAsOf.isTaken(join) =>
      writtenOut(StreamAsOfCarrier.of(join))
  })

  private def writtenOut(carrier: UnaryNode): LogicalPlan =
    carrier
      .mapExpressions(SharedExpressions.writtenOut)
      .withNewChildren(Seq(carrier.child.mapExpressions(SharedExpressions.writtenOut)))
}

/** Brings them back as what they are, so that the optimizer may push filters and drop columns. */
object RestoreStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case carrier: StreamAsOfCarrier => carrier.join
    case carrier: StreamJoinCarrier =>
      // That it is ours was decided when it was hidden from Spark's check.
      val join = StreamJoins.hinted(carrier.join, PlaitJoinHint.SYMMETRIC_HASH)
      join.joinType match {
        case LeftExistence(_) => join.copy(left = KeptTogether(join.left))
        case _ => join
      }
  }
}

/** Takes them out of the reach of Spark's strategy, when the optimizer has done all else. */
object TakeStreamJoins extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.transformUp {
    case KeptTogether(child) => child
    case join @ Join(left, right, joinType, condition, hint) if StreamJoins.isTaken(join) =>
      StreamPlanning.of(join)(StreamRanges.of(StreamJoin(left, right, joinType, condition, hint)))
  }
}
