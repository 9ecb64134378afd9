// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.join._
import plait.{BySide, Side}

/** One batch of a join of two streams in one task: the rows that came, the rows that wait, what comes out,
  * and what waits after it.
  *
  * {{{
  * waiting  left 09:58               batch  right 10:01, left 10:03       right reaches left [-5 min, 0]
  * frontiers  left 10:00 -> 10:02    right 09:50 -> 10:00
  *
  * add      right 10:01, left 10:03                      a row below its side's frontier is late
  * restore  left 09:58                                   right 10:01 reaches it
  * match    (09:58, 10:01)
  * limit    of a key that has too many, those whose reach ends first
  * leave    left rows that reach nothing from 10:00 on, right rows that reach nothing from 10:02 on
  * save     left 10:03 is stored, blind
  * }}}
  *
  * Conventions:
  *   1. Rows are added first, all of both sides and in any sequence; then [[next]] is called until it
  *      gives [[Step.End]]. What it does is done and saved then, and not before.
  *   2. A row is late if its rank lies below the frontier with which the batch before has pruned. A
  *      row without a rank is not late.
  *   3. A row whose reach is empty, and that comes out without a match, waits until the frontier is past
  *      the end of it, so that such rows come in the sequence of the others. One whose reach is NULL comes
  *      out at once.
  *   4. What is saved depends on the rows and on the frontiers alone: the same batch run again gives the
  *      same rows, if perhaps in another sequence.
  *   5. A side whose frontier is [[Frontier.Over]] frees the other: none of its rows waits any more. If it is
  *      over and brings no row of its own in this batch, none is stored or merged first.
  *
  * @param promised
  *   the frontier of each side after the batch; one that lies before what the rows that wait were pruned with
  *   counts for nothing, whatever a restart says
  * @param pages
  *   where rows lie during the batch
  * @param limit
  *   of the rows that a side may store of a key; a row that leaves for it without a match comes out, if its
  *   side's do
  */
