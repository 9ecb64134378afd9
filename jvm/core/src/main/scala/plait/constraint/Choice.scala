// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Truth._
import plait.interval.Bound.Unbounded
import plait.interval._

/** Operations whose result is one of their arguments: IF, COALESCE, LEAST, GREATEST. */
object Choice {

  /** `IF(condition, a, b)`: `a` if the condition is TRUE, `b` if it is FALSE or NULL. */
  final case class If(domain: Domain) extends Operation {
    def name: String = "IF"

    private def isElse(condition: Possible) = condition.mayBeFalse || condition.mayBeNull

    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val IndexedSeq(condition, a, b) = arguments: @unchecked
      val first = if (condition.mayBeTrue) a else Possible.Nothing
      if (isElse(condition)) first.union(b) else first
    }

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val IndexedSeq(condition, a, b) = arguments: @unchecked
      val mayBeA = condition.mayBeTrue && !a.intersect(result).isNothing
      val mayBeB = isElse(condition) && !b.intersect(result).isNothing
      index match {
        case 0 =>
          val yes = if (mayBeA) Possible.True else Possible.Nothing
          val no = if (mayBeB) If.Else else Possible.Nothing
          condition.intersect(yes.union(no))
        // A branch that is surely taken is the result; another may be anything.
        case 1 => if (mayBeB) a else a.intersect(result)
        case _ => if (mayBeA) b else b.intersect(result)
      }
    }

    override def evaluates(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Boolean = index match {
      case 0 => true
      case 1 => !isElse(arguments(0))
      case _ => !arguments(0).mayBeTrue
    }

    override def hasCases: Boolean = true

    /** With the condition each branch is known to be the one, and to say more of what both name. */
    override def cases(
        result: Possible,
        arguments: IndexedSeq[Possible]
    ): Seq[(Int, Possible)] = {
      val condition = arguments(0)
      if (condition.mayBeTrue && isElse(condition)) Seq(0 -> Possible.True, 0 -> If.Else) else Nil
    }
  }

  object If {
    private val Else = Possible(Possible.False.values, Specials.Null)
  }

  /** `COALESCE(a, b)` */
  final case class Coalesce(domain: Domain) extends Operation {
    def name: String = "COALESCE"

    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val IndexedSeq(a, b) = arguments: @unchecked
      if (a.mayBeNull) a.withoutNull.union(b) else a
    }

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val IndexedSeq(a, b) = arguments: @unchecked
      val first = a.withoutNull.intersect(result)
      val mayBeB = a.mayBeNull && !b.intersect(result).isNothing
      if (index == 0) { if (mayBeB) first.withNull else first }
      else if (first.isNothing) b.intersect(result)
      else b
    }

    override def evaluates(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Boolean = index == 0 || arguments(0).withoutNull.isNothing
  }

  /** LEAST, or GREATEST as its mirror; NULLs are skipped, and NaN is the greatest. */
  sealed abstract class Extreme extends Operation {

    /** The extreme of two ends of the same kind. */
    protected def lower(a: Bound[Rational], b: Bound[Rational]): Bound[Rational]
    protected def upper(a: Bound[Rational], b: Bound[Rational]): Bound[Rational]
    protected def nan(a: Possible, b: Possible): Boolean

    /** What another argument than the chosen one may be, where the result is in `result`. */
    protected def unchosen(result: Possible): Possible

    override def forward(arguments: IndexedSeq[Possible]): Possible = {
      val IndexedSeq(a, b) = arguments: @unchecked
      val ofBoth =
        if (a.values.isEmpty || b.values.isEmpty) IntervalSet.Empty
        else {
          val hull = IntervalSet.span(
            lower(a.values.lower, b.values.lower),
            upper(a.values.upper, b.values.upper)
          )
          hull.intersect(a.values.union(b.values))
        }
      // A number stands alone where the other is NULL, or is NaN and loses.
      val alone = alone1(a, b).union(alone1(b, a))
      val specials =
        (if (nan(a, b)) Specials.NaN else Specials.None) |
          (if (a.mayBeNull && b.mayBeNull) Specials.Null else Specials.None)
      Possible(ofBoth.union(alone), specials)
    }

    protected def losesToNumbers: Boolean
    private def alone1(a: Possible, b: Possible): IntervalSet =
      if (b.mayBeNull || (b.mayBeNaN && losesToNumbers)) a.values else IntervalSet.Empty

    override def backward(
        result: Possible,
        arguments: IndexedSeq[Possible],
        index: Int
    ): Possible = {
      val (own, other) = (arguments(index), arguments(1 - index))
      // The result is the other's, or both are NULL: then this one only does not beat it.
      val mayBeOther = !other.intersect(result).isNothing
      val chosen = own.withoutNull.intersect(result)
      val others = if (mayBeOther) own.intersect(unchosen(result).withNull) else Possible.Nothing
      chosen.union(others)
    }
  }

  final case class Least(domain: Domain) extends Extreme {
    def name: String = "LEAST"
    protected def lower(a: Bound[Rational], b: Bound[Rational]): Bound[Rational] =
      Bound.lowers[Rational].min(a, b)
    protected def upper(a: Bound[Rational], b: Bound[Rational]): Bound[Rational] =
      Bound.uppers[Rational].min(a, b)
    protected def nan(a: Possible, b: Possible): Boolean =
      (a.mayBeNaN && (b.mayBeNaN || b.mayBeNull)) || (b.mayBeNaN && a.mayBeNull)
    protected def losesToNumbers: Boolean = true
    protected def unchosen(result: Possible): Possible =
      if (result.values.isEmpty) Possible(IntervalSet.Empty, Specials.NaN)
      else Possible(IntervalSet.span(result.values.lower, Unbounded), Specials.NaN)
  }

  final case class Greatest(domain: Domain) extends Extreme {
    def name: String = "GREATEST"
    protected def lower(a: Bound[Rational], b: Bound[Rational]): Bound[Rational] =
      Bound.lowers[Rational].max(a, b)
    protected def upper(a: Bound[Rational], b: Bound[Rational]): Bound[Rational] =
      Bound.uppers[Rational].max(a, b)
    protected def nan(a: Possible, b: Possible): Boolean = a.mayBeNaN || b.mayBeNaN
    protected def losesToNumbers: Boolean = false
    protected def unchosen(result: Possible): Possible =
      if (result.mayBeNaN) Possible(IntervalSet.All, Specials.NaN)
      else if (result.values.isEmpty) Possible.Nothing
      else Possible.in(IntervalSet.span(Unbounded, result.values.upper))
  }
}
