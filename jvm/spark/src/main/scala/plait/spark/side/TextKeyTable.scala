// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.hash.Murmur3_x86_32

import plait.join.IndexMemory

/** Keys that are texts ([[KeyForm.Text]]), equal if their bytes are:
  *
  * {{{
  * 'JFK'      read in its row: hash of 3 bytes, compared with the 3 bytes of the group
  *            as a row of its own: 24 bytes written, hashed and compared
  * }}}
  */
class TextKeyTable(index: IndexMemory = IndexMemory.Uncounted) extends HashKeyTable(index) {
  override protected def hashOf(key: RowKey): Int = Murmur3_x86_32
    .hashUnsafeBytes(key.textBase, key.textOffset, key.textBytes, TextKeyTable.Seed)

  override protected def newGroup(index: IndexMemory): HashedKeyGroup =
    new TextKeyTable.Group(index)
}

object TextKeyTable {
  // Any number but 42, the seed of Spark's shuffle.
  private val Seed = 0x2545f491

  final private class Group(index: IndexMemory) extends HashedKeyGroup(index) {
    private var bytes = new Array[Byte](16)
    private var length = 0

    override private[side] def ownBytes: Long = 64L + bytes.length
    override private[side] def is(key: RowKey): Boolean =
      length == key.textBytes && ByteArrayMethods.arrayEquals(
        bytes,
        Platform.BYTE_ARRAY_OFFSET.toLong,
        key.textBase,
        key.textOffset,
        length.toLong
      )

    override private[side] def take(key: RowKey): Unit = {
      length = key.textBytes
      if (bytes.length < length) bytes = new Array[Byte](length)
      Platform.copyMemory(
        key.textBase,
        key.textOffset,
        bytes,
        Platform.BYTE_ARRAY_OFFSET.toLong,
        length.toLong
      )
    }
  }
}
