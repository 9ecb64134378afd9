// SPDX-License-Identifier: Apache-2.0
package plait.interval

import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.RealOperation._

/** Functions that rise in steps: the inverse of a value is the whole step.
  *
  * {{{
  *   floor(a) to units of u from o      value v   ⇐   a ∈ [v, v + u)
  *   ceiling                            value v   ⇐   a ∈ (v - u, v]
  *   to zero                            v > 0 as floor, v < 0 as ceiling, 0 ⇐ (-u, u)
  *   nearest, middles away from 0       v > 0     ⇐   a ∈ [v - u/2, v + u/2)
  *   a div b                            the quotient, to zero
  *   a % b                              a - b * (a div b): within (-|b|, |b|), the sign of a
  * }}}
  *
  * A set is inverted by way of the multiples in it: (1, 3) of floors is 2 alone, so [2, 3).
  * `date_trunc('HOUR', t)` is a floor to units of 3,600,000,000 microseconds.
  *
  * Conventions:
  *   1. Steps are of exact numbers; what a type does with the result is that of [[plait.constraint.Arithmetic]].
  *   2. Truncations of times go down, of negative ones too: 1969-12-31 23:59 is of the hour from 23:00.
  *   3. `div` and `%` go to zero, as in Java; `pmod` is never negative for a positive divisor.
  *   4. A division by 0 has no value.
  */
object StepOperation {

  sealed abstract class Step extends RealOperation {
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def unit: Rational
    protected def step(x: Rational): Rational

    /** Where the multiples of the unit begin. */
    protected def origin: Rational = Rational.Zero

    /** Where an argument may lie, at least or at most, for at least or at most this multiple. */
    protected def from(multiple: Rational): Bound[Rational]
    protected def to(multiple: Rational): Bound[Rational]

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = mapNonDecreasing(as(0))(step)
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      result.flatMap(r => IntervalSet.span(least(r.lower), most(r.upper)))

    private def least(bound: Bound[Rational]): Bound[Rational] = bound match {
      case Unbounded => Unbounded
      case Closed(v) => from(multiple(units(v).ceiling))
      case Open(v) => from(multiple(units(v).floor + 1))
    }
    private def most(bound: Bound[Rational]): Bound[Rational] = bound match {
      case Unbounded => Unbounded
      case Closed(v) => to(multiple(units(v).floor))
      case Open(v) => to(multiple(units(v).ceiling - 1))
    }

    protected def units(x: Rational): Rational = (x - origin) / unit
    protected def multiple(n: BigInt): Rational = Rational(n) * unit + origin
  }

  final case class Floor(unit: Rational, override val origin: Rational = Rational.Zero)
      extends Step {
    def name: String = if (unit == Rational.One) "floor" else s"floor to $unit"
    protected def step(x: Rational): Rational = multiple(units(x).floor)
    protected def from(m: Rational): Bound[Rational] = Closed(m)
    protected def to(m: Rational): Bound[Rational] = Open(m + unit)
  }

  final case class Ceiling(unit: Rational) extends Step {
    def name: String = if (unit == Rational.One) "ceil" else s"ceil to $unit"
    protected def step(x: Rational): Rational = multiple(units(x).ceiling)
    protected def from(m: Rational): Bound[Rational] = Open(m - unit)
    protected def to(m: Rational): Bound[Rational] = Closed(m)
  }

  /** How many whole units there are, rounded down: `floor(a / u)`. */
  final case class FloorQuotient(unit: Rational) extends RealOperation {
    private val floor = Floor(unit)
    private val units = IntervalSet.point(unit)
    def name: String = s"floor of 1/$unit *"
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      unproduct(floor.forward(as), units)
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      floor.backward(product(result, units), as, index)
  }

  /** What is after the point falls away: `7.9` gives 7, `-7.9` gives -7. */
  final case class ToZero(unit: Rational) extends Step {
    def name: String = if (unit == Rational.One) "truncate" else s"truncate to $unit"
    protected def step(x: Rational): Rational =
      multiple(if (x.signum < 0) units(x).ceiling else units(x).floor)
    protected def from(m: Rational): Bound[Rational] =
      if (m.signum > 0) Closed(m) else Open(m - unit)
    protected def to(m: Rational): Bound[Rational] =
      if (m.signum < 0) Closed(m) else Open(m + unit)
  }

  /** To the nearest multiple. */
  final case class Nearest(unit: Rational, middle: Middle) extends Step {
    private val half = unit / Rational(2)
    def name: String = s"round to $unit, the middle $middle"
    protected def step(x: Rational): Rational = {
      val down = units(x).floor
      val rest = x - multiple(down)
      multiple(if (rest > half || (rest == half && middle.rises(down))) down + 1 else down)
    }
    protected def from(m: Rational): Bound[Rational] = {
      val middleBelow = m - half
      if (middle.rises(units(middleBelow).floor)) Closed(middleBelow) else Open(middleBelow)
    }
    protected def to(m: Rational): Bound[Rational] = {
      val middleAbove = m + half
      if (middle.rises(units(middleAbove).floor)) Open(middleAbove) else Closed(middleAbove)
    }
  }

  /** What becomes of the middle between two multiples. */
  sealed abstract class Middle(name: String) extends Serializable {

    /** Does the middle above so many units become the multiple above it? */
    def rises(units: BigInt): Boolean
    override def toString: String = name
  }
  object Middle {
    case object AwayFromZero extends Middle("away from 0") {
      def rises(units: BigInt): Boolean = units.signum >= 0
    }
    case object ToEven extends Middle("to even") {
      def rises(units: BigInt): Boolean = units.testBit(0)
    }
  }

