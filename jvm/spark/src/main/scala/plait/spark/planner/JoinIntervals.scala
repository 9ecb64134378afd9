// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import plait.Side
import plait.order.{Direction, IntervalChoice, SolvedChoice, SolvedReach, WhyNot}
import plait.spark.translate.IntervalExpressions

/** The intervals by which the rows of one side, *fixed*, are found for a row of the other, *seeking*
  * one: from formulas where the comparisons give them, else solved for each seeking row.
  *
  * {{{
  * l.x BETWEEN r.lo AND r.hi, r fixed       fixed [lo, hi]       seeking [x, x], by (x >= lo) AND (x <= hi)
  * }}}
  */
final case class JoinIntervals(
    fixed: IntervalExpressions,
    seeking: IntervalExpressions,
    shape: JoinIntervals.Shape,
    cost: JoinIntervals.Cost,
    fixedText: String,
    seekingText: String,
    comparisons: String
)

object JoinIntervals {

  /** What the interval of a fixed row is. */
  sealed trait Shape

  /** One order value. */
  case object Point extends Shape

  /** Two values of one type. */
  case object Stretch extends Shape

  /** Two values that are not compared with each other. */
  case object Mixed extends Shape

  /** What a seeking row's interval takes. */
  sealed trait Cost
  case object Computed extends Cost
  case object Solved extends Cost

  def of(condition: JoinCondition, fixed: Side): Either[WhyNot, JoinIntervals] =
    byFormulas(condition, fixed).left.flatMap(why => bySolving(condition, fixed).toRight(why))

  private def byFormulas(condition: JoinCondition, fixed: Side): Either[WhyNot, JoinIntervals] =
    IntervalChoice.best(condition.across, fixed).map { choice =>
      val bounds = choice.high.bounds ++ choice.low.bounds
      val conjuncts = PruningText.conjuncts(bounds, condition.conjunctOf)
      JoinIntervals(
        IntervalExpressions.collected(choice, condition.translation),
        IntervalExpressions.streamed(choice, condition.translation),
        if (choice.isPoint) Point
        else if (choice.low.order.domain == choice.high.order.domain) Stretch
        else Mixed,
        Computed,
        s"[${choice.low.order}, ${choice.high.order}]",
        PruningText.interval(choice.high.bounds, choice.low.bounds),
        conjuncts
      )
    }

  private def bySolving(condition: JoinCondition, fixed: Side): Option[JoinIntervals] = {
    val term = condition.termFor(fixed.other)
    val own = term.largestOver(fixed.other)(condition.whole.source(_).isDefined).toIndexedSeq
    SolvedChoice
      .tried(condition.sortable(fixed))
      .map(order => new SolvedReach(term, fixed.other, order, own))
      .find(isTwoSided)
      .map { reach =>
        JoinIntervals(
          IntervalExpressions.collected(reach, condition.whole),
          IntervalExpressions.streamed(reach, condition.whole),
          Point,
          Solved,
          s"[${reach.order}, ${reach.order}]",
          "what is solved for each row",
          condition.expression.toString
        )
      }
  }

  private def isTwoSided(reach: SolvedReach): Boolean =
    !reach.mayMatchNull && reach.follows(Direction.Ascending) && reach.follows(Direction.Descending)
}
