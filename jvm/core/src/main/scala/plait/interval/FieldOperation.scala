// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.RealOperation._

/** Sum, difference, product, quotient, and what goes with them.
  *
  * {{{
  *   a + b ∈ R   ⇒   a ∈ R - B,   b ∈ R - A
  *   a - b ∈ R   ⇒   a ∈ R + B,   b ∈ A - R
  *   a * b ∈ R   ⇒   a ∈ R / B,   b ∈ R / A        the whole line if 0 is in both
  *   a / b ∈ R   ⇒   a ∈ R * B,   b ∈ A / R
  *      -a ∈ R   ⇒   a ∈ -R
  *     |a| ∈ R   ⇒   a ∈ R ∪ -R                    of what is not negative in R
  * }}}
  */
object FieldOperation {

  private def hasBoth(a: IntervalSet, b: IntervalSet, infinity: Rational): Boolean =
    a.contains(infinity) && b.contains(-infinity) || a.contains(-infinity) && b.contains(infinity)

  case object Plus extends RealOperation {
    def name: String = "+"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      hasBoth(as(0), as(1), infinity)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = sum(as(0), as(1))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      difference(result, as(1 - index))
  }

  case object Minus extends RealOperation {
    def name: String = "-"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      hasBoth(as(0), negated(as(1)), infinity)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = difference(as(0), as(1))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 0) sum(result, as(1)) else difference(as(0), result)
  }

  case object Times extends RealOperation {
    def name: String = "*"

    /** 0 times an infinity. */
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      as(0).contains(Rational.Zero) && isInfinite(as(1), infinity) ||
        as(1).contains(Rational.Zero) && isInfinite(as(0), infinity)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = product(as(0), as(1))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      unproduct(result, as(1 - index))
  }

  case object Divide extends RealOperation {
    def name: String = "/"

    /** An infinity by an infinity; by 0 nothing is divided. */
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      isInfinite(as(0), infinity) && isInfinite(as(1), infinity)
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = as(1).contains(Rational.Zero)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = product(as(0), reciprocal(as(1)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 0) product(result, as(1)) else unproduct(as(0), result)
  }

  case object Negate extends RealOperation {
    def name: String = "-"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = negated(as(0))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      negated(result)
  }

  private val notNegative = IntervalSet.atLeast(Rational.Zero)

  case object Absolute extends RealOperation {
    def name: String = "abs"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      as(0).intersect(notNegative).union(negated(as(0)).intersect(notNegative))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = {
      val positive = result.intersect(notNegative)
      positive.union(negated(positive))
    }
  }

  /** -1, 0 or 1. */
  case object Sign extends RealOperation {
    def name: String = "sign"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    private val parts = Seq(
      Rational(-1) -> IntervalSet.below(Rational.Zero),
      Rational.Zero -> IntervalSet.point(Rational.Zero),
      Rational.One -> IntervalSet.above(Rational.Zero)
    )
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      IntervalSet.points(parts.collect { case (s, part) if as(0).intersect(part).nonEmpty => s })
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      parts
        .collect { case (s, part) if result.contains(s) => part }
        .foldLeft(IntervalSet.Empty)(_ union _)
  }

  /** The same number: what a cast is that keeps the value, but for rounding. */
  case object Same extends RealOperation {
    def name: String = "same"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = as(0)
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet = result
  }
}
