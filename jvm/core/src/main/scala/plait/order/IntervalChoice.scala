// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side
import plait.constraint.{Compare, Term}

/** The intervals by which the rows of a *collected* side are found for a row of the other, *streamed*
  * side: two rows can match only if theirs meet.
  *
  * {{{
  * condition                                 collected row      streamed row
  * p.x BETWEEN r.lo AND r.hi                 [r.lo, r.hi]       [p.x, p.x]
  * l.t BETWEEN r.t - 5 AND r.t               [r.t, r.t]         [l.t, l.t + 5]
  * a.lo <= b.hi AND b.lo <= a.hi             [b.lo, b.hi]       [a.lo, a.hi]
  * }}}
  *
  * The low end of a collected row is an order whose reach has an upper end, and the high end one whose
  * reach has a lower end; mostly both are one order.
  *
  * @param low
  *   the collected side's order that is at most the streamed row's high end
  * @param high
  *   the one that is at least its low end
  */
final case class IntervalChoice(low: IntervalChoice.End, high: IntervalChoice.End) {
  def isPoint: Boolean = low.order == high.order
}

object IntervalChoice {

  /** An order of the collected side, with what bounds it for a streamed row. */
  final case class End(order: Term, bounds: Seq[ReachBound])

  def best(conjunction: Seq[Compare], collected: Side): Either[WhyNot, IntervalChoice] = {
    val across = OrderChoice.ending(conjunction)
    val orders = across.flatMap(OrderChoice.candidatesOf(collected, _)).distinct
    val reaches = orders.map(order => order -> Reach.of(collected.other, order, across))
    val lows = reaches.collect { case (o, r) if r.upper.nonEmpty => End(o, r.upper) }
    val highs = reaches.collect { case (o, r) if r.lower.nonEmpty => End(o, r.lower) }
    val points = for {
      low <- lows
      high <- highs
      if low.order == high.order
    } yield IntervalChoice(low, high)
    points.headOption
      .orElse(lows.headOption.zip(highs.headOption).map { case (l, h) => IntervalChoice(l, h) })
      .toRight(
        if (lows.isEmpty && highs.isEmpty) WhyNot.NoComparison()
        else WhyNot.OneSidedReach(collected.other, s"${(lows ++ highs).head.order}")
      )
  }
}
