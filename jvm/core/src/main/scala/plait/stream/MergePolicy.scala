// SPDX-License-Identifier: Apache-2.0
package plait.stream

/** Which segments to merge, so that a small probe meets few of them and a row is written few times.
  *
  * Segments of like size (within a factor of four) are a tier; four of a tier become one:
  *
  * {{{
  * live rows  60000  800  1000  900  300  1100        800 + 1000 + 900 + 1100 are merged
  * }}}
  *
  * A merged segment holds at most 32,768 rows, or a sixteenth of all if that is more: rows that die together
  * should lie together. So a side of n rows has at most a hundred or so segments, and a row is merged
  * about log4(n / rows of a batch) times.
  */
object MergePolicy {
  val FanIn: Int = 4
  private val SmallestTier = 64L
  private val LargestMerge = 32768L
  private val Share = 16

  /** The most rows of a merged segment, of so many in all. */
  def largest(rows: Long): Long = math.max(LargestMerge, rows / Share)

  /** The indices to merge, the oldest first, or Nil.
    * @param sizes
    *   live rows of each segment, the oldest first
    */
  def next(sizes: IndexedSeq[Long], largest: Long): Seq[Int] =
    sizes.indices
      .groupBy(i => tier(sizes(i)))
      .toSeq
      .sortBy(_._1)
      .map(_._2.take(FanIn))
      .find(group => group.size == FanIn && group.map(sizes).sum <= largest)
      .getOrElse(Nil)

  private def tier(rows: Long): Int = {
    var tier = 0
    var size = SmallestTier
    // The segments of tiers before `tier` hold fewer rows.
    while (rows >= size * FanIn) {
      tier += 1
      size *= FanIn
    }
    tier
  }
}
