// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Term._
import plait.interval.Interval._
import plait.interval.{Domain, Ends, FieldOperation, Interval, Rational, RealOperation, Specials}

/** The two sweeps over a comparison, seen as a graph of terms.
  *
  * {{{
  *            l.s + 3  <  r.s + 10                 l.s = 20, r.s unknown
  *
  *   upward   [23, 23]    (-inf, +inf)             each term's interval from its children's
  *   downward             (23, +inf)               the comparison is TRUE, so r.s + 10 > 23
  *                  r.s   (13, +inf)               and r.s > 23 - 10
  * }}}
  *
  * The upward sweep is evaluation with intervals. The downward sweep inverts one operation a step:
  *
  * {{{
  *   a + b ∈ I   ⇒   a ∈ I - B,   b ∈ I - A        A, B: the upward intervals of a and b
  *   a - b ∈ I   ⇒   a ∈ I + B,   b ∈ A - I
  *      -a ∈ I   ⇒   a ∈ -I
  *   k * a ∈ I   ⇒   a ∈ I / k                     of integers the least and the greatest that fit
  *   a / k ∈ I   ⇒   a ∈ I * k
  *     |a| ∈ I   ⇒   a ∈ [-u, u]                   u: the upper end of I
  * }}}
  *
  * Where Spark rounds a result, `I` is widened first to all that is rounded into it.
  *
  * Run over numbers (`E = BigInt`) it answers for one assignment; run over formulas (`E = Affine`, and
  * `E = RealFormula` where results are rounded) with the row's own columns as points it answers for
  * every row at once.
  *
  * Conventions:
  *   1. `narrowed` is a superset of the values of `target` in pairs for which the comparison is
  *      TRUE; it never loses one.
  *   2. Several intervals come back where `target` stands in several places; each holds every
  *      solution, so their intersection does.
  *   3. One pass. What a second comparison says of a third variable is not carried over.
  *   4. NaN is no number: an interval says where a value lies if it is not NaN.
  *
  * @param known
  *   where a variable's values lie, if it has one
  */
final class Sweeps[E](known: Variable => Interval[E])(implicit ends: Ends[E]) {

  def upward(term: Term): Interval[E] = term match {
    case v: Variable => known(v)
    case Constant(x) => point(ends.constant(x))
    case Add(l, r) => plus(upward(l), upward(r))
    case Subtract(l, r) => minus(upward(l), upward(r))
    case Negate(c) => negate(upward(c))
    case Scale(c, k) => times(upward(c), k)
    case Known(possible, domain, _) =>
      val number = if (possible.specials == Specials.None) possible.values.single else None
      number.flatMap(ends.known(_, domain)).fold[Interval[E]](All)(point)
    case Call(Sweeps.Invertible(operation), arguments) =>
      rounded(upward(operation.operation, arguments), operation, arguments)
    case _: Call | _: Opaque => All
  }

  private def upward(operation: RealOperation, arguments: Seq[Term]): Interval[E] =
    operation match {
      case FieldOperation.Plus => plus(upward(arguments(0)), upward(arguments(1)))
      case FieldOperation.Minus => minus(upward(arguments(0)), upward(arguments(1)))
      case FieldOperation.Negate => negate(upward(arguments(0)))
      case FieldOperation.Same => upward(arguments(0))
      case FieldOperation.Times =>
        factor(arguments).fold[Interval[E]](All) { case (k, i) => product(upward(arguments(i)), k) }
      case FieldOperation.Divide =>
        number(arguments(1)).fold[Interval[E]](All)(quotient(upward(arguments(0)), _))
      case _ => All
    }

  /** A number that is neither 0 nor infinite. */
  private def number(term: Term): Option[Rational] = (term match {
    case Constant(x) => Some(Rational(x))
    case Known(possible, domain, _) if possible.specials == Specials.None =>
      possible.values.single.filter(x =>
        domain match {
          case floating: Domain.Floating => x.abs < floating.infinity
          case _ => true
        }
      )
    case _ => None
  }).filter(_.signum != 0)

  /** Of a product by a number that number, and which argument the other one is. */
  private def factor(arguments: Seq[Term]): Option[(Rational, Int)] =
    number(arguments(1)).map(_ -> 0).orElse(number(arguments(0)).map(_ -> 1))

  /** What exact results in an interval are rounded to, and what is rounded into it: a step of the
    * grid further out holds both.
    */
  private def rounded(
      set: Interval[E],
      operation: Arithmetic,
      arguments: Seq[Term]
  ): Interval[E] =
    if (Sweeps.isExact(operation, arguments)) set else unrounded(set, operation.domain)

