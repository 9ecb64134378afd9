// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Comparator

/** The candidates of one key, by match value and precedence: handles of stored rows.
  *
  * {{{
  * from                until
  *  | 12 | ~7 | 31 | 30 |          ~7: the row with handle 7, which somebody has picked
  *              ^ equalFrom: those from here on have the rank of the last
  * }}}
  *
  * Handles are not negative. Rows of near-unique keys cost one array of one.
  */
final private[join] class Candidates {
  private var entries = new Array[Long](1)
  private var first = 0
  private var end = 0
  private var rankOfLast = 0L
  private var firstOfRank = 0

  def from: Int = first
  def until: Int = end
  def isEmpty: Boolean = first == end
  def lastRank: Long = rankOfLast
  def lastHandle: Long = handle(end - 1)
  def handle(slot: Int): Long = Candidates.handleOf(entries(slot))

  /** From which slot on entries have this rank, which is at least that of the last. */
  def equalFrom(rank: Long): Int =
    if (isEmpty || rank != rankOfLast) end else math.max(firstOfRank, first)

  def append(rank: Long, handle: Long): Unit = insert(end, rank, handle)

  /** Stores a row in its place among those of its rank. */
  def add[R](rank: Long, row: R, store: RowStore[R], precedence: Comparator[_ >: R]): Unit = {
    var slot = end
    // Invariant: the row is before all entries from `slot` on, which have its rank.
    while (slot > equalFrom(rank) && precedence.compare(row, store.get(handle(slot - 1))) < 0)
      slot -= 1
    insert(slot, rank, store.put(row))
  }

  private def insert(slot: Int, rank: Long, handle: Long): Unit = {
    firstOfRank = equalFrom(rank)
    val moved = makeRoom()
    val at = slot - moved
    firstOfRank -= moved
    System.arraycopy(entries, at, entries, at + 1, end - at)
    entries(at) = handle
    end += 1
    rankOfLast = rank
  }

  def setLast(rank: Long, handle: Long): Unit = {
    entries(end - 1) = handle
    rankOfLast = rank
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

  /** Has a free slot at the end; says by how many slots all have moved to the front. */
  private def makeRoom(): Int =
    if (end < entries.length) 0
    else if (first > end / 2) {
      val moved = first
      System.arraycopy(entries, first, entries, 0, end - first)
      end -= moved
      first = 0
      moved
    } else {
      entries = java.util.Arrays.copyOf(entries, entries.length * 2)
      0
    }
}

private[join] object Candidates {
  def isPicked(entry: Long): Boolean = entry < 0
  def handleOf(entry: Long): Long = if (entry < 0) ~entry else entry
}
