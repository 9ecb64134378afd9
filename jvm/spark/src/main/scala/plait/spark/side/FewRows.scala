// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Copies of a few rows, one behind the other: no more than [[FewRows.Most]] of them, of [[FewRows.Bytes]] together. */
final private[spark] class FewRows(fields: Int) {

  /** The first [[count]] of them, not to be written, valid until [[clear]] or the next [[add]]. */
  val rows: Array[UnsafeRow] = Array.fill(FewRows.Most)(new UnsafeRow(fields))
  private var bytes = new Array[Byte](1024)
  private var used = 0
  private var added = 0

  def count: Int = added

  def clear(): Unit = {
    used = 0
    added = 0
  }

  /** Adds it, if there is room.
    * @return
    *   whether there was
    */
  def add(row: UnsafeRow): Boolean = {
    val size = row.getSizeInBytes
    val hasRoom = added < FewRows.Most && used + size <= FewRows.Bytes
    if (hasRoom) put(row, size)
    hasRoom
  }

  private def put(row: UnsafeRow, size: Int): Unit = {
    if (used + size > bytes.length) widen(used + size)
    val at = Platform.BYTE_ARRAY_OFFSET.toLong + used
    RowBytes.copy(row, bytes, at)
    rows(added).pointTo(bytes, at, size)
    used += size
    added += 1
  }

  private def widen(size: Int): Unit = {
    bytes = java.util.Arrays.copyOf(bytes, math.max(size, 2 * bytes.length))
    for (row <- rows.take(added)) row.pointTo(bytes, row.getBaseOffset, row.getSizeInBytes)
  }
}

private[spark] object FewRows {
  val Most: Int = 256
  val Bytes: Int = 1 << 18
}
