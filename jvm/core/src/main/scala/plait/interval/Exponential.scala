// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.ElementaryFunction._

/** `x^c`, `b^x` and the logarithm to a base, of doubles, with one argument known.
  *
  * {{{
  *           x > 0                         x < 0
  * x^2       rises                         falls, the mirror
  * x^3       rises                         rises
  * x^-1      falls, from infinity          falls, to -infinity
  * x^0.5     rises                         NaN
  *
  * x^2 ∈ [4, 9]   ⇒   x ∈ [-3, -2] ∪ [2, 3]          and one ulp around
  * 2^x ∈ [4, 8]   ⇒   x ∈ [2, 3]
  * log(10, x) ∈ [2, 3]   ⇒   x ∈ [100, 1000]
  * }}}
  *
  * Conventions:
  *   1. 0 belongs to both sides: it may be -0, and then `x^-1` is -infinity.
  *   2. A power of whole numbers below 2^53 is exact, as Java promises.
  */
object Exponential {
  private val infinity = Double.PositiveInfinity
  private val line = Enclosure(-infinity, infinity)
  private val notNegative = Enclosure(0, infinity)
  private val wholes = (1L << 53).toDouble

  private def isWhole(x: Double): Boolean = !x.isInfinite && x == math.rint(x)

  private def isExactPower(x: Double, c: Double): Boolean =
    x == 0 || x == 1 || (isWhole(x) && isWhole(c) && c > 0 && StrictMath.pow(x, c) < wholes)

  /** `x^exponent`; a negative `x` to a fractional exponent is NaN. */
  final case class PowerOf(exponent: Double) extends Piecewise(s"power $exponent") {
    require(exponent != 0 && !exponent.isInfinite && !exponent.isNaN, s"no exponent: $exponent")

    override val defined: IntervalSet =
      if (isWhole(exponent)) Everywhere
      else IntervalSet.closed(Rational.Zero, Domain.Double.infinity)

    private val function =
      Computed(1)(StrictMath.pow(_, exponent), isExactPower(_, exponent))

    private val right = Piece(
      notNegative,
      notNegative,
      if (exponent > 0) Course.Rises else Course.Falls,
      function.at,
      function.slack,
      inverse
    )

    override val pieces: Seq[Piece] =
      if (!isWhole(exponent)) Seq(right)
      else if (exponent % 2 == 0) Seq(right, right.mirrored)
      else Seq(right, right.mirrored.negated)

    private def inverse(y: Double): Enclosure =
      if (y == 0 || y.isInfinite) {
        val x = if ((y == 0) == (exponent > 0)) 0.0 else infinity
        Enclosure(if (x == 0) 0 else Double.MaxValue, x)
      } else if (isWhole(exponent) && exponent >= 2 && exponent <= Power.Greatest) {
        val (below, above) = Power.root(Rational.of(y), exponent.toInt)
        Enclosure.of(Interval.Span(Bound.Closed(below), Bound.Closed(above)))
      } else if (math.abs(exponent) > 1e300 || math.abs(exponent) < 1e-300) notNegative
      else near(StrictMath.pow(y, 1 / exponent))

    /** The exponent `1 / c` is rounded, which moves `ln x` by as much of itself. */
    private def near(x: Double): Enclosure =
      if (x == 0) Enclosure(0, Double.MinPositiveValue).wider(2)
      else if (x.isInfinite) Enclosure(Double.MaxValue * (1 - 1e-12), infinity)
      else {
        val error = (math.abs(StrictMath.log(x)) + 4) * Math.ulp(1.0)
        Enclosure(x * (1 - error), x * (1 + error)).wider(2)
      }
  }

  /** `base^x` of a positive base that is not 1. */
  final case class ExponentialOf(base: Double) extends Piecewise(s"$base to the power") {
    require(base > 0 && base != 1 && !base.isInfinite, s"no base: $base")
    override val defined: IntervalSet = Everywhere
    private val function =
      Computed(1)(StrictMath.pow(base, _), isExactPower(base, _))
    private val inverse = quotientOfLogarithms(base)
    override val pieces: Seq[Piece] =
      Seq(Piece(line, notNegative, course(base), function.at, function.slack, inverse.near))
  }

  /** `ln x / ln base`, of a positive base that is not 1. */
  final case class LogarithmOf(base: Double) extends Piecewise(s"log $base") {
    require(base > 0 && base != 1 && !base.isInfinite, s"no base: $base")
    override val defined: IntervalSet =
      IntervalSet.span(Bound.Open(Rational.Zero), Bound.Closed(Domain.Double.infinity))
    private val function = quotientOfLogarithms(base)
    private val inverse = Computed(1)(StrictMath.pow(base, _), isNowhere)
    override val pieces: Seq[Piece] =
      Seq(Piece(notNegative, line, course(base), function.at, function.slack, inverse.near))
  }

  private def course(base: Double): Course = if (base > 1) Course.Rises else Course.Falls

  /** Two errors and a rounding. */
  private def quotientOfLogarithms(base: Double): Computed =
    Computed(3)(x => StrictMath.log(x) / StrictMath.log(base), isOne)
}
