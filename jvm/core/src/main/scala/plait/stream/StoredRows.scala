// SPDX-License-Identifier: Apache-2.0
package plait.stream

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer

import plait.join.Leaving

/** The rows of one side that outlive a batch: `{ (key, rank, end, row) }`, in segments of a
  * [[ChunkStore]].
  *
  * {{{
  * takeExpired()          the rows of segments that are too old
  * restore(wanted)        reads the chunks that hold a wanted hash and meet its ranks
  * mark(place)            one bit of a row: it has matched, or, as MarkMeans says, it is gone
  * remove(place)          the row leaves, whatever it reaches
  * append(rows)           a new segment; nothing is read
  * takeDead(frontier)     reads the chunks of which some rows die, and no others
  * merge()                four small segments become one
  * save()                 what has changed
  * }}}
  *
  * Conventions:
  *   1. A row is dead once the frontier of the other side is greater than its end.
  *   2. Dead rows of a chunk are not given any more, and the chunk is written anew when half of it is
  *      dead or gone.
  *   3. The order of calls within a batch is that of the list above. Places are valid until `append`.
  */
final class StoredRows[R >: Null <: AnyRef](
    store: ChunkStore[R],
    marks: MarkMeans,
    lifetime: Lifetime = Lifetime.Endless
) {
  private var root = store.root().getOrElse(StoreRoot(0L, Long.MinValue, Nil))
  private val segments = ArrayBuffer.from(root.segments.map(store.segment))
  private var live = segments.iterator.map(_.liveRows).sum

  // Bits that were read or set in this batch, by segment and chunk.
  private val bits = new mutable.LongMap[Array[Long]]
  private val changedBits = mutable.Set.empty[Long]
  // Rows that are removed where a bit cannot say so, by segment and chunk.
  private val without = new mutable.LongMap[mutable.BitSet]
  private var added = 0L
  private var removed = 0L
  private var expired = 0L

  if (lifetime.isCounted)
    for (segment <- segments if segment.born == Lifetime.Timeless) {
      segment.born = lifetime.now
      segment.isChanged = true
    }

  def size: Long = live

  /** Rows whose reach ends below it have left. */
  def frontier: Long = root.frontier

  /** How many rows were stored since the batch began. */
  def addedRows: Long = added

  /** How many rows have left since the batch began. */
  def removedRows: Long = removed

  /** How many of them because they were too old. */
  def expiredRows: Long = expired

  /** No row has a lower rank. */
  def leastRank: Long =
    (for (s <- segments.iterator; c <- 0 until s.chunks if s.live(c) > 0)
      yield s.minRank(c)).minOption
      .getOrElse(Long.MaxValue)

  /** How many segments there are, for those who watch. */
  def segmentCount: Int = segments.size

  def restore(wanted: Wanted, to: RestoredRows[R]): Unit =
    if (wanted.size > 0)
      // By rank as far as it is known: see Arrivals.
      for (s <- segments.indices.sortBy(segments(_).minRank.min)) restoreOf(s, wanted, to)

  private def restoreOf(s: Int, wanted: Wanted, to: RestoredRows[R]): Unit = {
    val segment = segments(s)
    var from = 0
    var c = segment.firstChunkFor(wanted.hash(0))
    // Invariant: no chunk before `c` holds a wanted row that was not given; the wanted hashes before
    // `from` are below those of chunk `c`.
    while (c < segment.chunks) {
      from = wanted.firstAtOrAbove(segment.firstHash(c), from)
      if (from == wanted.size) c = segment.chunks
      else if (wanted.hash(from) > segment.lastHash(c))
        c = math.max(c + 1, segment.firstChunkFor(wanted.hash(from)))
      else {
        val meets =
          segment.maxRank(c) >= wanted.leastRank && segment.minRank(c) <= wanted.greatestRank
        if (meets && segment.live(c) > 0) restoreChunk(s, c, wanted, from, to)
        c += 1
      }
    }
  }

  private def restoreChunk(
      s: Int,
      c: Int,
      wanted: Wanted,
      from: Int,
      to: RestoredRows[R]
  ): Unit = {
    val chunk = store.chunk(segments(s).id, c)
    val set = bitsOf(s, c)
    var i = 0
    var w = from
    // Invariant: the rows before `i` were given or are not wanted.
    while (i < chunk.size && w < wanted.size) {
      val hash = chunk.hash(i)
      if (hash < wanted.hash(w)) i += 1
      else if (hash > wanted.hash(w)) w = wanted.firstAtOrAbove(hash, w)
      else {
        val rank = chunk.rank(i)
        if (rank >= wanted.low(w) && rank <= wanted.high(w) && isLive(chunk, i, set))
          to.restored(chunk.row(i), hash, rank, chunk.end(i), isSet(set, i), Place.of(s, c, i))
        i += 1
      }
    }
  }

  private def isSet(bits: Array[Long], row: Int): Mark =
    if (ChunkBits.isSet(bits, row)) Mark.Set else Mark.Unset

  private def isLive(chunk: Chunk[R], i: Int, bits: Array[Long]): Boolean =
    chunk.end(i) >= root.frontier && !(marks.removes && ChunkBits.isSet(bits, i))

  private def bitsOf(s: Int, c: Int): Array[Long] =
    bits.getOrElseUpdate(Place.chunkOf(Place.of(s, c, 0)), store.bits(segments(s).id, c))

  /** The row has matched, or is gone. */
  def mark(place: Long): Unit = {
    setBit(place)
    if (marks.removes) {
      uncount(place)
      removed += 1
    }
  }

  /** The row is not there any more, for another reason than that nothing can match it. */
  def remove(place: Long): Unit = {
    if (marks.removes) setBit(place)
    else without.getOrElseUpdate(Place.chunkOf(place), mutable.BitSet.empty) += Place.row(place)
    uncount(place)
  }

  private def setBit(place: Long): Unit = {
    val chunk = Place.chunkOf(place)
    bits(chunk) =
      ChunkBits.withBit(bitsOf(Place.segment(place), Place.chunk(place)), Place.row(place))
    changedBits += chunk
  }

  private def uncount(place: Long): Unit = {
    val segment = segments(Place.segment(place))
    segment.live(Place.chunk(place)) -= 1
    segment.isChanged = true
    live -= 1
  }

  /** Stores the rows, none of which is dead, and writes what was marked. Places are invalid from here on. */
  def append(rows: NewRows[R]): Unit = {
    saveMarks()
    val writer = new SegmentWriter(store, root.nextSegment, lifetime.now)
    rows.foreachByHash(writer.add)
    writer.finish().foreach { segment =>
      segments += segment
      live += segment.liveRows
      added += segment.liveRows
      root = root.copy(nextSegment = root.nextSegment + 1)
    }
  }

  private def saveMarks(): Unit = {
    for (chunk <- changedBits ++ without.keySet) {
      val place = chunk * Place.MostRows
      val (s, c) = (Place.segment(place), Place.chunk(place))
      if (segments(s).live(c) == 0) removeChunk(segments(s), c)
      else if (without.contains(chunk)) rewriteWithout(without(chunk), s, c)
      else store.saveBits(segments(s).id, c, bits(chunk))
    }
    changedBits.clear()
    bits.clear()
    without.clear()
  }

  private def rewriteWithout(rows: mutable.BitSet, s: Int, c: Int): Unit = {
    val chunk = store.chunk(segments(s).id, c)
    val set = bitsOf(s, c)
    rewriteChunk(segments(s), c, chunk, set)(i => isLive(chunk, i, set) && !rows(i))
  }

  private def removeChunk(segment: Segment, c: Int): Unit = {
    store.removeChunk(segment.id, c)
    if (store.bits(segment.id, c) != null) store.removeBits(segment.id, c)
    segment.live(c) = 0
    segment.isChanged = true
  }

  // What is being taken: the rows that end before `until`, or all; segment, chunk, row of it.
  private var until = Long.MinValue
  private var takes: Taking = Taking.Nothing
  private var atSegment = 0
  private var atChunk = 0
  private var reading: Chunk[R] = _
  private var readingBits: Array[Long] = _
  private var atRow = 0
  private var keptRows = 0
  private var keptLeastEnd = Long.MaxValue

  /** Drops the rows whose reach ends before the frontier.
    * @return how many
    */
  def takeDead(frontier: Long): Long = {
    val before = live
    if (begin(frontier)) {
      val _ = take(Leaving.Silently)
    }
    before - live
  }

  /** Drops rows whose reach ends before the frontier, up to the first one that is not marked.
    * @return that row, valid until the next call, or null if there is none
    */
  def takeUnmatched(frontier: Long): R =
    if ((takes ne Taking.Nothing) || begin(frontier)) take(Leaving.Aloud) else null

  /** Drops all rows. */
  def takeAll(): Long = {
    val before = live
    beginWith(Taking.All)
    val _ = take(Leaving.Silently)
    before - live
  }

  /** Drops rows up to the first one that is not marked, or null if there is none. */
  def takeUnmatchedOfAll(): R = {
    if (takes eq Taking.Nothing) beginWith(Taking.All)
    take(Leaving.Aloud)
  }

  /** Drops rows that are too old, up to the first one that is not marked, or null if there is none. */
  def takeExpired(): R = {
    if (takes eq Taking.Nothing) beginWith(Taking.Expired)
    take(Leaving.Aloud)
  }

  /** Drops all rows that are too old. */
  def dropExpired(): Unit = {
    beginWith(Taking.Expired)
    val _ = take(Leaving.Silently)
  }

  private def begin(frontier: Long): Boolean = {
    val moves = frontier > root.frontier
    if (moves) {
      until = frontier
      beginWith(Taking.Dead)
    }
    moves
  }

  private def beginWith(what: Taking): Unit = {
    takes = what
    atSegment = 0
    atChunk = -1
  }

  private def leaves(segment: Segment, end: Long): Boolean = takes match {
    case Taking.All => true
    case Taking.Expired => lifetime.isExpired(segment.born)
    case _ => end < until
  }

  private def take(leaving: Leaving): R = {
    var found: R = null
    // Invariant: what leaves and lies before segment, chunk and row has left, and came out if it should.
    while (found == null && atSegment < segments.size)
      if (reading == null) openChunk(leaving) else found = takeOfChunk(leaving)
    if (found == null) {
      takes match {
        case Taking.All => root = root.copy(frontier = Frontier.Over)
        case Taking.Dead => root = root.copy(frontier = until)
        case _ => ()
      }
      takes = Taking.Nothing
    }
    found
  }

  /** Goes on to the next chunk of which rows leave. */
  private def openChunk(leaving: Leaving): Unit = {
    val segment = segments(atSegment)
    atChunk += 1
    if (atChunk == segment.chunks) {
      atSegment += 1
      atChunk = -1
    } else if (segment.live(atChunk) > 0 && leaves(segment, segment.minEnd(atChunk))) {
      if ((leaving eq Leaving.Silently) && leaves(segment, segment.maxEnd(atChunk))) {
        left(segment.live(atChunk))
        removeChunk(segment, atChunk)
      } else {
        reading = store.chunk(segment.id, atChunk)
        readingBits = store.bits(segment.id, atChunk)
        atRow = 0
        keptRows = 0
        keptLeastEnd = Long.MaxValue
      }
    }
  }

  private def left(rows: Int): Unit = {
    live -= rows
    removed += rows
    if (takes eq Taking.Expired) expired += rows
  }

  private def takeOfChunk(leaving: Leaving): R = {
    var found: R = null
    // Invariant: the rows before `atRow` that are live and stay are counted as kept.
    while (found == null && atRow < reading.size) {
      if (isLive(reading, atRow, readingBits)) {
        val end = reading.end(atRow)
        if (leaves(segments(atSegment), end)) {
          left(1)
          if ((leaving eq Leaving.Aloud) && !ChunkBits.isSet(readingBits, atRow))
            found = reading.row(atRow)
        } else {
          keptRows += 1
          keptLeastEnd = math.min(keptLeastEnd, end)
        }
      }
      atRow += 1
    }
    if (found == null) closeChunk()
    found
  }

  private def closeChunk(): Unit = {
    val segment = segments(atSegment)
    if (keptRows == 0) removeChunk(segment, atChunk)
    else if (keptRows <= segment.rows(atChunk) / 2)
      rewriteChunk(segment, atChunk, reading, readingBits) { i =>
        isLive(reading, i, readingBits) && !leaves(segment, reading.end(i))
      }
    else {
      segment.live(atChunk) = keptRows
      segment.minEnd(atChunk) = keptLeastEnd
      segment.isChanged = true
    }
    reading = null
  }

  private def rewriteChunk(segment: Segment, c: Int, chunk: Chunk[R], set: Array[Long])(
      isKept: Int => Boolean
  ): Unit = {
    val builder = store.builder
    val kept = new ChunkBits
    for (i <- 0 until chunk.size if isKept(i)) {
      if (ChunkBits.isSet(set, i)) kept.set(builder.summary.rows)
      builder.add(chunk.hash(i), chunk.rank(i), chunk.end(i), chunk.row(i))
    }
    segment.describe(c, builder.summary)
    builder.put(segment.id, c)
    if (!kept.isEmpty) store.saveBits(segment.id, c, kept.taken())
    else if (store.bits(segment.id, c) != null) store.removeBits(segment.id, c)
  }

  /** Puts small segments together. */
  def merge(): Unit = {
    dropEmpty()
    var group = nextGroup
    // Invariant: the segments hold the same rows as before.
    while (group.nonEmpty) {
      mergeGroup(group)
      group = nextGroup
    }
  }

  /** Rows of one age lie together, so that they can be forgotten together. */
  private def nextGroup: Seq[Int] = segments.indices
    .groupBy(s => lifetime.sliceOf(segments(s).born))
    .toSeq
    .sortBy(_._1)
    .map { case (_, slice) => MergePolicy.next(slice.map(segments(_).liveRows)).map(slice) }
    .find(_.nonEmpty)
    .getOrElse(Nil)

  private def dropEmpty(): Unit = {
    segments.filter(_.liveRows == 0).foreach(s => store.removeSegment(s.id))
    segments.filterInPlace(_.liveRows > 0): Unit
  }

  private def mergeGroup(group: Seq[Int]): Unit = {
    val merged = group.map(segments)
    val writer = new SegmentWriter(store, root.nextSegment, merged.map(_.born).max)
    val cursors = merged.map(new Cursor(_))
    var least = leastOf(cursors)
    // Invariant: the writer holds all rows below the least of the cursors.
    while (least != null) {
      writer.add(least.hash, least.rank, least.end, least.mark, least.row)
      least.advance()
      least = leastOf(cursors)
    }
    for (segment <- merged) {
      for (c <- 0 until segment.chunks if segment.live(c) > 0) removeChunk(segment, c)
      store.removeSegment(segment.id)
    }
    segments.subtractAll(merged)
    writer.finish().foreach(segments += _)
    root = root.copy(nextSegment = root.nextSegment + 1)
  }

  private def leastOf(cursors: Seq[Cursor]): Cursor = {
    var least: Cursor = null
    cursors.foreach(c => if (!c.isOver && (least == null || c.hash < least.hash)) least = c)
    least
  }

  /** The live rows of a segment, one after the other. */
  final private class Cursor(segment: Segment) {
    private var c = -1
    private var chunk: Chunk[R] = _
    private var set: Array[Long] = _
    private var i = 0
    advance()

    def isOver: Boolean = chunk == null
    def hash: Int = chunk.hash(i)
    def rank: Long = chunk.rank(i)
    def end: Long = chunk.end(i)
    def mark: Mark = isSet(set, i)
    def row: R = chunk.row(i)

    def advance(): Unit = {
      i += 1
      // Invariant: the live rows before row `i` of chunk `c` were given.
      while (chunk != null && i < chunk.size && !isLive(chunk, i, set)) i += 1
      if (chunk == null || i >= chunk.size) nextChunk()
    }

    private def nextChunk(): Unit = {
      c += 1
      while (c < segment.chunks && segment.live(c) == 0) c += 1
      if (c == segment.chunks) chunk = null
      else {
        chunk = store.chunk(segment.id, c)
        set = store.bits(segment.id, c)
        i = -1
        advance()
      }
    }
  }

  /** Writes what has changed. */
  def save(): Unit = {
    saveMarks()
    dropEmpty()
    segments.foreach { segment =>
      if (segment.isChanged) store.saveSegment(segment)
      segment.isChanged = false
    }
    store.saveRoot(root.copy(segments = segments.map(_.id).toSeq))
  }
}

/** What the bit of a stored row means. */
sealed abstract class MarkMeans(val removes: Boolean)
object MarkMeans {

  /** It has matched, and stays to match again. */
  case object Matched extends MarkMeans(removes = false)

  /** It is not there any more. */
  case object Gone extends MarkMeans(removes = true)
}

/** Who is given the rows that are read. */
trait RestoredRows[R] {

  /** @param row
    *   valid until the method returns
    */
  def restored(row: R, hash: Int, rank: Long, end: Long, mark: Mark, place: Long): Unit
}

/** Rows that are to be stored. */
trait NewRows[R] {

  /** Gives hash, rank, end, mark and row of each, by hash. */
  def foreachByHash(give: (Int, Long, Long, Mark, R) => Unit): Unit
}

/** What is under way. */
sealed private trait Taking
private object Taking {
  case object Nothing extends Taking
  case object Dead extends Taking
  case object All extends Taking
  case object Expired extends Taking
}
