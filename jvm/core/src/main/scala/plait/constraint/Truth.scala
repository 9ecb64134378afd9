// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.interval._

/** Sets of the three truth values, as [[Possible]]s of the boolean domain. */
object Truth {
  def of(isTrue: Boolean, isFalse: Boolean, isNull: Boolean): Possible =
    all((if (isTrue) 1 else 0) | (if (isFalse) 2 else 0) | (if (isNull) 4 else 0))

  /** The eight sets there are: TRUE is 1, FALSE is 2, NULL is 4. */
  private val all: Array[Possible] = {
    val both = Possible.in(Domain.Boolean.everything)
    val numbers = Seq(Possible.Nothing, Possible.True, Possible.False, both)
    (numbers ++ numbers.map(_.withNull)).toArray
  }

  implicit final class Ops(private val possible: Possible) extends AnyVal {
    def mayBeTrue: Boolean =
      (possible eq Possible.True) ||
        ((possible ne Possible.False) && possible.contains(Rational.One))
    def mayBeFalse: Boolean =
      (possible eq Possible.False) ||
        ((possible ne Possible.True) && possible.contains(Rational.Zero))
  }
}
