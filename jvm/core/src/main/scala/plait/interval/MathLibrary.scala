// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Domain.Floating
import plait.interval.ElementaryFunction._

/** The functions of one number in Java's library that rise or fall, by what it promises of them.
  *
  * {{{
  *                     defined        values         inverse
  * sqrt                [0, inf]       [0, inf]       x^2
  * cbrt                everywhere     everywhere     x^3
  * exp, expm1          everywhere     from 0, -1     ln, log1p
  * ln, log2, log10     (0, inf]       everywhere     exp, 2^x, 10^x
  * log1p               (-1, inf]      everywhere     expm1
  * asin, acos          [-1, 1]        half a turn    sin, cos
  * atan                everywhere     half a turn    tan
  * sinh, tanh          everywhere     -, [-1, 1]     ln (x + √(x^2 + 1)), ln ((1 + x) / (1 - x)) / 2
  * cosh                everywhere     [1, inf]       ± ln (x + √(x^2 - 1))
  * degrees, radians    everywhere     everywhere     each other
  * }}}
  */
object MathLibrary {
  private val double: Floating = Domain.Double
  private val infinity = Double.PositiveInfinity
  private val line = Enclosure(-infinity, infinity)
  private val notNegative = Enclosure(0, infinity)
  private val unit = Enclosure(-1, 1)

  private def aboveOf(x: Rational) =
    IntervalSet.span(Bound.Open(x), Bound.Closed(double.infinity))
  private val unitSet = IntervalSet.closed(-Rational.One, Rational.One)

  /** A function that rises or falls wherever it is defined. */
  final private class Monotone(name: String, val defined: IntervalSet, piece: Piece)
      extends Piecewise(name) {
    val pieces: Seq[Piece] = Seq(piece)
  }

  private def rising(
      name: String,
      defined: IntervalSet,
      arguments: Enclosure,
      values: Enclosure,
      function: Computed,
      inverse: Computed
  ): ElementaryFunction = new Monotone(
    name,
    defined,
    Piece(arguments, values, Course.Rises, function.at, function.slack, inverse.near)
  )

  private def computed(ulps: Double, exactAt: Double => Boolean = isNowhere)(
      f: Double => Double
  ): Computed = Computed(ulps)(f, exactAt)

  val Sqrt: ElementaryFunction = new Radical("sqrt", Power.Root(2), slack = 0)
  val Cbrt: ElementaryFunction = new Radical("cbrt", Power.Root(3), slack = 2)

  val Exp: ElementaryFunction = rising(
    "exp",
    Everywhere,
    line,
    notNegative,
    computed(1, isZero)(StrictMath.exp),
    computed(1)(StrictMath.log)
  )

  val Expm1: ElementaryFunction = rising(
    "expm1",
    Everywhere,
    line,
    Enclosure(-1, infinity),
    computed(1, isZero)(StrictMath.expm1),
    computed(1)(StrictMath.log1p)
  )

  val Ln: ElementaryFunction = rising(
    "ln",
    aboveOf(Rational.Zero),
    notNegative,
    line,
    computed(1, isOne)(StrictMath.log),
    computed(1)(StrictMath.exp)
  )

  /** `log(x) / log(2)`: two errors and a rounding. */
  val Log2: ElementaryFunction = rising(
    "log2",
    aboveOf(Rational.Zero),
    notNegative,
    line,
    computed(3, isOne)(x => StrictMath.log(x) / StrictMath.log(2)),
    computed(1)(StrictMath.pow(2, _))
  )

  private val powersOfTen = (0 to 22).map(BigDecimal(10).pow(_).toDouble).toSet

  val Log10: ElementaryFunction = rising(
    "log10",
    aboveOf(Rational.Zero),
    notNegative,
    line,
    computed(1, powersOfTen)(StrictMath.log10),
    computed(1)(StrictMath.pow(10, _))
  )

  val Log1p: ElementaryFunction = rising(
    "log1p",
    aboveOf(-Rational.One),
    Enclosure(-1, infinity),
    line,
    computed(1, isZero)(StrictMath.log1p),
    computed(1)(StrictMath.expm1)
  )

