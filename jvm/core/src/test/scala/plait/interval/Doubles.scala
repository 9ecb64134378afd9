// SPDX-License-Identifier: Apache-2.0
package plait.interval

import org.scalacheck.Gen

/** Random doubles and floats of every size, and the numbers that [[Domain]] takes them for. */
object Doubles {
  private val small: Gen[Double] = Gen.choose(-12, 12).map(_ / 2.0)

  /** Around the powers of two, where the distance between neighbours changes. */
  private val power: Gen[Double] = for {
    sign <- Gen.oneOf(-1.0, 1.0)
    exponent <- Gen.choose(-1074, 1023)
    step <- Gen.choose(-1, 1)
  } yield {
    val x = math.scalb(1.0, exponent)
    sign * (if (step < 0) Math.nextDown(x) else if (step > 0) Math.nextUp(x) else x)
  }

  val finite: Gen[Double] = Gen
    .frequency(
      5 -> small,
      2 -> power,
      2 -> Gen.long.map(java.lang.Double.longBitsToDouble),
      1 -> Gen.oneOf(0.0, -0.0, Double.MaxValue, Double.MinValue, Double.MinPositiveValue, 1e308)
    )
    .map(x => if (x.isNaN || x.isInfinite) 0.0 else x)

  val double: Gen[Double] = Gen.frequency(
    8 -> finite,
    1 -> Gen.oneOf(Double.PositiveInfinity, Double.NegativeInfinity, Double.NaN)
  )

  private val smallFloat: Gen[Float] = Gen.choose(-12, 12).map(_ / 2f)
  private val limits: Gen[Float] =
    Gen.oneOf(0f, -0f, Float.MaxValue, Float.MinValue, Float.MinPositiveValue, 3e38f)

  val finiteFloat: Gen[Float] = Gen
    .frequency(
      5 -> smallFloat,
      4 -> Gen.choose(Int.MinValue, Int.MaxValue).map(java.lang.Float.intBitsToFloat),
      1 -> limits
    )
    .map(x => if (x.isNaN || x.isInfinite) 0f else x)

  val float: Gen[Float] = Gen.frequency(
    8 -> finiteFloat,
    1 -> Gen.oneOf(Float.PositiveInfinity, Float.NegativeInfinity, Float.NaN)
  )

  /** The number of any double but NaN. */
  def number(x: Double): Rational =
    if (x.isInfinite) infinite(x, Domain.Double) else Rational.of(x)
  def number(x: Float): Rational =
    if (x.isInfinite) infinite(x.toDouble, Domain.Float) else Rational.of(x.toDouble)

  private def infinite(x: Double, domain: Domain.Floating): Rational =
    if (x > 0) domain.infinity else -domain.infinity
}
