// SPDX-License-Identifier: Apache-2.0
package plait.order

import java.math.BigInteger

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Domain.{Decimal, Floating}
import plait.interval._

/** The rank of a value: a 64-bit integer that keeps the order of its domain, `a < b` gives `rank(a) <=
  * rank(b)`.
  *
  * {{{
  * integers, dates, timestamps, intervals      themselves
  * float, double                               their bits, the negative ones turned round
  * decimal(p <= 18, s)                         the unscaled value: 1.25 is 125
  * decimal(p > 18, s)                          its leading digits, rounded down
  * string                                      its first 8 bytes
  * }}}
  *
  * Conventions:
  *   1. -0.0 and 0.0 have one rank; every NaN has one, above that of infinity.
  *   2. *Exact* ranks differ where values differ. Where they do not (long decimals, strings), `a < b`
  *      says only `rank(a) <= rank(b)`, so open ends become closed.
  *   3. The ranks of an interval's ends are closed, and hold the rank of every value inside.
  */
sealed abstract class Rank {
  def isExact: Boolean

  /** The least rank of a value that is not below this lower end. */
  def low(end: Bound[Rational]): Long

  /** The greatest rank of a value that is not above this upper end. */
  def high(end: Bound[Rational]): Long

  /** The lower end of the values of at least this rank. */
  def from(rank: Long): Bound[Rational]

  /** The upper end of the values of at most this rank. */
  def until(rank: Long): Bound[Rational]

  /** What no value of these comes before along an order; the least there is, where nothing is known.
    *
    * {{{
    * [3, 7] ascending 3, descending ~7;    [3, 7] or NaN descending ~rank(NaN)
    * }}}
    */
  final def first(possible: Possible, direction: Direction): Long = direction match {
    case _ if possible.values.isEmpty => Long.MinValue
    case Direction.Ascending => low(possible.values.lower)
    case Direction.Descending =>
      ~(if (possible.mayBeNaN) Rank.OfNaN else high(possible.values.upper))
  }

  /** What no value of these comes after along an order; the least there is, where there is no value. */
  final def last(possible: Possible, direction: Direction): Long = direction match {
    case _ if possible.values.isEmpty && !possible.mayBeNaN => Long.MinValue
    case Direction.Ascending =>
      if (possible.mayBeNaN) Rank.OfNaN else high(possible.values.upper)
    case Direction.Descending =>
      if (possible.values.isEmpty) Long.MaxValue else ~low(possible.values.lower)
  }
}

object Rank {

  /** None for domains whose values have no number of their own. */
  def of(domain: Domain): Option[Rank] = domain match {
    case floating: Floating => Some(new OfFloating(floating))
    case decimal: Decimal => Some(new OfDecimal(decimal))
    case Domain.Text => Some(OfText)
    case Domain.Real | Domain.Integer => None
    case _: Domain.Whole => Some(OfWhole)
  }

  /** Is a value of the one before a value of the other where its rank is? So it is of integers of any width, and of
    * floats and doubles.
    */
  def agree(one: Domain, other: Domain): Boolean =
    one == other || integers.contains(one) && integers.contains(other) ||
      one.isInstanceOf[Floating] && other.isInstanceOf[Floating]

  private lazy val integers = Set(Domain.Byte, Domain.Short, Domain.Int, Domain.Long)

