// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span

/** The values that a term of a type may take, as numbers on one line, and how results are rounded to
  * them.
  *
  * {{{
  * type                       number                              tighten (3, 7.5)   round 10/3
  * byte, short, int, long     itself                              [4, 7]             -
  * date                       days since 1970-01-01               [4, 7]             -
  * timestamp, day-time        microseconds                        [4, 7]             -
  * year-month interval        months                              [4, 7]             -
  * boolean                    0 for FALSE, 1 for TRUE             {}                 -
  * decimal(9, 1)              itself                              [3.1, 7.5]         [3.3, 3.4]
  * float, double              itself                              [3.0...04, 7.5]    the nearest
  * string (binary collation)  0.d1d2d3... in base 257             as it is           -
  * real                       itself                              as it is           as it is
  * }}}
  *
  * Conventions:
  *   1. The order of the numbers is the order of the values, and equal values are equal numbers:
  *      -0.0 is 0.
  *   2. Infinity is the number after the greatest finite one (`2^1024` for a double), `-inf` its
  *      mirror. So a floating domain is closed at both ends, and what is rounded beyond the finite
  *      becomes infinite, as in IEEE 754.
  *   3. NaN stands above everything and is no number: see [[Specials]].
  *   4. A decimal is rounded to one of its two neighbours, whichever way: Spark rounds more than
  *      once on the way to some results.
  *   5. `real` is for conditions without types: exact arithmetic on all numbers, but that an end of more
  *      than 2,048 bits is moved outward: to 256 of them, to 0 or to no end.
  */
sealed abstract class Domain(val name: String) extends Serializable {

  /** All values, but for the special ones. */
  def everything: IntervalSet

  def hasNaN: Boolean = false

  /** The same values between ends that are values: `(3, 7.5)` of integers is `[4, 7]`. */
  def tighten(set: IntervalSet): IntervalSet

  /** A superset of what results in `exact` are rounded to; not cut to [[everything]]. */
  def round(exact: IntervalSet): IntervalSet

  /** A superset of the exact results that are rounded to a value in `values`. */
  def unround(values: IntervalSet): IntervalSet

  /** [[everything]] where it is a set of integers. */
  def interval: Interval[BigInt] = Interval.All

  /** Everything, the special values too. */
  def all: Possible =
    Possible(everything, if (hasNaN) Specials.NullOrNaN else Specials.Null)

  override def toString: String = name
}

object Domain {
  val Byte: Domain = bits("byte", 8)
  val Short: Domain = bits("short", 16)
  val Int: Domain = bits("int", 32)
  val Long: Domain = bits("long", 64)
  val Date: Domain = bits("date", 32)
  val Timestamp: Domain = bits("timestamp", 64)
  val TimestampNtz: Domain = bits("timestamp_ntz", 64)
  val DayTimeInterval: Domain = bits("day-time interval", 64)
  val YearMonthInterval: Domain = bits("year-month interval", 32)
  val Boolean: Domain = new Whole("boolean", Some((BigInt(0), BigInt(1))))
  val Float: Floating = new Floating("float", precision = 24, leastExponent = -149, bits = 128)
  val Double: Floating = new Floating("double", precision = 53, leastExponent = -1074, bits = 1024)

  /** All integers: what arithmetic gives that is exact or fails. */
  val Integer: Domain = new Whole("integer", None)

  private def bits(name: String, width: Int): Domain =
    new Whole(name, Some((-(BigInt(1) << (width - 1)), (BigInt(1) << (width - 1)) - 1)))

  /** Each of these is one object, also when it comes from another process. */
  private lazy val named: Map[String, Domain] = Seq(
    Byte,
    Short,
    Int,
    Long,
    Date,
    Timestamp,
    TimestampNtz,
    DayTimeInterval,
    YearMonthInterval,
    Boolean,
    Float,
    Double,
    Integer
  ).map(domain => domain.name -> domain).toMap

  final class Whole private[Domain] (name: String, ends: Option[(BigInt, BigInt)])
      extends Domain(name) {
    private def readResolve(): AnyRef = named(name)
    override val everything: IntervalSet = ends.fold(IntervalSet.All) { case (least, greatest) =>
      IntervalSet.closed(Rational(least), Rational(greatest))
    }
    override val interval: Interval[BigInt] = ends.fold[Interval[BigInt]](Interval.All) {
      case (least, greatest) => Interval.closed(least, greatest)
    }
    override def round(exact: IntervalSet): IntervalSet = exact
    override def unround(values: IntervalSet): IntervalSet = values
    override def tighten(set: IntervalSet): IntervalSet =
      if (if (set.isOne) isTight(set.only) else set.spans.forall(isTight)) set
      else
        inward(set)(x => Rational(x.ceiling), _ + Rational.One)(
          x => Rational(x.floor),
          _ - Rational.One
        )
    private def isTight(span: Span[Rational]): Boolean = isTight(span.lower) && isTight(span.upper)
    private def isTight(bound: Bound[Rational]): Boolean = bound match {
      case Open(_) => false
      case Closed(x) => x.isWhole
      case Unbounded => true
    }
  }

