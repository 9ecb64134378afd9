// SPDX-License-Identifier: Apache-2.0
package plait.join

/** The definition of an as-of join: for each left row the greatest of its candidates.
  *
  * {{{
  * pick(l) = max { r in R : matches(l, r) }       of equal ones the last
  * }}}
  *
  * Every test of a faster one compares with it.
  */
object NestedLoopAsOfJoin {
  def picks[L, R](left: Iterable[L], right: Iterable[R])(
      matches: (L, R) => Boolean,
      better: L => Ordering[R]
  ): Seq[(L, Option[R])] = left.map { l =>
    val candidates = right.filter(matches(l, _))
    l -> candidates.reduceOption((a, b) => if (better(l).gt(a, b)) a else b)
  }.toSeq
}
