// SPDX-License-Identifier: Apache-2.0
package plait.join

/** How many pairs of rows of two sides have equal hashes, guessed from some rows of each:
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
  */
object SampledPairs {

  /** Both samples are sorted in place. */
  def guess(left: Array[Int], leftRows: Long, right: Array[Int], rightRows: Long): Double =
    if (left.isEmpty || right.isEmpty) 0
    else {
      java.util.Arrays.sort(left)
      java.util.Arrays.sort(right)
      equal(left, right).toDouble *
        (leftRows.toDouble / left.length) * (rightRows.toDouble / right.length)
    }

  private def equal(left: Array[Int], right: Array[Int]): Long = {
    var pairs = 0L
    var l = 0
    var r = 0
    // Invariant: `pairs` counts those of all hashes below that of both left(l) and right(r).
    while (l < left.length && r < right.length)
      if (left(l) < right(r)) l += 1
      else if (right(r) < left(l)) r += 1
      else {
        val (lefts, rights) = (alike(left, l), alike(right, r))
        pairs += lefts.toLong * rights
        l += lefts
        r += rights
      }
    pairs
  }

  private def alike(sorted: Array[Int], from: Int): Int = {
    var until = from + 1
    while (until < sorted.length && sorted(until) == sorted(from)) until += 1
    until - from
  }
}
