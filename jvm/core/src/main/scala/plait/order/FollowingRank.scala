// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.{Solver, Term}
import plait.interval._

/** The least rank along one order that a condition allows where another order has come to a rank.
  *
  * {{{
  * r.ts <= l.ts + 60    r.ts ASC at 100     l.ts ASC is at 40
  * q = p * 2            p DESC at ~7        q DESC is at ~14
  * }}}
  *
  * Conventions:
  *   1. The least of all ranks stands for nothing known, of what is asked and of the answer: also where
  *      the condition can no longer hold.
  *   2. NaN comes first where the greatest does.
  */
final class FollowingRank(condition: Term, from: Order, to: Order) extends (Long => Long) {
  private val fromRank = Rank.of(from.term.domain)
  private val toRank = Rank.of(to.term.domain)
  private val solver = new Solver(condition, Seq(from.term, to.term).distinct)

  def apply(reached: Long): Long = (for (fromRank <- fromRank; toRank <- toRank) yield {
    val state = solver.initial
    val i = solver.index(from.term)
    state(i) = state(i).intersect(
      Possible(IntervalSet.of(Seq(later(fromRank, reached))), specialsAfter(reached))
    )
    if (!solver.narrow(state)) Long.MinValue
    else toRank.first(state(solver.index(to.term)), to.direction)
  }).getOrElse(Long.MinValue)

  /** Convention 2. */
  private def specialsAfter(reached: Long): Specials =
    if ((from.direction eq Direction.Descending) && ~reached < Rank.OfNaN) Specials.Null
    else Specials.NullOrNaN

  private def later(rank: Rank, reached: Long): Interval.Span[Rational] =
    if (from.direction eq Direction.Descending)
      Interval.Span(Bound.Unbounded, rank.until(~reached))
    else Interval.Span(rank.from(reached), Bound.Unbounded)
}

object FollowingRank {
  private val Rungs =
    0L +: (8 to 62 by 2).flatMap(power => Seq(1L << power, -(1L << power)))

  /** Whether the least rank ever rises with the rank that was reached: that of `seq / 10` does, that of `seq % 10`
    * is 0 at all of them.
    */
  def rises(least: Long => Long): Boolean = {
    val atFirst = least(Long.MinValue)
    // It falls nowhere but to the least of all ranks, so rungs are enough.
    Rungs.exists(least(_) > atFirst)
  }
}