  /** A step of what a floating number looks like: of the shortest text that is nearest to it, which
    * lies no further from it than half the way to its neighbours. `round(2.675, 2)` is 2.68, though
    * the double is 2.67499...
    */
  final case class OfShortestText(step: Step, floating: Domain.Floating) extends RealOperation {
    def name: String = step.name
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      step.forward(Vector(floating.unround(as(0))))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      floating.widen(step.backward(result, as, index), values = 1)
  }

  /** `a / b`, brought to a whole number. */
  sealed abstract class WholeQuotient(val name: String, step: Step) extends RealOperation {
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = as(1).contains(Rational.Zero)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      step.forward(Vector(FieldOperation.Divide.forward(as)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      FieldOperation.Divide.backward(step.backward(result, as, 0), as, index)
  }

  /** `a div b` */
  case object Quotient extends WholeQuotient("div", ToZero(Rational.One))

  /** `a / b`, rounded, the middle away from 0. */
  case object RoundedQuotient
      extends WholeQuotient("rounded /", Nearest(Rational.One, Middle.AwayFromZero))

  private val notNegative = IntervalSet.atLeast(Rational.Zero)
  private val notPositive = IntervalSet.atMost(Rational.Zero)
  private val positive = IntervalSet.above(Rational.Zero)
  private val negative = IntervalSet.below(Rational.Zero)

  private def absolute(as: IntervalSet) = FieldOperation.Absolute.forward(Vector(as))

  /** `{ r : |r| < |b| for some b in B }` */
  private def within(bs: IntervalSet): IntervalSet = absolute(bs) match {
    case none if none.isEmpty => none
    case sizes =>
      val end = sizes.upper match { case Closed(x) => Open(x); case other => other }
      IntervalSet.span(end.map(-_), end)
  }

  /** `{ x : |x| >= |r| for some r in R }`, or `>` */
  private def beyond(rs: IntervalSet, opened: Rational => Bound[Rational]): IntervalSet =
    absolute(rs) match {
      case none if none.isEmpty => none
      case sizes =>
        val least = Bound.at(sizes.lower)
        IntervalSet
          .span(opened(least), Unbounded)
          .union(IntervalSet.span(Unbounded, opened(-least)))
    }

  /** `a % b`, with the sign of `a`. */
  case object Remainder extends RealOperation {
    def name: String = "%"
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = as(1).contains(Rational.Zero)

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      inOneStep(as(0), as(1)) match {
        case Some(start) => difference(as(0), IntervalSet.point(start))
        case None =>
          val limited = within(as(1)).intersect(between(as(0)))
          val up = if (as(0).intersect(positive).nonEmpty) notNegative else IntervalSet.Empty
          val down = if (as(0).intersect(negative).nonEmpty) notPositive else IntervalSet.Empty
          val zero = IntervalSet.point(Rational.Zero)
          limited.intersect(up.union(down).union(zero))
      }

    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 1) beyond(result, Open(_))
      else
        inOneStep(as(0), as(1)) match {
          case Some(start) => sum(result, IntervalSet.point(start))
          case None =>
            val signs =
              (if (result.subsetOf(positive)) positive
               else if (result.subsetOf(negative)) negative
               else IntervalSet.All)
            beyond(result, Closed(_)).intersect(signs)
        }

    /** `{ x : |x| <= |a| for some a in A }` */
    private def between(as: IntervalSet): IntervalSet = absolute(as) match {
      case none if none.isEmpty => none
      case sizes => IntervalSet.span(sizes.upper.map(-_), sizes.upper)
    }

    /** `b * (a div b)` where that is the same for all `a`. */
    private def inOneStep(as: IntervalSet, bs: IntervalSet): Option[Rational] =
      bs.single
        .filter(_.signum != 0)
        .flatMap(b => Quotient.forward(Vector(as, bs)).single.map(_ * b))
  }

  /** `pmod(a, b)`: within `[0, b)` for a positive `b`; for a negative one as `%`, or moved by it. */
  case object PositiveModulus extends RealOperation {
    def name: String = "pmod"
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = as(1).contains(Rational.Zero)

    /** By a negative `b` it is `(a % b + b) % b`: that sum may be infinite. */
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean =
      super.makesNaN(as, infinity) ||
        as(1).meets(IntervalSet.atMost(-infinity / Rational(2)))
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = {
      val limited = within(as(1))
      if (as(1).subsetOf(positive))
        if (isSame(as)) as(0)
        else
          inOneStep(as(0), as(1)) match {
            case Some(start) => difference(as(0), IntervalSet.point(start)).union(zero)
            case None => limited.intersect(notNegative)
          }
      else limited
    }
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 1) beyond(result, Open(_))
      else if (isSame(as)) result
      else
        inOneStep(as(0), as(1)) match {
          case Some(start) if !result.contains(Rational.Zero) =>
            sum(result, IntervalSet.point(start))
          case _ => IntervalSet.All
        }

    private val zero = IntervalSet.point(Rational.Zero)

    /** The multiple of a positive `b` that is below all `a`, or at them, and less than one `b` away. A
      * sum `a % b + b` of doubles may be rounded to `b`, and then becomes 0.
      */
    private def inOneStep(as: IntervalSet, bs: IntervalSet): Option[Rational] =
      bs.single.filter(_.signum > 0).flatMap(b => Floor(b).forward(Vector(as)).single)

    /** Is every `a` its own remainder? */
    private def isSame(as: IndexedSeq[IntervalSet]): Boolean =
      as(1).subsetOf(positive) && as(1).nonEmpty && as(0).subsetOf(
        IntervalSet.span(
          Closed(Rational.Zero),
          as(1).lower match { case Unbounded => Open(Rational.Zero); case b => Open(Bound.at(b)) }
        )
      )
  }
}
