// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Arrays

/** The numbers of rows in the sequence of their keys, and within a key of their ranks.
  *
  * {{{
  * keys 1, 0, 1 and ranks 7, 9, 5        rows 1, 2, 0
  * }}}
  *
  * Where key, rank and row fit one long, that is what is sorted: of key 3 of 8, rank 1007 of 1000 to 2000 and row 12
  * of 100 it is `3 | 7 | 12` in 3 + 10 + 7 bits. Else the ranks are sorted alone, and rows are dealt to the places of
  * their ranks and from there to those of their keys. Nothing is boxed, which over a million rows would take longer
  * than the sort.
  *
  * What it does not promise: a sequence of rows that have both in common.
  */
private[join] object RowsInOrder {

  /** @param keys
    *   how many there are; those of rows are less
    */
  def of(keys: Int, keyOf: Array[Int], ranks: Array[Long]): Array[Int] =
    if (keyOf.isEmpty) Array.empty
    else {
      val least = Arrays.stream(ranks).min.getAsLong
      // A spread that overflows is negative, and has 64 bits.
      val spread = Arrays.stream(ranks).max.getAsLong - least
      val rowBits = bits(keyOf.length - 1L)
      if (bits(keys - 1L) + bits(spread) + rowBits <= 63)
        packed(keyOf, ranks, least, bits(spread), rowBits)
      else dealt(keys, keyOf, ranks)
    }

  private def packed(
      keyOf: Array[Int],
      ranks: Array[Long],
      least: Long,
      rankBits: Int,
      rowBits: Int
  ): Array[Int] = {
    val rows = new Array[Long](keyOf.length)
    var row = 0
    while (row < rows.length) {
      rows(row) = (((keyOf(row).toLong << rankBits) | (ranks(row) - least)) << rowBits) | row
      row += 1
    }
    Arrays.sort(rows)
    unpacked(rows, (1L << rowBits) - 1)
  }

  private def unpacked(packed: Array[Long], mask: Long): Array[Int] = {
    val found = new Array[Int](packed.length)
    var place = 0
    while (place < found.length) {
      found(place) = (packed(place) & mask).toInt
      place += 1
    }
    found
  }

  private def dealt(keys: Int, keyOf: Array[Int], ranks: Array[Long]): Array[Int] = {
    val rows = byRank(ranks)
    val next = begins(keys, keyOf)
    val found = new Array[Int](rows.length)
    var place = 0
    // Invariant: the first `place` rows by rank stand at the front of the places of their keys, up to `next`.
    while (place < rows.length) {
      val key = keyOf(rows(place))
      found(next(key)) = rows(place)
      next(key) += 1
      place += 1
    }
    found
  }

  private def byRank(ranks: Array[Long]): Array[Int] = {
    val sorted = ranks.clone()
    Arrays.sort(sorted)
    // At the first place of each rank: how many of its rows have a place.
    val taken = new Array[Int](ranks.length)
    val found = new Array[Int](ranks.length)
    var row = 0
    while (row < ranks.length) {
      val first = firstOf(sorted, ranks(row))
      found(first + taken(first)) = row
      taken(first) += 1
      row += 1
    }
    found
  }

  private def firstOf(sorted: Array[Long], rank: Long): Int = {
    var below = 0
    var at = sorted.length - 1
    // Invariant: what stands before `below` is less than the rank, what stands from `at` on is not.
    while (below < at) {
      val middle = (below + at) >>> 1
      if (sorted(middle) < rank) below = middle + 1 else at = middle
    }
    at
  }

  /** Where each key's rows begin; the last is where they all end. */
  def begins(keys: Int, keyOf: Array[Int]): Array[Int] = {
    val found = new Array[Int](keys + 1)
    var row = 0
    while (row < keyOf.length) {
      found(keyOf(row) + 1) += 1
      row += 1
    }
    for (key <- 1 to keys) found(key) += found(key - 1)
    found
  }

  private def bits(most: Long): Int = 64 - java.lang.Long.numberOfLeadingZeros(most)
}
