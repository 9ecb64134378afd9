// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.Side

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
  *
  * Rows that outlive those that came with them hold the places of all of them (one session of a thousand is left open, say).
  * Every so many rows the store is asked if that is so, and then the rows that are left are moved together.
  *
  * @param lookEvery
  *   so many rows
  */
final class MemoryRowBuffer[R >: Null <: AnyRef](
    side: Side,
    keys: KeyTable[_, KeyGroup],
    store: RowStore[R],
    index: IndexMemory = IndexMemory.Uncounted,
    lookEvery: Int = MemoryRowBuffer.LookEvery
) extends RowBuffer[KeyGroup, R] {
  private var ranks = new Array[Long](MemoryRowBuffer.InitialCapacity)
  private var handles = new Array[Long](MemoryRowBuffer.InitialCapacity)
  private var groups = new Array[KeyGroup](MemoryRowBuffer.InitialCapacity)
  private var free = new Array[Int](MemoryRowBuffer.InitialCapacity)
  private var matched = new Array[Boolean](MemoryRowBuffer.InitialCapacity)
  // An entry in the death queue is not used again before it has left it.
  private var isQueued = new Array[Boolean](MemoryRowBuffer.InitialCapacity)
  private var freeCount = 0
  private var used = 0
  private var rows = 0L
  private val dying = new DeathQueue(index)

  // The probe under way: a sole row, or slots [slot, run.until) of its run, are still to be looked at.
  private var sole = KeyGroup.None
  private var run: Run = _
  private var slot = 0
  private var high = 0L
  private var last = 0

  // Entries to be dropped when the probe is over: their slots must stand still until then.
  private var settled = new Array[Int](MemoryRowBuffer.InitialCapacity)
  private var settledCount = 0

  // The entry of the row that was given by taking, still to be dropped.
  private var leaving = KeyGroup.None
  // How far `takeUnmatchedOfAll` has come.
  private var taken = 0
  private var untilLook = lookEvery

  index.add(MemoryRowBuffer.EntryBytes * ranks.length)

  def size: Long = rows

  def append(key: KeyGroup, row: R, rank: Long, end: Long): Unit = {
    untilLook -= 1
    if (untilLook == 0) look()
    val entry = newEntry()
    ranks(entry) = rank
    handles(entry) = store.put(row)
    groups(entry) = key
    matched(entry) = false
    last = entry
    key.insert(side, entry, ranks)
    if (end != Long.MaxValue) {
      dying.add(end, entry)
      isQueued(entry) = true
    }
    rows += 1
  }

  /** Each entry is looked at, so not again before a share of so many rows has come. */
  private def look(): Unit = {
    untilLook = math.max(lookEvery, used / 4)
    if (store.isSparse) {
      var entry = 0
      // Invariant: the handles of the entries before `entry` are those of the store as it is.
      while (entry < used) {
        if (groups(entry) != null) handles(entry) = store.moved(handles(entry))
        entry += 1
      }
    }
  }

  def probe(key: KeyGroup, low: Long, high: Long): Unit = {
    sole = key.sole(side)
    run = null
    if (sole == KeyGroup.Many) {
      run = key.run(side)
      slot = run.firstAtOrAbove(low)
      this.high = high
    } else if (sole != KeyGroup.None && (ranks(sole) < low || ranks(sole) > high))
      sole = KeyGroup.None
  }

  def next(): R =
    if (run != null) nextOfRun()
    else if (sole == KeyGroup.None) null
    else {
      last = sole
      sole = KeyGroup.None
      store.get(handles(last))
    }

  private def nextOfRun(): R = {
    var found: R = null
    // Invariant: no slot before `slot` holds a row of the probe that was not given yet.
    while (found == null && slot < run.until && run.rank(slot) <= high) {
      val entry = run.entry(slot)
      if (entry != Run.Hole) {
        last = entry
        found = store.get(handles(entry))
      }
      slot += 1
    }
    found
  }

  def mark(): Unit = matched(last) = true

  def settle(): Unit = {
    if (settledCount == settled.length) settled = java.util.Arrays.copyOf(settled, settledCount * 2)
    settled(settledCount) = last
    settledCount += 1
  }

  def endProbe(): Unit =
    // Invariant: the settled entries from `settledCount` on are dropped.
    while (settledCount > 0) {
      settledCount -= 1
      drop(settled(settledCount))
    }

  def takeDead(frontier: Long): Long = {
    val before = rows
    while (dying.hasBelow(frontier)) {
      val entry = takeDying()
      if (groups(entry) == null) recycle(entry) else drop(entry)
    }
    before - rows
  }

  def takeUnmatched(frontier: Long): R = {
    dropLeaving()
    var found: R = null
    // Invariant: no row that has died without a match was dropped without being given.
    while (found == null && dying.hasBelow(frontier)) {
      val entry = takeDying()
      if (groups(entry) == null) recycle(entry) else found = leave(entry)
    }
    found
  }

  def takeUnmatchedOfAll(): R = {
    // Nobody looks these rows up any more, so their keys are not told that they go.
    if (leaving != KeyGroup.None) vacate(leaving)
    leaving = KeyGroup.None
    var found: R = null
    // Invariant: the entries before `taken` hold no row, but for the one that is leaving.
    while (found == null && taken < used) {
      if (groups(taken) != null) {
        if (matched(taken)) vacate(taken) else found = giveLeaving(taken)
      }
      taken += 1
    }
    if (found == null) dying.clear()
    found
  }

  private def takeDying(): Int = {
    val entry = dying.take()
    isQueued(entry) = false
    entry
  }

  /** The row if it has no match; it is dropped with the next call. */
  private def leave(entry: Int): R =
    if (matched(entry)) { drop(entry); null }
    else giveLeaving(entry)

  private def giveLeaving(entry: Int): R = {
    leaving = entry
    store.get(handles(entry))
  }

  private def dropLeaving(): Unit = if (leaving != KeyGroup.None) {
    drop(leaving)
    leaving = KeyGroup.None
  }

  def takeAll(): Long = {
    val before = rows
    rows = 0
    used = 0
    // Nothing comes any more: what named the rows goes with them.
    index.add(-MemoryRowBuffer.NamedBytes * ranks.length)
    ranks = Array.emptyLongArray
    handles = Array.emptyLongArray
    groups = new Array[KeyGroup](0)
    dying.clear()
    store.clear()
    before
  }

  private def drop(entry: Int): Unit = {
    val group = groups(entry)
    group.remove(side, entry, ranks(entry))
    if (group.isEmpty) keys.release(group)
    vacate(entry)
  }

  private def vacate(entry: Int): Unit = {
    store.free(handles(entry))
    groups(entry) = null
    rows -= 1
    if (!isQueued(entry)) recycle(entry)
  }

  private def recycle(entry: Int): Unit = {
    free(freeCount) = entry
    freeCount += 1
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
    index.add(MemoryRowBuffer.EntryBytes * ranks.length)
    ranks = java.util.Arrays.copyOf(ranks, capacity)
    handles = java.util.Arrays.copyOf(handles, capacity)
    groups = java.util.Arrays.copyOf(groups, capacity)
    free = java.util.Arrays.copyOf(free, capacity)
    matched = java.util.Arrays.copyOf(matched, capacity)
    isQueued = java.util.Arrays.copyOf(isQueued, capacity)
  }
}

object MemoryRowBuffer {
  private val LookEvery = 4096
  private val InitialCapacity = 64
  // Of an entry its rank, handle and group; and with `free` and its two marks.
  private val NamedBytes = 20L
  private val EntryBytes = NamedBytes + 6
}
