// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util.Comparator

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import plait.join._
import plait.order.Saturating
import plait.{BySide, Side}

/** One batch of an as-of join of two streams in one task: which left rows are answered now, and which right rows
  * they may pick. Which they do pick, an as-of join of the two lists says.
  *
  * A left row waits until no right row can come any more that it might pick: until the right frontier has
  * passed its reach. A right row (a version) waits for as long as a left row may pick it:
  *
  * {{{
  * l.ts >= r.ts                 left 10:07 waits for the right frontier to pass 10:07
  *   right 10:01, 10:05         10:01 is superseded at 10:05: no row from 10:05 on picks it
  *                              it is dropped when both frontiers are past that
  *                              10:05 stays, whatever the frontiers, until it is superseded too
  *
  * l.ts <= r.ts <= l.ts + 20    left 10:07 waits for the right frontier to pass 10:27
  *   right 10:09 comes          for it to pass 10:09: no row after that one is picked
  * }}}
  *
  * Conventions:
  *   1. Those of [[StreamJoin]]; and ranks are exact and ascend.
  *   2. What a right row's end says is the last left rank that may pick it, and a left row's the last right rank
  *      that it may pick. A row that gets another end is gone and stored again.
  *   3. Rows of one key and rank: only the last by `precedence` can be picked.
  *   4. First right rows are stored and superseded, then left rows are answered, and only then right rows
  *      are dropped.
  *   5. A left row that is too many of its key is answered at once, by the right rows that are there. A right
  *      row that is too many is still picked in this batch, as is one that is forgotten in it.
  *   6. Where right rows may leave because of a limit or their age, a left row waits for all that it reaches: the
  *      first of them may be gone when it is answered.
  *
  * @param promised
  *   the frontier of each side after the batch; one that lies before what the rows that wait were pruned with
  *   counts for nothing, whatever a restart says
  * @param pages
  *   where rows lie during the batch
  * @param precedence
  *   which of two right rows of one key and rank is picked: the later
  * @param limit
  *   of the rows that a side may store of a key
  */
