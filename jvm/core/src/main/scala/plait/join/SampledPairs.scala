// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Arrays

/** How many pairs of rows of two sides have equal hashes, and in how many of them the left row reaches the rank of the
  * right one, guessed from some rows of each:
  *
  * {{{
  * pairs  =  sum over hashes h of left(h) * right(h)
  *        ~  the same of the samples, times leftRows / leftSampled, times rightRows / rightSampled
  *
  * 2M near-unique rows a side, 8,192 of each seen: some 34 pairs are seen, 2M are guessed
  * 2M rows a side of 1,024 keys:                   some 65,536 are seen, 4 billion are guessed
  * }}}
  *
  * It is without bias if the samples are drawn evenly. Where it errs, a join takes longer and is no less right.
  *
  * @param equal
  *   pairs of equal hashes
  * @param reached
  *   those of them within reach
  */
final case class SampledPairs(equal: Double, reached: Double)

object SampledPairs {

  /** Some rows of a side.
    *
    * @param low
    *   from where a row reaches, or its rank
    * @param high
    *   until where
    * @param rows
    *   how many the side has
    */
  final case class Sample(hashes: Array[Int], low: Array[Long], high: Array[Long], rows: Long)

  /** @param right
    *   of which `low` is the rank
    */
  def guess(left: Sample, right: Sample): SampledPairs =
    if (left.hashes.isEmpty || right.hashes.isEmpty) SampledPairs(0, 0)
    else {
      val sorted = new Sorted(right)
      var equal = 0L
      var reached = 0L
      for (row <- left.hashes.indices) {
        val hash = left.hashes(row).toLong
        val (begin, end) = (sorted.begin(hash), sorted.end(hash))
        equal += end - begin
        reached += sorted.between(left.low(row), left.high(row), begin, end)
      }
      val each =
        (left.rows.toDouble / left.hashes.length) * (right.rows.toDouble / right.hashes.length)
      SampledPairs(equal * each, reached * each)
    }

  /** Rows by hash, and those of a hash by rank. */
  final private class Sorted(of: Sample) {
    private val (hashes, ranks) = {
      // The upper half is the hash, the lower one the number of the row.
      val byHash = Array.tabulate(of.hashes.length)(row => of.hashes(row).toLong << 32 | row)
      Arrays.sort(byHash)
      (byHash.map(_ >> 32), byHash.map(at => of.low(at.toInt)))
    }
    private var sorted = 0
    // Invariant: the ranks before `sorted` are in sequence within their hash, and no hash goes on behind it.
    while (sorted < hashes.length) {
      val next = end(hashes(sorted))
      Arrays.sort(ranks, sorted, next)
      sorted = next
    }

    def begin(hash: Long): Int = firstFrom(hashes, hash, 0, hashes.length)
    def end(hash: Long): Int = begin(hash + 1)

    /** How many ranks of one hash, from its beginning to its end, are from `low` to `high`. */
    def between(low: Long, high: Long, begin: Int, end: Int): Int =
      if (low > high) 0
      else {
        val behind = if (high == Long.MaxValue) end else firstFrom(ranks, high + 1, begin, end)
        behind - firstFrom(ranks, low, begin, end)
      }

    private def firstFrom(values: Array[Long], least: Long, begin: Int, end: Int): Int = {
      var below = begin
      var above = end
      // Invariant: those before `below` are less than `least`, and none from `above` on is.
      while (below < above) {
        val middle = (below + above) >>> 1
        if (values(middle) < least) below = middle + 1 else above = middle
      }
      below
    }
  }
}
