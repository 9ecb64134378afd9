// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Unbounded}

/** Two doubles with a number between them, or at them, that no double need be: `e` lies in
  * `[2.718281828459045, 2.7182818284590455]`.
  *
  * Conventions:
  *   1. Beyond the greatest double stands Infinity, which says nothing: an end there is none.
  *   2. A *step* is from one double to the next. An error of one ulp is two steps where the value
  *      passes a power of two, since the doubles below it stand closer.
  */
final case class Enclosure(below: Double, above: Double) {

  def wider(steps: Int): Enclosure =
    Enclosure(Enclosure.down(below, steps), Enclosure.up(above, steps))

  def within(least: Double, greatest: Double): Enclosure =
    Enclosure(
      math.min(math.max(below, least), greatest),
      math.max(math.min(above, greatest), least)
    )

  def unary_- : Enclosure = Enclosure(-above, -below)
}

object Enclosure {
  private val double = Domain.Double

  def exactly(x: Double): Enclosure = Enclosure(x, x)

  def down(x: Double, steps: Int): Double = (1 to steps).foldLeft(x)((y, _) => Math.nextDown(y))
  def up(x: Double, steps: Int): Double = (1 to steps).foldLeft(x)((y, _) => Math.nextUp(y))

  /** The ends of an interval, as doubles that are not inside of them. */
  def of(span: Interval.Span[Rational]): Enclosure = Enclosure(
    if (span.lower.isBounded) below(Bound.at(span.lower)) else Double.NegativeInfinity,
    if (span.upper.isBounded) -below(-Bound.at(span.upper)) else Double.PositiveInfinity
  )

  private def below(x: Rational): Double =
    if (x >= double.infinity) Double.MaxValue
    else {
      val places = x.denominator.bitLength - 1
      val isDouble = x.numerator.bitLength <= 53 && places <= 1022 && x.denominator.bitCount == 1
      toDouble(if (isDouble) x else double.down(x))
    }

  /** Of a number that is one. */
  private def toDouble(x: Rational): Double =
    if (x.isWhole) x.numerator.toDouble
    else Math.scalb(x.numerator.toDouble, 1 - x.denominator.bitLength)

  def bound(x: Double): Bound[Rational] =
    if (x.isInfinite) Unbounded else Closed(Rational.of(x))

  /** All between, empty if they have passed each other. */
  def span(below: Double, above: Double): IntervalSet =
    if (below > above) IntervalSet.Empty
    else if (below == Double.PositiveInfinity)
      IntervalSet.span(bound(Double.MaxValue), Unbounded)
    else if (above == Double.NegativeInfinity)
      IntervalSet.span(Unbounded, bound(-Double.MaxValue))
    else IntervalSet.span(bound(below), bound(above))
}
