// SPDX-License-Identifier: Apache-2.0
package plait.order

/** 64-bit arithmetic on the ends of intervals, rounded outward.
  *
  * A sum that does not fit is replaced by one that is safe for its end: an upper end may only grow, a
  * lower end only fall. `Long.MaxValue` as an upper end and `Long.MinValue` as a lower end stand for
  * "no end" and stay, whatever is added to them.
  *
  * {{{
  * upper   MaxValue + (-10)       MaxValue      it may be more than MaxValue in truth
  * upper   MinValue + (-10)       MinValue      too large by 10, which is safe
  * lower   MinValue + 10          MinValue
  * lower   MaxValue + 10          MaxValue      too small by 10, which is safe
  * either  2 * MaxValue           MaxValue
  * }}}
  *
  * Law: for every sum of longs and its exact value `x`, folded from the left with `addUp` it gives at
  * least `x`, with `addDown` at most `x`; and exactly `x` where no partial sum reaches the limits.
  */
object Saturating {
  def addUp(a: Long, b: Long): Long =
    if (a == Long.MaxValue || b == Long.MaxValue) Long.MaxValue else clamped(a, b)

  def addDown(a: Long, b: Long): Long =
    if (a == Long.MinValue || b == Long.MinValue) Long.MinValue else clamped(a, b)

  /** `k * x`, or the nearest long, which is safe for either end: of an end too far out none is left, and
    * one not far enough out is too wide.
    */
  def times(x: Long, k: Long): Long =
    if (k == 1) x
    else if (k == -1) negate(x)
    else {
      val high = Math.multiplyHigh(x, k)
      val low = x * k
      // The product fits if its upper half repeats the sign of the lower.
      if (high == low >> 63) low else if (high < 0) Long.MinValue else Long.MaxValue
    }

  /** Quotients by a positive divisor, of a lower and of an upper end, "no end" remaining none. */
  def ceilDown(x: Long, divisor: Long): Long =
    if (x == Long.MinValue) x else ceilDivide(x, divisor)
  def floorDown(x: Long, divisor: Long): Long =
    if (x == Long.MinValue) x else floorDivide(x, divisor)
  def ceilUp(x: Long, divisor: Long): Long =
    if (x == Long.MaxValue) x else ceilDivide(x, divisor)
  def floorUp(x: Long, divisor: Long): Long =
    if (x == Long.MaxValue) x else floorDivide(x, divisor)

  // A division by one, which most are, would take the processor longer than all the rest of a sum.
  private def floorDivide(x: Long, divisor: Long): Long =
    if (divisor == 1) x else Math.floorDiv(x, divisor)
  private def ceilDivide(x: Long, divisor: Long): Long =
    if (divisor == 1) x else if (x % divisor > 0) x / divisor + 1 else x / divisor

  /** `-x`. That of the least long does not fit and becomes the greatest: as an upper end "no end",
    * as a lower end one that is too small by 1; both are safe.
    */
  def negate(x: Long): Long = if (x == Long.MinValue) Long.MaxValue else -x

  /** How far `to` is from a lower one; the greatest long if that does not fit. */
  def distance(from: Long, to: Long): Long = {
    val difference = to - from
    if (difference < 0) Long.MaxValue else difference
  }

  /** The last value below an open upper end. */
  def before(end: Long): Long =
    if (end == Long.MaxValue || end == Long.MinValue) end else end - 1

  /** The first value above an open lower end. */
  def after(end: Long): Long =
    if (end == Long.MaxValue || end == Long.MinValue) end else end + 1

  def constantOf(x: BigInt): Long =
    if (x > Long.MaxValue) Long.MaxValue else if (x < Long.MinValue) Long.MinValue else x.toLong

  private def clamped(a: Long, b: Long): Long = {
    val sum = a + b
    // Overflow happened if both have the sign that the sum lacks.
    if (((a ^ sum) & (b ^ sum)) < 0) { if (a < 0) Long.MinValue else Long.MaxValue }
    else sum
  }
}
