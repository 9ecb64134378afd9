// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side
import plait.constraint.{Affine, Compare, Sweeps, Term}
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span
import plait.interval.{Bound, Interval}

/** One end of a reach as one comparison gives it: a formula over the row's own columns. */
final case class ReachBound(at: Bound[Affine], from: Compare) {
  require(at.isBounded, "an end that is missing is no bound")

  def formula: Affine = at match {
    case Closed(x) => x
    case Open(x) => x
    case Unbounded => throw new IllegalStateException("unreachable by construction")
  }
}

/** The *reach* of a row: the set of the other side's order values with which the join condition can
  * still be TRUE, given this row's own columns.
  *
  * {{{
  * condition      l.a + l.b > r.s - 3 AND l.a + l.b < r.s + 10
  * left row       (a, b) = (40, 2)      its reach in s       (32, 45)
  * right row      s = 50                its reach in a + b   (47, 60)
  * }}}
  *
  * It is the intersection of all bounds: the greatest of `lower`, the least of `upper`.
  *
  * Conventions:
  *   1. A superset: too wide is slow, too narrow would lose rows, and never happens.
  *   2. NULL: each comparison rejects it. A row is out of reach of everything (it is dead) as soon
  *      as one variable of one bound has no value; a row of the other side whose order has none
  *      is in no reach.
  *   3. Overflow: ends are computed with [[Saturating]], outward.
  *   4. Ends in ranks are closed: see [[ReachEnd]].
  */
final case class Reach(lower: Seq[ReachBound], upper: Seq[ReachBound]) {

  /** The end that the other side's frontier passes last when it moves in this direction. */
  def farEnd(direction: Direction): Seq[ReachBound] =
    if (direction == Direction.Ascending) upper else lower
}

object Reach {

  /** Beyond this a coefficient costs more to add up than the bound is likely to save. */
  private val LargestCoefficient = 16

  /** The reach of a row of `side` in `order`, a term over the other side, under a conjunction. */
  def of(side: Side, order: Term, conjunction: Seq[Compare]): Reach = {
    // The row's own variables are points; of the other side's nothing is known.
    val sweeps =
      new Sweeps[Affine](v => if (v.side == side) Interval.point(Affine.of(v)) else Interval.All)
    val spans = for {
      comparison <- conjunction
      Span(lower, upper) <- sweeps.narrowed(comparison, order)
    } yield (bound(lower, comparison), bound(upper, comparison))
    Reach(spans.flatMap(_._1).distinct, spans.flatMap(_._2).distinct)
  }

  private def bound(end: Bound[Affine], from: Compare): Option[ReachBound] =
    Option(end).filter(_.isBounded).map(ReachBound(_, from)).filter { b =>
      b.formula.coefficients.values.forall(_.abs <= LargestCoefficient)
    }
}
