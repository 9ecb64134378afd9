// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Where the ranks of some keys lie, sorted within each: cut into buckets of equal width, as many as a key has ranks, so
  * that a rank is sought in one bucket instead of by halving all.
  *
  * {{{
  * ranks of a key    3 4 9 14 16 21      least 3, six of 21 - 3 = 18: buckets of 4
  * places            0 1 2  3  4  5      bucket  3-6   7-10   11-14   15-18   19-21
  *                                       from      0      2       3       4       5
  * the place of 15   in [4, 5]: its bucket is 15-18
  * }}}
  *
  * A few ranks far from all others would make the buckets wide. So the first and the last 64th of a key's ranks only
  * count as the ends of its first and last bucket, however far they lie.
  *
  * What it does not promise: that a bucket is small. Where ranks lie in few clusters, one may hold nearly all.
  */
final private[join] class RankDirectory private (
    leasts: Array[Long],
    greatests: Array[Long],
    shifts: Array[Byte],
    // Of each key's buckets the first places, and where the last ends.
    tables: Array[Int],
    places: Array[Int]
) {

  /** The first place of a rank's bucket: what stands before it is less than the rank. */
  def below(key: Int, rank: Long): Int = places(tables(key) + bucketOf(key, rank))

  /** Where a rank's bucket ends: what stands from there on is greater than the rank. */
  def above(key: Int, rank: Long): Int = places(tables(key) + bucketOf(key, rank) + 1)

  /** It never falls where the rank rises. */
  private def bucketOf(key: Int, rank: Long): Int = {
    val known = math.max(leasts(key), math.min(greatests(key), rank))
    ((known - leasts(key)) >>> shifts(key)).toInt
  }

  private def fill(key: Int, begin: Int, end: Int, ranks: Array[Long]): Unit = {
    var next = tables(key)
    var place = begin
    // Invariant: the buckets of the ranks before `place` have their first places, and those are before `next`.
    while (place < end) {
      val last = tables(key) + bucketOf(key, ranks(place))
      while (next <= last) {
        places(next) = place
        next += 1
      }
      place += 1
    }
    java.util.Arrays.fill(places, next, tables(key + 1), end)
  }
}

private[join] object RankDirectory {

  /** @param begins
    *   where each key's ranks begin; the last is where they all end
    * @param ranks
    *   sorted for each key
    */
  def of(begins: Array[Int], ranks: Array[Long]): RankDirectory = {
    val keys = begins.length - 1
    val leasts, greatests = new Array[Long](keys)
    val shifts = new Array[Byte](keys)
    val tables = new Array[Int](keys + 1)
    for (key <- 0 until keys) {
      val count = begins(key + 1) - begins(key)
      if (count > 0) {
        val aside = count >> 6
        leasts(key) = ranks(begins(key) + aside)
        greatests(key) = ranks(begins(key + 1) - 1 - aside)
      }
      val spread = greatests(key) - leasts(key)
      shifts(key) = shift(spread, math.max(1, count))
      tables(key + 1) = tables(key) + (spread >>> shifts(key)).toInt + 2
    }
    val made =
      new RankDirectory(leasts, greatests, shifts, tables, new Array[Int](tables(keys)))
    for (key <- 0 until keys) made.fill(key, begins(key), begins(key + 1), ranks)
    made
  }

  /** With it there are at most `count` buckets. A spread over more than half of all ranks reads as negative. */
  private def shift(spread: Long, count: Int): Byte = {
    var shift = 0
    while (java.lang.Long.compareUnsigned(spread >>> shift, count.toLong) >= 0) shift += 1
    shift.toByte
  }
}
