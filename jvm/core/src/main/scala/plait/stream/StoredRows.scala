// SPDX-License-Identifier: Apache-2.0
package plait.stream

import scala.collection.mutable

/** The rows of one side that outlive a batch: `{ (key, rank, end, row) }`, in segments of a
  * [[ChunkStore]].
  *
  * {{{
  * takeExpired()          the rows of segments that are too old
  * restore(wanted)        reads the chunks that hold a wanted hash, meet its ranks, and last as long
  * mark(place)            one bit of a row: it has matched, or, as MarkMeans says, it is gone
  * remove(place)          the row leaves, whatever it reaches
  * replace(place)         the row gets another end, and is among those to be appended
  * append(rows)           a new segment; nothing is read
  * takeDead(frontier)     reads the chunks of which some rows die, and no others
  * layOut()               four small segments become one; one of which little leaves at a time becomes several
  * save()                 what has changed
  * }}}
  *
  * Conventions:
  *   1. A row is dead once the frontier of the other side is greater than its end.
  *   2. Dead rows of a chunk are not given any more. When rows of it leave and half of it or more is dead or gone, it is
  *      written anew; until then rows that are gone take their place.
  *   3. The order of calls within a batch is that of the list above; each may be called several times. Places are
  *      valid until the first `append`.
  *
  * @param tooOld
  *   called before rows leave because of their age; it may throw
  * @param few
  *   fewer rows than these lie together, whenever they leave
  */
