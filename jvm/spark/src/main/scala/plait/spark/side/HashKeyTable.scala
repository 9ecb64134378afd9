// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.join.{KeyGroup, KeyTable}

/** A key with buffered rows, and its hash. */
abstract class HashedKeyGroup extends KeyGroup {
  final private[side] var hash = 0

  /** Is this its key? Asked only where the hashes are equal. */
  private[side] def is(key: RowKey): Boolean
  private[side] def take(key: RowKey): Unit
}

/** The keys that have buffered rows: open addressing with linear probing.
  *
  * A key leaves with its last row, by shifting back those behind it that would not be found across
  * the gap, so the table holds no tombstones and its size follows the keys at hand, not those seen.
  * Its hash is another than the one by which Spark's shuffle deals rows to tasks: the keys of one task
  * agree in the remainder of that one.
  */
abstract class HashKeyTable extends KeyTable[RowKey, KeyGroup] {
  private var slots = new Array[HashedKeyGroup](64)
  private var mask = slots.length - 1
  private var count = 0
  // Groups without rows, to be used again: near-unique keys come and go with every row.
  private val spare = new Array[HashedKeyGroup](1024)
  private var spareCount = 0

  /** The same in every run and on every machine: rows are stored by it. */
  final def hash(key: RowKey): Int = hashOf(key)

  protected def hashOf(key: RowKey): Int
  protected def newGroup(): HashedKeyGroup

  def size: Int = count

  def find(key: RowKey): HashedKeyGroup = slots(slotOf(key, hashOf(key)))

  def claim(key: RowKey): HashedKeyGroup = {
    val hash = hashOf(key)
    val slot = slotOf(key, hash)
    if (slots(slot) != null) slots(slot) else fill(slot, key, hash)
  }

  private def fill(slot: Int, key: RowKey, hash: Int): HashedKeyGroup = {
    val group = if (spareCount > 0) { spareCount -= 1; spare(spareCount) }
    else newGroup()
    group.hash = hash
    group.number = count
    group.take(key)
    slots(slot) = group
    count += 1
    if (count > slots.length / 2) widen()
    group
  }

  def release(key: KeyGroup): Unit = {
    val group = key.asInstanceOf[HashedKeyGroup]
    var gap = group.hash & mask
    while (slots(gap) ne group) gap = (gap + 1) & mask
    slots(gap) = null
    count -= 1
    var slot = (gap + 1) & mask
    // Invariant: `gap` is free, and every key between it and `slot` is found without crossing it.
    while (slots(slot) != null) {
      val home = slots(slot).hash & mask
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots(gap) = slots(slot)
        slots(slot) = null
        gap = slot
      }
      slot = (slot + 1) & mask
    }
    if (spareCount < spare.length) { spare(spareCount) = group; spareCount += 1 }
  }

  def releaseUnused(key: KeyGroup): Unit = if (key.isEmpty) release(key)

  def clear(): Unit = if (count > 0) {
    slots = new Array[HashedKeyGroup](64)
    mask = slots.length - 1
    count = 0
    spareCount = 0
    java.util.Arrays.fill(spare.asInstanceOf[Array[AnyRef]], null)
  }

  /** Where the key stands, or the free slot where it would. */
  private def slotOf(key: RowKey, hash: Int): Int = {
    var slot = hash & mask
    while (slots(slot) != null && !(slots(slot).hash == hash && slots(slot).is(key)))
      slot = (slot + 1) & mask
    slot
  }

  private def widen(): Unit = {
    val old = slots
    slots = new Array[HashedKeyGroup](old.length * 2)
    mask = slots.length - 1
    for (group <- old if group != null) {
      var slot = group.hash & mask
      while (slots(slot) != null) slot = (slot + 1) & mask
      slots(slot) = group
    }
  }
}

object HashKeyTable {
  def of(form: KeyForm): HashKeyTable = form match {
    case _: KeyForm.Whole => new WholeKeyTable
    case _: KeyForm.Columns => new RowKeyTable
  }
}
