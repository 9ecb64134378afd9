// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{BucketJoin, DealtRows, Leaving, RadixJoin, Role}
import plait.spark.side.{JoinedPairs, KeyForm, PairTest, RankedRows, SideReader}
import plait.{BySide, Side}

/** Drives a [[BucketJoin]] over rows in memory: reads the reach of each row that is looked up, compares keys, and
  * evaluates the condition.
  *
  * {{{
  * dead rows that come out alone, then of each bucket:
  *   a probing row and its partners, or it alone, and so on; then built rows that had none
  * }}}
  *
  * What it gives is valid until the next call.
  *
  * @param dead
  *   rows that can match nothing
  * @param reader
  *   of a probing row: its reach, and its key if that is to be compared
  * @param keys
  *   None if candidates are known to have the key of the row that probes
  * @param stopIfKilled
  *   called at each step
  * @param release
  *   gives back what is held, after the last row
  */
final class BucketJoinPairs(
    core: BucketJoin,
    rows: BySide[RankedRows],
    dead: BySide[Array[Long]],
    reader: SideReader,
    keys: Option[BucketJoinPairs.Keys],
    roles: BySide[Role],
    fields: BySide[Int],
    accepts: PairTest,
    stopIfKilled: () => Unit,
    release: () => Unit
) extends JoinedPairs {
  private val built = core.built
  private val probing = built.other
  private val probingRow = new UnsafeRow(fields(probing))
  private val builtRow = new UnsafeRow(fields(built))
  // The two rows stay the same and point elsewhere: to write a reference costs a barrier of the collector's.
  private val leftRow = if (built eq Side.Left) builtRow else probingRow
  private val rightRow = if (built eq Side.Left) probingRow else builtRow
  private val givesMatches = Role.givesMatches(roles)
  // Dead rows that come out were not given from here on.
  private val firstDead =
    BySide.make(side =>
      if (roles(side).leaves eq Leaving.Aloud) dead(side) else Array.emptyLongArray
    )
  private var deadGiven = 0
  private var isMatching = false
  private var found = 0L
  private var rowsGiven = 0L

  /** Matches found, all by probing the built side. */
  def pairs: Long = found
  def rowsOut: Long = rowsGiven

  override def advance(): Boolean = {
    val isFound = find()
    if (isFound) rowsGiven += 1 else release()
    isFound
  }

  private def find(): Boolean =
    if (isMatching && nextMatch()) true
    else if (nextDead()) true
    else {
      var step: BucketJoin.Step = null
      var isFound = false
      // Invariant: all that came of the steps before the last was given.
      while (!isFound && !(step eq BucketJoin.Over)) {
        step = core.step()
        stopIfKilled()
        if (step eq BucketJoin.Probes) isFound = probe()
        else if (step eq BucketJoin.Leaves) {
          rows(built).point(core.leaver, builtRow)
          setAlone(built, builtRow)
          isFound = true
        }
      }
      isFound
    }

  private def nextDead(): Boolean = {
    val ofLeft = firstDead.left.length
    val isFound = deadGiven < ofLeft + firstDead.right.length
    if (isFound) {
      val side = if (deadGiven < ofLeft) Side.Left else Side.Right
      val number = if (deadGiven < ofLeft) deadGiven else deadGiven - ofLeft
      val row = if (side eq built) builtRow else probingRow
      rows(side).point(firstDead(side)(number), row)
      setAlone(side, row)
      deadGiven += 1
    }
    isFound
  }

  private def probe(): Boolean = {
    rows(probing).point(core.probing, probingRow)
    if (core.hasCandidates) {
      reader.read(probingRow, core.probingRank)
      if (reader.reaches) {
        core.look(reader.low, reader.high)
        return nextMatch()
      }
    }
    alone()
  }

  private def alone(): Boolean = {
    isMatching = false
    val isFound = core.leavesAtOnce
    if (isFound) setAlone(probing, probingRow)
    isFound
  }

  /** The next match of the probing row, or it alone. */
  private def nextMatch(): Boolean = {
    isMatching = true
    // Invariant: the matches of the probing row before the candidate have been given.
    while (core.nextCandidate()) {
      rows(built).point(core.candidate, builtRow)
      if (hasSameKey && accepts.isTrueOf(leftRow, rightRow)) {
        found += 1
        core.accept()
        if (givesMatches) {
          set(leftRow, rightRow)
          return true
        }
      }
    }
    alone()
  }

  private def hasSameKey: Boolean = keys.isEmpty || core.isKnownEqual || {
    val ofBuilt = keys.get
    ofBuilt.reader.read(builtRow)
    val isSame = ofBuilt.form.isSame(reader, ofBuilt.reader)
    if (isSame) core.foundEqual()
    isSame
  }
}

object BucketJoinPairs {

  /** @param reader
    *   of a built row: its key
    */
  final case class Keys(form: KeyForm, reader: SideReader)

  /** Fetches the rows of a bucket. */
  final class Fetch(rows: BySide[RankedRows]) extends RadixJoin.Touch {
    override def fetch(side: Side, of: DealtRows, from: Int, until: Int): Unit = {
      val held = rows(side)
      var place = from
      // Invariant: the rows before `place` are on their way.
      while (place < until) {
        held.touch(of.handle(place))
        place += 1
      }
    }
  }
}
