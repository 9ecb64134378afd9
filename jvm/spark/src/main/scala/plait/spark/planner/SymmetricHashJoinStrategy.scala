// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.ExtractSingleColumnNullAwareAntiJoin
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import plait.order.WhyNot
import plait.spark.plan.PlaitJoinHint
import plait.spark.side.JoinOutput
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

/** Plans a batch join with a comparison between the sides: by [[PartitionedPlan]] or
  * [[CollectedPlan]], as its [[JoinMode]] is. On demand one with an equality and without a
  * comparison too. It leaves every other plan to Spark, with a [[WhyNot]] for a join.
  *
  * Under adaptive execution Spark calls it again for the rest of a running plan, whose children may
  * be finished stages.
  */
object SymmetricHashJoinStrategy extends SparkStrategy with Logging {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case join: Join =>
      attempt(join) match {
        case Right(node) => Seq(node)
        case Left(why) =>
          logDebug(s"Plait leaves a join to Spark: $why")
          leave(join, why)
          Nil
      }
    case _ => Nil
  }

  /** Why a join was left to Spark, for the node that Spark planned. */
  def whyLeft(node: SparkPlan): Option[WhyNot] =
    node.logicalLink.flatMap(_.getTagValue(Reason)).map(_.last)

  /** On the logical join that Spark's node is linked to. Adaptive execution copies the join with its
    * tags, asks again, and keeps the node where the answer is the same: so the copies share it.
    */
  private val Reason: TreeNodeTag[Reasons] = TreeNodeTag[Reasons]("plait.whyNot")
  final private class Reasons(@volatile var last: WhyNot)

  private def leave(join: Join, why: WhyNot): Unit = join.getTagValue(Reason) match {
    case Some(_) if why.isInstanceOf[WhyNot.BroadcastAlready] => ()
    case Some(reasons) => reasons.last = why
    case None => join.setTagValue(Reason, new Reasons(why))
  }

  /** Planning never fails a query that Spark can run. */
  private def attempt(join: Join): Either[WhyNot, SparkPlan] = {
    val conf = PlaitConf(SQLConf.get)
    val failsOnError = conf.failsOnPlanningError
    // A wrong setting is the user's error, and no failure of planning.
    val _ = (conf.joinStrategy, conf.mostFooters, conf.radixJoin, conf.index, conf.orderViolation)
    if (!conf.enabled) Left(WhyNot.TurnedOff(s"${PlaitConf.Enabled}=false"))
    else
      try {
        val toPlan = JoinToPlan.of(join)
        planned(toPlan, toPlan.choice(conf))
      } catch {
        case PlanningFailure(e) if !failsOnError =>
          logWarning("Plait failed to plan a join and leaves it to Spark", e)
          Left(WhyNot.PlanningFailed(e.toString))
      }
  }

  private def planned(
      join: JoinToPlan,
      choice: JoinStrategyChoice
  ): Either[WhyNot, SparkPlan] = {
    def children = BySide(planLater(join.join.left), planLater(join.join.right))
    for {
      _ <- whyNever(join, choice).toLeft(())
      mode <- JoinMode.of(join, choice, SQLConf.get)
      node <- mode match {
        case JoinMode.Partitioned => PartitionedPlan.of(join, choice, children)
        case JoinMode.Gathered => PartitionedPlan.gathered(join, children)
        case JoinMode.Collected(side, partners, pays) =>
          CollectedPlan.of(join, side, partners, pays, children)
      }
    } yield node
  }

  /** What rules it out whatever the mode, the first of these. */
  private def whyNever(join: JoinToPlan, choice: JoinStrategyChoice): Option[WhyNot] = {
    def unless(holds: Boolean)(why: => WhyNot) = if (holds) None else Some(why)
    unless(!join.join.isStreaming)(WhyNot.StreamingInput())
      .orElse(unless(JoinOutput.roles(join.joinType).isDefined) {
        WhyNot.JoinTypeNotSupported(join.typeName)
      })
      .orElse(nullAware(join.join))
      .orElse(hintedOtherwise(join))
      .orElse(unless(choice != JoinStrategyChoice.Never) {
        WhyNot.TurnedOff(s"${PlaitConf.JoinStrategy}=${JoinStrategyChoice.Never.name}")
      })
      .orElse(unhashable(Side.both.flatMap(join.keys(_))))
      .orElse(
        join.residual.filterNot(_.deterministic).map(c => WhyNot.NotDeterministic(c.sql))
      )
  }

  /** Spark always runs it as a broadcast join that knows of NULL. */
  private def nullAware(join: Join): Option[WhyNot] = join match {
    case ExtractSingleColumnNullAwareAntiJoin(_, _) => Some(WhyNot.NullAware())
    case _ => None
  }

  /** A user who names a join strategy gets it; `BROADCAST` says which side is to be collected.
    * Adaptive execution adds hints of its own, which say what to avoid (`NO_BROADCAST_HASH`); those
    * are not the user's word. Where `spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold` is set,
    * it may also add a `SHUFFLE_HASH` that cannot be told from a user's; the join then goes to Spark
    * half-way.
    */
  private def hintedOtherwise(join: JoinToPlan): Option[WhyNot] =
    join.strategies.collectFirst {
      case strategy @ (SHUFFLE_MERGE | SHUFFLE_HASH | SHUFFLE_REPLICATE_NL) =>
        WhyNot.HintedOtherwise(strategy.displayName)
      case PlaitJoinHint.NO_SYMMETRIC_HASH =>
        WhyNot.HintedOtherwise(PlaitJoinHint.NO_SYMMETRIC_HASH.displayName)
    }

  private def unhashable(keys: Seq[Expression]): Option[WhyNot] =
    keys.find(key => !UnsafeRowUtils.isBinaryStable(key.dataType)).map { key =>
      WhyNot.KeyNotHashable(key.sql, key.dataType.sql)
    }
}
