// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.Side

/** The rows of one key: a run a side. */
class KeyGroup {
  private val left = new Run
  private val right = new Run
  def run(side: Side): Run = if (side eq Side.Left) left else right
  def isEmpty: Boolean = left.isEmpty && right.isEmpty
}

/** A [[RowBuffer]] in memory: runs by key for probing, a [[DeathQueue]] for cleaning.
  *
  * Both name a row by its *entry*, an index into parallel arrays:
  *
  * {{{
  * group 'JFK'   left run   ranks 10 12     entry   rank  handle   group
  *                        entries  0  2       0      10   0x010    JFK
  * death queue   ends 15 19 22                1      11   0x230    LGA      the row's bytes lie at
  *            entries  0  1  2                2      12   0x048    JFK      `handle` in the store
  * }}}
  *
  * Cleaning costs what it removes; a probe costs a binary search and what it finds.
  */
final class MemoryRowBuffer[R >: Null <: AnyRef](
    side: Side,
    keys: KeyTable[_, KeyGroup],
    store: RowStore[R]
) extends RowBuffer[KeyGroup, R] {
  private var ranks = new Array[Long](MemoryRowBuffer.InitialCapacity)
  private var handles = new Array[Long](MemoryRowBuffer.InitialCapacity)
  private var groups = new Array[KeyGroup](MemoryRowBuffer.InitialCapacity)
  private var free = new Array[Int](MemoryRowBuffer.InitialCapacity)
  private var freeCount = 0
  private var used = 0
  private var rows = 0L
  private val dying = new DeathQueue

  // The probe under way: slots [slot, run.until) of its run are still to be looked at.
  private var run: Run = _
  private var slot = 0
  private var high = 0L

  def size: Long = rows

  def append(key: KeyGroup, row: R, rank: Long, end: Long): Unit = {
    val entry = newEntry()
    ranks(entry) = rank
    handles(entry) = store.put(row)
    groups(entry) = key
    key.run(side).insert(rank, entry)
    if (end != Long.MaxValue) dying.add(end, entry)
    rows += 1
  }

  def probe(key: KeyGroup, low: Long, high: Long): Unit = {
    run = key.run(side)
    slot = run.firstAtOrAbove(low)
    this.high = high
  }

  def next(): R = {
    var found: R = null
    // Invariant: no slot before `slot` holds a row of the probe that was not given yet.
    while (found == null && slot < run.until && run.rank(slot) <= high) {
      val entry = run.entry(slot)
      if (entry != Run.Hole) found = store.get(handles(entry))
      slot += 1
    }
    found
  }

  def takeDead(frontier: Long): Long = {
    val before = rows
    while (dying.hasBelow(frontier)) drop(dying.take())
    before - rows
  }

  def takeAll(): Long = {
    val before = rows
    var entry = 0
    // Invariant: the entries before `entry` are free; the runs of their keys are empty.
    while (rows > 0 && entry < used) {
      if (groups(entry) != null) {
        val run = groups(entry).run(side)
        if (!run.isEmpty) {
          run.clear()
          if (groups(entry).isEmpty) keys.release(groups(entry))
        }
        vacate(entry)
      }
      entry += 1
    }
    dying.clear()
    before - rows
  }

  private def drop(entry: Int): Unit = {
    val group = groups(entry)
    group.run(side).remove(ranks(entry), entry)
    if (group.isEmpty) keys.release(group)
    vacate(entry)
  }

  private def vacate(entry: Int): Unit = {
    store.free(handles(entry))
    groups(entry) = null
    free(freeCount) = entry
    freeCount += 1
    rows -= 1
  }

  private def newEntry(): Int =
    if (freeCount > 0) {
      freeCount -= 1
      free(freeCount)
    } else {
      if (used == ranks.length) widen()
      used += 1
      used - 1
    }

  private def widen(): Unit = {
    val capacity = ranks.length * 2
    ranks = java.util.Arrays.copyOf(ranks, capacity)
    handles = java.util.Arrays.copyOf(handles, capacity)
    groups = java.util.Arrays.copyOf(groups, capacity)
    free = java.util.Arrays.copyOf(free, capacity)
  }
}

object MemoryRowBuffer {
  private val InitialCapacity = 64
}
