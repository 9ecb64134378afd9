// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The pruning symmetric hash join of two inputs that arrive row by row.
  *
  * With L and R the rows added so far, [[nextMatch]] has given, each once, every pair of
  *
  * {{{
  * { (l, r) in L x R : key(l) = key(r), rank(r) in reach(l), rank(l) in reach(r) }
  * }}}
  *
  * and perhaps pairs of equal keys where only one of the two holds; less those of a row that was
  * [[Matching.Settles settled]] before. The set holds every pair whose condition is TRUE, because a
  * reach is a superset; the caller evaluates the condition, and says [[accept]] where it is TRUE.
  *
  * {{{
  *          add(Left, row)                     advance(Left, f): no later left row is below f
  *                |                                      |
  *    probes      v      stores                          v
  *  right buffer <-- row --> left buffer      right rows whose reach ends below f are dropped;
  *                              if the right frontier has not passed its reach      nextLeaving
  *                                                       gives those that come out alone
  * }}}
  *
  * LEFT OUTER, left 1 and 5, right 1, a match is l.s = r.s: `advance(Right, 2)` and `nextLeaving` give
  * nothing (left 1 has matched); `finish(Right)` and `nextLeaving` give left 5.
  *
  * Conventions:
  *   1. `add(side, ...)` takes a rank that is at least the side's frontier.
  *   2. A frontier is closed: every later row has a rank >= it. Frontiers never fall.
  *   3. A row with a NULL key or reach matches nothing and is not added, only counted by [[addDead]];
  *      so is one with a NULL order, unless its side's are [[Rankless.Matching]]: those come first, with
  *      the rank [[Rankless.Rank]], and every row reaches them.
  *   4. All matches of a row are taken before the next verb, and after `advance` and `finish` all that
  *      leaves. A row given is valid until the next call.
  *   5. Of a side whose [[Role]] lets rows leave aloud, each row comes out: matched, given by
  *      `nextLeaving`, or as the arriving row that [[leavesAtOnce]].
  *
  * @tparam Q
  *   a key as it comes with a row
  * @tparam K
  *   a key, looked up
  * @tparam R
  *   a row
  */
