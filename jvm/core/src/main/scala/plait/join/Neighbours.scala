// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Comparator

/** The two rows of a range that other ranges may have to know: of those with the least match value the
  * best, and of those with the greatest.
  *
  * {{{
  * right rows 10:01 a, 10:01 b, 10:05 c, 10:09 a, 10:09 b            first 10:01 b, last 10:09 b
  * }}}
  *
  * @param byMatch
  *   compares match values, along the scan
  * @param precedence
  *   the same, and who is picked among equal ones: the last
  * @param kept
  *   a copy of the second row, perhaps in the place of the first, which may be null
  */
final class Outermost[R >: Null <: AnyRef](
    byMatch: Comparator[_ >: R],
    precedence: Comparator[_ >: R],
    kept: (R, R) => R
) {
  private var least: R = _
  private var greatest: R = _
  def first: R = least
  def last: R = greatest

  def see(row: R): Unit = {
    if (greatest == null || precedence.compare(row, greatest) >= 0) greatest = kept(greatest, row)
    val place = if (least == null) -1 else byMatch.compare(row, least)
    if (place < 0 || (place == 0 && precedence.compare(row, least) >= 0)) least = kept(least, row)
  }
}

/** What each range of an as-of join must know of the others, where no condition refuses a pair: the row
  * just before it and the one just after it, of each side.
  *
  * {{{
  * l.ts >= r.ts, cut at 10:00 and 11:00            range 0          range 1          range 2
  *   right                                         09:58 a          -                11:05 b
  *   left                                          -                10:30            11:01
  *   right known from elsewhere                    after: b         a, b             before: a
  *   left known from elsewhere                     after: 10:30     after: 11:01     before: 10:30
  * }}}
  *
  * In range 1 left 10:30 picks a. In range 0 it does so again, in silence, so that a does not come out
  * alone: b, which is known there too, comes too late for it. A left row farther away picks a only if
  * the nearest one does, and picks of all rows before its range none but the last.
  *
  * @param outermost
  *   of one side the first and the last row of each range, or null
  */
final class Neighbours[R >: Null <: AnyRef](outermost: IndexedSeq[(R, R)]) extends Serializable {

  /** The last row of all ranges before this one, or null. */
  def before(range: Int): R = {
    val last = outermost.lastIndexWhere(_._2 != null, range - 1)
    if (range == 0 || last < 0) null else outermost(last)._2
  }

  /** The first row of all ranges after this one, or null. */
  def after(range: Int): R = {
    val first = outermost.indexWhere(_._1 != null, range + 1)
    if (first < 0) null else outermost(first)._1
  }
}
