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
  *   half up                            value v   ⇐   a ∈ [v - u/2, v + u/2]
  *   a div b                            the quotient, to zero
  *   a % b                              a - b * (a div b): within (-|b|, |b|), the sign of a
  * }}}
  *
  * `date_trunc('HOUR', t)` is a floor to units of 3,600,000,000 microseconds.
  */
object StepOperation {

  sealed abstract class Step extends RealOperation {
    override def makesNaN(as: IndexedSeq[IntervalSet], infinity: Rational): Boolean = false
    def unit: Rational
    protected def step(x: Rational): Rational

    /** Where an argument may lie, at least or at most, for a value of at least, at most this. */
    protected def from(value: Rational): Bound[Rational]
    protected def to(value: Rational): Bound[Rational]

    def forward(as: IndexedSeq[IntervalSet]): IntervalSet = mapNonDecreasing(as(0))(step)
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      result.flatMap(r => IntervalSet.span(end(r.lower, from), end(r.upper, to)))

    private def end(bound: Bound[Rational], f: Rational => Bound[Rational]): Bound[Rational] =
      bound match {
        case Unbounded => Unbounded
        case other => f(Bound.at(other))
      }
  }

  final case class Floor(unit: Rational, origin: Rational = Rational.Zero) extends Step {
    def name: String = if (unit == Rational.One) "floor" else s"floor to $unit"
    protected def step(x: Rational): Rational =
      Rational(((x - origin) / unit).floor) * unit + origin
    protected def from(v: Rational): Bound[Rational] = Closed(upward(v))
    protected def to(v: Rational): Bound[Rational] = Open(step(v) + unit)
    private def upward(v: Rational) = Rational(((v - origin) / unit).ceiling) * unit + origin
  }

  final case class Ceiling(unit: Rational) extends Step {
    def name: String = if (unit == Rational.One) "ceil" else s"ceil to $unit"
    protected def step(x: Rational): Rational = Rational((x / unit).ceiling) * unit
    protected def from(v: Rational): Bound[Rational] = Open(step(v) - unit)
    protected def to(v: Rational): Bound[Rational] = Closed(Rational((v / unit).floor) * unit)
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
    protected def step(x: Rational): Rational = {
      val scaled = x / unit
      Rational(if (scaled.signum < 0) scaled.ceiling else scaled.floor) * unit
    }
    protected def from(v: Rational): Bound[Rational] = {
      val first = Rational((v / unit).ceiling) * unit
      if (first.signum > 0) Closed(first) else Open(first - unit)
    }
    protected def to(v: Rational): Bound[Rational] = {
      val last = Rational((v / unit).floor) * unit
      if (last.signum < 0) Closed(last) else Open(last + unit)
    }
  }

  /** To the nearest multiple; what becomes of the middle (half up, half even) is left open. */
  final case class Nearest(unit: Rational) extends Step {
    private val half = unit / Rational(2)
    def name: String = s"round to $unit"
    protected def step(x: Rational): Rational = Rational(((x + half) / unit).floor) * unit
    override def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      as(0).flatMap { a =>
        def end(bound: Bound[Rational], f: Rational => Rational) = bound match {
          case Unbounded => Unbounded
          case other => Closed(f(Bound.at(other)))
        }
        IntervalSet.span(end(a.lower, x => -step(-x)), end(a.upper, step))
      }
    protected def from(v: Rational): Bound[Rational] = Closed(v - half)
    protected def to(v: Rational): Bound[Rational] = Closed(v + half)
  }

  private val toZero = ToZero(Rational.One)

  /** `a div b` */
  case object Quotient extends RealOperation {
    def name: String = "div"
    override def isPartial(as: IndexedSeq[IntervalSet]): Boolean = as(1).contains(Rational.Zero)
    def forward(as: IndexedSeq[IntervalSet]): IntervalSet =
      toZero.forward(Vector(FieldOperation.Divide.forward(as)))
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      FieldOperation.Divide.backward(toZero.backward(result, as, 0), as, index)
  }

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
        if (isSame(as)) as(0) else limited.intersect(notNegative)
      else limited
    }
    def backward(result: IntervalSet, as: IndexedSeq[IntervalSet], index: Int): IntervalSet =
      if (index == 1) beyond(result, Open(_)) else if (isSame(as)) result else IntervalSet.All

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