final class JoinCore[Q, K >: Null <: AnyRef, R >: Null <: AnyRef](
    keys: KeyTable[Q, K],
    buffers: BySide[RowBuffer[K, R]],
    roles: BySide[Role] = BySide(Role.Paired, Role.Paired),
    rankless: BySide[Rankless] = BySide(Rankless.Dead, Rankless.Dead)
) {
  private val left = new JoinCore.SideState(buffers.left, roles.left, rankless.left)
  private val right = new JoinCore.SideState(buffers.right, roles.right, rankless.right)
  private val pace = new Pace
  private var peak = 0L

  // The row that arrived last: its side, whether it is looked up in the other's buffer, and what is to be stored of it.
  // A reference is written where it is another than before, for each costs a barrier of the collector's a row.
  private var arrived = left
  private var isProbing = false
  // The key whose rows without a rank are still to be looked up, or null.
  private var ranklessKey: K = _
  private var isMatched = false
  private var key: K = _
  private var row: R = _
  private var rank = 0L
  private var end = 0L
  private var isToBeStored = false
  private var isStored = false

  def counts(side: Side): JoinCore.Counts = state(side)

  /** The most rows that both buffers held together. */
  def peakBuffered: Long = peak

  def buffered(side: Side): Long = state(side).buffer.size

  /** Nothing that is still to come can match, or come out alone. */
  def isDone: Boolean =
    (left.finished || right.finished) && !isNeeded(left, right) && !isNeeded(right, left)

  private def isNeeded(own: JoinCore.SideState[K, R], opposite: JoinCore.SideState[K, R]) =
    !own.finished &&
      (own.leavesAloud || opposite.buffer.size > 0 || !opposite.finished)

  /** The side to read next. */
  def wants: Side =
    if (left.finished || (right.finished && !isNeeded(left, right))) Side.Right
    else if (right.finished) Side.Left
    else pace.next(left.buffer.size, right.buffer.size)

  def add(side: Side, key: Q, row: R, rank: Long, low: Long, high: Long): Unit = {
    val own = state(side)
    val opposite = state(side.other)
    noteReach(side, rank, low, high)
    arrive(own)
    val last = if (low > high && opposite.hasRankless) Rankless.Rank else high
    val passed = (low > high && !opposite.hasRankless) || last < opposite.frontier
    val stored = !passed && !opposite.finished
    val found =
      if (stored) keys.claim(key) else if (opposite.buffer.size > 0) keys.find(key) else null
    if (found != null && opposite.buffer.size > 0) {
      if (low <= high) probe(opposite, found, low, high)
      if (opposite.hasRankless && (!isProbing || low > Rankless.Rank)) ranklessKey = found
    }
    isToBeStored = stored
    if (stored) {
      if (this.key ne found) this.key = found
      if (this.row ne row) this.row = row
      this.rank = rank
      end = last
    }
    if (passed) own.pruned += 1
    else if (!stored) own.freed += 1
  }

  private def probe(of: JoinCore.SideState[K, R], key: K, low: Long, high: Long): Unit = {
    of.buffer.probe(key, low, high)
    isProbing = true
  }

  /** A row that was added, with all that came of it, before this core was made: it is buffered and
    * probes nothing. Its end is that of its reach in the other side's ranks.
    */
  def restore(side: Side, key: Q, row: R, rank: Long, end: Long): Unit =
    state(side).buffer.append(keys.claim(key), row, rank, end)

  /** A row that can match nothing. */
  def addDead(side: Side): Unit = {
    val own = state(side)
    arrive(own)
    own.pruned += 1
  }

  private def arrive(own: JoinCore.SideState[K, R]): Unit = {
    own.in += 1
    if (arrived ne own) arrived = own
    isToBeStored = false
    isMatched = false
  }

  /** The next buffered row of the other side that the last row added may match, or null. With null
    * the row is stored, if it may match again.
    */
  def nextMatch(): R = {
    var found: R = null
    if (isProbing && !isSettled) found = opposite.buffer.next()
    if (found == null && ranklessKey != null && !isSettled) found = firstRankless()
    if (found == null) endArrival()
    found
  }

  /** The last row's partners within its reach were given; now those that have no rank. */
  private def firstRankless(): R = {
    val key = ranklessKey
    ranklessKey = null
    probe(opposite, key, Rankless.Rank, Rankless.Rank)
    opposite.buffer.next()
  }

  /** The pair that [[nextMatch]] gave last is one. */
  def accept(): Unit = {
    isMatched = true
    if (opposite.settles) opposite.buffer.settle()
    else if (opposite.leavesAloud) opposite.buffer.mark()
  }

  /** The side in whose rows the last one is looked up. */
  private def opposite: JoinCore.SideState[K, R] = if (arrived eq left) right else left

  private def isSettled: Boolean = isMatched && arrived.settles

  /** The row that arrived last, whose matches are taken, comes out alone now: it has none, and is not
    * stored.
    */
  def leavesAtOnce: Boolean = arrived.leavesAloud && !isMatched && !isStored

  private def endArrival(): Unit = {
    isStored = isToBeStored && !isSettled
    // Before the probe's settled rows are dropped: with the last of them the key would go.
    if (isStored) {
      arrived.buffer.append(key, row, rank, end)
      // Of other sides' rows nobody asks.
      if (isMatched && arrived.leavesAloud) arrived.buffer.mark()
      noteSize(arrived)
    } else if (isToBeStored) keys.releaseUnused(key)
    if (isProbing) opposite.buffer.endProbe()
    isProbing = false
    isToBeStored = false
    ranklessKey = null
    forgetKeys()
  }

  /** The rows of a side that has come to its end were dropped with their keys left behind. */
  private def forgetKeys(): Unit =
    if ((left.finished || right.finished) && left.buffer.size == 0 && right.buffer.size == 0) {
      keys.clear()
      key = null
      row = null
    }

  /** Every later row of `side` has a rank of at least `frontier`. */
  def advance(side: Side, frontier: Long): Unit = {
    val own = state(side)
    if (frontier > own.frontier) {
      own.frontier = frontier
      pace.last(side).rank = frontier
      val opposite = state(side.other)
      if (!opposite.leavesAloud) {
        opposite.pruned += opposite.buffer.takeDead(frontier)
        forgetKeys()
      }
    }
  }

  /** No row of `side` will come any more. */
  def finish(side: Side): Unit = {
    state(side).finished = true
    val opposite = state(side.other)
    if (!opposite.leavesAloud) opposite.freed += opposite.buffer.takeAll()
    forgetKeys()
  }

  /** The next row of this side that comes out alone because it has died without a match, or null. */
  def nextLeaving(side: Side): R = {
    val own = state(side)
    val opposite = state(side.other)
    if (!own.leavesAloud) null
    else if (opposite.finished) {
      val before = own.buffer.size
      val found = own.buffer.takeUnmatchedOfAll()
      own.freed += before - own.buffer.size
      if (found == null) forgetKeys()
      found
    } else {
      val before = own.buffer.size
      val found = own.buffer.takeUnmatched(opposite.frontier)
      own.pruned += before - own.buffer.size
      found
    }
  }

  private def state(side: Side): JoinCore.SideState[K, R] =
    if (side eq Side.Left) left else right

  private def noteReach(side: Side, rank: Long, low: Long, high: Long): Unit = {
    val last = pace.last(side)
    last.rows += 1
    last.rank = rank
    // A row that reaches nothing says nothing about where the other side should be.
    if (low <= high) {
      last.low = low
      last.high = high
    }
  }

  private def noteSize(own: JoinCore.SideState[K, R]): Unit = {
    own.peak = math.max(own.peak, own.buffer.size)
    peak = math.max(peak, left.buffer.size + right.buffer.size)
  }
}

object JoinCore {

  /** What happened to the rows of one side. */
  sealed trait Counts {

    /** Rows added. */
    def in: Long

    /** The most rows held at once. */
    def peak: Long

    /** Rows proved dead before the other side had ended, stored before or not. */
    def pruned: Long

    /** Rows that were dropped or not stored because the other side had ended. */
    def freed: Long
  }

  final private class SideState[K >: Null <: AnyRef, R >: Null <: AnyRef](
      val buffer: RowBuffer[K, R],
      role: Role,
      rankless: Rankless
  ) extends Counts {
    val hasRankless: Boolean = rankless eq Rankless.Matching
    val leavesAloud: Boolean = role.leaves eq Leaving.Aloud
    val settles: Boolean = role.matches eq Matching.Settles
    var frontier: Long = Long.MinValue
    var finished: Boolean = false
    var in: Long = 0
    var peak: Long = 0
    var pruned: Long = 0
    var freed: Long = 0
  }
}
