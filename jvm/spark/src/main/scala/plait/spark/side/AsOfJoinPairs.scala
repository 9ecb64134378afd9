// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

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
  *   3. What it gives is valid until the next call.
  *   4. A row from elsewhere picks and is picked, and does not come out.
  */
final class AsOfJoinPairs(
    inputs: BySide[HomedRows],
    readers: BySide[SideReader],
    pace: MatchPace,
    core: AsOfCore[SideReader, UnsafeRow],
    roles: BySide[Role],
    conditions: PairConditions.Tests,
    reading: ReadingThread,
    release: () => Unit
) extends AsOfPairs(roles, reading, release) {
  private val ofLeft = conditions.ofLeft.orNull
  private val ofRight = conditions.ofRight.orNull
  private val isWithin = conditions.isWithin.orNull
  private val accepts = conditions.accepts.orNull
  private val holds = conditions.holds.orNull
  private val leftReader = readers.left
  private val rightReader = readers.right
  private var phase = AsOfJoinPairs.ReadingLeft
  // Is there a right row that was read and not yet offered?
  private var hasRight = false
  private var rightEnded = false
  private var isLeaving = false
  private var leftRows = 0L
  private var rightRows = 0L

  override def rowsIn(side: Side): Long = if (side eq Side.Left) leftRows else rightRows
  override def peak: Long = core.peak

  override protected def find(): Boolean = {
    import AsOfJoinPairs._
    var isFound = false
    // Invariant: what came of the rows read before has been given, but for those that are leaving.
    while (!isFound)
      if (isLeaving) isFound = leave()
      else if (phase == ReadingLeft) isFound = readLeft()
      else if (phase == Offering) isFound = offerOrPick()
      else if (phase == Draining) isFound = drain()
      else return false
    true
  }

  private def leave(): Boolean = {
    val leaver = core.nextLeaving()
    isLeaving = leaver != null
    isLeaving && alone(Side.Right, leaver)
  }

  private def readLeft(): Boolean =
    if (inputs.left.hasNext) {
      leftReader.read(inputs.left.next())
      if (isHere(Side.Left)) leftRows += 1
      if (leftReader.reaches && (ofLeft == null || ofLeft(leftReader.row))) {
        pace.leftRead(leftReader)
        phase = AsOfJoinPairs.Offering
        false
      } else leftAlone()
    } else {
      phase = if (rightAloud) AsOfJoinPairs.Draining else AsOfJoinPairs.Done
      false
    }

  /** Of the row of a side that was read last. */
  private def isHere(side: Side): Boolean = inputs(side).home eq Home.Here

  private def alone(side: Side, row: UnsafeRow): Boolean = {
    setAlone(side, row)
    true
  }

  private def leftAlone(): Boolean =
    leftAloud && isHere(Side.Left) && alone(Side.Left, leftReader.row)

  private def offerOrPick(): Boolean =
    if (!hasRight && !rightEnded) readRight()
    else if (hasRight && pace.isSeen(leftReader, rightReader)) {
      core.offer(rightReader, pace.rankOf(rightReader), rightReader.row, inputs.right.home)
      isLeaving = rightAloud
      hasRight = false
      false
    } else {
      phase = AsOfJoinPairs.ReadingLeft
      picked()
    }

  /** A right row that is no candidate comes out alone, if those do. */
  private def readRight(): Boolean =
    if (inputs.right.hasNext) {
      rightReader.read(inputs.right.next())
      if (isHere(Side.Right)) rightRows += 1
      hasRight = rightReader.reaches && (ofRight == null || ofRight(rightReader.row))
      if (hasRight) pace.rightRead(rightReader)
      !hasRight && rightAloud && alone(Side.Right, rightReader.row)
    } else {
      rightEnded = true
      false
    }

  private def picked(): Boolean = {
    if (core.expires) expire()
    core.seek(leftReader)
    var candidate = core.candidate()
    // Invariant: the candidates before this one do not satisfy the condition.
    while (candidate != null) {
      val left = leftReader.row
      if (isWithin != null && !core.expires && !isWithin.isTrueOf(left, candidate)) {
        core.outOfReach()
        isLeaving = rightAloud
        candidate = null
      } else if (accepts == null || accepts.isTrueOf(left, candidate)) return chosen(candidate)
      else candidate = core.candidate()
    }
    leftAlone()
  }

  /** Drops what no left row reaches from here on, of all keys. */
  private def expire(): Unit = {
    var oldest = core.oldest()
    // Invariant: the right rows before the oldest are dropped.
    while (oldest != null && !isWithin.isTrueOf(leftReader.row, oldest)) {
      core.dropOldest()
      isLeaving = rightAloud
      oldest = core.oldest()
    }
  }

  private def chosen(candidate: UnsafeRow): Boolean =
    if (holds != null && !holds.isTrueOf(leftReader.row, candidate)) leftAlone()
    else {
      core.pick()
      val isGiven = givesMatches && isHere(Side.Left)
      if (isGiven) set(leftReader.row, candidate)
      isGiven
    }

  /** The left side has ended: what is left of the right one comes out alone. */
  private def drain(): Boolean =
    if (hasRight) {
      hasRight = false
      isHere(Side.Right) && alone(Side.Right, rightReader.row)
    } else if (rightEnded) {
      core.finish()
      isLeaving = true
      phase = AsOfJoinPairs.Done
      false
    } else readRight()
}

object AsOfJoinPairs {

  // What is under way; numbers, for they are asked for once a row.
  final private val ReadingLeft = 0

  /** A left row waits for the right rows that it may see. */
  final private val Offering = 1
  final private val Draining = 2
  final private val Done = 3
}
