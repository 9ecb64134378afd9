// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.plait.TaskWatch

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
  *                                 at 3, of which there are more than [[FewRows.Most]], it gives what another way gives
  * }}}
  *
  * A key with more right rows, and what comes soon after it, is stored ([[KeyPortions]]) and joined another way. Then this
  * goes on.
  *
  * What it gives is valid until the next call. As in Spark's own merge join keys that stand at one place in their sequence
  * are equal.
  *
  * @param reachReader
  *   makes what reads the reach of a left row; None where that takes longer than to test some hundred rows
  * @param fields
  *   how many columns the right side has
  * @param watch
  *   told how many pairs are tested
  * @param ofPortion
  *   stores the key that began last, of which these right rows were read, and what comes soon after it, and joins that
  * @param whenOver
  *   said once
  */
final class MergedPairs(
    sides: BySide[RowsByKey],
    portions: KeyPortions,
    roles: BySide[Role],
    reachReader: Option[() => SideReader],
    fields: Int,
    accepts: PairTest,
    watch: TaskWatch,
    reading: ReadingThread,
    ofPortion: FewRows => JoinedPairs,
    whenOver: () => Unit
) extends JoinedPairs {
  import MergedPairs._
  import sides.{left => lefts, right => rights}

  private val givesMatches = Role.givesMatches(roles)
  private val settles = roles.left.matches eq Matching.Settles
  private val remembers = settles || rights.isAloud
  private val kept = new FewRows(fields)
  private val partners = kept.rows
  private val matched = new Array[Boolean](FewRows.Most)
  // Between which ranks a kept row lies, where it is worth it: at one; anywhere, if it matches without; or nowhere.
  private val lowest = new Array[Long](FewRows.Most)
  private val highest = new Array[Long](FewRows.Most)
  private var hasRanks = false
  // Null until it is needed. No lazy value: it is asked for in the inner loop.
  private var ofReach: SideReader = _
  private var phase = Starting
  // Of the kept rows: which is tested or looked at next, and where that ends.
  private var at = 0
  private var until = 0
  // The left row that looks for matches, and whether it found one.
  private var current: UnsafeRow = _
  private var isMatched = false
  // The row at hand of this side was given alone; it stays until the next call.
  private var toPass: RowsByKey = _
  // Gives the rows of a portion.
  private var elsewhere: JoinedPairs = _
  private var found = 0L
  private var givenAlone = 0L
  private var most = 0

  /** Without portions: matches found, all by probing the right side; and rows given. */
  def pairs: Long = found

  /** A match that comes out is given as soon as it is found. */
  def rowsOut: Long = (if (givesMatches) found else 0L) + givenAlone

  /** The most right rows that were kept at once. */
  def peak: Int = most

  override def advance(): Boolean = {
    reading.begin()
    // Most rows are found so; `find` would, too.
    (phase == Probing && probe()) || find()
  }

  private def find(): Boolean = {
    var isFound = false
    // Invariant: what came of the rows before those at hand was given.
    while (!isFound && phase != Over)
      if (phase == Between) isFound = next()
      else if (phase == Probing) isFound = probe()
      else if (phase == Clearing) isFound = clear()
      else if (phase == Passing) leaveGiven()
      else if (phase == Elsewhere) isFound = nextElsewhere()
      else start()
    isFound
  }

  private def start(): Unit = {
    lefts.advance()
    // Else the right side need not be read.
    if (!lefts.isOver || rights.isAloud) {
      rights.advance()
      phase = Between
    } else end()
  }

  private def end(): Unit = {
    phase = Over
    whenOver()
  }

  private def next(): Boolean =
    // Mostly so; what follows would come to the same.
    if (lefts.isAtNewKey && rights.isAtNewKey) { meet(); false }
    else if (!portions.hasMore) { end(); false }
    else if (portions.isAlone(lefts)) takeAlone(Side.Left, lefts)
    else if (portions.isAlone(rights)) takeAlone(Side.Right, rights)
    else { meet(); false }

  private def meet(): Unit = if (portions.meet()) keep()

  /** Gives it if it comes out, or passes it. */
  private def takeAlone(side: Side, rows: RowsByKey): Boolean = {
    if (rows.isAloud) {
      giveAlone(side, rows.row)
      toPass = rows
      phase = Passing
    } else rows.pass()
    rows.isAloud
  }

  private def giveAlone(side: Side, row: UnsafeRow): Unit = {
    setAlone(side, row)
    givenAlone += 1
  }

  /** The row given alone is over: given, not passed. */
  private def leaveGiven(): Unit = {
    toPass.advance()
    phase = Between
  }

  private def keep(): Unit = {
    lefts.beginKey()
    rights.beginKey()
    kept.clear()
    // Invariant: the right rows of the key before the one at hand are kept.
    while (rights.goesOn && kept.add(rights.row)) {
      if (rights.isAloud) matched(kept.count - 1) = false
      rights.advance()
    }
    most = math.max(most, kept.count)
    if (rights.goesOn) joinElsewhere()
    else {
      hasRanks = reachReader.isDefined && kept.count >= ManyEnough
      if (hasRanks) readRanks()
      phase = Probing
      beginProbe()
    }
  }

  private def joinElsewhere(): Unit = {
    elsewhere = ofPortion(kept)
    phase = Elsewhere
  }

  private def nextElsewhere(): Boolean = {
    val isFound = elsewhere.advance()
    if (isFound) set(elsewhere.left, elsewhere.right)
    else {
      // What stands above may live on, and hold nothing that is counted no more.
      set(null, null)
      elsewhere = null
      phase = Between
    }
    isFound
  }

  private def readRanks(): Unit = {
    if (ofReach == null) ofReach = reachReader.get.apply()
    val ofRank = rights.ranks
    var row = 0
    // Invariant: the rows before `row` have their ranks.
    while (row < kept.count) {
      ofRank.read(partners(row))
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
    until = kept.count
    isMatched = false
    // Mostly the same object; to write a reference costs a barrier of the collector's.
    if (current ne lefts.row) current = lefts.row
    // Here, for who tests several at once does not say so.
    watch.saw(until)
    if (hasRanks) {
      ofReach.read(current)
      if (!ofReach.reaches) until = 0
    }
  }

  /** The next match of a left row of the key, or one that comes out alone. */
  private def probe(): Boolean = {
    // Invariant: what came of the left rows of the key before the one at hand was given.
    while (!nextMatch()) {
      if (lefts.isAloud && !isMatched) {
        giveAlone(Side.Left, current)
        // That is all that comes of it.
        isMatched = true
        return true
      }
      lefts.advance()
      if (!lefts.goesOn) {
        at = 0
        phase = Clearing
        return false
      }
      beginProbe()
    }
    true
  }

  private def nextMatch(): Boolean = {
    // Invariant: the matches of the left row among the kept rows before `at` were given.
    while (goToMatch()) {
      val partner = partners(at)
      at += 1
      found += 1
      isMatched = true
      if (remembers) remember()
      if (givesMatches) {
        set(current, partner)
        return true
      }
    }
    false
  }

  /** Goes on to the next kept row that the left row matches, if there is one. */
  private def goToMatch(): Boolean = {
    if (hasRanks) passOthers() else at = accepts.firstOf(current, partners, at, until)
    at < until
  }

  private def passOthers(): Unit = {
    passUnreached()
    // Invariant: the left row does not match those that were passed.
    while (at < until && !accepts.isTrueOf(current, partners(at))) {
      at += 1
      passUnreached()
    }
  }

  private def passUnreached(): Unit = {
    val low = ofReach.low
    val high = ofReach.high
    // Invariant: the left row does not reach those that were passed.
    while (at < until && (highest(at) < low || lowest(at) > high)) at += 1
  }

  /** The kept row before `at` has matched the left row. */
  private def remember(): Unit = {
    if (rights.isAloud) matched(at - 1) = true
    if (settles) until = at
  }

  /** The next kept row that comes out alone. */
  private def clear(): Boolean = {
    // Invariant: those before `at` were given, if they had to be.
    while (rights.isAloud && at < kept.count) {
      at += 1
      if (!matched(at - 1)) {
        giveAlone(Side.Right, partners(at - 1))
        return true
      }
    }
    phase = Between
    false
  }
}

object MergedPairs {

  /** Of fewer rows to compare ranks takes longer than to test them. */
  private val ManyEnough = 16

  // What is under way; numbers, for they are asked for once a row.
  final private val Starting = 0
  final private val Between = 1
  final private val Probing = 2
  final private val Clearing = 3
  final private val Passing = 4

  /** At a key with many rows, or after it. */
  final private val Elsewhere = 5
  final private val Over = 6
}
