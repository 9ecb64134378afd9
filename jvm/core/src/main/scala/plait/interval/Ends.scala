// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** The arithmetic that interval operations ask of the values at their ends.
  *
  * Laws: `plus` is commutative and associative, `negate` its inverse, `times(x, k) = x + ... + x`
  * (k times), all exact. A division may answer `None` where the quotient has no form in `E`; the
  * caller then drops the end. So does `known` for a number
  * that is none in `E`, and `beyond` where rounding cannot be taken back.
  */
trait Ends[E] {
  def constant(x: BigInt): E

  /** A number of this domain. */
  def known(x: Rational, domain: Domain): Option[E]
  def plus(a: E, b: E): E
  def negate(a: E): E
  def times(a: E, factor: BigInt): E

  /** As an end of a set of rounded results: the end of the set of exact results that are rounded to
    * them in this domain.
    */
  def beyond(a: E, domain: Domain): Option[E]

  /** `factor * a` for a positive factor that is no integer, where results are rounded. */
  def product(a: E, factor: Rational): Option[E] = None

  /** `a / factor`, for a positive factor, where results are rounded. */
  def quotient(a: E, factor: Rational): Option[E] = None

  /** The greatest `q` with `factor * q <= a`, for a positive factor, or the quotient itself: no integer
    * lies between the two.
    */
  def floorDivide(a: E, factor: BigInt): Option[E]

  /** The least `q` with `factor * q >= a`, for a positive factor, or the quotient itself. */
  def ceilDivide(a: E, factor: BigInt): Option[E] =
    floorDivide(negate(a), factor).map(negate)
}

object Ends {
  implicit object Numbers extends Ends[BigInt] {
    def constant(x: BigInt): BigInt = x
    def known(x: Rational, domain: Domain): Option[BigInt] = Option.when(x.isWhole)(x.numerator)
    def beyond(a: BigInt, domain: Domain): Option[BigInt] = domain match {
      case _: Domain.Whole => Some(a)
      case _ => None
    }
    def plus(a: BigInt, b: BigInt): BigInt = a + b
    def negate(a: BigInt): BigInt = -a
    def times(a: BigInt, factor: BigInt): BigInt = a * factor
    def floorDivide(a: BigInt, factor: BigInt): Option[BigInt] = {
      val (quotient, remainder) = a /% factor
      Some(if (remainder.signum < 0) quotient - 1 else quotient)
    }
  }
}
