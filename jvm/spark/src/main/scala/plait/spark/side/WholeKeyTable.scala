// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.join.IndexMemory

/** Keys that fit a long ([[KeyForm.Whole]]). */
class WholeKeyTable(index: IndexMemory = IndexMemory.Uncounted) extends HashKeyTable(index) {
  // Fibonacci hashing: the golden ratio spreads neighbours over the upper half.
  override protected def hashOf(key: RowKey): Int = spread(key.keyValue)

  // A double that is a whole number ends in zeros, and so does its product: its upper bits come down first. Longs that
  // follow one another stay so.
  override protected def slotHashOf(key: RowKey): Int = spread(key.keyValue ^ key.keyValue >>> 29)

  private def spread(value: Long): Int = (value * 0x9e3779b97f4a7c15L >>> 32).toInt

  override protected def newGroup(index: IndexMemory): HashedKeyGroup =
    new WholeKeyTable.Group(index)
}

object WholeKeyTable {
  final private class Group(index: IndexMemory) extends HashedKeyGroup(index) {
    private var value = 0L
    override private[side] def ownBytes: Long = 48L
    override private[side] def is(key: RowKey): Boolean = value == key.keyValue
    override private[side] def take(key: RowKey): Unit = value = key.keyValue
  }
}
