// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.join.{IndexMemory, KeyGroup, KeyTable}

/** A key with buffered rows, and its hash. */
abstract class HashedKeyGroup(index: IndexMemory) extends KeyGroup(index) {
  final private[side] var hash = 0

  /** It has no rows, and stands in the table all the same. */
  final private[side] var isIdle = false

  /** It is among those that the table looks at when it has too many idle ones. */
  final private[side] var isListed = false

  /** What it and its key take of the heap, but for its runs. */
  private[side] def ownBytes: Long

  /** Is this its key? Asked only where the hashes are equal. */
  private[side] def is(key: RowKey): Boolean
  private[side] def take(key: RowKey): Unit
}

/** The keys that have buffered rows: open addressing with linear probing.
  *
  * A key whose last row has gone is *idle*: it stays for a while, for where few rows are held they are mostly of keys that
  * come again at once. Those that became idle are listed in a ring, and the one whose place is taken leaves, if it still is
  * or again is idle; then those behind it are shifted back that would not be found across the gap. So the table holds no
  * tombstones, and its size follows the keys at hand, not those seen.
  *
  * {{{
  * a ring of 3     7, 8, 9 become idle      7 comes again, found where it stands      4 becomes idle, in the place of 7
  *                                          then 5, in the place of 8: 8 leaves
  * }}}
  *
  * Its hash is another than the one by which Spark's shuffle deals rows to tasks: the keys of one task
  * agree in the remainder of that one.
  */
abstract class HashKeyTable(index: IndexMemory) extends KeyTable[RowKey, KeyGroup] {
  // Of slots, groups and their runs.
  private val memory = new IndexMemory.Part(index)
  private var slots = new Array[HashedKeyGroup](64)
  // The hash of the key of a slot, 0 if it is free: a group lies elsewhere in memory, and most that a search
  // meets are not looked for.
  private var hashes = new Array[Int](64)
  private var mask = slots.length - 1
  private var count = 0
  // How many of them are idle, and the ring.
  private var idleCount = 0
  private val idle = new Array[HashedKeyGroup](HashKeyTable.MostIdle)
  private var oldest = 0
  // Groups without rows, to be used again: near-unique keys come and go with every row.
  private val spare = new Array[HashedKeyGroup](1024)
  private var spareCount = 0

  /** The same in every run and on every machine: rows are stored by it. */
  final def hash(key: RowKey): Int = hashOf(key)

  protected def hashOf(key: RowKey): Int

  protected def newGroup(index: IndexMemory): HashedKeyGroup

  /** How many keys have rows, or are about to. */
  def size: Int = count - idleCount

  /** A hash by whose lower bits keys are told apart, too: a key has its slot by them. */
  protected def slotHashOf(key: RowKey): Int = hashOf(key)

  private[spark] def slotHash(key: RowKey): Int = {
    val hash = slotHashOf(key)
    if (hash == 0) 1 else hash
  }

  def find(key: RowKey): HashedKeyGroup = {
    val group = slots(slotOf(key, slotHash(key)))
    if (group == null || group.isIdle) null else group
  }

  def claim(key: RowKey): HashedKeyGroup = {
    val hash = slotHash(key)
    val slot = slotOf(key, hash)
    val group = slots(slot)
    if (group == null) fill(slot, key, hash)
    else {
      if (group.isIdle) {
        group.isIdle = false
        idleCount -= 1
      }
      group
    }
  }

  private def fill(slot: Int, key: RowKey, hash: Int): HashedKeyGroup = {
    val group = spareOrNew()
    group.hash = hash
    group.number = count
    take(group, key)
    slots(slot) = group
    hashes(slot) = hash
    count += 1
    if (count > slots.length / 2) widen()
    group
  }

  private def spareOrNew(): HashedKeyGroup =
    if (spareCount > 0) { spareCount -= 1; spare(spareCount) }
    else {
      val group = newGroup(memory)
      memory.add(group.ownBytes)
      group
    }

  private def take(group: HashedKeyGroup, key: RowKey): Unit = {
    val before = group.ownBytes
    group.take(key)
    if (group.ownBytes != before) memory.add(group.ownBytes - before)
  }

  def release(key: KeyGroup): Unit = {
    val group = key.asInstanceOf[HashedKeyGroup]
    group.isIdle = true
    idleCount += 1
    if (!group.isListed) list(group)
  }

  /** Takes the place of the oldest in the list, which leaves the table if it still is idle. */
  private def list(group: HashedKeyGroup): Unit = {
    val before = idle(oldest)
    idle(oldest) = group
    group.isListed = true
    oldest = (oldest + 1) & (idle.length - 1)
    if (before != null) {
      before.isListed = false
      if (before.isIdle) leave(before)
    }
  }

  private def leave(group: HashedKeyGroup): Unit = {
    group.isIdle = false
    idleCount -= 1
    var gap = group.hash & mask
    while (slots(gap) ne group) gap = (gap + 1) & mask
    count -= 1
    var slot = (gap + 1) & mask
    // Invariant: what stands at `gap` is not wanted there, and every key between it and `slot` is found without
    // crossing it.
    while (hashes(slot) != 0) {
      val home = hashes(slot) & mask
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots(gap) = slots(slot)
        hashes(gap) = hashes(slot)
        gap = slot
      }
      slot = (slot + 1) & mask
    }
    slots(gap) = null
    hashes(gap) = 0
    if (spareCount < spare.length) { spare(spareCount) = group; spareCount += 1 }
    else memory.add(-group.ownBytes - group.runBytes)
  }

  def releaseUnused(key: KeyGroup): Unit = if (key.isEmpty) release(key)

  def clear(): Unit = if (count > 0) {
    slots = new Array[HashedKeyGroup](64)
    hashes = new Array[Int](64)
    mask = slots.length - 1
    count = 0
    idleCount = 0
    spareCount = 0
    memory.clear()
    java.util.Arrays.fill(idle.asInstanceOf[Array[AnyRef]], null)
    java.util.Arrays.fill(spare.asInstanceOf[Array[AnyRef]], null)
  }

  /** Where the key stands, or the free slot where it would. */
  private def slotOf(key: RowKey, hash: Int): Int = {
    var slot = hash & mask
    // Invariant: the key stands in no slot before this one.
    while (hashes(slot) != 0 && !(hashes(slot) == hash && slots(slot).is(key)))
      slot = (slot + 1) & mask
    slot
  }

  private def widen(): Unit = {
    val (oldSlots, oldHashes) = (slots, hashes)
    memory.add(HashKeyTable.SlotBytes * oldSlots.length)
    slots = new Array[HashedKeyGroup](oldSlots.length * 2)
    hashes = new Array[Int](slots.length)
    mask = slots.length - 1
    for (i <- oldSlots.indices if oldHashes(i) != 0) {
      var slot = oldHashes(i) & mask
      while (hashes(slot) != 0) slot = (slot + 1) & mask
      slots(slot) = oldSlots(i)
      hashes(slot) = oldHashes(i)
    }
  }
}

object HashKeyTable {
  // A group and a hash.
  private val SlotBytes = 8L

  /** A power of two; their groups fit the fastest cache. */
  private val MostIdle = 256

  def of(form: KeyForm, index: IndexMemory = IndexMemory.Uncounted): HashKeyTable = form match {
    case _: KeyForm.Whole => new WholeKeyTable(index)
    case _: KeyForm.Text => new TextKeyTable(index)
    case KeyForm.Columns(Seq()) => new NoKeyTable(index)
    case _: KeyForm.Columns => new RowKeyTable(index)
  }
}
