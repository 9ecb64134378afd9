// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import plait.join.{Matching, Rankless, Role}
import plait.spark.side.{
  FewRows,
  JoinedPairs,
  KeyPortions,
  PairTest,
  ReadingThread,
  RowsByKey,
  SideReader
}
import plait.{BySide, Side}

/** The merge join of two sides that are known to come by key, as far as few right rows share one: those of a key are kept,
  * left rows are tested with those of them that they reach as they come, or with all if they are very few.
  *
  * {{{
  * left   1 a, 1 b, 3 c            keeps 1 x    gives (1 a, 1 x) (1 b, 1 x)
  * right  1 x, 2 y, 3 ...          keeps 2 y    gives it, if it comes out alone
  *                                 stops at 3, of which there are more than [[FewRows.Most]]: `isOver` is false
  * }}}
  *
  * A key with more right rows, and what comes soon after it, is to be stored ([[KeyPortions]]) and joined another way. Then
  * this goes on.
  *
  * What it gives is valid until the next call. As in Spark's own merge join keys that stand at one place in their sequence
  * are equal.
  *
  * @param ranks
  *   None where a reach takes longer than to test some hundred rows
  * @param fields
  *   how many columns the right side has
  */
final class MergedPairs(
    sides: BySide[RowsByKey],
    portions: KeyPortions,
    roles: BySide[Role],
    ranks: Option[MergedPairs.Ranks],
    fields: Int,
    accepts: PairTest,
    reading: ReadingThread
) extends JoinedPairs {
  import MergedPairs._
  import sides.{left => lefts, right => rights}

  private val givesMatches = Role.givesMatches(roles)
  private val settles = roles.left.matches eq Matching.Settles
  private val ofRank = ranks.fold[SideReader](null)(_.ofKept)
  private val ofReach = ranks.fold[SideReader](null)(_.ofProbing)
  private val kept = new FewRows(fields)
  private val matched = new Array[Boolean](FewRows.Most)
  // Between which ranks a kept row lies, where it is worth it: at one; anywhere, if it matches without; or nowhere.
  private val lowest = new Array[Long](FewRows.Most)
  private val highest = new Array[Long](FewRows.Most)
  private var hasRanks = false
  private var phase = Starting
  // Of the kept rows: which is tested or looked at next.
  private var at = 0
  private var isMatched = false
  // The row at hand of this side was given alone; it stays until the next call.
  private var toPass: RowsByKey = _
  private var found = 0L
  private var rowsGiven = 0L
  private var most = 0

  /** Is all joined, or was it stopped by a key with many rows? */
  def isOver: Boolean = phase == Over

  /** The right rows that were read of the key with many. */
  def before: FewRows = kept

  /** Matches found, all by probing the right side; rows given; the most right rows that were kept at once. */
  def pairs: Long = found
  def rowsOut: Long = rowsGiven
  def peak: Int = most

  /** The key that it stopped at was joined. */
  def goOn(): Unit = phase = Between

  override def advance(): Boolean = {
    reading.begin()
    if (toPass != null) {
      toPass.advance()
      toPass = null
    }
    val isFound = find()
    if (isFound) rowsGiven += 1
    isFound
  }

  private def find(): Boolean = {
    var isFound = false
    // Invariant: what came of the rows before those at hand was given.
    while (!isFound && phase != Over && phase != Stopped)
      if (phase == Probing) isFound = probe()
      else if (phase == Clearing) isFound = clear()
      else if (phase == Between) isFound = next()
      else start()
    isFound
  }

  private def start(): Unit = {
    lefts.advance()
    // Else the right side need not be read.
    if (!lefts.isOver || rights.isAloud) {
      rights.advance()
      phase = Between
    } else phase = Over
  }

  private def next(): Boolean =
    if (!portions.hasMore) { phase = Over; false }
    else if (portions.isAlone(lefts)) alone(Side.Left, lefts)
    else if (portions.isAlone(rights)) alone(Side.Right, rights)
    else {
      if (portions.meet()) keep()
      false
    }

  private def alone(side: Side, rows: RowsByKey): Boolean = {
    if (rows.isAloud) {
      setAlone(side, rows.row)
      toPass = rows
    } else rows.pass()
    rows.isAloud
  }

  private def keep(): Unit = {
    lefts.beginKey()
    rights.beginKey()
    kept.clear()
    // Invariant: the right rows of the key before the one at hand are kept.
    while (rights.goesOn && kept.hasRoomFor(rights.row)) {
      matched(kept.count) = false
      kept.add(rights.row)
      rights.advance()
    }
    most = math.max(most, kept.count)
    if (rights.goesOn) phase = Stopped
    else {
      hasRanks = ranks.isDefined && kept.count >= ManyEnough
      if (hasRanks) readRanks()
      phase = Probing
      beginProbe()
    }
  }

  private def readRanks(): Unit = {
    var row = 0
    // Invariant: the rows before `row` have their ranks.
    while (row < kept.count) {
      ofRank.read(kept(row))
      val isAnywhere = ofRank.hasRank && ofRank.rank == Rankless.Rank
      lowest(row) = if (ofRank.hasRank) ofRank.rank else Long.MaxValue
      highest(row) =
        if (isAnywhere) Long.MaxValue else if (ofRank.hasRank) ofRank.rank else Long.MinValue
      row += 1
    }
  }

  /** The left row at hand looks for matches. */
  private def beginProbe(): Unit = {
    at = 0
    isMatched = false
    if (hasRanks) {
      ofReach.read(lefts.row)
      if (!ofReach.reaches) at = kept.count
    }
  }

  /** The next match of the left row at hand, or it alone; and so of all left rows of the key. */
  private def probe(): Boolean = {
    val isFound = nextMatch()
    if (!isFound) {
      val isAlone = lefts.isAloud && !isMatched
      if (isAlone) {
        setAlone(Side.Left, lefts.row)
        // Not before the next call: the row is given.
        isMatched = true
        at = kept.count
        return true
      }
      lefts.advance()
      if (lefts.goesOn) beginProbe()
      else {
        at = 0
        phase = Clearing
      }
    }
    isFound
  }

  private def nextMatch(): Boolean = {
    val current = lefts.row
    // Invariant: the matches of the left row among the kept rows before `at` were given.
    while (at < kept.count && !(isMatched && settles)) {
      if (hasRanks) passUnreached()
      if (at == kept.count) return false
      val partner = kept(at)
      at += 1
      if (accepts.isTrueOf(current, partner)) {
        found += 1
        isMatched = true
        matched(at - 1) = true
        if (givesMatches) {
          set(current, partner)
          return true
        }
      }
    }
    false
  }

  private def passUnreached(): Unit = {
    val low = ofReach.low
    val high = ofReach.high
    // Invariant: the left row does not reach those that were passed.
    while (at < kept.count && (highest(at) < low || lowest(at) > high)) at += 1
  }

  /** The next kept row that comes out alone. */
  private def clear(): Boolean = {
    // Invariant: those before `at` were given, if they had to be.
    while (rights.isAloud && at < kept.count) {
      at += 1
      if (!matched(at - 1)) {
        setAlone(Side.Right, kept(at - 1))
        return true
      }
    }
    phase = Between
    false
  }
}

object MergedPairs {

  /** @param ofKept
    *   the rank of a right row
    * @param ofProbing
    *   the reach of a left row
    */
  final case class Ranks(ofKept: SideReader, ofProbing: SideReader)

  /** Of fewer rows to compare ranks takes longer than to test them. */
  private val ManyEnough = 4

  // What is under way; numbers, for they are asked for once a row.
  final private val Starting = 0
  final private val Between = 1
  final private val Probing = 2
  final private val Clearing = 3

  /** At a key with many rows. */
  final private val Stopped = 4
  final private val Over = 5
}
