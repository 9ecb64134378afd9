// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.util

import org.apache.spark.sql.catalyst.expressions.{UnsafeArrayData, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.unsafe.Platform

import plait.Side
import plait.stream._

/** The [[ChunkStore]] of one side, in Spark's state store (see [[StateLayout]]). */
final class StateChunkStore(store: StateStore, side: Side, layout: StateLayout)
    extends ChunkStore[UnsafeRow] {
  import StateLayout._

  private val key = new StateLayout.Key(side)
  private val value = new StateValue

  private def get(kind: Byte, segment: Long, number: Int): UnsafeRow =
    store.get(key(kind, segment, number))

  private def put(kind: Byte, segment: Long, number: Int): Unit =
    store.put(key(kind, segment, number), value.finish())

  private def longs(row: UnsafeRow, field: Int): Array[Long] = row.getArray(field).toLongArray

  private def putLongs(
      kind: Byte,
      segment: Long,
      number: Int,
      field: Int,
      of: Array[Long]
  ): Unit = {
    value.begin()
    value.longs(field, of, of.length)
    put(kind, segment, number)
  }

  def root(): Option[StoreRoot] = Option(get(Root, 0L, 0)).map { row =>
    val numbers = longs(row, Numbers)
    if (numbers(0) != Version) throw StateFormatException.ofVersion(numbers(0))
    StoreRoot(numbers(1), numbers(2), numbers.drop(3).toSeq)
  }

  def saveRoot(root: StoreRoot): Unit = {
    val numbers = Array(Version, root.nextSegment, root.frontier) ++ root.segments
    putLongs(Root, 0L, 0, Numbers, numbers)
  }

  def segment(id: Long): Segment =
    Segment.decoded(id, longs(get(SegmentKind, id, 0), Numbers))

  def saveSegment(segment: Segment): Unit =
    putLongs(SegmentKind, segment.id, 0, Numbers, Segment.encoded(segment))

  def removeSegment(id: Long): Unit = store.remove(key(SegmentKind, id, 0))

  def chunk(segment: Long, number: Int): Chunk[UnsafeRow] =
    new StateChunkStore.Stored(get(ChunkKind, segment, number), side, layout.width(side))

  def removeChunk(segment: Long, number: Int): Unit = store.remove(key(ChunkKind, segment, number))

  def bits(segment: Long, number: Int): Array[Long] = {
    val row = get(BitsKind, segment, number)
    if (row == null) null else longs(row, Bits)
  }

  def saveBits(segment: Long, number: Int, bits: Array[Long]): Unit =
    putLongs(BitsKind, segment, number, Bits, bits)

  def removeBits(segment: Long, number: Int): Unit = store.remove(key(BitsKind, segment, number))

  def newBuilder(): ChunkBuilder[UnsafeRow] = new Builder

  final private class Builder extends ChunkBuilder[UnsafeRow] {
    val summary = new ChunkSummary
    private val hashes = new Array[Int](StateChunkStore.MostRows)
    private val ranks = new Array[Long](StateChunkStore.MostRows)
    private val ends = new Array[Long](StateChunkStore.MostRows)
    private var bytes = new Array[Byte](StateChunkStore.FullBytes)
    private val until = new Array[Int](StateChunkStore.MostRows)
    private var used = 0

    def add(hash: Int, rank: Long, end: Long, row: UnsafeRow): Unit = {
      val i = summary.rows
      hashes(i) = hash
      ranks(i) = rank
      ends(i) = end
      val size = row.getSizeInBytes
      if (used + size > bytes.length)
        bytes = util.Arrays.copyOf(bytes, math.max(bytes.length * 2, used + size))
      row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong)
      used += size
      until(i) = used
      summary.note(hash, rank, end, size)
    }

    def isFull: Boolean =
      summary.rows == StateChunkStore.MostRows || used >= StateChunkStore.FullBytes

    def put(segment: Long, number: Int): Unit = {
      val count = summary.rows
      value.begin()
      value.ints(Hashes, hashes, count)
      value.longs(Ranks, ranks, count)
      value.longs(Ends, ends, count)
      value.rows(rows(side), bytes, until, count)
      StateChunkStore.this.put(ChunkKind, segment, number)
      summary.clear()
      used = 0
    }
  }
}

object StateChunkStore {

  /** So that the look-up of a few rows reads little, and a batch of many writes few entries. */
  private val MostRows = 256
  private val FullBytes = 16 * 1024

  /** A chunk as it lies in the store; nothing is copied. */
  final private class Stored(value: UnsafeRow, side: Side, width: Int) extends Chunk[UnsafeRow] {
    private val hashes = value.getArray(StateLayout.Hashes)
    private val ranks = value.getArray(StateLayout.Ranks)
    private val ends = value.getArray(StateLayout.Ends)
    private val rows: UnsafeArrayData = value.getArray(StateLayout.rows(side))
    private val shown = new UnsafeRow(width)

    val size: Int = hashes.numElements
    def hash(i: Int): Int = hashes.getInt(i)
    def rank(i: Int): Long = ranks.getLong(i)
    def end(i: Int): Long = ends.getLong(i)

    def row(i: Int): UnsafeRow = {
      val offsetAndSize = rows.getLong(i)
      shown.pointTo(
        rows.getBaseObject,
        rows.getBaseOffset + (offsetAndSize >>> 32),
        offsetAndSize.toInt
      )
      shown
    }
  }
}

/** The state was written by a Plait that laid it out otherwise. */
final class StateFormatException(message: String) extends IllegalStateException(message)

object StateFormatException {
  def ofVersion(found: Long): StateFormatException = new StateFormatException(
    s"The state of this join was written in format $found, and this version of Plait reads format " +
      s"${StateLayout.Version}. Go on with the version that wrote it, or start the query with a new checkpoint."
  )
}
