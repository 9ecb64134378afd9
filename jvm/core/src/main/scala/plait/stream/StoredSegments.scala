// SPDX-License-Identifier: Apache-2.0
package plait.stream

import scala.collection.mutable.ArrayBuffer

/** The segments in which the rows of a side lie, and what is the same for all that is done to them: which rows
  * are live, how many, and how a chunk loses some.
  *
  * {{{
  * segment 3    chunk 0   rows 4, live 4
  *              chunk 1   rows 4, live 1     without the others: rows 1, live 1
  *              chunk 2   rows 4, live 0     removed
  * }}}
  *
  * It finds nothing and drops nothing by itself: see [[StoredRows]], [[LeavingRows]] [[SegmentMerge]] and
  * [[SegmentSplit]].
  */
final private[stream] class StoredSegments[R >: Null <: AnyRef](
    val store: ChunkStore[R],
    marks: MarkMeans,
    val lifetime: Lifetime
) {
  private val builders = new ArrayBuffer[ChunkBuilder[R]]
  private var root = store.root().getOrElse(StoreRoot(0L, Long.MinValue, Nil))
  val all: ArrayBuffer[Segment] = ArrayBuffer.from(root.segments.map(store.segment))
  private var live = all.iterator.map(_.liveRows).sum
  private var added = 0L
  private var removed = 0L

  if (lifetime.isCounted)
    for (segment <- all if segment.born == Lifetime.Timeless) {
      segment.born = lifetime.now
      segment.isChanged = true
    }

  /** How many rows are live. */
  def size: Long = live

  /** How many rows were stored since the batch began. */
  def addedRows: Long = added

  /** How many rows have left since the batch began. */
  def removedRows: Long = removed

  /** Rows whose reach ends below it have left. */
  def frontier: Long = root.frontier

  /** How the rows that come or are written anew are laid out. */
  var bands: Bands = Bands.Unknown

  def reached(frontier: Long): Unit = root = root.copy(frontier = frontier)

  /** Those of the rows of a chunk that are in no other place and have not left. */
  def isLive(chunk: Chunk[R], i: Int, bits: Array[Long]): Boolean =
    chunk.end(i) >= root.frontier && !(marks.removes && ChunkBits.isSet(bits, i))

  /** A row of a chunk is not there any more, and was not dropped. */
  def uncount(segment: Segment, c: Int): Unit = {
    segment.live(c) -= 1
    segment.isChanged = true
    live -= 1
  }

  /** Rows have left that are counted no more. */
  def removed(rows: Int): Unit = removed += rows

  /** Rows have left; their chunk is still to say so. */
  def left(rows: Int): Unit = {
    live -= rows
    removed(rows)
  }

  /** Segments with numbers of their own, which `write` fills, one a band that has rows. */
  def write(born: Long, bands: Bands)(write: BandedWriter[R] => Unit): Seq[Segment] = {
    val writer = new BandedWriter(this, bands, born)
    write(writer)
    val written = writer.finish()
    all ++= written
    written
  }

  /** What writes the next segment, beside those of other bands. */
  def writer(band: Int, born: Long): SegmentWriter[R] = {
    val id = root.nextSegment
    root = root.copy(nextSegment = id + 1)
    new SegmentWriter(store, builder(band), id, born)
  }

  private def builder(n: Int): ChunkBuilder[R] = {
    while (builders.size <= n) builders += store.newBuilder()
    builders(n)
  }

  /** Rows that are new to the side. */
  def append(born: Long, bands: Bands)(rows: BandedWriter[R] => Unit): Unit =
    for (segment <- write(born, bands)(rows)) {
      live += segment.liveRows
      added += segment.liveRows
    }

  def removeChunk(segment: Segment, c: Int): Unit = {
    store.removeChunk(segment.id, c)
    if (store.bits(segment.id, c) != null) store.removeBits(segment.id, c)
    segment.live(c) = 0
    segment.isChanged = true
  }

  /** How rows are laid out if this batch moves the frontier so far. */
  def expect(frontier: Long): Unit = {
    val ends = all.iterator.map(_.lastEnd).filter(_ != Long.MaxValue)
    bands = Bands.between(root.frontier, frontier, ends.maxOption)
  }

  /** Writes a chunk anew, with some of its rows only. */
  def rewriteChunk(segment: Segment, c: Int, chunk: Chunk[R], bits: Array[Long])(
      isKept: Int => Boolean
  ): Unit = {
    val anew = builder(0)
    val kept = new ChunkBits
    for (i <- 0 until chunk.size if isKept(i)) {
      if (ChunkBits.isSet(bits, i)) kept.set(anew.summary.rows)
      anew.add(chunk.hash(i), chunk.rank(i), chunk.end(i), chunk.row(i))
    }
    segment.describe(c, anew.summary)
    anew.put(segment.id, c)
    if (!kept.isEmpty) store.saveBits(segment.id, c, kept.taken())
    else if (store.bits(segment.id, c) != null) store.removeBits(segment.id, c)
  }

  def dropEmpty(): Unit = {
    all.filter(_.liveRows == 0).foreach(s => store.removeSegment(s.id))
    all.filterInPlace(_.liveRows > 0): Unit
  }

  /** Writes what the segments say of their chunks, where that has changed. */
  def save(): Unit = {
    dropEmpty()
    for (segment <- all if segment.isChanged) {
      store.saveSegment(segment)
      segment.isChanged = false
    }
    store.saveRoot(root.copy(segments = all.map(_.id).toSeq))
  }
}