  /** The intervals of `target` to which `comparison` being TRUE narrows it; none if it stands in
    * neither side of it.
    */
  def narrowed(comparison: Compare, target: Term): Seq[Interval[E]] = {
    val Compare(op, l, r) = comparison
    downward(l, allowed(op, upward(r)), target) ++
      downward(r, allowed(op.mirrored, upward(l)), target)
  }

  /** `{ x : x op y for some y in other }` */
  private def allowed(op: Comparison, other: Interval[E]): Interval[E] = other match {
    case Empty => Empty
    case Span(lower, upper) =>
      import plait.interval.Bound.{Closed, Open, Unbounded}
      op match {
        case Comparison.AtMost => Span(Unbounded, upper)
        case Comparison.Less =>
          Span(Unbounded, upper match { case Closed(at) => Open(at); case same => same })
        case Comparison.AtLeast => Span(lower, Unbounded)
        case Comparison.Greater =>
          Span(lower match { case Closed(at) => Open(at); case same => same }, Unbounded)
        case Comparison.Equal => other
        case Comparison.NotEqual => All
      }
  }

  /** `|a| <= 5` is `-5 <= a <= 5`; of `|a| >= 5` no one interval is left. */
  private def unsigned(to: Interval[E]): Interval[E] = to match {
    case Empty => Empty
    case Span(_, upper) => Span(upper.map(ends.negate), upper)
  }

  private def downward(term: Term, to: Interval[E], target: Term): Seq[Interval[E]] =
    if (term == target) Seq(to)
    else if (!term.holds(target)) Nil
    else
      term match {
        case Add(l, r) =>
          downward(l, minus(to, upward(r)), target) ++ downward(r, minus(to, upward(l)), target)
        case Subtract(l, r) =>
          downward(l, plus(to, upward(r)), target) ++ downward(r, minus(upward(l), to), target)
        case Negate(c) => downward(c, negate(to), target)
        case Scale(c, k) => downward(c, over(to, k), target)
        case Call(Sweeps.Invertible(operation), arguments) =>
          downward(operation.operation, arguments, rounded(to, operation, arguments), target)
        case _: Variable | _: Constant | _: Known | _: Opaque | _: Call => Nil
      }

  private def downward(
      operation: RealOperation,
      arguments: Seq[Term],
      to: Interval[E],
      target: Term
  ): Seq[Interval[E]] = {
    def first(set: Interval[E]) = downward(arguments(0), set, target)
    def second(set: Interval[E]) = downward(arguments(1), set, target)
    operation match {
      case FieldOperation.Plus =>
        first(minus(to, upward(arguments(1)))) ++ second(minus(to, upward(arguments(0))))
      case FieldOperation.Minus =>
        first(plus(to, upward(arguments(1)))) ++ second(minus(upward(arguments(0)), to))
      case FieldOperation.Negate => first(negate(to))
      case FieldOperation.Absolute => first(unsigned(to))
      case FieldOperation.Same => first(to)
      case FieldOperation.Times =>
        factor(arguments).toSeq.flatMap { case (k, i) =>
          downward(arguments(i), quotient(to, k), target)
        }
      case FieldOperation.Divide =>
        number(arguments(1)).toSeq.flatMap(k => first(product(to, k)))
      case _ => Nil
    }
  }
}

object Sweeps {

  /** What may be taken back: where it wraps, or gives the nearest for what does not fit, nothing can
    * be said of its arguments. (Where it wraps, the absolute value of the least integer is that
    * integer.)
    */
  private object Invertible {
    def unapply(operation: Operation): Option[Arithmetic] = operation match {
      case a @ Arithmetic(_, _, _, Overflow.Fails | Overflow.GivesNull) => Some(a)
      case _ => None
    }
  }

  /** Is a result of this type never rounded? */
  private def isExact(operation: Arithmetic, arguments: Seq[Term]): Boolean =
    (operation.operation, operation.domain) match {
      case (FieldOperation.Negate | FieldOperation.Absolute, _) => true
      case (_, _: Domain.Whole) => true
      case (FieldOperation.Times | FieldOperation.Divide, _: Domain.Decimal) => false
      case (_, to: Domain.Decimal) =>
        arguments.map(_.domain).forall {
          case from: Domain.Decimal => from.scale <= to.scale
          case from => from.isInstanceOf[Domain.Whole]
        }
      case _ => false
    }
}