final class StreamAsOfJoin[Q <: StreamReader[R], R >: Null <: AnyRef](
    readers: BySide[Q],
    keys: KeyTable[Q, KeyGroup],
    pages: BySide[SortableRowStore[R]],
    stored: BySide[StoredRows[R]],
    superseding: Superseding,
    precedence: Comparator[_ >: R],
    promised: BySide[Long],
    limit: Option[KeyLimit[R]] = None
) {
  // What a side's rows were pruned with is a promise of the other's.
  private val before = BySide.make(side => stored(side.other).frontier)
  private val frontiers = BySide.make(side => math.max(promised(side), before(side)))
  private val left = new AsOfRows
  private val right = new AsOfRows
  private val newest = BySide.make(_ => new Newest)
  private var leftIn = 0L
  private var rightIn = 0L
  private val answered = new Arrivals
  private val candidates = new Arrivals

  def rowsIn(side: Side): Long = if (side eq Side.Left) leftIn else rightIn

  /** Rows of a side below this are late. */
  def frontier(side: Side): Long = before(side)

  def waiting(side: Side): Long = stored(side).size

  /** How many rows of a side have left because of the limit. */
  def evicted(side: Side): Long = rowsOf(side).evicted

  /** The greatest rank of the rows of the batch; `Long.MinValue` if none has one. */
  def newestRank(side: Side): Long = newest(side).rank

  /** How far the newest row of the batch is ahead of its side's frontier. */
  def lag(side: Side): Long = newest(side).aheadOf(frontiers(side))

  /** The most rows of one key of a side that came or were looked at, but for left rows that had waited for nothing more
    * than the frontier.
    */
  def largestKey(side: Side): Int = rowsOf(side).largestKey(keyOf(side, _))

  /** A row of the batch. A left row that reaches nothing is answered in this batch. */
  def add(side: Side, row: R): Arrival = {
    val reader = readers(side)
    reader.read(row)
    if (before(side) == Frontier.Over) Arrival.AfterEnd
    else if (reader.hasRank && reader.rank < before(side)) Arrival.Late
    else {
      if (reader.hasRank) newest(side).add(reader.rank)
      if (side eq Side.Left) addLeft(reader, row) else addRight(reader, row)
      Arrival.InTime
    }
  }

  private def addLeft(reader: Q, row: R): Unit = {
    leftIn += 1
    val handle = pages.left.put(row)
    if (!reader.reaches) answered.add(handle, if (reader.hasRank) reader.rank else Long.MinValue)
    else addNew(Side.Left, reader, handle)
  }

  private def addRight(reader: Q, row: R): Unit = {
    rightIn += 1
    if (reader.reaches) addNew(Side.Right, reader, pages.right.put(row))
  }

  private def addNew(side: Side, reader: Q, handle: Long): Unit =
    rowsOf(side).add(
      reader.hash,
      reader.rank,
      reader.low,
      reader.high,
      handle,
      Place.New,
      stored(side).now
    )

  /** Stores and drops what has come to that; the rows to be joined are known then. */
  def run(): Unit = {
    stored.left.expect(frontiers.right)
    expire()
    if ((superseding eq Superseding.ByFirst) && staysUnlessUseless(Side.Right)) waitForFirst()
    keepLeft()
    answer()
    wantRight()
    restoreRight(wanted)
    if (superseding eq Superseding.ByNext) supersede()
    keepRightWithinLimit()
    stored.right.expect(leastPicking)
    storeRight()
    dropRight()
    for (side <- Side.both) {
      stored(side).layOut(Merging.ForProbes)
      stored(side).save()
    }
    answered.sort()
    candidates.sort()
  }

  /** The left rows that are answered, and the right rows that they may pick, by rank: handles of pages. */
  def rows(side: Side): HandleList = if (side eq Side.Left) answered else candidates

  // What the left rows that are answered, and new right rows, want of the right store.
  private val wanted = new Wanted
  // Places of right rows that were read.
  private val restored = mutable.HashSet.empty[Long]

  /** No left row waits for a right row after the first that it reaches. Rows that met in an earlier batch know of
    * each other.
    */
  private def waitForFirst(): Unit = {
    val (ofNewRight, ofNewLeft) = (new Wanted, new Wanted)
    for (i <- 0 until right.size)
      ofNewRight.add(right.hash(i), right.low(i), right.end(i), right.rank(i))
    for (i <- 0 until left.size) want(ofNewLeft, i)
    restoreLeft(ofNewRight)
    restoreRight(ofNewLeft)
    val ranks = rightRanks
    for {
      i <- 0 until left.size
      // The least rank of all is no answer to where a reach begins.
      if left.low(i) > Long.MinValue
      ofKey <- ranks.get(keyOf(Side.Left, i))
      first <- ofKey.minAfter(left.low(i))
    } left.endBefore(i, first)
  }

  private def want(of: Wanted, i: Int): Unit =
    of.add(left.hash(i), left.low(i), left.end(i), since(left.rank(i)))

  /** Of a new right row the one before it and those after it, which end no sooner than it begins: a row that is
    * superseded by then is none of them. Of a key that gains rows it must be known how many it has, if it has a limit.
    */
  private def wantRight(): Unit =
    if ((superseding eq Superseding.ByNext) || limit.isDefined)
      for (i <- 0 until right.size)
        wanted.add(right.hash(i), Long.MinValue, Long.MaxValue, since(right.low(i)))

  /** Right rows that end before a rank are not wanted at it, unless those by which they are superseded may have left. */
  private def since(rank: Long): Long =
    if (staysUnlessUseless(Side.Right)) rank else Long.MinValue

  /** Does no row of a side leave while a row of the other may pick it? */
  private def staysUnlessUseless(side: Side): Boolean =
    limit.isEmpty && !stored(side).forgets

  /** Of the right rows at hand, by key. */
  private def rightRanks: collection.Map[KeyGroup, mutable.TreeSet[Long]] = {
    val found = mutable.HashMap.empty[KeyGroup, mutable.TreeSet[Long]]
    for (i <- 0 until right.size)
      found.getOrElseUpdate(keyOf(Side.Right, i), mutable.TreeSet.empty[Long]) += right.rank(i)
    found
  }

  /** Left rows whose reach the right frontier has passed, and those that may not wait. */
  private def answer(): Unit = {
    for (i <- 0 until left.size if isFinal(left.end(i)) || left.isEvicted(i)) {
      answered.add(left.handle(i), left.rank(i))
      want(wanted, i)
    }
    var row = nextFinal()
    // Invariant: the stored rows taken before this one are among the answered.
    while (row != null) {
      answerStored(row)
      row = nextFinal()
    }
  }

  /** A left row that is remembered no longer is answered by what has come. */
  private def expire(): Unit = {
    var row = stored.left.takeExpired()
    // Invariant: the rows taken before this one are among the answered.
    while (row != null) {
      answerStored(row)
      row = stored.left.takeExpired()
    }
  }

  private def answerStored(row: R): Unit = {
    val reader = readers.left
    reader.read(row)
    answered.add(pages.left.put(row), reader.rank)
    wanted.add(reader.hash, reader.low, reader.high, since(reader.rank))
  }

  private def isFinal(end: Long): Boolean =
    frontiers.right == Frontier.Over || end < frontiers.right

  private def nextFinal(): R =
    if (frontiers.right == Frontier.Over) stored.left.takeUnmatchedOfAll()
    else stored.left.takeUnmatched(frontiers.right)

  /** Those that wait, and wait on. */
  private def restoreLeft(wanted: Wanted): Unit = {
    wanted.sort()
    stored.left.restore(
      wanted,
      (row, hash, rank, end, _, place) =>
        if (!isFinal(end)) {
          readers.left.read(row)
          val born = stored.left.born(place)
          left.add(hash, rank, readers.left.low, end, pages.left.put(row), place, born)
        }
    )
  }

  /** @param waits
    *   whether a row with this end stays after the batch
    */
  private def keepWithinLimit(side: Side, limit: KeyLimit[R])(waits: Long => Boolean): Unit = {
    val rows = rowsOf(side)
    for (i <- limit.excess(side, rows.keyed(waits, keyOf(side, _)), pages(side))) {
      rows.evict(i)
      if (rows.place(i) != Place.New) stored(side).remove(rows.place(i))
    }
  }

  private def rowsOf(side: Side): AsOfRows = if (side eq Side.Left) left else right

  private def keyOf(side: Side, i: Int): KeyGroup = {
    readers(side).read(pages(side).get(rowsOf(side).handle(i)))
    keys.claim(readers(side))
  }

  private def restoreRight(wanted: Wanted): Unit = {
    wanted.sort()
    stored.right.restore(
      wanted,
      (row, hash, rank, end, _, place) =>
        if (restored.add(place)) {
          val born = stored.right.born(place)
          right.add(hash, rank, Long.MinValue, end, pages.right.put(row), place, born)
        }
    )
  }

  /** Of each key with new right rows: no left row that the next one of its key reaches picks a row. */
  private def supersede(): Unit =
    for (group <- groups.valuesIterator if group.exists(right.place(_) == Place.New)) {
      group.sortInPlace()(Ordering.comparatorToOrdering(ofKey))
      for (i <- 0 until group.size - 1) {
        val (row, next) = (group(i), group(i + 1))
        // The least rank of all is no answer to where the next one's time begins.
        if (right.low(next) > Long.MinValue)
          right.endBefore(row, Saturating.before(right.low(next)))
      }
    }

  private def groups: mutable.Map[KeyGroup, ArrayBuffer[Int]] = {
    val found = mutable.HashMap.empty[KeyGroup, ArrayBuffer[Int]]
    for (i <- 0 until right.size) {
      val key = keyOf(Side.Right, i)
      right.setLow(i, readers.right.low)
      found.getOrElseUpdate(key, new ArrayBuffer[Int]) += i
    }
    found
  }

  private val ofKey: Comparator[Int] = (a, b) => {
    val byRank = java.lang.Long.compare(right.rank(a), right.rank(b))
    if (byRank != 0) byRank
    else precedence.compare(pages.right.get(right.handle(a)), pages.right.beside(right.handle(b)))
  }

  /** New rows, and those that have another end now; all are candidates. */
  private def storeRight(): Unit = {
    for (i <- 0 until right.size) candidates.add(right.handle(i), right.rank(i))
    append(Side.Right)(right.end(_) >= stored.right.frontier)
  }

  /** Stores what is new, and again what has another end and is as old as it was.
    * @param waits
    *   whether a row stays after the batch
    */
  private def append(side: Side)(waits: Int => Boolean): Unit = {
    val (rows, to) = (rowsOf(side), stored(side))
    for (i <- 0 until rows.size if rows.isChanged(i) && rows.place(i) != Place.New)
      if (waits(i)) to.replace(rows.place(i)) else to.mark(rows.place(i))
    val slice = (i: Int) => to.sliceOf(rows.born(i))
    val kept = (i: Int) => rows.isChanged(i) && waits(i)
    val youngest = (0 until rows.size).filter(kept).groupMapReduce(slice)(rows.born)(math.max)
    // What was marked is written in any case.
    for ((number, born) <- youngest + (to.sliceOf(to.now) -> to.now))
      to.append(rows.byHash(pages(side))(i => kept(i) && slice(i) == number), born)
  }

  private def keepLeft(): Unit = {
    for (limit <- limit) {
      val gaining = new Wanted
      for (i <- 0 until left.size)
        gaining.add(left.hash(i), Long.MinValue, Long.MaxValue, Long.MinValue)
      restoreLeft(gaining)
      keepWithinLimit(Side.Left, limit)(!isFinal(_))
    }
    append(Side.Left)(i => !isFinal(left.end(i)))
  }

  private def keepRightWithinLimit(): Unit =
    for (limit <- limit if !isPickedNoMore) {
      val least = math.max(leastPicking, stored.right.frontier)
      keepWithinLimit(Side.Right, limit)(_ >= least)
    }

  /** Those that are remembered no longer, and those that no left row picks any more, waiting or still to come. */
  private def dropRight(): Unit = {
    stored.right.dropExpired()
    val _ =
      if (isPickedNoMore) stored.right.takeAll()
      else stored.right.takeDead(leastPicking)
  }

  private def isPickedNoMore: Boolean =
    frontiers.left == Frontier.Over && stored.left.size == 0

  /** No left row that waits or is still to come has a lower rank. */
  private def leastPicking: Long =
    Frontier.at(math.min(frontiers.left, stored.left.leastRank))
}

/** Which other right rows of its key a right row makes useless. */
sealed trait Superseding

object Superseding {

  /** From the first left row on that can pick it: `l.ts >= r.ts`, `l.ts > r.ts`. */
  case object ByNext extends Superseding

  /** Those after it, for the left rows that reach it: `l.ts <= r.ts`, `l.ts < r.ts`. */
  case object ByFirst extends Superseding

  /** The better row may be refused, or lie on the other side. */
  case object Never extends Superseding
}

/** Places of rows, by rank. */
trait HandleList {
  def size: Int
  def apply(i: Int): Long
}
