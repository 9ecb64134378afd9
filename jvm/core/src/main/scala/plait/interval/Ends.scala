// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** The arithmetic that interval operations ask of the values at their ends.
  *
  * Laws: `plus` is commutative and associative, `negate` its inverse, `times(x, k) = x + ... + x`
  * (k times), all exact. A division may answer `None` where the quotient has no form in `E`; the
  * caller then drops the end.
  */
trait Ends[E] {
  def constant(x: BigInt): E
  def plus(a: E, b: E): E
  def negate(a: E): E
  def times(a: E, factor: BigInt): E

  /** The greatest `q` with `factor * q <= a`, for a positive factor. */
  def floorDivide(a: E, factor: BigInt): Option[E]

  /** The least `q` with `factor * q >= a`, for a positive factor. */
  def ceilDivide(a: E, factor: BigInt): Option[E] =
    floorDivide(negate(a), factor).map(negate)
}

object Ends {
  implicit object Numbers extends Ends[BigInt] {
    def constant(x: BigInt): BigInt = x
    def plus(a: BigInt, b: BigInt): BigInt = a + b
    def negate(a: BigInt): BigInt = -a
    def times(a: BigInt, factor: BigInt): BigInt = a * factor
    def floorDivide(a: BigInt, factor: BigInt): Option[BigInt] = {
      val (quotient, remainder) = a /% factor
      Some(if (remainder.signum < 0) quotient - 1 else quotient)
    }
  }
}
