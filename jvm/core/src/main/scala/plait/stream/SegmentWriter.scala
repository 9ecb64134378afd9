// SPDX-License-Identifier: Apache-2.0
package plait.stream

import scala.collection.mutable.ArrayBuffer

/** Writes rows that come by the hash of their key as one segment, chunk by chunk.
  *
  * @param builder
  *   no other segment is written with it at the same time
  */
final private[stream] class SegmentWriter[R >: Null <: AnyRef](
    store: ChunkStore[R],
    builder: ChunkBuilder[R],
    id: Long,
    born: Long
) {
  private val summaries = new ArrayBuffer[ChunkSummary]
  private val bits = new ChunkBits

  def add(hash: Int, rank: Long, end: Long, mark: Mark, row: R): Unit = {
    if (mark eq Mark.Set) bits.set(builder.summary.rows)
    builder.add(hash, rank, end, row)
    if (builder.isFull || builder.summary.rows == Place.MostRows) cut()
  }

  private def cut(): Unit = {
    summaries += builder.summary.copy()
    if (!bits.isEmpty) store.saveBits(id, summaries.size - 1, bits.taken())
    builder.put(id, summaries.size - 1)
  }

  /** The segment of the rows added, one at least. It is not saved yet. */
  def finish(): Segment = {
    if (builder.summary.rows > 0) cut()
    val segment = new Segment(id, summaries.size, born)
    for (i <- summaries.indices) segment.describe(i, summaries(i))
    segment
  }
}

/** What the one bit of a stored row says. */
sealed trait Mark
object Mark {
  case object Set extends Mark
  case object Unset extends Mark

  /** Of a row of a chunk. */
  def of(bits: Array[Long], row: Int): Mark = if (ChunkBits.isSet(bits, row)) Set else Unset
}

/** The bits of a chunk that is being written. */
final private[stream] class ChunkBits {
  private val words = new Array[Long](Place.MostRows / 64)
  private var used = 0

  def isEmpty: Boolean = used == 0

  def set(row: Int): Unit = {
    words(row >> 6) |= 1L << row
    used = math.max(used, (row >> 6) + 1)
  }

  /** The words, which are forgotten here. */
  def taken(): Array[Long] = {
    val result = java.util.Arrays.copyOf(words, used)
    java.util.Arrays.fill(words, 0L)
    used = 0
    result
  }
}

private[stream] object ChunkBits {
  def isSet(bits: Array[Long], row: Int): Boolean =
    bits != null && (row >> 6) < bits.length && (bits(row >> 6) & (1L << row)) != 0

  /** With the bit set, in the same words if they reach as far. */
  def withBit(bits: Array[Long], row: Int): Array[Long] = {
    val needed = (row >> 6) + 1
    val words =
      if (bits == null) new Array[Long](needed)
      else if (bits.length < needed) java.util.Arrays.copyOf(bits, needed)
      else bits
    words(row >> 6) |= 1L << row
    words
  }
}
