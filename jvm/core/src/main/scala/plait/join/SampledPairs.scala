// SPDX-License-Identifier: Apache-2.0
package plait.join

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
        val hash = left.hashes(row)
        equal += sorted.between(hash, Long.MinValue, Long.MaxValue)
        reached += sorted.between(hash, left.low(row), left.high(row))
      }
      val each =
        (left.rows.toDouble / left.hashes.length) * (right.rows.toDouble / right.hashes.length)
      SampledPairs(equal * each, reached * each)
    }

  /** Rows by hash and then by rank. */
  final private class Sorted(of: Sample) {
    private val order = of.hashes.indices.sortBy(row => (of.hashes(row), of.low(row))).toArray

    /** How many rows of this hash have a rank from `low` to `high`. */
    def between(hash: Int, low: Long, high: Long): Int =
      if (low > high) 0
      else
        before(row => of.hashes(row) < hash || (of.hashes(row) == hash && of.low(row) <= high)) -
          before(row => of.hashes(row) < hash || (of.hashes(row) == hash && of.low(row) < low))

    /** How many rows there are before the first of which this is not true. */
    private def before(isBefore: Int => Boolean): Int = {
      var below = 0
      var above = order.length
      // Invariant: it is true of the rows before `below`, and not of those from `above` on.
      while (below < above) {
        val middle = (below + above) >>> 1
        if (isBefore(order(middle))) below = middle + 1 else above = middle
      }
      below
    }
  }
}
