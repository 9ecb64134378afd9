// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Writes the live rows of some segments anew, by hash and by the bands of this batch, and removes the segments.
  *
  * {{{
  * segments   hashes -3 5 9  and  -3 7      ends below 140:   -3 5 7      others:   -3 9
  * }}}
  *
  * @param few
  *   fewer rows than these lie together, whenever they leave
  */
final private[stream] class SegmentRewrite[R >: Null <: AnyRef](
    segments: StoredSegments[R],
    few: Int
) {
  def apply(group: Seq[Segment]): Unit = {
    val bands = if (group.map(_.liveRows).sum < few) Bands.Unknown else segments.bands
    segments.write(group.map(_.born).max, bands) { writer =>
      val cursors = group.map(new Cursor(_))
      var least = leastOf(cursors)
      // Invariant: the writer holds all rows below the least of the cursors.
      while (least != null) {
        writer.add(least.hash, least.rank, least.end, least.mark, least.row)
        least.advance()
        least = leastOf(cursors)
      }
    }: Unit
    for (segment <- group) {
      for (c <- 0 until segment.chunks if segment.live(c) > 0) segments.removeChunk(segment, c)
      segments.store.removeSegment(segment.id)
    }
    segments.all.subtractAll(group): Unit
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
    def mark: Mark = Mark.of(set, i)
    def row: R = chunk.row(i)

    def advance(): Unit = {
      i += 1
      // Invariant: the live rows before row `i` of chunk `c` were given.
      while (chunk != null && i < chunk.size && !segments.isLive(chunk, i, set)) i += 1
      if (chunk == null || i >= chunk.size) nextChunk()
    }

    private def nextChunk(): Unit = {
      c += 1
      while (c < segment.chunks && segment.live(c) == 0) c += 1
      if (c == segment.chunks) chunk = null
      else {
        chunk = segments.store.chunk(segment.id, c)
        set = segments.store.bits(segment.id, c)
        i = -1
        advance()
      }
    }
  }
}
