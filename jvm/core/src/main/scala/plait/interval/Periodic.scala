// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.ElementaryFunction.Computed

/** Sine, cosine and tangent: pieces of half a turn, each rising or falling from end to end.
  *
  * {{{
  * piece     sin              cos          tan
  *   -1      falls            rises        rises
  *    0      [-π/2, π/2]      [0, π]       (-π/2, π/2)
  *    1      falls            rises        rises
  *
  * sin [0, 3]           [0, 1], since π/2 lies between
  * sin [7, 7.5]         [0.656..., 0.937...], within piece 2
  * sin x ∈ [0, 1/2]     with x ∈ [6, 7.5]: x ∈ [6.283..., 6.806...], of piece 2 what is in the result
  * }}}
  *
  * Conventions:
  *   1. Between the pieces lie the extremes, so an interval over two pieces has one of them, over
  *      three both. The tangent passes infinity there.
  *   2. In which piece a double lies is decided by π to fifty digits. Beyond [[Periodic.Far]], and
  *      without an end, nothing is known: of what is forward, and of what is backward.
  *   3. Backward, an interval over more than [[Periodic.Most]] pieces is told nothing.
  */
sealed abstract class Periodic(name: String) extends ElementaryFunction(name) {
  import Periodic._

  /** How many quarters of a turn before 0 the piece 0 begins. */
  protected def quarters: Long
  protected def function: Computed
  protected def inverse: Computed

  /** What no value is outside of. */
  protected def values: Enclosure
  protected def rises(piece: Long): Boolean

  /** Can it be computed across an extreme? */
  protected def isBounded: Boolean

  override val defined: IntervalSet = {
    val greatest = Domain.Double.infinity
    IntervalSet.span(Bound.Open(-greatest), Bound.Open(greatest))
  }

  override def forward(xs: IntervalSet): IntervalSet = xs.flatMap { span =>
    val ends = Enclosure.of(span)
    val whole = Enclosure.span(values.below, values.above)
    piecesOf(ends) match {
      case Some((first, last)) if last == first || (isBounded && last - first == 1) =>
        val (from, to) = (at(ends.below), at(ends.above))
        val (low, high) = (math.min(from.below, to.below), math.max(from.above, to.above))
        if (last == first) Enclosure.span(low, high)
        else if (rises(first)) Enclosure.span(low, values.above)
        else Enclosure.span(values.below, high)
      case _ => whole
    }
  }

  override def backward(result: IntervalSet, xs: IntervalSet): IntervalSet = xs.flatMap { span =>
    piecesOf(Enclosure.of(span)) match {
      case Some((first, last)) if last - first < Most =>
        val own = IntervalSet.of(Seq(span))
        (first to last).map(source(result, _)).reduceLeft(_ union _).intersect(own)
      case _ => IntervalSet.of(Seq(span))
    }
  }

  private def at(x: Double): Enclosure = function.at(x).within(values.below, values.above)

  /** What in a piece has a value in the result: its middle, and the inverse one or other way. */
  private def source(result: IntervalSet, piece: Long): IntervalSet = result.flatMap { span =>
    val ys = Enclosure.of(span).wider(function.slack)
    val (low, high) = (math.max(ys.below, values.below), math.min(ys.above, values.above))
    if (low > high) IntervalSet.Empty
    else {
      val (from, to) = (inverse.near(low).below, inverse.near(high).above)
      val angles = Enclosure.span(math.min(from, to), math.max(from, to))
      val turned = if (rises(piece)) angles else RealOperation.negated(angles)
      RealOperation.sum(turned, turns(2 * piece + 1 - quarters))
    }
  }

  private def piecesOf(xs: Enclosure): Option[(Long, Long)] =
    for { first <- pieceOf(xs.below); last <- pieceOf(xs.above) } yield (first, last)

  /** Convention 2: beside what doubles say of it, on which side of the nearest end. */
  private def pieceOf(x: Double): Option[Long] =
    if (!(math.abs(x) <= Far)) None
    else {
      val place = (x / (math.Pi / 2) + quarters) / 2
      val nearest = math.rint(place)
      if (math.abs(place - nearest) > 1e-6) Some(math.floor(place).toLong)
      else {
        val end = turns(2 * nearest.toLong - quarters)
        val exact = Rational.of(x)
        if (exact >= Bound.at(end.upper)) Some(nearest.toLong)
        else if (exact < Bound.at(end.lower)) Some(nearest.toLong - 1)
        else None
      }
    }
}

object Periodic {
  val Far: Double = (1L << 30).toDouble
  val Most = 3

  /** Half of π, to fifty digits; the ends have 160 binary places, since doubles have such, and sums
    * with them are quick.
    */
  private val digits = BigDecimal("1.57079632679489661923132169163975144209858469968755")
  private val places = BigInt(1) << 160
  private val quarterBelow = Rational((Rational.of(digits) * Rational(places)).floor, places)
  private val quarterAbove =
    Rational((Rational.of(digits + BigDecimal("1e-50")) * Rational(places)).ceiling, places)

  /** So many quarters of a turn. */
  private def turns(quarters: Long): IntervalSet = {
    val (a, b) = (Rational(quarters) * quarterBelow, Rational(quarters) * quarterAbove)
    IntervalSet.closed(Rational.min(a, b), Rational.max(a, b))
  }

  private val unit = Enclosure(-1, 1)

  case object Sine extends Periodic("sin") {
    protected val quarters = 1L
    protected val function: Computed = Computed(1)(StrictMath.sin, _ == 0)
    protected val inverse: Computed = Computed(1)(StrictMath.asin, _ == 0)
    protected val values: Enclosure = unit
    protected def rises(piece: Long): Boolean = piece % 2 == 0
    protected val isBounded = true
  }

  /** Measured from the middle of a piece, where it is 0: `cos x = -sin (x - π/2)`. */
  case object Cosine extends Periodic("cos") {
    protected val quarters = 0L
    protected val function: Computed = Computed(1)(StrictMath.cos, _ == 0)
    protected val inverse: Computed = Computed(1)(StrictMath.asin, _ == 0)
    protected val values: Enclosure = unit
    protected def rises(piece: Long): Boolean = piece % 2 != 0
    protected val isBounded = true
  }

  case object Tangent extends Periodic("tan") {
    protected val quarters = 1L
    protected val function: Computed = Computed(1)(StrictMath.tan, _ == 0)
    protected val inverse: Computed = Computed(1)(StrictMath.atan, _ == 0)
    protected val values: Enclosure = Enclosure(Double.NegativeInfinity, Double.PositiveInfinity)
    protected def rises(piece: Long): Boolean = true
    protected val isBounded = false
  }
}
