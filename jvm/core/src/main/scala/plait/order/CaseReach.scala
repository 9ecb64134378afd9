// SPDX-License-Identifier: Apache-2.0
package plait.order

import plait.Side
import plait.constraint.{Compare, Term}

/** The reach of a row under a condition of which one of several *cases* holds, each a conjunction: what holds all their
  * reaches.
  *
  * {{{
  * r.t BETWEEN l.t - 9 AND l.t OR r.t BETWEEN l.t + 20 AND l.t + 60
  *   cases of the left row   [l.t - 9, l.t]    [l.t + 20, l.t + 60]        so [l.t - 9, l.t + 60]
  * }}}
  *
  * Formulas give it, so that a row's is computed in a moment, where [[SolvedReach]] would go through the cases for each row.
  * It says the same or less.
  */
final case class CaseReach(cases: Seq[Reach]) {

  /** The cases whose end in this direction depends on the row. */
  def following(direction: Direction): Seq[Reach] =
    cases.filter(_.farEnd(direction).exists(_.formula.variables.nonEmpty))
}

object CaseReach {

  /** @param order
    *   of the other side
    * @param cases
    *   comparisons of both sides, or of one
    * @param known
    *   what holds for all rows of the other side
    */
  def of(side: Side, order: Term, cases: Seq[Seq[Compare]], known: Seq[Compare]): CaseReach =
    CaseReach(cases.map { comparisons =>
      val alone = (known ++ comparisons).filter(_.sides == Set(side.other))
      Reach
        .of(side, order, OrderChoice.ending(comparisons), KnownValues.of(alone))
        .and(Reach.of(side, order, alone))
    })
}
