// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Arrays

import plait.BySide

/** How many pairs of rows of two sides have equal hashes, in how many of them the left row reaches the rank of the right
  * one, and how many rows one hash has, guessed from some rows of each:
  *
  * {{{
  * pairs  =  sum over hashes h of left(h) * right(h)
  *        ~  the same of the samples, times leftRows / leftSampled, times rightRows / rightSampled
  *
  * 2M near-unique rows a side, 8,192 of each seen: some 34 pairs are seen, 2M are guessed
  * 2M rows a side of 1,024 keys:                   some 65,536 are seen, 4 billion are guessed
  *
  * tried    =  sum over left rows with N rows of their hash, m of them reached, of (N + 1) / (m + 1): where the first
  *             of m stands on average if chance has mixed the N
  *
  * largest  =  max over hashes h of left(h), and of right(h)
  *          ~  that of a sample times rows, through rows sampled
  * }}}
  *
  * Pairs are guessed without bias if the samples are drawn evenly, and `largest` is rather too large: where each row has a
  * key of its own, it is what one sampled row stands for. Where they err, a join takes longer or more memory and is no
  * less right.
  *
  * @param equal
  *   pairs of equal hashes
  * @param reached
  *   those of them within reach
  * @param tried
  *   pairs of equal hashes up to the first of each left row that is within reach
  * @param matched
  *   left rows that reach any
  * @param largest
  *   rows of each side with one hash, at most
  */
final case class SampledPairs(
    equal: Double,
    reached: Double,
    tried: Double,
    matched: Double,
    largest: BySide[Double]
)

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
  final case class Sample(hashes: Array[Int], low: Array[Long], high: Array[Long], rows: Long) {

    /** So many rows a sampled one stands for. */
    private[SampledPairs] def each: Double = rows.toDouble / math.max(1, hashes.length)
  }

  /** @param right
    *   of which `low` is the rank
    */
  def guess(left: Sample, right: Sample): SampledPairs =
    if (left.hashes.isEmpty || right.hashes.isEmpty)
      SampledPairs(0, 0, 0, 0, BySide(largest(left), largest(right)))
    else {
      val sorted = new Sorted(right)
      // By left row: the right ones with its hash, and those of them within its reach.
      val seen, within = new Array[Int](left.hashes.length)
      for (row <- seen.indices) {
        val hash = left.hashes(row).toLong
        val (begin, end) = (sorted.begin(hash), sorted.end(hash))
        seen(row) = end - begin
        within(row) = sorted.between(left.low(row), left.high(row), begin, end)
      }
      val equal = seen.iterator.map(_.toLong).sum
      val reached = within.iterator.map(_.toLong).sum
      // Of a row with few partners seen, what it reaches of the others is rather what all rows reach of theirs.
      val unseen = 1 - 1 / right.each
      val share = reached.toDouble / math.max(1L, equal)
      def reachedOf(all: Double, within: Int, seen: Int) =
        all * (within + unseen * share) / (seen + unseen)
      var tried, matched = 0.0
      for (row <- seen.indices if seen(row) > 0) {
        val all = seen(row) * right.each
        val partners = reachedOf(all, within(row), seen(row))
        tried += (all + 1) / (partners + 1)
        matched += math.min(1, partners)
      }
      val each = left.each * right.each
      SampledPairs(
        equal * each,
        reached * each,
        tried * left.each,
        matched * left.each,
        BySide(largest(left), largest(right))
      )
    }

  private def largest(of: Sample): Double = {
    val hashes = of.hashes.clone()
    Arrays.sort(hashes)
    var most = 0
    var first = 0
    // Invariant: no hash before the one that begins at `first` was seen more than `most` times.
    for (row <- hashes.indices) {
      if (hashes(row) != hashes(first)) first = row
      most = math.max(most, row - first + 1)
    }
    most * of.each
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
