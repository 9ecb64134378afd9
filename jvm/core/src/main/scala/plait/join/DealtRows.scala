// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Rows that stand still, dealt to buckets by the first bits of the hash of their keys: a bucket is a stretch of
  * places, each with a hash, a rank and the handle of a row.
  *
  * {{{
  * hashes 1100.. 0100.. 1101.., 1 bit        bucket 0   row 1
  *                                           bucket 1   rows 0, 2
  * }}}
  *
  * Rows of one key lie in one bucket, and those of a bucket in the sequence in which they were given.
  *
  * What it does not promise: that buckets are even. A key with many rows makes one that is large.
  *
  * @param begins
  *   where each bucket begins; the last is where they all end
  */
final class DealtRows private (
    bits: Int,
    begins: Array[Int],
    hashes: Array[Int],
    ranks: Array[Long],
    handles: Array[Long]
) {
  def buckets: Int = begins.length - 1
  def count: Int = hashes.length
  def begin(bucket: Int): Int = begins(bucket)
  def end(bucket: Int): Int = begins(bucket + 1)
  def hash(place: Int): Int = hashes(place)
  def rank(place: Int): Long = ranks(place)
  def handle(place: Int): Long = handles(place)

  /** The row lies elsewhere from here on. */
  def move(place: Int, handle: Long): Unit = handles(place) = handle

  /** Where the bucket of this row ends. */
  def endOf(place: Int): Int = begins((hashes(place) >>> (32 - bits)) + 1)

  /** How many rows the largest bucket has. */
  def largest: Int = (0 until buckets).iterator.map(b => end(b) - begin(b)).max
}

object DealtRows {

  /** What a row takes of the heap: its hash, rank and handle. */
  val BytesPerRow: Int = 4 + 8 + 8

  /** So many rows of both sides, with what else a bucket needs, fit the nearest cache but one. */
  private val RowsPerBucket = 4096

  /** More places to write to in turn than these are slower than larger buckets. */
  private val MostBits = 12

  /** The rows to deal, by their numbers. */
  trait Source {
    def count: Int
    def hash(row: Int): Int
    def rank(row: Int): Long
    def handle(row: Int): Long
  }

  /** How many bits of the hash make the buckets of so many rows of both sides, at least one. */
  def bitsFor(rows: Long): Int = {
    val buckets = math.max(2L, (rows + RowsPerBucket - 1) / RowsPerBucket)
    math.min(MostBits, 64 - java.lang.Long.numberOfLeadingZeros(buckets - 1))
  }

  def of(rows: Source, bits: Int): DealtRows = {
    require(bits >= 1 && bits < 32, s"$bits bits")
    val shift = 32 - bits
    val begins = beginsOf(rows, bits)
    val next = begins.clone()
    val hashes = new Array[Int](rows.count)
    val ranks = new Array[Long](rows.count)
    val handles = new Array[Long](rows.count)
    var row = 0
    // Invariant: the rows before `row` have their places, and `next` is the free one of each bucket.
    while (row < rows.count) {
      val hash = rows.hash(row)
      val place = next(hash >>> shift)
      next(hash >>> shift) = place + 1
      hashes(place) = hash
      ranks(place) = rows.rank(row)
      handles(place) = rows.handle(row)
      row += 1
    }
    new DealtRows(bits, begins, hashes, ranks, handles)
  }

  private def beginsOf(rows: Source, bits: Int): Array[Int] = {
    val begins = new Array[Int]((1 << bits) + 1)
    var row = 0
    while (row < rows.count) {
      begins((rows.hash(row) >>> (32 - bits)) + 1) += 1
      row += 1
    }
    for (bucket <- 1 until begins.length) begins(bucket) += begins(bucket - 1)
    begins
  }
}
