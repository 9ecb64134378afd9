// SPDX-License-Identifier: Apache-2.0
package plait.interval

import java.math.{BigDecimal => JavaDecimal, MathContext}

/** An exact number `numerator / denominator`, in lowest terms, the denominator positive.
  *
  * {{{
  * Rational(3) / Rational(6)     1/2
  * Rational.of(0.1)              3602879701896397/36028797018963968, the number that the double is
  * Rational.scaled(125, 2)       5/4, the decimal 1.25
  * }}}
  *
  * Integers, decimals, dates, timestamps and finite doubles all are exact rationals, so one line of
  * numbers carries the ends of every interval.
  *
  * Most of them are integers of 64 bits, and these are computed with as such: `above` is null where
  * the number is `long`, and `below` where it is whole. Each number has one such form.
  */
final class Rational private (long: Long, above: BigInt, below: BigInt)
    extends Ordered[Rational]
    with Serializable {

  def numerator: BigInt = if (isLong) BigInt(long) else above
  def denominator: BigInt = if (isWhole) Rational.one else below

  private def isLong: Boolean = above eq null
  private def asLong: Long = long

  /** Of 32 bits, so that a product of two has 64. */
  private def isSmall: Boolean = long.toInt == long
  def isWhole: Boolean = below eq null
  def signum: Int = if (isLong) java.lang.Long.signum(long) else above.signum

  def +(that: Rational): Rational =
    if (isLong && that.isLong) {
      val sum = long + that.asLong
      // A sum overflows if its sign is that of neither summand.
      if (((long ^ sum) & (that.asLong ^ sum)) >= 0) Rational(sum)
      else Rational(numerator + that.numerator)
    } else if (isWhole && that.isWhole) Rational(numerator + that.numerator)
    else
      Rational(
        numerator * that.denominator + that.numerator * denominator,
        denominator * that.denominator
      )

  def -(that: Rational): Rational =
    if (isLong && that.isLong) {
      val difference = long - that.asLong
      // A difference overflows if the signs differ, and its own is not the first one's.
      if (((long ^ that.asLong) & (long ^ difference)) >= 0) Rational(difference)
      else Rational(numerator - that.numerator)
    } else this + -that

  def unary_- : Rational =
    if (isLong && long != Long.MinValue) Rational(-long)
    else if (isWhole) Rational(-numerator)
    else new Rational(0, -above, below)

  def *(that: Rational): Rational =
    if (isLong && that.isLong && isSmall && that.isSmall) Rational(long * that.asLong)
    else if (isWhole && that.isWhole) Rational(numerator * that.numerator)
    else Rational(numerator * that.numerator, denominator * that.denominator)

  def /(that: Rational): Rational =
    Rational(numerator * that.denominator, denominator * that.numerator)

  /** Of a fraction in lowest terms the power is one too.
    *
    * @param n
    *   0 or more
    */
  def power(n: Int): Rational =
    if (isWhole) Rational(numerator.pow(n))
    else Rational.lowest(numerator.pow(n), denominator.pow(n))

  def abs: Rational = if (signum < 0) -this else this

  /** How many it is written with, above and below the line. */
  def bits: Int = if (isLong) 64 else above.bitLength + (if (isWhole) 0 else below.bitLength)

  /** At most this number, and less by no more than a part of `2^(1 - bits)`: `bits` digits and a power of two. */
  def roundedDown(bits: Int): Rational = {
    val shift = bits - magnitude
    val scaled =
      if (shift >= 0) Rational(numerator << shift, denominator)
      else Rational(numerator, denominator << -shift)
    if (shift >= 0) Rational(scaled.floor, BigInt(1) << shift)
    else Rational(scaled.floor << -shift)
  }

  /** The greatest integer that is not above. */
  def floor: BigInt =
    if (isWhole) numerator
    else {
      val (quotient, remainder) = numerator /% denominator
      if (remainder.signum < 0) quotient - 1 else quotient
    }

  /** The least integer that is not below. */
  def ceiling: BigInt = if (isWhole) numerator else floor + 1

  override def compare(that: Rational): Int =
    if (isLong && that.isLong) java.lang.Long.compare(long, that.asLong)
    // A whole number of more than 64 bits is above all others, or below.
    else if (isLong && that.isWhole) -that.signum
    else if (isWhole && that.isLong) signum
    else if (isWhole && that.isWhole) numerator.compare(that.numerator)
    else if (signum != that.signum) Integer.compare(signum, that.signum)
    else {
      // A number of magnitude n lies between 2^(n - 1) and 2^(n + 1): mostly that tells, without products.
      val apart = magnitude - that.magnitude
      if (apart > 1) signum
      else if (apart < -1) -signum
      else if (denominator == that.denominator) numerator.compare(that.numerator)
      else (numerator * that.denominator).compare(that.numerator * denominator)
    }

  /** `2^(magnitude - 1) < |x| < 2^(magnitude + 1)`, but of 0. */
  def magnitude: Int = numerator.bitLength - denominator.bitLength

  /** A double that is close; [[Floating]] says which ones are above and below. */
  def approximate: Double =
    if (isWhole && numerator.isValidLong) numerator.toDouble
    else
      new JavaDecimal(numerator.bigInteger)
        .divide(new JavaDecimal(denominator.bigInteger), MathContext.DECIMAL64)
        .doubleValue

  override def equals(other: Any): Boolean = other match {
    case that: Rational if isLong || that.isLong =>
      isLong && that.isLong && long == that.asLong
    case that: Rational => numerator == that.numerator && denominator == that.denominator
    case _ => false
  }

  override def hashCode: Int =
    if (isLong) java.lang.Long.hashCode(long) else 31 * numerator.hashCode + denominator.hashCode

  override def toString: String = if (isWhole) numerator.toString else s"$numerator/$denominator"
}

