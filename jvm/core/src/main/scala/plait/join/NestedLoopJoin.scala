// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.BySide

/** The definition of a join: `{ (l, r) in L x R : matches(l, r) }`, duplicates and all, and what the
  * [[Role]]s of the sides make of it.
  *
  * Every test of a faster join compares with it. It is as slow as it is plain.
  */
object NestedLoopJoin {
  def inner[L, R](left: Iterable[L], right: Iterable[R])(matches: (L, R) => Boolean): Seq[(L, R)] =
    (for {
      l <- left
      r <- right
      if matches(l, r)
    } yield (l, r)).toSeq

  /** What comes out for the matches: pairs; or each left row that has one, if that settles it. */
  def matched[L, R](roles: BySide[Role], left: Iterable[L], right: Iterable[R])(
      matches: (L, R) => Boolean
  ): Seq[(L, Option[R])] = roles.left match {
    case Role.Missing => Nil
    case Role.Existing | Role.Marked =>
      left.filter(l => right.exists(matches(l, _))).map(_ -> None).toSeq
    case _ => inner(left, right)(matches).map { case (l, r) => l -> Some(r) }
  }

  /** The rows of one side that come out alone. */
  def alone[A, B](role: Role, rows: Iterable[A], others: Iterable[B])(
      matches: (A, B) => Boolean
  ): Seq[A] =
    if (role.leaves == Leaving.Silently) Nil
    else rows.filterNot(a => others.exists(matches(a, _))).toSeq
}
