// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Open, Unbounded}

/** A convex set: `{ x : lower <= x <= upper }`, each end open, closed or missing; or
  * the empty set, which is a value of its own.
  *
  * {{{
  * [1, 4] + [10, 20)   = [11, 24)
  * [1, 4] - [10, 20)   = (-19, -6]
  * -(3, +inf)          = (-inf, -3)
  * [-5, 17] / 3        = [-1, 5]        the x with 3 * x in [-5, 17]
  * [1, 4] ∩ (2, 9)     = (2, 4]
  * }}}
  *
  * The ends are of a type `E` whose arithmetic an [[Ends]] gives. With `E = BigInt` an interval is a
  * set of numbers. With `E =` [[plait.constraint.Affine]] it is a set for each row: its ends are
  * formulas over the row's columns, so the same rules that narrow numbers derive formulas.
  *
  * Conventions:
  *   1. Arithmetic is exact and never overflows. What a fixed-width type does at its limits is the
  *      caller's to say (see [[plait.constraint.Term]]).
  *   2. NULL is not a value: an interval says where a value lies if there is one.
  *   3. An operation on the empty interval gives the empty interval.
  *   4. Whether a span is in truth empty (`[5, 2]`) is found only where ends can be compared, by
  *      [[intersect]]; that `(3, 4)` holds no integer is for [[Domain]] to know.
  *
  * Not promised: that ends are as tight as the set over integers allows; `(3, 7)` is not turned into
  * `[4, 6]`.
  */
sealed trait Interval[+E] {
  def contains[F >: E](x: F)(implicit order: Ordering[F]): Boolean
}

object Interval {
  case object Empty extends Interval[Nothing] {
    def contains[F](x: F)(implicit order: Ordering[F]): Boolean = false
    override def toString: String = "{}"
  }

  final case class Span[+E](lower: Bound[E], upper: Bound[E]) extends Interval[E] {
    def contains[F >: E](x: F)(implicit order: Ordering[F]): Boolean =
      (!lower.isBounded || isIn(order.compare(Bound.at(lower), x), lower)) &&
        (!upper.isBounded || isIn(order.compare(x, Bound.at(upper)), upper))

    private def isIn(place: Int, end: Bound[_]): Boolean =
      place < 0 || (place == 0 && !Bound.isOpen(end))

    override def toString: String = {
      val from = lower match {
        case Unbounded => "(-inf"
        case Closed(at) => s"[$at"
        case Open(at) => s"($at"
      }
      val to = upper match {
        case Unbounded => "+inf)"
        case Closed(at) => s"$at]"
        case Open(at) => s"$at)"
      }
      s"$from, $to"
    }
  }

  val All: Interval[Nothing] = Span(Unbounded, Unbounded)
  def point[E](x: E): Interval[E] = Span(Closed(x), Closed(x))
  def closed[E](lower: E, upper: E): Interval[E] = Span(Closed(lower), Closed(upper))
  def atLeast[E](x: E): Interval[E] = Span(Closed(x), Unbounded)
  def above[E](x: E): Interval[E] = Span(Open(x), Unbounded)
  def atMost[E](x: E): Interval[E] = Span(Unbounded, Closed(x))
  def below[E](x: E): Interval[E] = Span(Unbounded, Open(x))

  def plus[E](a: Interval[E], b: Interval[E])(implicit ends: Ends[E]): Interval[E] =
    (a, b) match {
      case (Span(al, au), Span(bl, bu)) =>
        Span(Bound.combine(al, bl)(ends.plus), Bound.combine(au, bu)(ends.plus))
      case _ => Empty
    }

  def negate[E](a: Interval[E])(implicit ends: Ends[E]): Interval[E] = a match {
    case Span(lower, upper) => Span(upper.map(ends.negate), lower.map(ends.negate))
    case Empty => Empty
  }

  def minus[E](a: Interval[E], b: Interval[E])(implicit ends: Ends[E]): Interval[E] =
    plus(a, negate(b))

