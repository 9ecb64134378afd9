// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Writes rows that come by the hash of their key as segments, one a band of [[Bands]] that has any. */
final private[stream] class BandedWriter[R >: Null <: AnyRef](
    segments: StoredSegments[R],
    bands: Bands,
    born: Long
) {
  private val writers = new Array[SegmentWriter[R]](Bands.Count)

  def add(hash: Int, rank: Long, end: Long, mark: Mark, row: R): Unit = {
    val band = bands.of(end)
    if (writers(band) == null) writers(band) = segments.writer(band, born)
    writers(band).add(hash, rank, end, mark, row)
  }

  /** The segments; they are not saved yet. */
  def finish(): Seq[Segment] = writers.toSeq.filter(_ != null).map(_.finish())
}
