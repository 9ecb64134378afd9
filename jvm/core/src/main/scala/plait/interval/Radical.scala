// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Unbounded}

/** A root as floating point computes it: rounded to the nearest, or some steps off.
  *
  * {{{
  * sqrt [4, 9]         [2, 3]
  * sqrt [3, 9]         [1.7320508075688772, 3]
  * sqrt x ∈ [2, 3]     x ∈ [4 - 4.4e-16, 9 + 1.3e-15], the squares of the middles between neighbours
  * }}}
  *
  * @param slack
  *   how many steps a value may be off its true place, above the rounding; 0 for a correct one
  */
final class Radical(name: String, root: Power.Root, slack: Int) extends ElementaryFunction(name) {
  private val double = Domain.Double
  private val two = Rational(2)

  override val defined: IntervalSet =
    if (root.degree % 2 == 0) IntervalSet.closed(Rational.Zero, double.infinity)
    else double.everything

  override def forward(xs: IntervalSet): IntervalSet =
    root.forward(Vector(xs)).flatMap { span =>
      IntervalSet.span(
        moved(span.lower)(stepsBelow),
        moved(span.upper)(y => -stepsBelow(-y))
      )
    }

  override def backward(result: IntervalSet, xs: IntervalSet): IntervalSet =
    result.flatMap { span =>
      val exact = IntervalSet.span(
        moved(span.lower)(trueBelow),
        moved(span.upper)(y => -trueBelow(-y))
      )
      root.backward(exact, Vector(xs), 0)
    }

  private def moved(bound: Bound[Rational])(f: Rational => Rational): Bound[Rational] =
    bound match {
      case Unbounded => Unbounded
      case Closed(y) => Closed(f(y))
      case Bound.Open(y) => if (slack == 0) Bound.Open(f(y)) else Closed(f(y))
    }

  private def stepsBelow(y: Rational): Rational =
    (1 to slack).foldLeft(y)((at, _) => double.before(at))

  /** The root of infinity is infinity: there the least true value is that of a finite number. */
  private val greatest = Rational(BigInt(1) << 1022 / root.degree)

  /** At most what is rounded to `y` or, by the slack, above it. */
  private def trueBelow(y: Rational): Rational = {
    val last = stepsBelow(double.down(Rational.min(y, greatest)))
    (last + double.before(last)) / two
  }
}