  private val halfPi = math.Pi / 2
  private val aroundHalfPi = Enclosure(-Math.nextUp(halfPi), Math.nextUp(halfPi))

  val Asin: ElementaryFunction = rising(
    "asin",
    unitSet,
    unit,
    aroundHalfPi,
    computed(1, isZero)(StrictMath.asin),
    computed(1)(StrictMath.sin)
  )

  val Acos: ElementaryFunction = {
    val function = computed(1, isOne)(StrictMath.acos)
    val values = Enclosure(0, Math.nextUp(math.Pi))
    val inverse = computed(1)(StrictMath.cos)
    new Monotone(
      "acos",
      unitSet,
      Piece(unit, values, Course.Falls, function.at, function.slack, inverse.near)
    )
  }

  val Atan: ElementaryFunction = {
    val function = computed(1, isZero)(StrictMath.atan)
    val tangent = computed(1)(StrictMath.tan)
    // The greatest double below half of pi has a tangent of 1.6e16, those above have none.
    def inverse(y: Double) =
      if (y >= halfPi) Enclosure(1e16, infinity)
      else if (y <= -halfPi) Enclosure(-infinity, -1e16)
      else tangent.near(y)
    new Monotone(
      "atan",
      Everywhere,
      Piece(line, aroundHalfPi, Course.Rises, function.at, function.slack, inverse)
    )
  }

  /** The inverses below are compositions of three or four roundings and a logarithm. */
  private val composed = 8.0

  /** `f(-x) = -f(x)` of what is given for `x >= 0`. */
  private def odd(f: Double => Double)(x: Double): Double = if (x < 0) -f(-x) else f(x)

  private val far = (1L << 28).toDouble
  private def ofSinh(y: Double) =
    if (y > far) StrictMath.log(y) + StrictMath.log(2)
    else StrictMath.log1p(y + y * y / (1 + math.sqrt(y * y + 1)))
  private def ofCosh(y: Double) =
    if (y > far) StrictMath.log(y) + StrictMath.log(2)
    else { val t = y - 1; StrictMath.log1p(t + math.sqrt(2 * t + t * t)) }
  private def ofTanh(y: Double) = StrictMath.log1p(2 * y / (1 - y)) / 2

  val Sinh: ElementaryFunction = rising(
    "sinh",
    Everywhere,
    line,
    line,
    computed(2.5, isZero)(StrictMath.sinh),
    computed(composed)(odd(ofSinh))
  )

  val Tanh: ElementaryFunction = rising(
    "tanh",
    Everywhere,
    line,
    unit,
    computed(2.5, isZero)(StrictMath.tanh),
    computed(composed)(odd(ofTanh))
  )

  val Cosh: ElementaryFunction = {
    val function = computed(2.5, isZero)(StrictMath.cosh)
    val inverse = computed(composed)(ofCosh)
    val right = Piece(
      notNegative,
      Enclosure(1, infinity),
      Course.Rises,
      function.at,
      function.slack,
      inverse.near
    )
    new Piecewise("cosh") {
      val defined: IntervalSet = Everywhere
      val pieces: Seq[Piece] = Seq(right, right.mirrored)
    }
  }

  /** One multiplication with a rounded constant; elsewhere a multiplication and a division. */
  private val toDegrees = computed(2.5, isZero)(StrictMath.toDegrees)
  private val toRadians = computed(2.5, isZero)(StrictMath.toRadians)

  val Degrees: ElementaryFunction =
    rising("degrees", Everywhere, line, line, toDegrees, toRadians)
  val Radians: ElementaryFunction =
    rising("radians", Everywhere, line, line, toRadians, toDegrees)

  val Sin: ElementaryFunction = Periodic.Sine
  val Cos: ElementaryFunction = Periodic.Cosine
  val Tan: ElementaryFunction = Periodic.Tangent

  val all: Seq[ElementaryFunction] =
    Seq(Sqrt, Cbrt, Exp, Expm1, Ln, Log2, Log10, Log1p) ++
      Seq(Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Degrees, Radians)
}
