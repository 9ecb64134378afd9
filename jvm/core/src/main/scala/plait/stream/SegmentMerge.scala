// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Puts small segments together, so that a probe looks into few: four of about one size become one, by hash, with
  * the rows that are still live and no others.
  *
  * {{{
  * rows of the segments    5, 4, 6, 5, 90       four small ones
  *                         20, 90
  * }}}
  *
  * Which ones says [[MergePolicy]].
  */
final private[stream] class SegmentMerge[R >: Null <: AnyRef](segments: StoredSegments[R]) {
  def run(): Unit = {
    segments.dropEmpty()
    var group = nextGroup
    // Invariant: the segments hold the same rows as before.
    while (group.nonEmpty) {
      mergeGroup(group)
      group = nextGroup
    }
  }

  /** Rows of one age lie together, so that they can be forgotten together. */
  private def nextGroup: Seq[Int] = segments.all.indices
    .groupBy(s => segments.lifetime.sliceOf(segments.all(s).born))
    .toSeq
    .sortBy(_._1)
    .map { case (_, slice) => MergePolicy.next(slice.map(segments.all(_).liveRows)).map(slice) }
    .find(_.nonEmpty)
    .getOrElse(Nil)

  private def mergeGroup(group: Seq[Int]): Unit = {
    val merged = group.map(segments.all)
    segments.write(merged.map(_.born).max) { writer =>
      val cursors = merged.map(new Cursor(_))
      var least = leastOf(cursors)
      // Invariant: the writer holds all rows below the least of the cursors.
      while (least != null) {
        writer.add(least.hash, least.rank, least.end, least.mark, least.row)
        least.advance()
        least = leastOf(cursors)
      }
    }: Unit
    for (segment <- merged) {
      for (c <- 0 until segment.chunks if segment.live(c) > 0) segments.removeChunk(segment, c)
      segments.store.removeSegment(segment.id)
    }
    segments.all.subtractAll(merged): Unit
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
