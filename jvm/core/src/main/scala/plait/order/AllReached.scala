// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.constraint.Term.Call
import plait.constraint.{Compare, Logic, Narrowing, Solver, Term}

/** Does the condition of a join hold for all pairs of which this is known, so that pruning leaves out nothing?
  *
  * {{{
  * abs(l.s - r.s) <= 100        l.s and r.s in [0, 90]       yes: none is further from another than 90
  *                              l.s in [0, 90]               no: r.s may be anywhere
  *                              l.s and r.s in [0, 101]      no: 0 and 101
  *                              l.s in [0, 90] and above 99  no: there is no pair
  * }}}
  *
  * Yes is sure, but for pairs in which the condition is NULL, which no reach holds; no is not. It is a reason to run a join
  * otherwise, and none to leave a comparison out.
  */
object AllReached {

  /** @param known
    *   what holds of each row of a side, of both sides
    */
  def of(condition: Term, known: Seq[Compare]): Boolean = {
    def isPossible(terms: Seq[Term]) =
      terms
        .reduceOption(Call(Logic.And, _, _))
        .forall(new Solver(_).solve() != Narrowing.Infeasible)
    val facts = known.map(_.term)
    !isPossible(facts :+ Call(Logic.Not, condition)) && isPossible(facts)
  }
}
