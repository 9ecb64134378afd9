// SPDX-License-Identifier: Apache-2.0
package plait.order

/** Arithmetic of doubles for one end of an interval, rounded away from the inside: [[Outward.Down]]
  * never gives more than the exact result, [[Outward.Up]], its mirror, never less.
  *
  * {{{
  * Down.add(1, 2)              3                      exact
  * Down.add(1e17, -40)         99999999999999952      the exact sum is ...960, which no double is
  * Down.add(inf, 5)            MaxValue               lower than need be, which is safe
  * Down.add(inf, -inf)         NaN                    says nothing
  * }}}
  *
  * Conventions:
  *   1. NaN is an end that is not known, and stays one.
  *   2. Mirror: `Up.f(x) = -Down.f(-x)`.
  *
  * The error of a sum is Knuth's TwoSum (The Art of Computer Programming, volume 2, section 4.2.2,
  * theorem B).
  */
sealed abstract class Outward extends Serializable {
  def opposite: Outward
  def add(a: Double, b: Double): Double

  /** The next double further out. */
  def next(x: Double): Double

  /** The next double that is a float, further out than the last float that is not inside of `x`. */
  def nextFloat(x: Double): Double

  /** Further out than three roundings can have moved it. */
  def wider(x: Double): Double

  /** What stands for "no end" among ranks. */
  def unbounded: Long

  /** The last integer that is not outside of `x`. */
  def integer(x: Double): Long
}

object Outward {

  /** More than what three roundings can be wrong by, as a part of the number. */
  private val Slack = 1e-15

  case object Down extends Outward {
    def opposite: Outward = Up
    def add(a: Double, b: Double): Double = {
      val sum = a + b
      val second = sum - a
      val error = (a - (sum - second)) + (b - second)
      // Where something is infinite, the error is NaN.
      if (error >= 0) sum else Math.nextDown(sum)
    }
    def next(x: Double): Double = Math.nextDown(x)
    def nextFloat(x: Double): Double = {
      val float = x.toFloat
      Math.nextDown(if (float > x) Math.nextDown(float) else float).toDouble
    }
    def wider(x: Double): Double = Math.nextDown(x - Math.abs(x) * Slack)
    def unbounded: Long = Long.MinValue
    def integer(x: Double): Long = if (x.isNaN) unbounded else Math.ceil(x).toLong
  }

  case object Up extends Outward {
    def opposite: Outward = Down
    def add(a: Double, b: Double): Double = -Down.add(-a, -b)
    def next(x: Double): Double = -Down.next(-x)
    def nextFloat(x: Double): Double = -Down.nextFloat(-x)
    def wider(x: Double): Double = -Down.wider(-x)
    def unbounded: Long = Long.MaxValue
    def integer(x: Double): Long = if (x.isNaN) unbounded else Math.floor(x).toLong
  }
}
