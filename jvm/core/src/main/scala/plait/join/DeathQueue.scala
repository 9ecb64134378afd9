// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Buffered rows by the end of their reach, the earliest first.
  *
  * Rows mostly arrive in the sequence in which they die (`r.s > l.s - 5`: a later row has a later
  * end). Those stand in a ring, where adding and taking cost a step. A row whose end lies before the
  * ring's last (`r.t BETWEEN l.start AND l.stop`) goes to a binary heap instead.
  *
  * {{{
  * add ends 5, 9, 7, 9      ring 5 9 9     heap 7      taken: 5, 7, 9, 9
  * }}}
  */
final class DeathQueue(index: IndexMemory = IndexMemory.Uncounted) {
  // The ring holds [head, head + count) modulo its length, which is a power of two.
  private var ringEnds = new Array[Long](DeathQueue.InitialCapacity)
  private var ringEntries = new Array[Int](DeathQueue.InitialCapacity)
  private var head = 0
  private var count = 0

  private var heapEnds = new Array[Long](DeathQueue.InitialCapacity)
  private var heapEntries = new Array[Int](DeathQueue.InitialCapacity)
  private var heapSize = 0

  def isEmpty: Boolean = count == 0 && heapSize == 0

  def add(end: Long, entry: Int): Unit =
    if (count == 0 || ringEnds((head + count - 1) & (ringEnds.length - 1)) <= end) {
      if (count == ringEnds.length) widenRing()
      val slot = (head + count) & (ringEnds.length - 1)
      ringEnds(slot) = end
      ringEntries(slot) = entry
      count += 1
    } else push(end, entry)

  /** Whether a row's reach ends before the frontier. */
  def hasBelow(frontier: Long): Boolean =
    (count > 0 && ringEnds(head) < frontier) || (heapSize > 0 && heapEnds(0) < frontier)

  /** The entry with the earliest end. The queue must not be empty. */
  def take(): Int =
    if (heapSize == 0 || (count > 0 && ringEnds(head) <= heapEnds(0))) {
      val entry = ringEntries(head)
      head = (head + 1) & (ringEnds.length - 1)
      count -= 1
      entry
    } else pop()

  def clear(): Unit = {
    head = 0
    count = 0
    heapSize = 0
  }

  private def widenRing(): Unit = {
    val size = ringEnds.length
    index.add(DeathQueue.SlotBytes * size)
    val ends = new Array[Long](size * 2)
    val entries = new Array[Int](size * 2)
    System.arraycopy(ringEnds, head, ends, 0, size - head)
    System.arraycopy(ringEnds, 0, ends, size - head, head)
    System.arraycopy(ringEntries, head, entries, 0, size - head)
    System.arraycopy(ringEntries, 0, entries, size - head, head)
    ringEnds = ends
    ringEntries = entries
    head = 0
  }

  private def push(end: Long, entry: Int): Unit = {
    if (heapSize == heapEnds.length) {
      index.add(DeathQueue.SlotBytes * heapSize)
      heapEnds = java.util.Arrays.copyOf(heapEnds, heapSize * 2)
      heapEntries = java.util.Arrays.copyOf(heapEntries, heapSize * 2)
    }
    var slot = heapSize
    heapSize += 1
    // Invariant: the heap is in order but for `slot`, which is free and whose subtree ends later.
    while (slot > 0 && heapEnds((slot - 1) >> 1) > end) {
      set(slot, (slot - 1) >> 1)
      slot = (slot - 1) >> 1
    }
    heapEnds(slot) = end
    heapEntries(slot) = entry
  }

  private def pop(): Int = {
    val entry = heapEntries(0)
    heapSize -= 1
    val end = heapEnds(heapSize)
    val last = heapEntries(heapSize)
    var slot = 0
    var child = 1
    // Invariant: the heap is in order but for `slot`, which is free and whose parent ends earlier.
    while (child < heapSize) {
      if (child + 1 < heapSize && heapEnds(child + 1) < heapEnds(child)) child += 1
      if (heapEnds(child) < end) {
        set(slot, child)
        slot = child
        child = 2 * slot + 1
      } else child = Int.MaxValue
    }
    heapEnds(slot) = end
    heapEntries(slot) = last
    entry
  }

  private def set(to: Int, from: Int): Unit = {
    heapEnds(to) = heapEnds(from)
    heapEntries(to) = heapEntries(from)
  }
}

object DeathQueue {
  private val InitialCapacity = 16
  // An end and an entry.
  private val SlotBytes = 12L
}