  /** Decimals of `precision` digits, `scale` of them after the point. */
  final case class Decimal(precision: Int, scale: Int)
      extends Domain(s"decimal($precision, $scale)") {
    private val unit = Rational.scaled(1, scale)
    override val everything: IntervalSet = {
      val greatest = Rational.scaled(BigInt(10).pow(precision) - 1, scale)
      IntervalSet.closed(-greatest, greatest)
    }
    private def down(x: Rational) = Rational((x / unit).floor) * unit
    private def up(x: Rational) = Rational((x / unit).ceiling) * unit

    /** Convention 4. */
    override def round(exact: IntervalSet): IntervalSet = outward(exact)(down)(up)
    override def unround(values: IntervalSet): IntervalSet =
      values.flatMap(s => IntervalSet.span(moved(s.lower)(_ - unit), moved(s.upper)(_ + unit)))
    override def tighten(set: IntervalSet): IntervalSet =
      inward(set)(up, _ + unit)(down, _ - unit)
  }

  /** Binary floating point: `m * 2^e` with `|m| < 2^precision` and `e >= leastExponent`. */
  final class Floating private[Domain] (
      name: String,
      precision: Int,
      leastExponent: Int,
      bits: Int
  ) extends Domain(name) {
    private def readResolve(): AnyRef = named(name)
    val infinity: Rational = Rational(BigInt(1) << bits)
    val minusInfinity: Rational = -infinity
    override val everything: IntervalSet = IntervalSet.closed(minusInfinity, infinity)
    override def hasNaN: Boolean = true

    /** The exponent of the last place of numbers of this size. */
    private def lastPlace(x: Rational): Int =
      if (x.signum == 0) leastExponent
      else {
        val guess = x.numerator.abs.bitLength - x.denominator.bitLength
        val isBelow =
          if (guess >= 0) x.numerator.abs < (x.denominator << guess)
          else (x.numerator.abs << -guess) < x.denominator
        math.max((if (isBelow) guess - 1 else guess) - (precision - 1), leastExponent)
      }

    private def power(e: Int): Rational =
      if (e >= 0) Rational(BigInt(1) << e) else Rational(BigInt(1), BigInt(1) << -e)

    /** Is it a finite value already? Mostly it is, and then nothing need be divided. */
    private def isValue(x: Rational): Boolean = {
      val (m, d) = (x.numerator, x.denominator)
      val places = d.bitLength - 1
      if (places == 0)
        m.bitLength <= precision || (m.bitLength <= bits && m.bitLength - m.lowestSetBit <= precision)
      else m.bitLength <= precision && places <= -leastExponent && d.lowestSetBit == places
    }

    /** A value of this domain as the JVM's number. */
    def exactly(x: Rational): Double =
      if (x >= infinity) scala.Double.PositiveInfinity
      else if (x <= minusInfinity) scala.Double.NegativeInfinity
      else {
        val place = lastPlace(x)
        java.lang.Math.scalb((x / power(place)).numerator.toDouble, place)
      }

    /** The greatest value that is not above, the least that is not below; the infinities at last. */
    def down(x: Rational): Rational =
      if (isValue(x)) x
      else if (x >= infinity) infinity
      else if (x < minusInfinity) minusInfinity
      else { val place = lastPlace(x); multiple(floor(x, place), place) }

    def up(x: Rational): Rational = if (isValue(x)) x else -down(-x)

    /** The value before: the JVM knows it of what is a value already. */
    def before(x: Rational): Rational =
      if (x <= minusInfinity) x
      else if (isValue(x)) below(x)
      else down(x - power(lastPlace(x) - 1))
    def after(x: Rational): Rational = -before(-x)

    private def below(value: Rational): Rational = {
      val x =
        if (value.isWhole) value.numerator.toDouble
        else java.lang.Math.scalb(value.numerator.toDouble, 1 - value.denominator.bitLength)
      val y = if (bits == 1024) Math.nextDown(x) else Math.nextDown(x.toFloat).toDouble
      if (y.isInfinite) minusInfinity else Rational.of(y)
    }

    /** `floor(x / 2^place)`; most denominators are powers of two, and nothing is divided. */
    private def floor(x: Rational, place: Int): BigInt = {
      val n = if (place < 0) x.numerator << -place else x.numerator
      val d = if (place > 0) x.denominator << place else x.denominator
      if (d.lowestSetBit == d.bitLength - 1) n >> (d.bitLength - 1) else Rational(n, d).floor
    }

    private def multiple(m: BigInt, place: Int): Rational =
      if (place >= 0) Rational(m << place) else Rational(m, BigInt(1) << -place)

    /** The nearest value, the even one of two. */
    def nearest(x: Rational): Rational =
      if (isValue(x)) x
      else if (x >= infinity) infinity
      else if (x <= minusInfinity) minusInfinity
      else {
        val place = lastPlace(x)
        val halves = floor(x, place - 1)
        val below = halves >> 1
        val half =
          if (!halves.testBit(0)) -1 else if (x > multiple(halves, place - 1)) 1 else 0
        val isUp = half > 0 || (half == 0 && below.testBit(0))
        multiple(if (isUp) below + 1 else below, place)
      }

    override def round(exact: IntervalSet): IntervalSet = outward(exact)(nearest)(nearest)

    /** Up to the middles between neighbours, whatever becomes of them. */
    override def unround(values: IntervalSet): IntervalSet = {
      val two = Rational(2)
      tighten(values).flatMap { case Span(lower, upper) =>
        val from = lower match {
          case Closed(x) if x > minusInfinity => Closed((x + before(x)) / two)
          case _ => Unbounded
        }
        val to = upper match {
          case Closed(x) if x < infinity => Closed((x + after(x)) / two)
          case _ => Unbounded
        }
        IntervalSet.span(from, to)
      }
    }

    /** Wider by so many values at both ends: for functions that are not rounded correctly. */
    def widen(set: IntervalSet, values: Int): IntervalSet = {
      def times(f: Rational => Rational)(x: Rational) = (1 to values).foldLeft(x)((y, _) => f(y))
      outward(set)(x => times(before)(down(x)))(x => times(after)(up(x))).intersect(everything)
    }

    override def tighten(set: IntervalSet): IntervalSet =
      inward(set)(up, after)(down, before).intersect(everything)
  }

