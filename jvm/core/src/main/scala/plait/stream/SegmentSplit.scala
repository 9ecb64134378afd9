// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Lays segments out anew by band of which cleaning reads much and removes little: they would be read with every batch.
  *
  * {{{
  * frontier 100, 10 ahead of the last batch's
  * segment   ends 60 .. 500, 4000 rows read, 90 of them removed
  * becomes   ends 100 .. 109      110 .. 139      140 .. 259      260 .. 500
  * }}}
  *
  * @param few
  *   of less than twice as many rows there is little to read
  */
final private[stream] class SegmentSplit[R >: Null <: AnyRef](
    segments: StoredSegments[R],
    few: Int
) {
  def run(): Unit = {
    val rewrite = new SegmentRewrite(segments, few)
    for (segment <- segments.all.filter(isWorth).toSeq) rewrite(Seq(segment))
  }

  private def isWorth(segment: Segment): Boolean =
    segment.readInVain > SegmentSplit.MostInVain * segment.cleaned &&
      segment.liveRows >= 2 * few &&
      segments.bands.of(segment.firstEnd) != segments.bands.of(segment.lastEnd)
}

private[stream] object SegmentSplit {

  /** So many rows may be read for one that leaves. */
  private val MostInVain = 8
}
