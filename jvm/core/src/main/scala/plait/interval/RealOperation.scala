// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span

/** An operation on numbers, with what it does to sets of them.
  *
  * {{{
  * forward    A op B                  { a op b : a in A, b in B }
  * backward   of R for a              { a in the line : a op b in R for some b in B }
  * }}}
  *
  * Both answers are supersets of these sets, and equal to their hulls where a file says nothing else.
  * What a type does with a result that it cannot hold is not known here (see
  * [[plait.constraint.Arithmetic]]).
  *
  * Laws: `a in A, b in B` gives `a op b in forward(A, B)`; and with `a op b in R`,
  * `a in backward(R, (A, B), 0)` and `b in backward(R, (A, B), 1)`.
  */
trait RealOperation extends Serializable {
  def name: String

  /** Is the operation undefined for some of these arguments? */
  def isPartial(arguments: IndexedSeq[IntervalSet]): Boolean = false

  /** Can arguments that are infinite, but no NaN, give NaN? Asked with sets whose infinite ends are
    * `infinity` and `-infinity`.
    */
  def makesNaN(arguments: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
    arguments.exists(RealOperation.isInfinite(_, infinity))

  def forward(arguments: IndexedSeq[IntervalSet]): IntervalSet

  def backward(
      result: IntervalSet,
      arguments: IndexedSeq[IntervalSet],
      index: Int
  ): IntervalSet

  override def toString: String = name
}

object RealOperation {

  /** May it be one of the infinities? */
  private[interval] def isInfinite(a: IntervalSet, infinity: Rational): Boolean =
    a.contains(infinity) || a.contains(-infinity)

  /** An end of an interval in arithmetic: a number, or an infinity by its sign. */
  final private case class End(infinite: Int, at: Rational, isIn: Boolean) {
    def isZero: Boolean = infinite == 0 && at.signum == 0

    /** Nought times anything is nought, and is attained if that nought is: `[0, 1] * [2, +inf)`
      * begins at 0, in it.
      */
    def *(that: End): End =
      if (isZero && that.isZero) End(0, Rational.Zero, isIn || that.isIn)
      else if (isZero) this
      else if (that.isZero) that
      else if (infinite != 0 || that.infinite != 0)
        End(sign * that.sign, Rational.Zero, isIn = false)
      else End(0, at * that.at, isIn && that.isIn)

    private def sign: Int = if (infinite != 0) infinite else at.signum

    def bound: Bound[Rational] =
      if (infinite != 0) Unbounded else if (isIn) Closed(at) else Open(at)
  }

  private def end(bound: Bound[Rational], missing: Int): End = bound match {
    case Unbounded => End(missing, Rational.Zero, isIn = false)
    case Closed(x) => End(0, x, isIn = true)
    case Open(x) => End(0, x, isIn = false)
  }

  private def isBefore(a: End, b: End): Boolean =
    if (a.infinite != b.infinite) a.infinite < b.infinite
    else a.infinite == 0 && a.at < b.at

  /** Of ends at the same place the one that is in. */
  private def outermost(ends: Seq[End])(isFurther: (End, End) => Boolean): End =
    ends.reduceLeft { (best, next) =>
      if (isFurther(next, best) || (!isFurther(best, next) && next.isIn)) next else best
    }

  /** `{ a * b }` */
  def product(as: IntervalSet, bs: IntervalSet): IntervalSet =
    as.flatMap(a => bs.flatMap(b => product(a, b)))

  private def product(a: Span[Rational], b: Span[Rational]): IntervalSet = {
    val ends = for {
      x <- Seq(end(a.lower, -1), end(a.upper, 1))
      y <- Seq(end(b.lower, -1), end(b.upper, 1))
    } yield x * y
    IntervalSet.span(
      outermost(ends)(isBefore).bound,
      outermost(ends)((x, y) => isBefore(y, x)).bound
    )
  }

  private val negative = IntervalSet.below(Rational.Zero)
  private val positive = IntervalSet.above(Rational.Zero)

  /** `{ 1 / b : b in B, b <> 0 }`; each sign apart, as cutting 0 out of four intervals makes five,
    * and hulling those would fill the cut.
    */
  def reciprocal(bs: IntervalSet): IntervalSet =
    turned(bs.intersect(negative)).union(turned(bs.intersect(positive)))

  private def turned(bs: IntervalSet): IntervalSet = {
    def end(bound: Bound[Rational]): Bound[Rational] = bound match {
      case Unbounded => Open(Rational.Zero)
      case other if Bound.at(other).signum == 0 => Unbounded
      case other => other.map(Rational.One / _)
    }
    bs.flatMap(b => IntervalSet.span(end(b.upper), end(b.lower)))
  }

  /** `{ x : x * b = r for some b in B, r in R }`, the inverse of a product. */
  def unproduct(rs: IntervalSet, bs: IntervalSet): IntervalSet =
    if (rs.contains(Rational.Zero) && bs.contains(Rational.Zero)) IntervalSet.All
    else product(rs, reciprocal(bs))

  def sum(as: IntervalSet, bs: IntervalSet): IntervalSet =
    if (as.isPoint && bs.isPoint) IntervalSet.point(Bound.at(as.lower) + Bound.at(bs.lower))
    else if (as.isOne && bs.isOne) sum(as.only, bs.only)
    else as.flatMap(a => bs.flatMap(b => sum(a, b)))

  private def sum(a: Span[Rational], b: Span[Rational]): IntervalSet =
    IntervalSet.span(
      Bound.combine(a.lower, b.lower)(_ + _),
      Bound.combine(a.upper, b.upper)(_ + _)
    )

  def negated(as: IntervalSet): IntervalSet =
    as.flatMap(a => IntervalSet.span(a.upper.map(-_), a.lower.map(-_)))

  def difference(as: IntervalSet, bs: IntervalSet): IntervalSet =
    if (as.isPoint && bs.isPoint) IntervalSet.point(Bound.at(as.lower) - Bound.at(bs.lower))
    else if (as.isOne && bs.isOne) difference(as.only, bs.only)
    else sum(as, negated(bs))

  /** As `sum(a, negated(b))`, without the set between. */
  private def difference(a: Span[Rational], b: Span[Rational]): IntervalSet =
    IntervalSet.span(
      Bound.combine(a.lower, b.upper)(_ - _),
      Bound.combine(a.upper, b.lower)(_ - _)
    )

  /** `{ f(a) }` for an `f` that never falls; where it is flat an open end may be attained. */
  def mapNonDecreasing(as: IntervalSet)(f: Rational => Rational): IntervalSet = {
    def end(bound: Bound[Rational]): Bound[Rational] = bound match {
      case Unbounded => Unbounded
      case other => Closed(f(Bound.at(other)))
    }
    as.flatMap(a => IntervalSet.span(end(a.lower), end(a.upper)))
  }
}