  /** All numbers, computed with exactly. */
  object Real extends Domain("real") {
    override val everything: IntervalSet = IntervalSet.All
    override def round(exact: IntervalSet): IntervalSet = shortened(exact)
    override def unround(values: IntervalSet): IntervalSet = values
    override def tighten(set: IntervalSet): IntervalSet = shortened(set)

    /** Each power doubles the digits of an end, or worse: those that have too many are moved outward. */
    private def shortened(set: IntervalSet): IntervalSet =
      if (set.spans.forall(span => !isLong(span.lower) && !isLong(span.upper))) set
      else
        IntervalSet.of(set.spans.map { span =>
          Span(
            if (isLong(span.lower)) lowered(span.lower) else span.lower,
            if (isLong(span.upper)) lowered(span.upper.map(-_)).map(-_) else span.upper
          )
        })

    private def isLong(bound: Bound[Rational]): Boolean =
      bound.isBounded && Bound.at(bound).bits > MostBits

    /** Of what is far from 0, or near to it, not even the power of two is kept. */
    private def lowered(lower: Bound[Rational]): Bound[Rational] =
      if (isFarBelow(Bound.at(lower))) Unbounded
      else
        lower.map { x =>
          if (x.magnitude > MostBits) Rational(BigInt(1) << MostBits - 1)
          else if (x.magnitude >= -MostBits) x.roundedDown(KeptBits)
          else if (x.signum > 0) Rational.Zero
          else Rational(-1, BigInt(1) << MostBits - 1)
        }

    private def isFarBelow(x: Rational): Boolean = x.signum < 0 && x.magnitude > MostBits

    private val MostBits = 2048
    private val KeptBits = 256
  }

  /** Texts by their bytes, unsigned: the number of `"ab"` is `0.(97 + 1)(98 + 1)` in base 257. */
  object Text extends Domain("string") {
    private val base = BigInt(257)
    override val everything: IntervalSet =
      IntervalSet.span(Closed(Rational.Zero), Open(Rational.One))
    override def round(exact: IntervalSet): IntervalSet = exact
    override def unround(values: IntervalSet): IntervalSet = values
    override def tighten(set: IntervalSet): IntervalSet = set.intersect(everything)
    def number(bytes: Array[scala.Byte]): Rational = Rational(
      bytes.foldLeft(BigInt(0))((sum, byte) => sum * base + (byte & 0xff) + 1),
      base.pow(bytes.length)
    )
  }

  private def moved(bound: Bound[Rational])(by: Rational => Rational): Bound[Rational] =
    bound.map(by) match {
      case Closed(x) => Open(x)
      case other => other
    }

  private def outward(set: IntervalSet)(lower: Rational => Rational)(
      upper: Rational => Rational
  ): IntervalSet =
    set.flatMap(s => IntervalSet.span(closed(s.lower)(lower), closed(s.upper)(upper)))

  private def closed(bound: Bound[Rational])(f: Rational => Rational): Bound[Rational] =
    bound match {
      case Unbounded => Unbounded
      case Closed(x) => Closed(f(x))
      case Open(x) => Closed(f(x))
    }

  /** Each end moved to the first value inside; `next` is the one after an end that is out. */
  private def inward(set: IntervalSet)(up: Rational => Rational, after: Rational => Rational)(
      down: Rational => Rational,
      before: Rational => Rational
  ): IntervalSet = {
    def first(bound: Bound[Rational], to: Rational => Rational, next: Rational => Rational) =
      bound match {
        case Open(x) => val y = to(x); Closed(if (y == x) next(y) else y)
        case other => other.map(to)
      }
    set.flatMap(s => IntervalSet.span(first(s.lower, up, after), first(s.upper, down, before)))
  }
}
