// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

import plait.join.{KeyGroup, KeyTable}

/** A key with buffered rows, its bytes and their hash. */
final class UnsafeKeyGroup extends KeyGroup {
  private[side] var hash = 0
  private[side] var bytes = new Array[Byte](16)
  private[side] var length = 0

  private[side] def set(key: UnsafeRow, hash: Int): Unit = {
    this.hash = hash
    length = key.getSizeInBytes
    if (bytes.length < length) bytes = new Array[Byte](length)
    key.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET.toLong)
  }

  private[side] def is(key: UnsafeRow, hash: Int): Boolean =
    this.hash == hash && length == key.getSizeInBytes && ByteArrayMethods.arrayEquals(
      bytes,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      key.getBaseObject,
      key.getBaseOffset,
      length.toLong
    )
}

/** The keys that have buffered rows: open addressing with linear probing.
  *
  * A key leaves with its last row, by shifting back those behind it that would not be found across
  * the gap, so the table holds no tombstones and its size follows the keys at hand, not those seen.
  * Equality is that of the bytes of the key row, as in Spark's own hash joins.
  */
final class UnsafeKeyTable extends KeyTable[UnsafeRow, KeyGroup] {
  private var slots = new Array[UnsafeKeyGroup](64)
  private var mask = slots.length - 1
  private var count = 0
  // Groups without rows, to be used again: near-unique keys come and go with every row.
  private val spare = new Array[UnsafeKeyGroup](1024)
  private var spareCount = 0

  def size: Int = count

  def find(key: UnsafeRow): KeyGroup = slots(slotOf(key, hashOf(key)))

  def claim(key: UnsafeRow): KeyGroup = {
    val hash = hashOf(key)
    val slot = slotOf(key, hash)
    if (slots(slot) != null) slots(slot)
    else {
      val group = if (spareCount > 0) { spareCount -= 1; spare(spareCount) }
      else new UnsafeKeyGroup
      group.set(key, hash)
      slots(slot) = group
      count += 1
      if (count > slots.length / 2) widen()
      group
    }
  }

  def release(key: KeyGroup): Unit = {
    val group = key.asInstanceOf[UnsafeKeyGroup]
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

  private def hashOf(key: UnsafeRow): Int = key.hashCode

  /** Where the key stands, or the free slot where it would. */
  private def slotOf(key: UnsafeRow, hash: Int): Int = {
    var slot = hash & mask
    while (slots(slot) != null && !slots(slot).is(key, hash)) slot = (slot + 1) & mask
    slot
  }

  private def widen(): Unit = {
    val old = slots
    slots = new Array[UnsafeKeyGroup](old.length * 2)
    mask = slots.length - 1
    for (group <- old if group != null) {
      var slot = group.hash & mask
      while (slots(slot) != null) slot = (slot + 1) & mask
      slots(slot) = group
    }
  }
}
