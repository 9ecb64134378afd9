// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Arrays

/** Where the entries of some slots of a run stood once: `entry << 32 | slot`, sorted.
  *
  * {{{
  * entries 7, -1, 3, 9 in slots 4, 5, 6, 7       (3, 6) (7, 4) (9, 7)
  * }}}
  *
  * What it does not promise: that an entry still stands there. Slots move, so an answer is to be looked up.
  */
private[join] object RankedSlots {
  val Nowhere: Array[Long] = new Array[Long](0)
  private val None = -1
  private val SlotBytes = 8L

  /** What it takes of the heap. */
  def heapBytes(places: Array[Long]): Long =
    if (places.isEmpty) 0 else IndexMemory.ArrayHead + SlotBytes * places.length

  /** The slot that an entry stood in, or one that does not exist. */
  def of(places: Array[Long], entry: Int): Int = {
    val found = Arrays.binarySearch(places, entry.toLong << 32)
    val place = if (found >= 0) found else -found - 1
    if (place < places.length && (places(place) >> 32) == entry) places(place).toInt else None
  }

  /** Of the slots from `from` until `until`. */
  def over(entries: Array[Int], from: Int, until: Int): Array[Long] = {
    val places = new Array[Long](until - from)
    var count = 0
    var slot = from
    // Invariant: `count` entries stand in [from, slot).
    while (slot < until) {
      if (entries(slot) != Run.Hole) {
        places(count) = entries(slot).toLong << 32 | slot
        count += 1
      }
      slot += 1
    }
    Arrays.sort(places, 0, count)
    Arrays.copyOf(places, count)
  }
}
