// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Comparator

/** The candidates of one key, by match value and precedence: handles of stored rows.
  *
  * {{{
  * from                until
  *  | 12 | ~7 | 31 | 30 |          ~7: the row with handle 7, which somebody has picked
  *  |  5 |  5 |  8 |  8 |          ranks
  * }}}
  *
  * Conventions:
  *   1. Rows of equal rank have equal match values. They are put at the end as they come, and
  *      brought into their sequence once, by [[settle]] or when a greater rank comes: n of them cost
  *      n log n comparisons.
  *   2. Handles are not negative. An entry is a handle, or its complement if the row is picked.
  *   3. Rows of near-unique keys cost two arrays of one.
  */
final private[join] class Candidates(index: IndexMemory = IndexMemory.Uncounted) {
  private var entries = new Array[Long](1)
  private var ranks = new Array[Long](1)
  private var first = 0
  private var end = 0
  // May the rows of the last rank stand in another sequence than theirs?
  private var isUnsettled = false
  index.add(Candidates.OwnBytes + Candidates.SlotBytes)

  def from: Int = first
  def until: Int = end
  def size: Int = end - first
  def isEmpty: Boolean = first == end
  def lastRank: Long = ranks(end - 1)
  def lastHandle: Long = handle(end - 1)
  def handle(slot: Int): Long = Candidates.handleOf(entries(slot))

  /** A row of the last rank or a greater one. */
  def add[R](
      rank: Long,
      entry: Long,
      store: SortableRowStore[R],
      precedence: Comparator[_ >: R]
  ): Unit = {
    if (!isEmpty && rank == lastRank) isUnsettled = true else settle(store, precedence)
    append(rank, entry)
  }

  /** A row that is behind all others. */
  def append(rank: Long, entry: Long): Unit = {
    if (end == entries.length) makeRoom()
    entries(end) = entry
    ranks(end) = rank
    end += 1
  }

  /** Brings the rows of the last rank into their sequence; of those that are equal the later is last. */
  def settle[R](store: SortableRowStore[R], precedence: Comparator[_ >: R]): Unit = if (
    isUnsettled
  ) {
    isUnsettled = false
    val start = firstOf(end - 1)
    val group = Array.tabulate(end - start)(i => Long.box(entries(start + i)))
    java.util.Arrays.sort(
      group,
      (a: java.lang.Long, b: java.lang.Long) => {
        val beside = store.beside(Candidates.handleOf(b))
        precedence.compare(store.get(Candidates.handleOf(a)), beside)
      }
    )
    for (i <- group.indices) entries(start + i) = group(i)
  }

  /** The first slot with the rank of this one. */
  def firstOf(slot: Int): Int = {
    var below = first
    var above = slot
    // Invariant: slots before `below` have lower ranks, those from `above` to `slot` the one of it.
    while (below < above) {
      val middle = (below + above) >>> 1
      if (ranks(middle) < ranks(slot)) below = middle + 1 else above = middle
    }
    below
  }

  /** The first slot with a greater rank than this one, or `until`. */
  def beyond(slot: Int): Int = {
    var step = 1
    // Invariant: the slots up to `slot + step / 2` have its rank. Most groups are small.
    while (slot + step < end && ranks(slot + step) == ranks(slot)) step *= 2
    var below = slot + step / 2 + 1
    var above = math.min(slot + step, end)
    // Invariant: slots before `below` have its rank, those from `above` on greater ones.
    while (below < above) {
      val middle = (below + above) >>> 1
      if (ranks(middle) == ranks(slot)) below = middle + 1 else above = middle
    }
    below
  }

  def setLast(rank: Long, entry: Long): Unit = {
    entries(end - 1) = entry
    ranks(end - 1) = rank
  }

  def removeLast(): Long = {
    end -= 1
    entries(end)
  }

  def removeFirst(): Long = {
    first += 1
    entries(first - 1)
  }

  def pick(slot: Int): Unit = if (entries(slot) >= 0) entries(slot) = ~entries(slot)

  /** Has a free slot at the end: all move to the front, or to longer arrays. */
  private def makeRoom(): Unit = {
    val (toEntries, toRanks) =
      if (first > end / 2) (entries, ranks)
      else {
        index.add(Candidates.SlotBytes * entries.length)
        (new Array[Long](entries.length * 2), new Array[Long](entries.length * 2))
      }
    System.arraycopy(entries, first, toEntries, 0, end - first)
    System.arraycopy(ranks, first, toRanks, 0, end - first)
    entries = toEntries
    ranks = toRanks
    end -= first
    first = 0
  }
}

private[join] object Candidates {
  // A rank and an entry.
  private val SlotBytes = 16L
  private val OwnBytes = 40 + 2 * IndexMemory.ArrayHead

  def isPicked(entry: Long): Boolean = entry < 0
  def handleOf(entry: Long): Long = if (entry < 0) ~entry else entry

  /** Of a row from elsewhere as of one that is picked: it leaves in silence. */
  def entryOf(handle: Long, home: Home): Long = if (home eq Home.Here) handle else ~handle
}
