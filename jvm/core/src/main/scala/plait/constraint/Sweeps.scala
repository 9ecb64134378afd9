// SPDX-License-Identifier: Apache-2.0
package plait.constraint

import plait.constraint.Term._
import plait.interval.Interval._
import plait.interval.{Ends, FieldOperation, Interval}

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
  *   k * a ∈ I   ⇒   a ∈ I / k                     the least and the greatest integer that fit
  *     |a| ∈ I   ⇒   a ∈ [-u, u]                   u: the upper end of I
  * }}}
  *
  * Run over numbers (`E = BigInt`) it answers for one assignment; run over formulas (`E = Affine`)
  * with the row's own columns as points it answers for every row at once.
  *
  * Conventions:
  *   1. `narrowed` is a superset of the values of `target` in pairs for which the comparison is
  *      TRUE; it never loses one.
  *   2. Several intervals come back where `target` stands in several places; each holds every
  *      solution, so their intersection does.
  *   3. One pass. What a second comparison says of a third variable is not carried over.
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
    case _: Known | _: Call => All
  }

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
        // Where it wraps, the absolute value of the least integer is that integer.
        case Call(Arithmetic(FieldOperation.Absolute, _, _, overflow), Seq(c))
            if overflow != Overflow.Wraps =>
          downward(c, unsigned(to), target)
        case _: Variable | _: Constant | _: Known | _: Call => Nil
      }
}
