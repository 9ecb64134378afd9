// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeRow}

import plait.join.{AsOfCore, Home, Role}
import plait.{BySide, Side}

/** Drives the as-of core from two iterators: offers right rows as long as they are to be seen by the left
  * row at hand, then lets it pick.
  *
  * {{{
  * l.ts >= r.ts     left 10:07          right 10:01, 10:05, 10:09
  *   offers 10:01, 10:05; left 10:07 picks 10:05
  * }}}
  *
  * Conventions:
  *   1. It is driven by demand, and reads no more than the next row needs.
  *   2. Each side comes sorted as the [[MatchPace]] wants; rows without a match value may stand anywhere.
  *   3. The row that `next` gives is valid until the next call.
  *   4. A row from elsewhere picks and is picked, and does not come out.
  */
final class AsOfJoinIterator(
    inputs: BySide[HomedRows],
    readers: BySide[SideReader],
    pace: MatchPace,
    core: AsOfCore[SideReader, UnsafeRow],
    roles: BySide[Role],
    conditions: PairConditions[PairConditions.Test],
    output: JoinOutput,
    release: () => Unit
) extends JoinRows(roles, release) {
  private val pair = new JoinedRow
  private val ofLeft = conditions.ofLeft.orNull
  private val ofRight = conditions.ofRight.orNull
  private val isWithin = conditions.isWithin.orNull
  private val accepts = conditions.accepts.orNull
  private val holds = conditions.holds.orNull
  private val left = readers.left
  private val right = readers.right
  private var phase = AsOfJoinIterator.ReadingLeft
  // Is there a right row that was read and not yet offered?
  private var hasRight = false
  private var rightEnded = false
  private var isLeaving = false
  private var leftRows = 0L
  private var rightRows = 0L

  override def rowsIn(side: Side): Long = if (side eq Side.Left) leftRows else rightRows
  override def peak: Long = core.peak

  override protected def findRow(): InternalRow = {
    import AsOfJoinIterator._
    var row: InternalRow = null
    // Invariant: what came of the rows read before has been given, but for those that are leaving.
    while (row == null)
      if (isLeaving) {
        val leaver = core.nextLeaving()
        if (leaver == null) isLeaving = false else row = output.alone(Side.Right, leaver)
      } else if (phase == ReadingLeft) row = readLeft()
      else if (phase == Offering) row = offerOrPick()
      else if (phase == Draining) row = drain()
      else return null
    row
  }

  private def readLeft(): InternalRow =
    if (inputs.left.hasNext) {
      left.read(inputs.left.next())
      if (isHere(Side.Left)) leftRows += 1
      if (left.reaches && (ofLeft == null || ofLeft(left.row))) {
        pace.leftRead(left)
        phase = AsOfJoinIterator.Offering
        null
      } else alone()
    } else {
      phase = if (rightAloud) AsOfJoinIterator.Draining else AsOfJoinIterator.Done
      null
    }

  /** Of the row of a side that was read last. */
  private def isHere(side: Side): Boolean = inputs(side).home eq Home.Here

  private def alone(): InternalRow =
    if (leftAloud && isHere(Side.Left)) output.alone(Side.Left, left.row) else null

  private def offerOrPick(): InternalRow =
    if (!hasRight && !rightEnded) readRight()
    else if (hasRight && pace.isSeen(left, right)) {
      core.offer(right, pace.rankOf(right), right.row, inputs.right.home)
      isLeaving = rightAloud
      hasRight = false
      null
    } else {
      phase = AsOfJoinIterator.ReadingLeft
      picked()
    }

  /** A right row that is no candidate comes out alone, if those do. */
  private def readRight(): InternalRow =
    if (inputs.right.hasNext) {
      right.read(inputs.right.next())
      if (isHere(Side.Right)) rightRows += 1
      hasRight = right.reaches && (ofRight == null || ofRight(right.row))
      if (hasRight) pace.rightRead(right)
      if (!hasRight && rightAloud) output.alone(Side.Right, right.row) else null
    } else {
      rightEnded = true
      null
    }

  private def picked(): InternalRow = {
    if (core.expires) expire()
    core.seek(left)
    var candidate = core.candidate()
    // Invariant: the candidates before this one do not satisfy the condition.
    while (candidate != null) {
      pair(left.row, candidate)
      if (isWithin != null && !core.expires && !isWithin(pair)) {
        core.outOfReach()
        isLeaving = rightAloud
        candidate = null
      } else if (accepts == null || accepts(pair)) return chosen(candidate)
      else candidate = core.candidate()
    }
    alone()
  }

  /** Drops what no left row reaches from here on, of all keys. */
  private def expire(): Unit = {
    var oldest = core.oldest()
    // Invariant: the right rows before the oldest are dropped.
    while (oldest != null && !isWithin(pair(left.row, oldest))) {
      core.dropOldest()
      isLeaving = rightAloud
      oldest = core.oldest()
    }
  }

  private def chosen(candidate: UnsafeRow): InternalRow =
    if (holds != null && !holds(pair)) alone()
    else {
      core.pick()
      if (givesMatches && isHere(Side.Left)) output.matched(left.row, candidate) else null
    }

  /** The left side has ended: what is left of the right one comes out alone. */
  private def drain(): InternalRow =
    if (hasRight) {
      hasRight = false
      if (isHere(Side.Right)) output.alone(Side.Right, right.row) else null
    } else if (rightEnded) {
      core.finish()
      isLeaving = true
      phase = AsOfJoinIterator.Done
      null
    } else readRight()
}

object AsOfJoinIterator {

  // What is under way; numbers, for they are asked for once a row.
  final private val ReadingLeft = 0

  /** A left row waits for the right rows that it may see. */
  final private val Offering = 1
  final private val Draining = 2
  final private val Done = 3
}
