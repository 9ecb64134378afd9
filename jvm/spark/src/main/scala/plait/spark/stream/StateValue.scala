// SPDX-License-Identifier: Apache-2.0
package plait.spark.stream

import java.util

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Writes a value of [[StateLayout]] in the bytes of an `UnsafeRow`, field by field and array by array,
  * without an object an element:
  *
  * {{{
  * bytes    8 NULL bits   7 x 8 (offset, size)   hashes   ranks   ends   rows
  * array    8 count       NULL bits              elements, filled up to 8 bytes
  * rows     8 count       NULL bits              (offset, size) each      the bytes of each row
  * }}}
  */
final private[stream] class StateValue {
  private val row = new UnsafeRow(StateLayout.Fields)
  private var bytes = new Array[Byte](4096)
  private var end = 0

  def begin(): Unit = {
    end = StateValue.FixedBytes
    // All fields are NULL until they are set.
    util.Arrays.fill(bytes, 0, end, 0.toByte)
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, (1L << StateLayout.Fields) - 1)
  }

  def longs(field: Int, values: Array[Long], count: Int): Unit = {
    val start = beginArray(count, 8)
    Platform.copyMemory(
      values,
      Platform.LONG_ARRAY_OFFSET.toLong,
      bytes,
      Platform.BYTE_ARRAY_OFFSET + end.toLong,
      8L * count
    )
    end += 8 * count
    set(field, start)
  }

  def ints(field: Int, values: Array[Int], count: Int): Unit = {
    val start = beginArray(count, 4)
    Platform.copyMemory(
      values,
      Platform.INT_ARRAY_OFFSET.toLong,
      bytes,
      Platform.BYTE_ARRAY_OFFSET + end.toLong,
      4L * count
    )
    end += StateValue.rounded(4 * count)
    set(field, start)
  }

  /** Rows that lie one behind the other, each of whole words.
    * @param ends
    *   where each one ends
    */
  def rows(field: Int, source: Array[Byte], ends: Array[Int], count: Int): Unit = {
    val length = if (count == 0) 0 else ends(count - 1)
    val start = beginArray(count, 8)
    room(8 * count + length)
    val header = StateValue.arrayHeader(count)
    var i = 0
    var from = 0
    // Invariant: the elements before i point to their bytes.
    while (i < count) {
      val offset = header + 8 * count + from
      Platform.putLong(
        bytes,
        Platform.BYTE_ARRAY_OFFSET + end.toLong + 8L * i,
        (offset.toLong << 32) | (ends(i) - from)
      )
      from = ends(i)
      i += 1
    }
    end += 8 * count
    System.arraycopy(source, 0, bytes, end, length)
    end += length
    set(field, start)
  }

  /** The row, valid until the next `begin`. */
  def finish(): UnsafeRow = {
    row.pointTo(bytes, end)
    row
  }

  private def beginArray(count: Int, width: Int): Int = {
    val header = StateValue.arrayHeader(count)
    room(header + StateValue.rounded(width * count))
    util.Arrays.fill(
      bytes,
      end,
      end + header + StateValue.rounded(width * count),
      0.toByte
    )
    Platform.putLong(bytes, Platform.BYTE_ARRAY_OFFSET + end.toLong, count.toLong)
    val start = end
    end += header
    start
  }

  private def set(field: Int, start: Int): Unit = {
    val base = Platform.BYTE_ARRAY_OFFSET.toLong
    val nulls = Platform.getLong(bytes, base)
    Platform.putLong(bytes, base, nulls & ~(1L << field))
    Platform.putLong(bytes, base + 8 + 8L * field, (start.toLong << 32) | (end - start))
  }

  private def room(more: Int): Unit =
    if (end + more > bytes.length)
      bytes = util.Arrays.copyOf(bytes, math.max(bytes.length * 2, end + more))
}

private[stream] object StateValue {
  val FixedBytes: Int = 8 + 8 * StateLayout.Fields

  def rounded(bytes: Int): Int = (bytes + 7) / 8 * 8
  def arrayHeader(count: Int): Int = 8 + (count + 63) / 64 * 8
}
