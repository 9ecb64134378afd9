// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.Side

/** Which side to read next, so that little is buffered and the first pair comes early.
  *
  * It looks at the last row of each side: its rank, which is the side's frontier, and its reach
  * `[low, high]` in the other side's ranks. The rules, first match wins; each has its mirror:
  *
  * {{{
  * 1. the left row is dead (right frontier > high)          left is behind: read left
  * 2. left has not come to the right row's reach yet        left is behind: read left
  * 3. only right rows can die                               read left, until this one has
  * 4. both reaches have two ends                            read the side that has come less far
  *                                                          through the other's last reach
  * 5. only the right row's reach has no start               read left, until the right row is dead
  * 6. otherwise                                             read the side whose rows end the larger
  *                                                          buffer; on a draw the side read less
  * }}}
  *
  * Example: `l.s - r.s` is 5 or 6. Left 1 reaches right [-5, -4], right 1 reaches left [6, 7]. By rule
  * 1 or 2 left is read up to 6, where the first pair is; six left rows and one right row were read.
  *
  * It looks anew with each row for as long as a thousand have not been read, so that the first pairs come early; and
  * then with every eighth where both reaches have two ends: processors guess which way a program goes on, and where the
  * sides change with the values of rows they guess wrong.
  *
  * Not promised: the least possible buffering. The rules decide the pace, never the result.
  */
final class Pace {
  private val left = new Pace.Last
  private val right = new Pace.Last
  private var side: Side = Side.Left
  // Rows that are still to be read of `side` before it looks again.
  private var more = 0

  def last(side: Side): Pace.Last = if (side eq Side.Left) left else right

  /** @param leftHeld
    *   rows buffered of the left side; two numbers and no pair, which would be an object a row
    */
  def next(leftHeld: Long, rightHeld: Long): Side = {
    if (more > 0) more -= 1
    else {
      side = looked(leftHeld, rightHeld)
      if (left.rows + right.rows >= Pace.EachRow && left.hasTwoEnds && right.hasTwoEnds)
        more = Pace.Stretch - 1
    }
    side
  }

  private def looked(leftHeld: Long, rightHeld: Long): Side =
    if (left.rows == 0) Side.Left
    else if (right.rows == 0) Side.Right
    else {
      val leftBehind = left.isPassedBy(right) || right.isAheadOf(left)
      val rightBehind = right.isPassedBy(left) || left.isAheadOf(right)
      if (leftBehind != rightBehind) { if (leftBehind) Side.Left else Side.Right }
      else if (leftBehind) shrinking(leftHeld, rightHeld)
      else if (left.isEndless != right.isEndless) {
        if (left.isEndless) Side.Left else Side.Right
      } else if (left.isBeginless != right.isBeginless) {
        if (right.isBeginless) Side.Left else Side.Right
      } else if (left.isEndless || left.isBeginless) shrinking(leftHeld, rightHeld)
      else byProgress(leftHeld, rightHeld)
    }

  /** The shares are compared with both multiplied by both lengths, which is quicker than to divide. */
  private def byProgress(leftHeld: Long, rightHeld: Long): Side = {
    val ofLeft = right.passed(left) * left.length
    val ofRight = left.passed(right) * right.length
    if (ofLeft < ofRight) Side.Left
    else if (ofRight < ofLeft) Side.Right
    else shrinking(leftHeld, rightHeld)
  }

  /** Buffered right rows die by reading left, so a long-lived last row cannot draw in a whole side. */
  private def shrinking(leftHeld: Long, rightHeld: Long): Side =
    if (leftHeld != rightHeld) { if (leftHeld < rightHeld) Side.Left else Side.Right }
    else if (left.rows <= right.rows) Side.Left
    else Side.Right
}

object Pace {

  /** Up to so many rows it looks with each. */
  private val EachRow = 1000

  /** And then so many rows of a side are read, one after the other. */
  private val Stretch = 8

  /** The last row of a side that had a rank and a reach. */
  final class Last {
    var rows: Long = 0
    var rank: Long = Long.MinValue
    var low: Long = Long.MinValue
    var high: Long = Long.MaxValue

    def isEndless: Boolean = high == Long.MaxValue
    def isBeginless: Boolean = low == Long.MinValue
    def hasTwoEnds: Boolean = !isEndless && !isBeginless
    def isPassedBy(other: Last): Boolean = other.rank > high
    def isAheadOf(other: Last): Boolean = other.rank < low

    /** How far the other side has come through this row's reach, from 0 to its [[length]]. */
    def passed(other: Last): Double = other.rank.toDouble - low + 1
    def length: Double = high.toDouble - low + 1
  }
}
