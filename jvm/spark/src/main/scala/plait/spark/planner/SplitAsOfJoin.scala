// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, RepartitionByExpression}
import org.apache.spark.sql.catalyst.plans.{FullOuter, RightOuter}
import org.apache.spark.sql.catalyst.rules.Rule

import plait.order.WhyNot
import plait.spark.plan.AsOfJoin
import plait.spark.side.{MatchScan, PairConditions}
import plait.spark.translate.RangeOf
import plait.spark.{JoinStrategyChoice, PlaitConf}
import plait.{BySide, Side}

/** Cuts an as-of join without an equality into ranges of its match value, one for each task:
  *
  * {{{
  * l.ts >= r.ts, cuts 10:00 and 11:00           l 10:30 and r 10:05 go to partition 1, r 09:58 to 0
  * l.ts <= r.ts                                 the same with the line turned round: r 11:05 goes to 0
  * }}}
  *
  * Every row has one range. What a range must know of the others, its node finds out
  * ([[plait.spark.exec.MatchRanges]]): a row of each side, as long as no condition refuses a pair. The
  * cuts are those of both sides together, in a subquery that Spark runs once and shares. They are sampled
  * from the tables that the match values come from ([[SampledRows]]), so that a join below is not run twice;
  * a side whose values are of no table has no part in them.
  *
  * It is a rule of the optimizer and not a strategy, so that adaptive execution knows both shuffles for
  * nodes of the plan.
  */
object SplitAsOfJoin extends Rule[LogicalPlan] with PredicateHelper {

  /** So many are soon joined in one task. */
  private val FewRows = BigInt(200000)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val settings = PlaitConf(conf)
    if (!settings.enabled) plan
    else
      plan.transformUp {
        case join: AsOfJoin if isAsked(join) => orInOneTask(join, settings)
      }
  }

  private def isAsked(join: AsOfJoin): Boolean =
    join.ranges == Left(WhyNot.NotAsked()) && AsOfKeys.of(join).keys.left.isEmpty

  private def orInOneTask(join: AsOfJoin, settings: PlaitConf): LogicalPlan =
    try whyNot(join, settings).fold(split(join))(why => join.copy(ranges = Left(why)))
    catch {
      case PlanningFailure(e) if !settings.failsOnPlanningError =>
        logWarning("Plait failed to split an as-of join and runs it in one task", e)
        join.copy(ranges = Left(WhyNot.PlanningFailed(e.toString)))
    }

  private def whyNot(join: AsOfJoin, settings: PlaitConf): Option[WhyNot] = {
    val outputs = BySide(join.left.outputSet, join.right.outputSet)
    val conditions =
      PairConditions.of(AsOfKeys.of(join).rest, join.best.within, join.check, outputs)
    val ofPair = conditions.accepts.orElse(conditions.holds.filter(_ => keepsRight(join)))
    val isAlways = settings.joinStrategy == JoinStrategyChoice.Always
    val rows = for (l <- JoinToPlan.rows(join.left); r <- JoinToPlan.rows(join.right)) yield l + r
    Option
      .when(join.isStreaming)(WhyNot.StreamingInput())
      .orElse(ofPair.map(c => WhyNot.RefusesPairs(c.sql)))
      .orElse(Option.when(!isRanked(join))(WhyNot.UnrankedMatch(join.best.right.dataType.sql)))
      .orElse(
        Option.when(join.best.left.references.isEmpty)(WhyNot.OneMatchValue(join.best.left.sql))
      )
      .orElse(RangeSplit.whyNotShared)
      .orElse(rows.filter(_ < FewRows && !isAlways).map(n => WhyNot.FewRows(n.toLong)))
      .orElse(Option.when(samples(join).isEmpty && !isAlways) {
        WhyNot.CostlyCuts(s"${join.best.left.sql} and ${join.best.right.sql}")
      })
  }

  /** What the cuts are taken from: of a side whose values would have to be computed first, nothing. */
  private def samples(join: AsOfJoin): Seq[SampledRows] = {
    val values = ranks(join)
    Seq(SampledRows.of(join.left, values.left), SampledRows.of(join.right, values.right)).flatten
  }

  private def ranks(join: AsOfJoin): BySide[Expression] =
    BySide(join.best.left, join.best.right).map(scan(join).rangeRank(_).get)

  private def keepsRight(join: AsOfJoin) =
    join.joinType == RightOuter || join.joinType == FullOuter

  private def isRanked(join: AsOfJoin): Boolean = scan(join).rangeRank(join.best.left).isDefined

  private def scan(join: AsOfJoin) = MatchScan(join.best.direction, join.best.right.dataType)

  private def split(join: AsOfJoin): LogicalPlan = {
    val sides = BySide(join.left, join.right)
    val values = ranks(join)
    val ranges = math.max(conf.numShufflePartitions, 2)
    val asked = samples(join) match {
      case Nil => Side.both.map(side => SampledRows(sides(side), values(side)))
      case some => some
    }
    val cuts = RangeCuts.of(
      asked.map(sample =>
        RangeCuts.Ranked(sample.rows, sample.value, JoinToPlan.rows(sample.rows))
      ),
      ranges
    )
    val dealt = BySide.make { side =>
      val number = Alias(Coalesce(Seq(RangeOf(values(side), cuts), Literal(0))), "range")()
      val numbered = Project(sides(side).output :+ number, sides(side))
      RepartitionByExpression(
        Seq(DirectShufflePartitionID(number.toAttribute)),
        numbered,
        Some(ranges)
      )
    }
    val ranged = join.copy(left = dealt.left, right = dealt.right, ranges = Right(ranges))
    require(ranged.resolved, s"not resolved: $ranged")
    Project(join.output, ranged)
  }
}
