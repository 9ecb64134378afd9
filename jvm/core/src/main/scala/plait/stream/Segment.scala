// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util.function.LongBinaryOperator

/** What is known of a segment's chunks without reading them.
  *
  * A *segment* is the rows of one side and one band ([[Bands]]) that one batch stored, or that were put together
  * later: by the hash of their key, cut into chunks.
  *
  * {{{
  * segment 7    chunk   hashes         rows  live   ranks        ends         bytes
  *                0     -90 .. -12     256   256    100 .. 140   110 .. 150   14336
  *                1     -12 ..  41     256    80    100 .. 139   121 .. 149   14336    176 of it are dead or gone
  *                2      43 ..  88     100     0                                    0    removed
  * }}}
  *
  * Conventions:
  *   1. Chunks follow each other by hash; rows of one hash may lie in two.
  *   2. `live` counts the rows that may still match or come out. A chunk without any is not stored.
  *   3. Bytes are those of all rows that are stored, dead ones too.
  *   4. The least of the ends is that of the live rows; ranks are those of all rows that were ever
  *      there, so a superset.
  *
  * @param id
  *   a later segment of a side has a greater one
  * @param born
  *   when its youngest row was stored, as the [[Lifetime]] counts
  */
final class Segment(val id: Long, val chunks: Int, var born: Long) {
  val firstHash: Array[Int] = new Array[Int](chunks)
  val lastHash: Array[Int] = new Array[Int](chunks)
  val rows: Array[Int] = new Array[Int](chunks)
  val live: Array[Int] = new Array[Int](chunks)
  val minRank: Array[Long] = new Array[Long](chunks)
  val maxRank: Array[Long] = new Array[Long](chunks)
  val minEnd: Array[Long] = new Array[Long](chunks)
  val maxEnd: Array[Long] = new Array[Long](chunks)
  val bytes: Array[Int] = new Array[Int](chunks)

  /** Whether it differs from what is stored of it. */
  var isChanged: Boolean = false

  /** Of the chunks that cleaning has read in this batch: rows that have left, and rows that have not. */
  var cleaned: Int = 0
  var readInVain: Int = 0

  /** No live row has a lower rank. */
  def leastRank: Long = ofLive(minRank, Long.MaxValue)(math.min)

  /** When the first of its live rows leaves. */
  def firstEnd: Long = ofLive(minEnd, Long.MaxValue)(math.min)

  /** When the last does; `Long.MaxValue` if some never do, or there are none. */
  def lastEnd: Long = {
    val last = ofLive(maxEnd, Long.MinValue)(math.max)
    if (last == Long.MinValue) Long.MaxValue else last
  }

  private def ofLive(numbers: Array[Long], none: Long)(pick: LongBinaryOperator): Long = {
    var picked = none
    var i = 0
    // What was picked of the live chunks before i.
    while (i < chunks) {
      if (live(i) > 0) picked = pick.applyAsLong(picked, numbers(i))
      i += 1
    }
    picked
  }

  private def liveChunks = (0 until chunks).iterator.filter(live(_) > 0)

  def liveRows: Long = {
    var sum = 0L
    var i = 0
    // The live rows of the chunks before i.
    while (i < chunks) {
      sum += live(i)
      i += 1
    }
    sum
  }

  /** Of the chunks that are stored. */
  def storedBytes: Long = liveChunks.map(bytes(_).toLong).sum

  /** The first chunk that may hold a hash of at least `hash`, or `chunks`. */
  def firstChunkFor(hash: Int): Int = {
    var low = 0
    var high = chunks
    // Invariant: chunks before `low` end below `hash`, those from `high` on do not.
    while (low < high) {
      val middle = (low + high) >>> 1
      if (lastHash(middle) < hash) low = middle + 1 else high = middle
    }
    low
  }

  /** Notes what a chunk holds that has just been built. */
  def describe(chunk: Int, built: ChunkSummary): Unit = {
    firstHash(chunk) = built.firstHash
    lastHash(chunk) = built.lastHash
    rows(chunk) = built.rows
    live(chunk) = built.rows
    minRank(chunk) = built.minRank
    maxRank(chunk) = built.maxRank
    minEnd(chunk) = built.minEnd
    maxEnd(chunk) = built.maxEnd
    bytes(chunk) = built.bytes
    isChanged = true
  }
}

object Segment {

  /** How many numbers describe a chunk; before them stands when the segment was born. */
  private val Width = 9

  /** As numbers, to be stored. */
  def encoded(segment: Segment): Array[Long] = {
    val to = new Array[Long](1 + segment.chunks * Width)
    to(0) = segment.born
    for (i <- 0 until segment.chunks) {
      val at = 1 + i * Width
      to(at) = segment.firstHash(i).toLong
      to(at + 1) = segment.lastHash(i).toLong
      to(at + 2) = segment.rows(i).toLong
      to(at + 3) = segment.live(i).toLong
      to(at + 4) = segment.minRank(i)
      to(at + 5) = segment.maxRank(i)
      to(at + 6) = segment.minEnd(i)
      to(at + 7) = segment.maxEnd(i)
      to(at + 8) = segment.bytes(i).toLong
    }
    to
  }

  def decoded(id: Long, from: Array[Long]): Segment = {
    val segment = new Segment(id, from.length / Width, from(0))
    for (i <- 0 until segment.chunks) {
      val at = 1 + i * Width
      segment.firstHash(i) = from(at).toInt
      segment.lastHash(i) = from(at + 1).toInt
      segment.rows(i) = from(at + 2).toInt
      segment.live(i) = from(at + 3).toInt
      segment.minRank(i) = from(at + 4)
      segment.maxRank(i) = from(at + 5)
      segment.minEnd(i) = from(at + 6)
      segment.maxEnd(i) = from(at + 7)
      segment.bytes(i) = from(at + 8).toInt
    }
    segment
  }
}

/** What a chunk holds, told by who has built it. */
final class ChunkSummary {
  var rows: Int = 0
  var firstHash: Int = 0
  var lastHash: Int = 0
  var minRank: Long = Long.MaxValue
  var maxRank: Long = Long.MinValue
  var minEnd: Long = Long.MaxValue
  var maxEnd: Long = Long.MinValue
  var bytes: Int = 0

  def note(hash: Int, rank: Long, end: Long, size: Int): Unit = {
    if (rows == 0) firstHash = hash
    lastHash = hash
    rows += 1
    minRank = math.min(minRank, rank)
    maxRank = math.max(maxRank, rank)
    minEnd = math.min(minEnd, end)
    maxEnd = math.max(maxEnd, end)
    bytes += size
  }

  def copy(): ChunkSummary = {
    val other = new ChunkSummary
    other.rows = rows
    other.firstHash = firstHash
    other.lastHash = lastHash
    other.minRank = minRank
    other.maxRank = maxRank
    other.minEnd = minEnd
    other.maxEnd = maxEnd
    other.bytes = bytes
    other
  }

  def clear(): Unit = {
    rows = 0
    minRank = Long.MaxValue
    maxRank = Long.MinValue
    minEnd = Long.MaxValue
    maxEnd = Long.MinValue
    bytes = 0
  }
}
