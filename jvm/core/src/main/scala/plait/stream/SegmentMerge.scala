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
final private[stream] class SegmentMerge[R >: Null <: AnyRef](
    segments: StoredSegments[R],
    few: Int
) {
  def run(): Unit = {
    segments.dropEmpty()
    val rewrite = new SegmentRewrite(segments, few)
    var group = nextGroup
    // Invariant: the segments hold the same rows as before.
    while (group.nonEmpty) {
      rewrite(group.map(segments.all))
      group = nextGroup
    }
  }

  /** Rows of one age lie together, so that they can be forgotten together; and those that leave together. */
  private def nextGroup: Seq[Int] = {
    val largest = MergePolicy.largest(segments.size)
    alike
      .map(like => MergePolicy.next(like.map(segments.all(_).liveRows), largest).map(like))
      .find(_.nonEmpty)
      .getOrElse(Nil)
  }

  private def alike: Seq[IndexedSeq[Int]] = segments.all.indices
    .groupBy { s =>
      val segment = segments.all(s)
      (segments.lifetime.sliceOf(segment.born), segments.bands.of(segment.lastEnd))
    }
    .toSeq
    .sortBy(_._1)
    .map(_._2)
}