  /** Doubles, and floats as the doubles that they are. */
  def ofDouble(x: Double): Long = {
    // Adding 0.0 turns -0.0 into 0.0 and nothing else; this conversion knows one NaN.
    val bits = java.lang.Double.doubleToLongBits(x + 0.0)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** Above that of infinity. */
  val OfNaN: Long = ofDouble(Double.NaN)

  /** The double of a rank. */
  def toDouble(rank: Long): Double =
    java.lang.Double.longBitsToDouble(rank ^ ((rank >> 63) & Long.MaxValue))

  /** @param precision of the type, more than 18 */
  def ofLongDecimal(unscaled: BigInteger, precision: Int): Long =
    floorDivide(BigInt(unscaled), BigInt(10).pow(precision - 18)).toLong

  /** @param prefix
    *   the first 8 bytes, the first one highest, 0 where there are no more
    */
  def ofText(prefix: Long): Long = prefix ^ Long.MinValue

  private def floorDivide(a: BigInt, b: BigInt): BigInt = Rational(a, b).floor

  private object OfWhole extends Rank {
    def isExact: Boolean = true
    def low(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MinValue
      case Closed(x) => Saturating.constantOf(x.ceiling)
      case Open(x) => Saturating.constantOf(x.floor + 1)
    }
    def high(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MaxValue
      case Closed(x) => Saturating.constantOf(x.floor)
      case Open(x) => Saturating.constantOf(x.ceiling - 1)
    }
    def from(rank: Long): Bound[Rational] = Closed(Rational(rank))
    def until(rank: Long): Bound[Rational] = Closed(Rational(rank))
  }

  final private case class OfFloating(domain: Floating) extends Rank {
    def isExact: Boolean = true

    /** An end of NaN's kind has no number: what has no end above may be NaN. */
    def low(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MinValue
      case Closed(x) => rank(domain.up(x))
      case Open(x) => val y = domain.up(x); rank(if (y == x) domain.after(y) else y)
    }
    def high(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MaxValue
      case Closed(x) => rank(domain.down(x))
      case Open(x) => val y = domain.down(x); rank(if (y == x) domain.before(y) else y)
    }
    def from(rank: Long): Bound[Rational] = {
      val x = toDouble(rank)
      // Of NaN's rank there is no number.
      Closed(if (x.isNaN) domain.infinity else number(x))
    }
    def until(rank: Long): Bound[Rational] = {
      val x = toDouble(rank)
      if (x.isNaN) Unbounded else Closed(number(x))
    }
    private def number(x: Double): Rational =
      if (x.isPosInfinity) domain.infinity
      else if (x.isNegInfinity) -domain.infinity
      else Rational.of(x)
    private def rank(x: Rational): Long =
      if (x >= domain.infinity) ofDouble(Double.PositiveInfinity)
      else if (x <= -domain.infinity) ofDouble(Double.NegativeInfinity)
      else ofDouble(Domain.Double.exactly(x))
  }

  final private case class OfDecimal(domain: Decimal) extends Rank {
    private val left = math.max(domain.precision - 18, 0)
    private val unit = Rational.scaled(BigInt(10).pow(left), domain.scale)
    def isExact: Boolean = left == 0
    def low(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MinValue
      case Open(x) if isExact => Saturating.constantOf((x / unit).floor + 1)
      case other =>
        val scaled = Bound.at(other) / unit
        Saturating.constantOf(if (isExact) scaled.ceiling else scaled.floor)
    }
    def high(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MaxValue
      case Open(x) if isExact => Saturating.constantOf((x / unit).ceiling - 1)
      case other => Saturating.constantOf((Bound.at(other) / unit).floor)
    }
    def from(rank: Long): Bound[Rational] = Closed(Rational(rank) * unit)
    def until(rank: Long): Bound[Rational] =
      if (isExact) Closed(Rational(rank) * unit) else Open(Rational(BigInt(rank) + 1) * unit)
  }

  /** Eight digits of the number in base 257, each the byte after which it is: 0 ends the text, and has
    * no byte, for which a prefix has the byte 0.
    */
  private object OfText extends Rank {
    private val digits = 8
    private val base = BigInt(257)
    private val scale = Rational(base.pow(digits))
    def isExact: Boolean = false
    def low(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MinValue
      case other => ofNumber(Bound.at(other))
    }
    def high(end: Bound[Rational]): Long = end match {
      case Unbounded => Long.MaxValue
      case other => ofNumber(Bound.at(other))
    }

    /** The least text that begins so has no zeros at its end. */
    def from(rank: Long): Bound[Rational] =
      Closed(Domain.Text.number(bytes(rank).reverse.dropWhile(_ == 0).reverse))

    /** Before all texts of a greater beginning. */
    def until(rank: Long): Bound[Rational] =
      Open(Domain.Text.number(bytes(rank)) + Rational.One / scale)

    private def bytes(rank: Long): Array[Byte] =
      (digits - 1 to 0 by -1).map(place => (ofText(rank) >> (8 * place)).toByte).toArray

    /** Never falls: neither does a digit's byte, and the first digits decide. No text lies between one and the next
      * longer one, of which the digits are the same up to a 0.
      */
    private def ofNumber(x: Rational): Long =
      if (x.signum <= 0) Long.MinValue
      else if (x >= Rational.One) Long.MaxValue
      else {
        val number = (x * scale).floor
        val all = (digits - 1 to 0 by -1).map(place => (number / base.pow(place)) % base)
        val bytes = all.takeWhile(_.signum > 0).map(_.toLong - 1).padTo(digits, 0L)
        ofText(bytes.foldLeft(0L)((sum, byte) => (sum << 8) | byte))
      }
  }
}
