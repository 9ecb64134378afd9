// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The pruning symmetric hash join of two inputs that arrive row by row, inner.
  *
  * With L and R the rows added so far, [[nextMatch]] has given, each once, every pair of
  *
  * {{{
  * { (l, r) in L x R : key(l) = key(r), rank(r) in reach(l), rank(l) in reach(r) }
  * }}}
  *
  * and perhaps pairs of equal keys where only one of the two holds. The set holds every pair whose
  * condition is TRUE, because a reach is a superset; the caller evaluates the condition.
  *
  * {{{
  *          add(Left, row)                     advance(Left, f): no later left row is below f
  *                |                                      |
  *    probes      v      stores                          v
  *  right buffer <-- row --> left buffer      right rows whose reach ends below f are dropped
  *                              if the right frontier has not passed its reach
  * }}}
  *
  * Conventions:
  *   1. `add(side, ...)` takes a rank that is at least the side's frontier.
  *   2. A frontier is closed: every later row has a rank >= it. Frontiers never fall.
  *   3. A row with a NULL key, order or reach matches nothing and is not added, only counted by
  *      [[addDead]].
  *   4. All matches of a row are taken before the next verb.
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
    buffers: BySide[RowBuffer[K, R]]
) {
  private val left = new JoinCore.SideState(buffers.left)
  private val right = new JoinCore.SideState(buffers.right)
  private val pace = new Pace
  private var probed: RowBuffer[K, R] = _
  private var peak = 0L

  def counts(side: Side): JoinCore.Counts = state(side)

  /** The most rows that both buffers held together. */
  def peakBuffered: Long = peak

  def buffered(side: Side): Long = state(side).buffer.size

  /** Nothing that is still to come can match. */
  def isDone: Boolean =
    (left.finished && (right.finished || left.buffer.size == 0)) ||
      (right.finished && right.buffer.size == 0)

  /** The side to read next. */
  def wants: Side =
    if (left.finished) Side.Right
    else if (right.finished) Side.Left
    else pace.next(BySide(left.buffer.size, right.buffer.size))

  def add(side: Side, key: Q, row: R, rank: Long, low: Long, high: Long): Unit = {
    val own = state(side)
    val opposite = state(side.other)
    noteReach(side, rank, low, high)
    own.in += 1
    probed = null
    val passed = low > high || high < opposite.frontier
    val stored = !passed && !opposite.finished
    val found =
      if (stored) keys.claim(key) else if (opposite.buffer.size > 0) keys.find(key) else null
    if (found != null) {
      if (low <= high && opposite.buffer.size > 0) {
        opposite.buffer.probe(found, low, high)
        probed = opposite.buffer
      }
      if (stored) {
        own.buffer.append(found, row, rank, high)
        noteSize(own)
      }
    }
    if (passed) own.pruned += 1
  }

  /** A row that can match nothing. */
  def addDead(side: Side): Unit = {
    val own = state(side)
    own.in += 1
    own.pruned += 1
    probed = null
  }

  /** The next buffered row of the other side that the last row added may match, or null. */
  def nextMatch(): R = if (probed == null) null else probed.next()

  /** Every later row of `side` has a rank of at least `frontier`. */
  def advance(side: Side, frontier: Long): Unit = {
    val own = state(side)
    if (frontier > own.frontier) {
      own.frontier = frontier
      pace.last(side).rank = frontier
      val opposite = state(side.other)
      opposite.pruned += opposite.buffer.takeDead(frontier)
    }
  }

  /** No row of `side` will come any more. */
  def finish(side: Side): Unit = {
    state(side).finished = true
    val _ = state(side.other).buffer.takeAll()
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
  }

  final private class SideState[K >: Null <: AnyRef, R >: Null <: AnyRef](
      val buffer: RowBuffer[K, R]
  ) extends Counts {
    var frontier: Long = Long.MinValue
    var finished: Boolean = false
    var in: Long = 0
    var peak: Long = 0
    var pruned: Long = 0
  }
}