final class StreamJoin[Q <: StreamReader[R], R >: Null <: AnyRef](
    readers: BySide[Q],
    keys: KeyTable[Q, KeyGroup],
    pages: BySide[SortableRowStore[R]],
    stored: BySide[StoredRows[R]],
    roles: BySide[Role],
    rankless: BySide[Rankless],
    promised: BySide[Long],
    limit: Option[KeyLimit[R]] = None
) {
  private val buffers =
    BySide.make(side => new StreamRowBuffer[R](side, keys, pages(side), stored(side), limit))
  private val core = new JoinCore[Q, KeyGroup, R](
    keys,
    BySide[RowBuffer[KeyGroup, R]](buffers.left, buffers.right),
    roles,
    rankless
  )
  // Rows that wait are settled by the other side's: those first, and fewer wait.
  private val first: Side =
    if (roles.left.matches eq Matching.Settles) Side.Right else Side.Left
  private val arrivals = BySide.make(_ => new Arrivals)
  private val outcasts = BySide.make(_ => new Arrivals)
  // What the rows of a side want of the other's.
  private val wants = BySide.make(_ => new Wanted)
  private val before = BySide.make(side => stored(side.other).frontier)
  private val frontiers = BySide.make(side => math.max(promised(side), before(side)))

  private val newest = BySide.make(_ => new Newest)

  private var phase: Phase = Phase.Expiring
  private var side: Side = first
  private var at = 0
  private var current: R = _
  private var partner: R = _

  def counts(side: Side): JoinCore.Counts = core.counts(side)

  /** A row of the batch with a lower rank is late. */
  def frontier(side: Side): Long = before(side)

  /** How many rows of a side wait. */
  def waiting(side: Side): Long = buffers(side).size

  /** How many rows of a side have left because of the limit. */
  def evicted(side: Side): Long = buffers(side).evictedRows

  /** The greatest rank of the rows of the batch; `Long.MinValue` if none has one. */
  def newestRank(side: Side): Long = newest(side).rank

  /** How far the newest row of the batch is ahead of its side's frontier. */
  def lag(side: Side): Long = newest(side).aheadOf(frontiers(side))

  /** The most rows of one key of a side that were looked at, or came. */
  def largestKey(side: Side): Int = buffers(side).largestKey

  /** A row of the batch. */
  def add(side: Side, row: R): Arrival = {
    val reader = readers(side)
    reader.read(row)
    if (before(side) == Frontier.Over) Arrival.AfterEnd
    else if (isRanked(side, reader) && reader.rank < before(side)) Arrival.Late
    else {
      if (isRanked(side, reader)) newest(side).add(reader.rank)
      if (reader.reaches || (roles(side).leaves eq Leaving.Aloud)) keep(side, reader, row)
      else core.addDead(side)
      Arrival.InTime
    }
  }

  /** A row without an order value that may match has the rank of such rows, and promises nothing. */
  private def isRanked(side: Side, reader: Q): Boolean =
    reader.hasRank && !((rankless(side) eq Rankless.Matching) && reader.rank == Rankless.Rank)

  private def keep(side: Side, reader: Q, row: R): Unit = {
    arrivals(side).add(pages(side).put(row), reader.rank)
    if (reader.reaches) {
      val since = if (isRanked(side, reader)) reader.rank else Long.MinValue
      wants(side).add(reader.hash, lowOf(side, reader), highOf(side, reader), since)
      // Of a key that gains rows it must be known how many it has.
      if (limit.isDefined && frontiers(side.other) != Frontier.Over)
        wants(side.other).add(reader.hash, Long.MinValue, Long.MaxValue, Long.MinValue)
    }
  }

  /** Partners without a rank may come at any time, so the row never dies. A row that reaches nothing comes
    * out when its neighbours do.
    */
  private def lowOf(side: Side, reader: Q): Long =
    if (rankless(side.other) eq Rankless.Matching) Rankless.Rank
    else if (roles(side).leaves eq Leaving.Aloud) math.min(reader.low, reader.high)
    else reader.low
  private def highOf(side: Side, reader: Q): Long =
    if (rankless(side.other) eq Rankless.Matching) Long.MaxValue else reader.high

  /** A row that takes no part and comes out alone. */
  def addOutcast(side: Side, row: R): Unit = outcasts(side).add(pages(side).put(row), 0L)

  /** The side whose row comes out alone, or was there when a match was found. */
  def stepSide: Side = side

  /** The row of [[stepSide]]. Valid until the next call of [[next]], as is [[stepPartner]]. */
  def stepRow: R = current
  def stepPartner: R = partner

  /** The pair that [[next]] gave last is a match. */
  def accept(): Unit = core.accept()

  def next(): Step = {
    var step: Step = null
    // Invariant: what came of the phases before this one was given.
    while (step == null)
      phase match {
        case Phase.Expiring => step = nextExpired()
        case Phase.Begin => begin()
        case Phase.Adding => step = addNext()
        case Phase.Matching => step = nextMatch()
        case Phase.Leaving => step = nextLeaving()
        case Phase.Outcast => step = nextOutcast()
        case Phase.Over => step = Step.End
      }
    step
  }

  /** Rows that are remembered no longer leave first, and meet no row of the batch. */
  private def nextExpired(): Step = {
    if (roles(side).leaves eq Leaving.Aloud) current = stored(side).takeExpired()
    else {
      stored(side).dropExpired()
      current = null
    }
    if (current != null) Step.Alone
    else {
      if (side eq first) side = first.other
      else {
        side = first
        phase = Phase.Begin
      }
      null
    }
  }

  private def begin(): Unit = {
    for (side <- Side.both) {
      wants(side).sort()
      arrivals(side).sort()
      if (isOver(side)) core.finish(side) else core.advance(side, before(side))
    }
    for (side <- Side.both) {
      stored(side).expect(frontiers(side.other))
      stored(side).restore(wants(side.other), new Restoring(side))
    }
    phase = Phase.Adding
  }

  /** No row of it came with this batch, and none will. */
  private def isOver(side: Side): Boolean =
    frontiers(side) == Frontier.Over && arrivals(side).size == 0

  final private class Restoring(side: Side) extends RestoredRows[R] {
    private val reader = readers(side)
    private val buffer = buffers(side)

    def restored(row: R, hash: Int, rank: Long, end: Long, mark: Mark, place: Long): Unit = {
      reader.read(row)
      buffer.announceRestored(hash, place)
      core.restore(side, reader, row, rank, end)
      if (mark eq Mark.Set) buffer.restoredMarked()
    }
  }

  private def addNext(): Step = {
    if (at < arrivals(side).size) {
      val reader = readers(side)
      val handle = arrivals(side)(at)
      at += 1
      current = pages(side).get(handle)
      reader.read(current)
      if (reader.reaches) {
        buffers(side).announce(reader.hash, handle)
        val (low, high) = (lowOf(side, reader), highOf(side, reader))
        core.add(side, reader, current, reader.rank, low, high)
      } else core.addDead(side)
      phase = Phase.Matching
    } else if (side eq first) {
      side = first.other
      at = 0
    } else depart()
    null
  }

  private def nextMatch(): Step = {
    partner = core.nextMatch()
    if (partner != null) Step.Pair
    else {
      phase = Phase.Adding
      if (core.leavesAtOnce) Step.Alone else null
    }
  }

  /** All rows were added: the frontiers move on. */
  private def depart(): Unit = {
    Side.both.foreach(keepWithinLimit)
    Side.both.foreach(buffers(_).flush())
    for (side <- Side.both)
      if (frontiers(side) == Frontier.Over) core.finish(side)
      else core.advance(side, frontiers(side))
    side = first
    phase = Phase.Leaving
  }

  private def keepWithinLimit(side: Side): Unit =
    if (frontiers(side.other) != Frontier.Over)
      buffers(side).keepWithinLimit(frontiers(side.other)) { handle =>
        if (roles(side).leaves eq Leaving.Aloud) outcasts(side).add(handle, 0L)
      }

  private def nextLeaving(): Step = {
    current = core.nextLeaving(side)
    if (current != null) Step.Alone
    else {
      if (side eq first) side = first.other
      else {
        side = first
        at = 0
        phase = Phase.Outcast
      }
      null
    }
  }

  private def nextOutcast(): Step =
    if (at < outcasts(side).size) {
      current = pages(side).get(outcasts(side)(at))
      at += 1
      Step.Alone
    } else {
      if (side eq first) {
        side = first.other
        at = 0
      } else finish()
      null
    }

  private def finish(): Unit = {
    for (side <- Side.both) {
      stored(side).layOut(if (isProbed(side)) Merging.ForProbes else Merging.Rarely)
      stored(side).save()
    }
    phase = Phase.Over
  }

  private def isProbed(side: Side): Boolean = wants(side.other).size > 0
}

