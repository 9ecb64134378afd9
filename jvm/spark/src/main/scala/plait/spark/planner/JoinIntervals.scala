// SPDX-License-Identifier: Apache-2.0
package plait.spark.planner

import org.apache.spark.sql.catalyst.expressions.Expression

import plait.Side
import plait.constraint.Term
import plait.order.{Direction, IntervalChoice, Rank, SolvedChoice, SolvedReach, WhyNot}
import plait.spark.translate.IntervalExpressions

/** The intervals by which the rows of one side, *fixed*, are found for a row of the other, *seeking*
  * one: from formulas where the comparisons give them, else solved for each seeking row.
  *
  * {{{
  * l.x BETWEEN r.lo AND r.hi, r fixed       fixed [lo, hi]       seeking [x, x], by (x >= lo) AND (x <= hi)
  * }}}
  *
  * @param written
  *   the conjuncts of the query that are these comparisons; none where it is the whole condition
  */
final case class JoinIntervals(
    fixed: IntervalExpressions,
    seeking: IntervalExpressions,
    shape: JoinIntervals.Shape,
    cost: JoinIntervals.Cost,
    fixedText: String,
    seekingText: String,
    comparisons: String,
    written: Set[Expression]
)

object JoinIntervals {

  /** What the interval of a fixed row is. */
  sealed trait Shape

  /** One order value. */
  case object Point extends Shape

  /** Two values of one type, or of types whose ranks are compared as they are. */
  case object Stretch extends Shape

  /** Two values that are not compared with each other. */
  case object Mixed extends Shape

  /** What a seeking row's interval takes. */
  sealed trait Cost
  case object Computed extends Cost
  case object Solved extends Cost

  def of(condition: JoinCondition, fixed: Side): Either[WhyNot, JoinIntervals] =
    byFormulas(condition, fixed).left.flatMap { why =>
      bySolving(condition, fixed).left.map(solved =>
        if (why == WhyNot.NoComparison()) solved else why
      )
    }

  private def byFormulas(condition: JoinCondition, fixed: Side): Either[WhyNot, JoinIntervals] =
    IntervalChoice.best(condition.across, fixed).map { choice =>
      val bounds = choice.high.bounds ++ choice.low.bounds
      val conjuncts = PruningText.conjuncts(bounds, condition.conjunctOf)
      JoinIntervals(
        IntervalExpressions.collected(choice, condition.translation),
        IntervalExpressions.streamed(choice, condition.translation),
        if (choice.isPoint) Point
        else if (Rank.agree(choice.low.order.domain, choice.high.order.domain)) Stretch
        else Mixed,
        Computed,
        s"[${choice.low.order}, ${choice.high.order}]",
        PruningText.interval(choice.high.bounds, choice.low.bounds),
        conjuncts,
        bounds.map(_.from).flatMap(condition.sourceOf.get).toSet
      )
    }

  private def bySolving(condition: JoinCondition, fixed: Side): Either[WhyNot, JoinIntervals] = {
    val seeking = fixed.other
    def under(term: Term)(order: Term) = {
      val own = term.largestOver(seeking)(condition.whole.source(_).isDefined).toIndexedSeq
      new SolvedReach(term, seeking, order, own)
    }
    val known = SolvedChoice.tried(condition.sortable(fixed)).map(under(condition.termFor(seeking)))
    // What is known may leave none of the likely rows.
    def byLikelyRows(reach: SolvedReach) =
      reach #:: LazyList(condition.termAlone).map(under(_)(reach.order))
    def isTwoSided(reach: SolvedReach) =
      !reach.mayMatchNull && byLikelyRows(reach).exists(guess =>
        Direction.both.forall(guess.follows)
      )
    known
      .find(isTwoSided)
      .map(reach => byCases(condition, reach).getOrElse(solved(condition, reach)))
      .toRight(whyNone(seeking, known))
  }

  /** The cases of the condition give what solving would, with two ends. */
  private def byCases(condition: JoinCondition, reach: SolvedReach): Option[JoinIntervals] =
    Some(condition.byCases(reach, condition.below(reach.side.other)))
      .filter(_.isAsGoodAs(_ => true))
      .map { cases =>
        JoinIntervals(
          IntervalExpressions.collected(reach, condition.whole),
          IntervalExpressions.streamed(cases),
          Point,
          Computed,
          s"[${reach.order}, ${reach.order}]",
          PruningText.cases(cases.reach),
          condition.expression.toString,
          Set.empty
        )
      }

  private def solved(condition: JoinCondition, reach: SolvedReach): JoinIntervals =
    JoinIntervals(
      IntervalExpressions.collected(reach, condition.whole),
      IntervalExpressions.streamed(reach, condition.whole),
      Point,
      Solved,
      s"[${reach.order}, ${reach.order}]",
      "what is solved for each row",
      condition.expression.toString,
      Set.empty
    )

  private def whyNone(seeking: Side, reaches: Seq[SolvedReach]): WhyNot = {
    def isOneSided(reach: SolvedReach) =
      !reach.mayMatchNull && Direction.both.exists(reach.follows)
    reaches
      .find(isOneSided)
      .map(reach => WhyNot.OneSidedReach(seeking, reach.order.toString))
      .orElse(reaches.headOption.map(reach => WhyNot.NoInterval(seeking, reach.order.toString)))
      .getOrElse(WhyNot.NoComparison())
  }

}
