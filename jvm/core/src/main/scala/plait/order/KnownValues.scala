// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term.{Call, Variable}
import plait.constraint.{Compare, Logic, Narrowing, Solver}
import plait.interval.Bound.{Closed, Open, Unbounded}
import plait.interval.Interval.Span
import plait.interval.{Bound, Domain, Ends, Interval, Possible, Rational}

/** Where the values of a side's columns surely lie, by what holds for each of its rows alone.
  *
  * {{{
  * l.ttl BETWEEN 0 AND 60 AND l.day > 3        l.ttl in [0, 60]     l.day in [4, +inf)     l.start anywhere
  * l.start + l.ttl > r.t                       so a right row t reaches l.start in (t - 60, +inf)
  * }}}
  *
  * Conventions:
  *   1. A superset of the values, but for NULL, which every comparison rejects.
  *   2. What its type says of a column is not repeated here: a reach that ends at the limits of a type
  *      ends nowhere.
  *   3. NaN is in no interval: where a column may be NaN nothing is known of it. Nor is an infinity an end.
  *   4. Of rows that cannot be (`ttl > 3 AND ttl < 2`) nothing is known.
  */
final class KnownValues private (values: Map[Variable, Possible]) {

  def of[E](variable: Variable)(implicit ends: Ends[E]): Interval[E] =
    values.get(variable).filterNot(_.mayBeNaN).fold[Interval[E]](Interval.All) { possible =>
      val (least, greatest) = KnownValues.limits(variable.domain)
      def end(bound: Bound[Rational], limit: Option[Rational]): Bound[E] = bound match {
        case Unbounded => Unbounded
        case _ if limit.contains(Bound.at(bound)) => Unbounded
        case Closed(x) => ends.known(x, variable.domain).fold[Bound[E]](Unbounded)(Closed(_))
        case Open(x) => ends.known(x, variable.domain).fold[Bound[E]](Unbounded)(Open(_))
      }
      Span(end(possible.values.lower, least), end(possible.values.upper, greatest))
    }
}

object KnownValues {
  val Nothing: KnownValues = new KnownValues(Map.empty)

  /** @param conjunction over one side */
  def of(conjunction: Seq[Compare]): KnownValues =
    conjunction.map(_.term).reduceOption(Call(Logic.And, _, _)).fold(Nothing) { condition =>
      val variables = condition.nodes.collect { case v: Variable => v }
      def among(found: Variable => Possible) = new KnownValues(
        variables.map(v => v -> found(v)).filter(_._2.values.nonEmpty).toMap
      )
      new Solver(condition, variables).solve() match {
        case Narrowing.Narrowed(found) => among(found)
        case Narrowing.Unchanged(found) => among(found)
        case Narrowing.Infeasible => Nothing
      }
    }

  private def limits(domain: Domain): (Option[Rational], Option[Rational]) = {
    def at(bound: Bound[Rational]) = Option(bound).filter(_.isBounded).map(Bound.at(_))
    (at(domain.everything.lower), at(domain.everything.upper))
  }
}
