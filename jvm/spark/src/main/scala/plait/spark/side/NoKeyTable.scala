// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.join.IndexMemory

/** The one key of a join without an equality, which all rows have. Its hash is that of a key row without columns, as
  * [[RowKeyTable]] hashes it.
  */
class NoKeyTable(index: IndexMemory = IndexMemory.Uncounted) extends HashKeyTable(index) {
  override protected def hashOf(key: RowKey): Int = RowKeyTable.OfNoColumns
  override protected def newGroup(index: IndexMemory): HashedKeyGroup = new NoKeyTable.Group(index)
}

object NoKeyTable {
  final private class Group(index: IndexMemory) extends HashedKeyGroup(index) {
    override private[side] def ownBytes: Long = 64L
    override private[side] def is(key: RowKey): Boolean = true
    override private[side] def take(key: RowKey): Unit = ()
  }
}