/** Reads a row, and says what of it the join wants to know. It is also the row's key as a [[KeyTable]]
  * looks it up.
  */
trait StreamReader[R] {
  def read(row: R): Unit

  /** Whether its order has a value. */
  def hasRank: Boolean
  def rank: Long

  /** Whether it may match anything. */
  def reaches: Boolean
  def low: Long
  def high: Long

  /** Of its key, the same in every run and on every machine. Only of a row that reaches. */
  def hash: Int
}

/** Was a row in time? */
sealed trait Arrival
object Arrival {
  case object InTime extends Arrival

  /** It lies below what its side had promised, and was not added. */
  case object Late extends Arrival

  /** Its side was over; it was not added. */
  case object AfterEnd extends Arrival
}

/** What [[StreamJoin.next]] has found. */
sealed trait Step
object Step {

  /** A pair within reach; if its condition is TRUE it is to be accepted. */
  case object Pair extends Step

  /** A row that comes out without a partner. */
  case object Alone extends Step
  case object End extends Step
}

sealed private trait Phase
private object Phase {
  case object Expiring extends Phase
  case object Begin extends Phase
  case object Adding extends Phase
  case object Matching extends Phase
  case object Leaving extends Phase
  case object Outcast extends Phase
  case object Over extends Phase
}
