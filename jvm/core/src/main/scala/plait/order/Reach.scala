// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side
import plait.constraint.Term.{Call, Known, Variable}
import plait.constraint.{Affine, Compare, Formula, RealFormula, Sweeps, Term}
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span
import plait.interval.{Bound, Domain, Interval}

/** One end of a reach as one comparison gives it: a formula over the row's own columns.
  *
  * @param target
  *   the order of the other side that it is an end of
  */
final case class ReachBound(at: Bound[Formula], from: Compare, target: Term) {
  require(at.isBounded, "an end that is missing is no bound")

  def formula: Formula = at match {
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
  *   3. Overflow and rounding: ends of integers are computed with [[Saturating]], those of decimals
  *      and floating numbers as [[RealStep]]s, both outward.
  *   4. Ends in ranks are closed: see [[ReachEnd]].
  *   5. NaN: where the order may be NaN, a reach has no upper end.
  */
final case class Reach(lower: Seq[ReachBound], upper: Seq[ReachBound]) {

  /** What lies in both. */
  def and(other: Reach): Reach = Reach(lower ++ other.lower, upper ++ other.upper)

  /** The end that the other side's frontier passes last when it moves in this direction. */
  def farEnd(direction: Direction): Seq[ReachBound] =
    if (direction == Direction.Ascending) upper else lower
}

object Reach {

  /** The reach of a row of `side` in `order`, a term over the other side, under a conjunction.
    *
    * @param others
    *   where the values of the other side's columns lie; of those in the order itself it is not asked, since
    *   `l.a + r.s < l.a - r.t` says nothing of `l.a` however much is known of it
    */
  def of(
      side: Side,
      order: Term,
      conjunction: Seq[Compare],
      others: KnownValues = KnownValues.Nothing
  ): Reach = {
    // NaN stands above all numbers: where it may match, the reach has no upper end.
    lazy val mayBeNaN = order.domain.hasNaN && SolvedReach.mayMatchNaN(side, order, conjunction)
    val bounds = conjunction.filter(_.holds(order)).map { comparison =>
      val rounded = isRounded(comparison)
      val found =
        if (rounded) roundedSpans(side, order, comparison, others)
        else spans(side, order, comparison, others)
      val (lower, upper) = ends(found, comparison, order)
      (lower, if (rounded && upper.nonEmpty && mayBeNaN) Nil else upper)
    }
    Reach(bounds.flatMap(_._1).distinct, bounds.flatMap(_._2).distinct)
  }

  private def spans(
      side: Side,
      order: Term,
      comparison: Compare,
      others: KnownValues
  ): Seq[Interval[Formula]] = {
    val values = known(side, order, Affine.of, others.of[Affine])(_)
    new Sweeps[Affine](values).narrowed(comparison, order)
  }

  private def roundedSpans(
      side: Side,
      order: Term,
      comparison: Compare,
      others: KnownValues
  ): Seq[Interval[Formula]] =
    if ((order +: variables(comparison)).forall(t => RealRank.of(t.domain).isDefined)) {
      val values = known(side, order, RealFormula.of, others.of[RealFormula])(_)
      new Sweeps[RealFormula](values).narrowed(comparison, order)
    } else Nil

  /** The row's own variables are points. */
  private def known[E](
      side: Side,
      order: Term,
      point: Variable => E,
      other: Variable => Interval[E]
  )(v: Variable): Interval[E] =
    if (v.side == side) Interval.point(point(v))
    else if (order.holds(v)) Interval.All
    else other(v)

  private def ends(spans: Seq[Interval[Formula]], from: Compare, order: Term) = {
    val found = spans.collect { case Span(lower, upper) =>
      (bound(lower, from, order), bound(upper, from, order))
    }
    (found.flatMap(_._1), found.flatMap(_._2))
  }

  private def bound(end: Bound[Formula], from: Compare, order: Term): Option[ReachBound] =
    Option(end).filter(_.isBounded).map(ReachBound(_, from, order)).filter { b =>
      b.formula match {
        case affine: Affine => isOfLongs(affine) && isOfOneUnit(affine, order)
        case _: RealFormula => true
      }
    }

  private def isOfLongs(formula: Affine): Boolean =
    formula.divisor.isValidLong && formula.coefficients.values.forall(_.isValidLong)

  /** Integers are added up as they are. Of anything else the ranks only stand in the sequence of the values: one of
    * them is an end for another of the same type.
    */
  private def isOfOneUnit(formula: Affine, order: Term): Boolean = {
    val domains = formula.coefficients.keys.map(_.domain).toSet + order.domain
    domains.forall(_.isInstanceOf[Domain.Whole]) ||
    domains.size == 1 && formula.constant == 0 && formula.divisor == 1 &&
    formula.coefficients.values.toSeq == Seq(BigInt(1))
  }

  /** Does it compute with numbers that are no integers? Two columns alone are compared by their ranks. */
  private def isRounded(comparison: Compare): Boolean =
    Seq(comparison.left, comparison.right).flatMap(_.nodes).exists {
      case _: Known => true
      case call: Call => (call +: call.arguments).exists(!_.domain.isInstanceOf[Domain.Whole])
      case _ => false
    }

  private def variables(comparison: Compare): Seq[Variable] =
    Seq(comparison.left, comparison.right).flatMap(_.nodes).collect { case v: Variable => v }
}
