// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.hash.Murmur3_x86_32

import plait.join.IndexMemory

/** Keys that are rows ([[KeyForm.Columns]]). Equality is that of the bytes of the key row, as in
  * Spark's own hash joins.
  */
class RowKeyTable(index: IndexMemory = IndexMemory.Uncounted) extends HashKeyTable(index) {
  override protected def hashOf(key: RowKey): Int = {
    val row = key.key
    Murmur3_x86_32
      .hashUnsafeWords(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, RowKeyTable.Seed)
  }

  override protected def newGroup(index: IndexMemory): HashedKeyGroup =
    new RowKeyTable.Group(index)
}

object RowKeyTable {
  // Any number but 42, the seed of Spark's shuffle.
  private val Seed = 0x2545f491

  private[side] val OfNoColumns: Int =
    Murmur3_x86_32.hashUnsafeWords(Array.empty[Byte], Platform.BYTE_ARRAY_OFFSET.toLong, 0, Seed)

  final private class Group(index: IndexMemory) extends HashedKeyGroup(index) {
    private var bytes = new Array[Byte](16)
    private var length = 0

    override private[side] def ownBytes: Long = 64L + bytes.length
    override private[side] def is(key: RowKey): Boolean = {
      val row = key.key
      length == row.getSizeInBytes && ByteArrayMethods.arrayEquals(
        bytes,
        Platform.BYTE_ARRAY_OFFSET.toLong,
        row.getBaseObject,
        row.getBaseOffset,
        length.toLong
      )
    }

    override private[side] def take(key: RowKey): Unit = {
      length = key.key.getSizeInBytes
      if (bytes.length < length) bytes = new Array[Byte](length)
      key.key.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET.toLong)
    }
  }
}