final class StoredRows[R >: Null <: AnyRef](
    store: ChunkStore[R],
    marks: MarkMeans,
    lifetime: Lifetime = Lifetime.Endless,
    tooOld: () => Unit = () => (),
    few: Int = StoredRows.Few
) {
  private val segments = new StoredSegments(store, marks, lifetime)
  private val leaving = new LeavingRows(segments, tooOld)

  // Bits that were read or set in this batch, by segment and chunk.
  private val bits = new mutable.LongMap[Array[Long]]
  private val changedBits = mutable.Set.empty[Long]
  // Rows that are removed where a bit cannot say so, by segment and chunk.
  private val without = new mutable.LongMap[mutable.BitSet]
  private var sentAway = 0L
  private var replaced = 0L

  def size: Long = segments.size

  /** Rows whose reach ends below it have left. */
  def frontier: Long = segments.frontier

  /** This batch moves the frontier so far: what is written is laid out by it. */
  def expect(frontier: Long): Unit =
    segments.expect(frontier)

  /** How many rows were stored since the batch began, of those that were not there before. */
  def addedRows: Long = segments.addedRows - replaced

  /** How many rows have left since the batch began. */
  def removedRows: Long = segments.removedRows

  /** How many of them because they were too old. */
  def expiredRows: Long = leaving.expiredRows

  /** How many of them by [[remove]]. */
  def sentAwayRows: Long = sentAway

  /** No row has a lower rank. */
  def leastRank: Long =
    segments.all.iterator.map(_.leastRank).minOption.getOrElse(Long.MaxValue)

  /** What the chunks take that are stored. */
  def storedBytes: Long = segments.all.iterator.map(_.storedBytes).sum

  /** How many segments there are, for those who watch. */
  def segmentCount: Int = segments.all.size

  def restore(wanted: Wanted, to: RestoredRows[R]): Unit =
    if (wanted.size > 0)
      // By rank as far as it is known: see Arrivals.
      for (s <- segments.all.indices.sortBy(segments.all(_).minRank.min)) restoreOf(s, wanted, to)

  private def restoreOf(s: Int, wanted: Wanted, to: RestoredRows[R]): Unit = {
    val segment = segments.all(s)
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
        if (segment.live(c) > 0 && wanted.meets(segment, c, from))
          restoreChunk(s, c, wanted, from, to)
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
    val chunk = store.chunk(segments.all(s).id, c)
    val set = bitsOf(s, c)
    var i = 0
    var w = from
    // Invariant: the rows before `i` were given or are not wanted.
    while (i < chunk.size && w < wanted.size) {
      val hash = chunk.hash(i)
      if (hash < wanted.hash(w)) i += 1
      else if (hash > wanted.hash(w)) w = wanted.firstAtOrAbove(hash, w)
      else {
        val (rank, end) = (chunk.rank(i), chunk.end(i))
        if (wanted.wants(w, rank, end) && segments.isLive(chunk, i, set))
          to.restored(chunk.row(i), hash, rank, end, Mark.of(set, i), Place.of(s, c, i))
        i += 1
      }
    }
  }

  private def bitsOf(s: Int, c: Int): Array[Long] =
    bits.getOrElseUpdate(Place.chunkOf(Place.of(s, c, 0)), store.bits(segments.all(s).id, c))

  /** The row has matched, or is gone. */
  def mark(place: Long): Unit = {
    setBit(place)
    if (marks.removes) {
      uncount(place)
      segments.removed(1)
    }
  }

  /** The row is not there any more, for another reason than that nothing can match it. */
  def remove(place: Long): Unit = {
    if (marks.removes) setBit(place)
    else without.getOrElseUpdate(Place.chunkOf(place), mutable.BitSet.empty) += Place.row(place)
    uncount(place)
    segments.removed(1)
    sentAway += 1
  }

  /** The row is about to be appended again, with another end: it neither leaves nor comes. Of rows whose bit says that
    * they are gone.
    */
  def replace(place: Long): Unit = {
    require(marks.removes, "no bit says that the row is in another place")
    setBit(place)
    uncount(place)
    replaced += 1
  }

  private def setBit(place: Long): Unit = {
    val chunk = Place.chunkOf(place)
    bits(chunk) =
      ChunkBits.withBit(bitsOf(Place.segment(place), Place.chunk(place)), Place.row(place))
    changedBits += chunk
  }

  private def uncount(place: Long): Unit =
    segments.uncount(segments.all(Place.segment(place)), Place.chunk(place))

  /** When a row was stored, by the time of [[Lifetime]]. */
  def born(place: Long): Long = segments.all(Place.segment(place)).born

  /** Whether rows leave because of their age. */
  def forgets: Boolean = lifetime.isCounted

  /** The time of the batch. */
  def now: Long = lifetime.now

  /** Rows of one slice may lie together. */
  def sliceOf(born: Long): Long = lifetime.sliceOf(born)

  /** Stores the rows, none of which is dead, and writes what was marked. Places are invalid from here on.
    * @param born
    *   since when they are remembered; of rows that were stored before, and have another end now, since then
    */
  def append(rows: NewRows[R], born: Long = lifetime.now): Unit = {
    saveMarks()
    val bands = if (rows.size < few) Bands.Unknown else segments.bands
    segments.append(born, bands)(writer => rows.foreachByHash(writer.add))
  }

  private def saveMarks(): Unit = {
    for (chunk <- changedBits ++ without.keySet) {
      val place = chunk * Place.MostRows
      val (s, c) = (Place.segment(place), Place.chunk(place))
      if (segments.all(s).live(c) == 0) segments.removeChunk(segments.all(s), c)
      else if (without.contains(chunk)) rewriteWithout(without(chunk), s, c)
      else store.saveBits(segments.all(s).id, c, bits(chunk))
    }
    changedBits.clear()
    bits.clear()
    without.clear()
  }

  private def rewriteWithout(rows: mutable.BitSet, s: Int, c: Int): Unit = {
    val chunk = store.chunk(segments.all(s).id, c)
    val set = bitsOf(s, c)
    segments.rewriteChunk(segments.all(s), c, chunk, set)(i =>
      segments.isLive(chunk, i, set) && !rows(i)
    )
  }

  /** Drops the rows whose reach ends before the frontier.
    * @return how many
    */
  def takeDead(frontier: Long): Long = leaving.takeDead(frontier)

  /** Drops rows whose reach ends before the frontier, up to the first one that is not marked.
    * @return that row, valid until the next call, or null if there is none
    */
  def takeUnmatched(frontier: Long): R = leaving.takeUnmatched(frontier)

  /** Drops all rows. */
  def takeAll(): Long = leaving.takeAll()

  /** Drops rows up to the first one that is not marked, or null if there is none. */
  def takeUnmatchedOfAll(): R = leaving.takeUnmatchedOfAll()

  /** Drops rows that are too old, up to the first one that is not marked, or null if there is none. */
  def takeExpired(): R = leaving.takeExpired()

  /** Drops all rows that are too old. */
  def dropExpired(): Unit = leaving.dropExpired()

  /** Puts small segments together, and takes those apart that cleaning would read with every batch.
    * @param merging
    *   what for
    */
  def layOut(merging: Merging): Unit = {
    // Of the rows that came first nothing was known before.
    if (!segments.bands.areKnown) expect(frontier)
    new SegmentSplit(segments, few).run()
    if ((merging eq Merging.ForProbes) || segmentCount > StoredRows.MostUnmerged)
      new SegmentMerge(segments, few).run()
  }

  /** Writes what has changed. */
  def save(): Unit = {
    saveMarks()
    segments.save()
  }
}

object StoredRows {
  private val Few = 256

  /** Of segments that no batch has probed. */
  private[stream] val MostUnmerged = 64
}

/** Whether stored rows should lie in few places. */
sealed trait Merging
object Merging {

  /** They are looked up. */
  case object ForProbes extends Merging

  /** Nobody has looked them up: while one side fills and the other rests, what is stored of it is not read. */
  case object Rarely extends Merging
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

  /** How many, or somewhat more. */
  def size: Int

  /** Gives hash, rank, end, mark and row of each, by hash. */
  def foreachByHash(give: (Int, Long, Long, Mark, R) => Unit): Unit
}