object Rational {

  /** One object for all comparisons of ends. */
  implicit val order: Ordering[Rational] = (a, b) => a.compare(b)

  private val one = BigInt(1)
  val Zero: Rational = Rational(0)
  val One: Rational = Rational(1)

  def apply(whole: BigInt): Rational =
    if (whole.isValidLong) Rational(whole.toLong) else new Rational(0, whole, null)
  def apply(whole: Long): Rational = new Rational(whole, null, null)

  /** @throws java.lang.ArithmeticException for a denominator of 0 */
  def apply(numerator: BigInt, denominator: BigInt): Rational = {
    if (denominator.signum == 0) throw new ArithmeticException(s"$numerator / 0")
    // Of doubles all denominators are powers of two, and common factors are found without dividing.
    val places = denominator.bitLength - 1
    if (denominator.signum > 0 && denominator.lowestSetBit == places) {
      val common = if (numerator.signum == 0) places else math.min(numerator.lowestSetBit, places)
      lowest(numerator >> common, denominator >> common)
    } else {
      val divisor = numerator.gcd(denominator) * denominator.signum
      lowest(numerator / divisor, denominator / divisor)
    }
  }

  private def lowest(above: BigInt, below: BigInt): Rational =
    if (below == one) Rational(above) else new Rational(0, above, below)

  /** `unscaled * 10^-scale` */
  def scaled(unscaled: BigInt, scale: Int): Rational =
    if (scale <= 0) Rational(unscaled * BigInt(10).pow(-scale))
    else Rational(unscaled, BigInt(10).pow(scale))

  /** The number that a finite double is. */
  def of(x: Double): Rational =
    if (x == math.rint(x) && math.abs(x) < 1e18) Rational(x.toLong)
    else {
      require(!x.isNaN && !x.isInfinite, s"$x is no number")
      val bits = java.lang.Double.doubleToRawLongBits(x)
      val exponent = ((bits >> 52) & 0x7ff).toInt
      val fraction = bits & 0xfffffffffffffL
      val mantissa = BigInt(if (exponent == 0) fraction << 1 else fraction | (1L << 52))
      val signed = if (bits < 0) -mantissa else mantissa
      val power = exponent - 1075
      if (power >= 0) Rational(signed << power) else Rational(signed, one << -power)
    }

  def of(x: BigDecimal): Rational = scaled(BigInt(x.bigDecimal.unscaledValue), x.scale)

  def min(a: Rational, b: Rational): Rational = if (a <= b) a else b
  def max(a: Rational, b: Rational): Rational = if (a >= b) a else b
}
