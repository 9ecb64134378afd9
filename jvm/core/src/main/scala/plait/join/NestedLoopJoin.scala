// SPDX-License-Identifier: Apache-2.0
package plait.join

/** The definition of an inner join: `{ (l, r) in L x R : matches(l, r) }`, duplicates and all.
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
}