  def times[E](a: Interval[E], factor: BigInt)(implicit ends: Ends[E]): Interval[E] = {
    require(factor > 0, s"a scale is positive, not $factor")
    a match {
      case Span(lower, upper) =>
        Span(lower.map(ends.times(_, factor)), upper.map(ends.times(_, factor)))
      case Empty => Empty
    }
  }

  /** `{ factor * x : x ∈ a }` and `{ x / factor : x ∈ a }` for a factor that is not 0, where results are
    * rounded; an end that has no form is dropped.
    */
  def product[E](a: Interval[E], factor: Rational)(implicit ends: Ends[E]): Interval[E] =
    moved(a, factor)(ends.product(_, factor.abs))

  def quotient[E](a: Interval[E], factor: Rational)(implicit ends: Ends[E]): Interval[E] =
    moved(a, factor)(ends.quotient(_, factor.abs))

  private def moved[E](a: Interval[E], factor: Rational)(
      to: E => Option[E]
  )(implicit ends: Ends[E]): Interval[E] = {
    def end(bound: Bound[E]): Bound[E] = bound match {
      case Unbounded => Unbounded
      case Closed(at) => Bound.closed(to(at))
      case Open(at) => to(at).fold[Bound[E]](Unbounded)(Open(_))
    }
    (if (factor.signum < 0) negate(a) else a) match {
      case Span(lower, upper) => Span(end(lower), end(upper))
      case Empty => Empty
    }
  }

  /** `{ x : factor * x ∈ a }`; an end that cannot be divided is dropped, which only widens. */
  def over[E](a: Interval[E], factor: BigInt)(implicit ends: Ends[E]): Interval[E] = {
    require(factor > 0, s"a scale is positive, not $factor")
    def divided(bound: Bound[E], closed: E => Option[E], open: E => Option[E]): Bound[E] =
      bound match {
        case Unbounded => Unbounded
        case Closed(at) => Bound.closed(closed(at))
        case Open(at) => open(at).fold[Bound[E]](Unbounded)(Open(_))
      }
    a match {
      // 3x >= 7 is x >= ceil(7/3); 3x > 7 is x > floor(7/3); the upper end is the mirror.
      case Span(lower, upper) =>
        Span(
          divided(lower, ends.ceilDivide(_, factor), ends.floorDivide(_, factor)),
          divided(upper, ends.floorDivide(_, factor), ends.ceilDivide(_, factor))
        )
      case Empty => Empty
    }
  }

  /** What is rounded to a value in `a`, in this domain. Which of the two neighbours of an end it is
    * that is still rounded to it is not told apart, so what was open becomes closed.
    */
  def unrounded[E](a: Interval[E], domain: Domain)(implicit ends: Ends[E]): Interval[E] =
    (a, domain) match {
      case (_, _: Domain.Whole) | (Empty, _) => a
      case (Span(lower, upper), _) =>
        def moved(bound: Bound[E]): Bound[E] =
          if (bound.isBounded) Bound.closed(ends.beyond(Bound.at(bound), domain)) else Unbounded
        Span(moved(lower), moved(upper))
    }

  /** What is in both. Only for ends that can be compared. */
  def intersect[E](a: Interval[E], b: Interval[E])(implicit order: Ordering[E]): Interval[E] =
    (a, b) match {
      case (Span(al, au), Span(bl, bu)) =>
        val lower = Bound.lowers[E].max(al, bl)
        val upper = Bound.uppers[E].min(au, bu)
        if (isEmpty(lower, upper)) Empty else Span(lower, upper)
      case _ => Empty
    }

  /** Have the ends passed each other? */
  def isEmpty[E](lower: Bound[E], upper: Bound[E])(implicit order: Ordering[E]): Boolean =
    lower.isBounded && upper.isBounded && {
      val place = order.compare(Bound.at(lower), Bound.at(upper))
      place > 0 || (place == 0 && (Bound.isOpen(lower) || Bound.isOpen(upper)))
    }
}
