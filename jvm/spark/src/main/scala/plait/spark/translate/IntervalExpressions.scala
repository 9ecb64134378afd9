// SPDX-License-Identifier: Apache-2.0
package plait.spark.translate

import org.apache.spark.sql.catalyst.expressions.Expression

import plait.order.{IntervalChoice, ReachEnd, SolvedReach}

/** The interval of a row of a join with a collected side, in ranks, as Spark expressions over its
  * columns. Two rows can match only if their intervals meet.
  *
  * {{{
  * condition p.x BETWEEN r.lo AND r.hi         r collected
  *   collected    [orderValue(lo), orderValue(hi)]
  *   streamed     [orderValue(x), orderValue(x)]
  * }}}
  *
  * @param low
  *   NULL if the row matches nothing
  * @param high
  *   the same
  */
final case class IntervalExpressions(low: Expression, high: Expression) {
  def ends: Seq[Expression] = Seq(low, high)
}

object IntervalExpressions {
  def collected(choice: IntervalChoice, translation: TermTranslation): IntervalExpressions = {
    def rank(end: IntervalChoice.End) =
      OrderValue(NullOnError.unlessColumn(translation.source(end.order)))
    IntervalExpressions(rank(choice.low), rank(choice.high))
  }

  /** What bounds the collected row's high end from below is the streamed row's low end. */
  def streamed(choice: IntervalChoice, translation: TermTranslation): IntervalExpressions =
    IntervalExpressions(
      ReachEndValue.of(ReachEnd.Low, choice.high.bounds, translation),
      ReachEndValue.of(ReachEnd.High, choice.low.bounds, translation)
    )

  /** The reach is solved for each streamed row: of the collected side it is a point. */
  def collected(reach: SolvedReach, translation: ConditionTranslation): IntervalExpressions = {
    val rank = OrderValue(NullOnError.unlessColumn(translation.source(reach.order).get))
    IntervalExpressions(rank, rank)
  }

  def streamed(reach: SolvedReach, translation: ConditionTranslation): IntervalExpressions = {
    val (low, high) = SolvedReachValue.ends(reach, translation)
    IntervalExpressions(low, high)
  }

  /** Or the cases of the condition give it. */
  def streamed(ends: CaseReachEnds): IntervalExpressions =
    IntervalExpressions(ends.low, ends.high)
}
