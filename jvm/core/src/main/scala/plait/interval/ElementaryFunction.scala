// SPDX-License-Identifier: Apache-2.0
package plait.interval

/** A function of one number that floating point computes nearly: in pieces, on each of which it only
  * rises or only falls.
  *
  * {{{
  * exp     rises on (-inf, inf)                    exp [0, 1]       [1, 2.718...]
  * acos    falls on [-1, 1]                        acos [0, 1]      [0, 1.570...]
  * cosh    falls on (-inf, 0], rises on [0, inf)   cosh [-1, 2]     [1, 3.762...]
  *
  * cosh x ∈ [2, 3]   ⇒   x ∈ [-1.762..., -1.316...] ∪ [1.316..., 1.762...]
  * }}}
  *
  * Conventions:
  *   1. Forward holds the true values and all that Java's library may compute for them, be it
  *      `StrictMath`, `Math` or what the JVM puts in its place: each promises an error of so many
  *      ulps. Backward holds every argument with either in the result.
  *   2. An end is computed at a double at or beyond it, and moved outward by twice the error: once
  *      for what is computed here, once for what was computed there.
  *   3. Where Java promises an exact value (`exp(0)`, `pow(3, 2)`) the end is not moved: all these
  *      functions keep the order of their arguments.
  *   4. A result beyond the doubles is an end that is missing. What the infinities and NaN are given
  *      is for [[plait.constraint.Elementary]] to say.
  */
abstract class ElementaryFunction(val name: String) extends RealOperation {

  /** Where its value is a number; the ends of [[Domain.Double]] stand for the infinities. */
  def defined: IntervalSet

  final override def forward(as: IndexedSeq[IntervalSet]): IntervalSet = forward(as(0))
  final override def backward(
      result: IntervalSet,
      as: IndexedSeq[IntervalSet],
      index: Int
  ): IntervalSet = backward(result, as(0))

  def forward(xs: IntervalSet): IntervalSet
  def backward(result: IntervalSet, xs: IntervalSet): IntervalSet

  override def isPartial(as: IndexedSeq[IntervalSet]): Boolean =
    !Domain.Double.tighten(as(0)).subsetOf(defined)
  override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = isPartial(as)
}

object ElementaryFunction {
  val Everywhere: IntervalSet = Domain.Double.everything

  sealed trait Course
  object Course {
    case object Rises extends Course
    case object Falls extends Course
  }

  /** One piece of a function.
    *
    * @param arguments
    *   from where to where it goes
    * @param values
    *   what no true value is outside of, nor a computed one
    * @param at
    *   the value at an argument, true and computed
    * @param slack
    *   how many steps a computed value may be off the true one
    * @param inverse
    *   the argument of a true value
    */
  final case class Piece(
      arguments: Enclosure,
      values: Enclosure,
      course: Course,
      at: Double => Enclosure,
      slack: Int,
      inverse: Double => Enclosure
  ) {
    def forward(xs: Enclosure): IntervalSet = along(cut(xs, arguments), at, values)

    def backward(ys: Enclosure): IntervalSet =
      along(cut(ys.wider(slack), values), inverse, arguments)

    private def cut(a: Enclosure, b: Enclosure): Enclosure =
      Enclosure(math.max(a.below, b.below), math.min(a.above, b.above))

    private def along(xs: Enclosure, f: Double => Enclosure, range: Enclosure): IntervalSet =
      if (xs.below > xs.above) IntervalSet.Empty
      else {
        val (first, last) = course match {
          case Course.Rises => (xs.below, xs.above)
          case Course.Falls => (xs.above, xs.below)
        }
        val from = f(first).within(range.below, range.above)
        val to = f(last).within(range.below, range.above)
        Enclosure.span(from.below, to.above)
      }

    /** `f(-x)` */
    def mirrored: Piece = copy(
      arguments = -arguments,
      course = opposite,
      at = x => at(0.0 - x),
      inverse = y => -inverse(y)
    )

    /** `-f(x)` */
    def negated: Piece = copy(
      values = -values,
      course = opposite,
      at = x => -at(x),
      inverse = y => inverse(0.0 - y)
    )

    private def opposite: Course =
      if (course == Course.Rises) Course.Falls else Course.Rises
  }

  abstract class Piecewise(name: String) extends ElementaryFunction(name) {
    def pieces: Seq[Piece]

    override def forward(xs: IntervalSet): IntervalSet = each(xs)(_ forward _)
    override def backward(result: IntervalSet, xs: IntervalSet): IntervalSet =
      each(result)(_ backward _)

    private def each(set: IntervalSet)(f: (Piece, Enclosure) => IntervalSet): IntervalSet =
      set.flatMap { span =>
        val ends = Enclosure.of(span)
        pieces.map(f(_, ends)).foldLeft(IntervalSet.Empty)(_ union _)
      }
  }

  /** What a library computes with an error of so many ulps, and exactly at some places. */
  final case class Computed(ulps: Double)(f: Double => Double, isExactAt: Double => Boolean) {

    /** How many steps a computed value may be off the true one. */
    def slack: Int = math.ceil(2 * ulps).toInt

    /** Conventions 2 and 3. */
    def at(x: Double): Enclosure = {
      val y = f(x)
      if (isExactAt(x)) Enclosure.exactly(y) else Enclosure.exactly(y).wider(2 * slack)
    }

    /** The true value only. */
    def near(x: Double): Enclosure = Enclosure.exactly(f(x)).wider(slack)
  }

  def isZero(x: Double): Boolean = x == 0
  def isOne(x: Double): Boolean = x == 1
  def isNowhere(x: Double): Boolean = false
}
