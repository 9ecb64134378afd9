// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Unbounded}

/** `a^n` and the `n`-th root of exact numbers, for whole `n`.
  *
  * {{{
  *   a^2 ∈ R    ⇒   a ∈ √R ∪ -√R                 of what is not negative in R
  *   a^3 ∈ R    ⇒   a ∈ ∛R
  *   √a  ∈ R    ⇒   a ∈ R^2                      of what is not negative in R
  *
  *   a^2 ∈ [3, 4], a >= 0       a ∈ [1.7320508075688772, 2]
  *   [-1, 2]^2                  [0, 4], where a * a of two factors is [-2, 4]
  * }}}
  *
  * Conventions:
  *   1. A power is exact, and so is a root that is rational: √(9/4) is 3/2.
  *   2. Any other root lies between two neighbours of 53 bits, and the outer one is the end.
  */
sealed abstract class Power extends RealOperation {

  /** 2 or more. */
  def degree: Int
  require(degree >= 2 && degree <= Power.Greatest, s"no degree: $degree")

  protected val isEven: Boolean = degree % 2 == 0

  protected def powers(as: IntervalSet): IntervalSet =
    if (isEven) {
      val up = as.intersect(Power.notNegative)
      val down = RealOperation.negated(as).intersect(Power.notNegative)
      rising(up).union(rising(down))
    } else rising(as)

  private def rising(as: IntervalSet): IntervalSet = as.flatMap { a =>
    IntervalSet.span(a.lower.map(_.power(degree)), a.upper.map(_.power(degree)))
  }

  /** Not the negative ones of an even degree. */
  protected def roots(rs: IntervalSet): IntervalSet = {
    val rooted = if (isEven) rs.intersect(Power.notNegative) else rs
    rooted.flatMap { r =>
      def end(bound: Bound[Rational], outer: ((Rational, Rational)) => Rational) = bound match {
        case Unbounded => Unbounded
        case other =>
          val between = Power.root(Bound.at(other), degree)
          if (between._1 == between._2) other.map(_ => between._1) else Closed(outer(between))
      }
      IntervalSet.span(end(r.lower, _._1), end(r.upper, _._2))
    }
  }
}

object Power {
  val Greatest = 64
  private val Bits = 53
  private val notNegative = IntervalSet.atLeast(Rational.Zero)

  /** `a^exponent` */
  final case class Whole(exponent: Int) extends Power {
    def degree: Int = exponent
    def name: String = s"power $exponent"

    /** Infinities become infinities. */
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = powers(as(0))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val positive = roots(result)
      if (isEven) positive.union(RealOperation.negated(positive)) else positive
    }
  }

  /** The root that is not negative, of an even degree; the real one of an odd degree. */
  final case class Root(degree: Int) extends Power {
    def name: String = s"root $degree"
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean =
      isEven && !as(0).subsetOf(notNegative)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = roots(as(0))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      powers(if (isEven) result.intersect(notNegative) else result)
  }

  /** Numbers at or below and at or above the root: the same one where the root is rational. */
  def root(x: Rational, degree: Int): (Rational, Rational) =
    if (x.signum == 0) (x, x)
    else if (x.signum < 0) { val (below, above) = root(-x, degree); (-above, -below) }
    else {
      val (top, bottom) = (wholeRoot(x.numerator, degree), wholeRoot(x.denominator, degree))
      if (top.pow(degree) == x.numerator && bottom.pow(degree) == x.denominator) {
        val exact = Rational(top, bottom)
        (exact, exact)
      } else neighbours(x, degree)
    }

  /** Conventions 2. With `x * 2^(degree * shift)` of `Bits * degree` bits or one less, its whole
    * root has `Bits`.
    */
  private def neighbours(x: Rational, degree: Int): (Rational, Rational) = {
    val size = x.numerator.bitLength - x.denominator.bitLength
    val shift = Bits - Math.floorDiv(size + degree - 1, degree)
    val scaled =
      if (shift >= 0) (x.numerator << (degree * shift)) / x.denominator
      else x.numerator / (x.denominator << (degree * -shift))
    val below = wholeRoot(scaled, degree)
    def unscaled(whole: BigInt) =
      if (shift >= 0) Rational(whole, BigInt(1) << shift) else Rational(whole << -shift)
    (unscaled(below), unscaled(below + 1))
  }

  /** The greatest whole number whose power is not above `x`, by Newton's steps from above. */
  private def wholeRoot(x: BigInt, degree: Int): BigInt =
    if (x.signum == 0) x
    else if (degree == 2) BigInt(x.bigInteger.sqrt)
    else {
      @annotation.tailrec
      def step(from: BigInt): BigInt = {
        val next = (from * (degree - 1) + x / from.pow(degree - 1)) / degree
        if (next >= from) from else step(next)
      }
      step(atLeastRoot(x, degree))
    }

  /** Little above the root: from the first 53 bits. */
  private def atLeastRoot(x: BigInt, degree: Int): BigInt = {
    val size = x.bitLength
    val low = math.max(size - Bits, 0)
    val log = (StrictMath.log((x >> low).toDouble + 1) / StrictMath.log(2) + low) / degree + 1e-9
    val whole = log.toInt
    val first = BigInt((StrictMath.pow(2, log - whole) * (1L << 40)).toLong + 1)
    (if (whole >= 40) first << (whole - 40) else (first >> (40 - whole)) + 1) + 1
  }
}
