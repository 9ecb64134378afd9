// SPDX-License-Identifier: Apache-2.0
package plait.join

/** The buffered rows of one key and one side, by rank: parallel arrays `ranks`, `entries`.
  *
  * {{{
  * from           until
  *  | 10 | 12 | 12 | 15 |        firstAtOrAbove(12) = from + 1
  *  |  7 | -1 |  3 |  9 |        entry -1: a hole, its row has died in the middle
  * }}}
  *
  * Invariants: `ranks` never falls in `[from, until)`; the first slot is no hole; holes are less than
  * half of a long run.
  */
final class Run(index: IndexMemory = IndexMemory.Uncounted) {
  private var ranks = new Array[Long](Run.InitialCapacity)
  private var entries = new Array[Int](Run.InitialCapacity)
  private var first = 0
  private var end = 0
  private var holes = 0
  // Where an entry was taken out last. Slots move, so it is no more than a guess.
  private var near = 0
  private var places = RankedSlots.Nowhere
  // Slots that were looked at in vain since then.
  private var vain = 0
  index.add(heapBytes)

  /** What it takes of the heap. */
  def heapBytes: Long = Run.OwnBytes + Run.SlotBytes * ranks.length + RankedSlots.heapBytes(places)

  def from: Int = first
  def until: Int = end
  def isEmpty: Boolean = first == end
  def size: Int = end - first - holes
  def rank(slot: Int): Long = ranks(slot)

  /** The entry in this slot, or [[Run.Hole]]. */
  def entry(slot: Int): Int = entries(slot)

  /** Rows come nearly in order, so a row finds its place from the end. */
  def insert(rank: Long, entry: Int): Unit = {
    if (end == ranks.length) makeRoom()
    var slot = end
    // Invariant: everything from `slot` on has a greater rank and stands one slot to the right.
    while (slot > first && ranks(slot - 1) > rank) {
      ranks(slot) = ranks(slot - 1)
      entries(slot) = entries(slot - 1)
      slot -= 1
    }
    ranks(slot) = rank
    entries(slot) = entry
    end += 1
  }

  /** The first slot whose rank is at least `rank`, or `until`. */
  def firstAtOrAbove(rank: Long): Int =
    if (first == end || ranks(first) >= rank) first
    else {
      var low = first
      var high = end
      // Invariant: ranks(low) < rank, and rank <= ranks(high) if there is such a slot.
      while (high - low > 1) {
        val middle = (low + high) >>> 1
        if (ranks(middle) < rank) low = middle else high = middle
      }
      high
    }

  /** Takes out an entry that was inserted with this rank. */
  def remove(rank: Long, entry: Int): Unit =
    if (entries(first) == entry) {
      first += 1
      skipHoles()
    } else {
      val slot = slotOf(rank, entry)
      near = slot
      if (slot == end - 1) end -= 1
      else {
        entries(slot) = Run.Hole
        holes += 1
        if (holes > Run.InitialCapacity && holes > (end - first) / 2) compact()
      }
    }

  /** Rows of one rank mostly leave one beside the other, so each is looked for around the one before it. Once as
    * many slots were looked at in vain as have its rank, it is written down where each stands.
    */
  private def slotOf(rank: Long, entry: Int): Int = {
    val known = RankedSlots.of(places, entry)
    if (known >= first && known < end && entries(known) == entry) known
    else {
      val least = firstAtOrAbove(rank)
      val guess = math.min(near, end - 1)
      val start = if (guess > least && ranks(guess) == rank) guess else least
      val slot = nearest(start, least, rank, entry)
      vain += math.abs(slot - start)
      if (vain > Run.VainAtLeast) mayWriteDown(least, rank)
      slot
    }
  }

  private def nearest(start: Int, least: Int, rank: Long, entry: Int): Int = {
    var up = start
    var down = up - 1
    // Invariant: the entry stands in none of the slots between `down` and `up`.
    while (up < end || down >= least) {
      if (up < end && entries(up) == entry) return up
      if (down >= least && entries(down) == entry) return down
      up += 1
      down -= 1
    }
    throw new IllegalStateException(s"no entry $entry of rank $rank")
  }

  private def mayWriteDown(least: Int, rank: Long): Unit = {
    val until = if (rank == Long.MaxValue) end else firstAtOrAbove(rank + 1)
    if (vain >= until - least) write(RankedSlots.over(entries, least, until))
  }

  private def write(found: Array[Long]): Unit = {
    index.add(RankedSlots.heapBytes(found) - RankedSlots.heapBytes(places))
    places = found
    vain = 0
  }

  def clear(): Unit = {
    first = 0
    end = 0
    holes = 0
    if (places.nonEmpty) write(RankedSlots.Nowhere)
    if (ranks.length > Run.LargestKept) allocate(Run.InitialCapacity)
  }

  private def skipHoles(): Unit = {
    // Invariant: every slot before `first` is free.
    while (first < end && entries(first) == Run.Hole) {
      first += 1
      holes -= 1
    }
    if (first == end) clear()
  }

  private def makeRoom(): Unit =
    if (first + holes >= end / 2) compact()
    else {
      val wider = end * 2
      index.add(Run.SlotBytes * (wider - ranks.length))
      ranks = java.util.Arrays.copyOf(ranks, wider)
      entries = java.util.Arrays.copyOf(entries, wider)
    }

  private def compact(): Unit = {
    var to = 0
    var slot = first
    // Invariant: the live rows of [first, slot) stand in [0, to), in order.
    while (slot < end) {
      if (entries(slot) != Run.Hole) {
        ranks(to) = ranks(slot)
        entries(to) = entries(slot)
        to += 1
      }
      slot += 1
    }
    first = 0
    end = to
    holes = 0
  }

  private def allocate(capacity: Int): Unit = {
    index.add(Run.SlotBytes * (capacity - ranks.length))
    ranks = new Array[Long](capacity)
    entries = new Array[Int](capacity)
  }
}

object Run {
  val Hole: Int = -1
  private val InitialCapacity = 4
  private val LargestKept = 1024
  // A rank and an entry.
  private val SlotBytes = 12L
  private val VainAtLeast = 64
  private val OwnBytes = 48 + 2 * IndexMemory.ArrayHead
}
