// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{JoinCore, KeyGroup, Leaving, Role}
import plait.spark.side.{JoinedPairs, PairTest, ReadingThread, RowsByRank, SideReader}
import plait.{BySide, Side}

/** Drives the join core from two iterators: reads a row of the side that the core wants, gives the
  * rows that leave alone because of it, takes its matches, and reads on.
  *
  * {{{
  * left   (s 1)          right  (s 1)          condition l.s - r.s is 5 or 6
  *  reads  left 1 | right 1 | left 2, 3, 4, 5, 6 -> pair (6, 1)
  * }}}
  *
  * Conventions:
  *   1. It is driven by demand: nothing is read before [[advance]] is asked, and no more than the next
  *      row needs.
  *   2. Each side comes sorted by its order; rows without an order value may stand anywhere, and where such rows may
  *      match ([[plait.join.Rankless]]) come first.
  *   3. What it gives is valid until the next call.
  *
  * @param accepts
  *   the join's condition beyond its keys
  * @param release
  *   gives back what is held, after the last row, and not with the end of the task: one task may run many joins
  */
final class SymmetricHashJoinPairs(
    inputs: BySide[RowsByRank],
    readers: BySide[SideReader],
    core: JoinCore[SideReader, KeyGroup, UnsafeRow],
    roles: BySide[Role],
    accepts: PairTest,
    trace: BufferTrace,
    reading: ReadingThread,
    release: () => Unit
) extends JoinedPairs {
  private val givesMatches = Role.givesMatches(roles)
  private var phase = SymmetricHashJoinPairs.Reading
  private var hasArrival = false
  private var arrived: Side = Side.Left
  private var foundProbingLeft = 0L
  private var foundProbingRight = 0L
  private var rows = 0L

  def pairsByProbing(side: Side): Long =
    if (side eq Side.Left) foundProbingLeft else foundProbingRight

  def rowsOut: Long = rows

  override def advance(): Boolean = {
    reading.begin()
    val isFound = find()
    if (isFound) rows += 1 else release()
    isFound
  }

  private def find(): Boolean = {
    import SymmetricHashJoinPairs._
    var isFound = false
    // Invariant: what came of the rows read before the last one has been given.
    while (!isFound)
      if (phase == Matching) {
        isFound = nextMatch()
        if (!isFound) {
          phase = Reading
          isFound = core.leavesAtOnce
          if (isFound) setAlone(arrived, readers(arrived).row)
        }
      } else if (phase == Clearing) {
        val leaver = core.nextLeaving(arrived.other)
        isFound = leaver != null
        if (isFound) setAlone(arrived.other, leaver) else arrive()
      } else if (core.isDone) return false
      else read(core.wants)
    true
  }

  private def nextMatch(): Boolean = {
    val current = readers(arrived).row
    var partner = core.nextMatch()
    // Invariant: the matches of the current row before `partner` have been given.
    while (partner != null) {
      val isMatch =
        if (arrived eq Side.Left) accepts.isTrueOf(current, partner)
        else accepts.isTrueOf(partner, current)
      if (isMatch) {
        if (arrived eq Side.Left) foundProbingRight += 1 else foundProbingLeft += 1
        core.accept()
        if (givesMatches) {
          if (arrived eq Side.Left) set(current, partner) else set(partner, current)
          return true
        }
      }
      partner = core.nextMatch()
    }
    false
  }

  private def read(side: Side): Unit = {
    val input = inputs(side)
    if (arrived ne side) arrived = side
    hasArrival = input.hasNext
    if (hasArrival) {
      val reader = readers(side)
      val row = input.next()
      reader.read(row, input.knownRank)
      if (reader.hasRank) core.advance(side, reader.rank)
    } else core.finish(side)
    if (roles(side.other).leaves eq Leaving.Aloud)
      phase = SymmetricHashJoinPairs.Clearing
    else arrive()
  }

  private def arrive(): Unit =
    if (!hasArrival) phase = SymmetricHashJoinPairs.Reading
    else {
      phase = SymmetricHashJoinPairs.Matching
      val reader = readers(arrived)
      if (reader.reaches)
        core.add(arrived, reader, reader.row, reader.rank, reader.low, reader.high)
      else core.addDead(arrived)
      trace.rowRead(core)
    }
}

object SymmetricHashJoinPairs {

  // What is under way; numbers, for they are asked for once a row.
  final private val Reading = 0

  /** Rows of the other side leave because of the row that was read, or of the end. */
  final private val Clearing = 1
  final private val Matching = 2
}
