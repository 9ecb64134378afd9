// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

import plait.join.{KeyGroup, RowStore}

/** Rows of one side of an as-of join during a batch, by number. */
final private[stream] class AsOfRows {
  private var hashes = new Array[Int](64)
  private var ranks = new Array[Long](64)
  private var lows = new Array[Long](64)
  private var ends = new Array[Long](64)
  private var handles = new Array[Long](64)
  private var places = new Array[Long](64)
  private var births = new Array[Long](64)
  private var moved = new Array[Boolean](64)
  private val sentAway = new util.BitSet
  private var count = 0

  def size: Int = count
  def hash(i: Int): Int = hashes(i)
  def rank(i: Int): Long = ranks(i)
  def low(i: Int): Long = lows(i)
  def end(i: Int): Long = ends(i)
  def handle(i: Int): Long = handles(i)
  def place(i: Int): Long = places(i)

  /** Is it to be stored as long as it waits: is it new, or has it another end than in its place? */
  def isChanged(i: Int): Boolean = (places(i) == Place.New || moved(i)) && !isEvicted(i)

  /** Since when it is remembered. */
  def born(i: Int): Long = births(i)

  /** Whether it leaves because of a limit. */
  def isEvicted(i: Int): Boolean = sentAway.get(i)
  def evict(i: Int): Unit = sentAway.set(i)
  def evicted: Long = sentAway.cardinality.toLong

  def setLow(i: Int, low: Long): Unit = lows(i) = low

  def add(
      hash: Int,
      rank: Long,
      low: Long,
      end: Long,
      handle: Long,
      place: Long,
      born: Long
  ): Unit = {
    if (count == hashes.length) widen()
    hashes(count) = hash
    ranks(count) = rank
    lows(count) = low
    ends(count) = end
    handles(count) = handle
    places(count) = place
    births(count) = born
    count += 1
  }

  def endBefore(i: Int, end: Long): Unit = if (end < ends(i)) {
    ends(i) = end
    moved(i) = true
  }

  /** Those that are to be stored. */
  def byHash[R >: Null <: AnyRef](store: RowStore[R])(isKept: Int => Boolean): NewRows[R] =
    new NewRows[R] {
      def size: Int = (0 until count).count(isKept)
      def foreachByHash(give: (Int, Long, Long, Mark, R) => Unit): Unit =
        for (i <- SortByHash.order(hashes, count) if isKept(i))
          give(hashes(i), ranks(i), ends(i), Mark.Unset, store.get(handles(i)))
    }

  /** How many rows the key has that has the most. */
  def largestKey(keyOf: Int => KeyGroup): Int = {
    val order = SortByHash.order(hashes, count)
    var most = 0
    var from = 0
    // Invariant: no key of the rows before `from` has more than `most`; rows of one hash may have several keys.
    while (from < count) {
      var until = from + 1
      while (until < count && hashes(order(until)) == hashes(order(from))) until += 1
      if (until - from > most) {
        val ofKeys = order.slice(from, until).groupBy(keyOf).valuesIterator.map(_.length)
        most = math.max(most, ofKeys.max)
      }
      from = until
    }
    most
  }

  /** @param waits
    *   whether a row with this end stays after the batch
    */
  def keyed(waits: Long => Boolean, keyOf: Int => KeyGroup): KeyedRows = new KeyedRows {
    def byHash: Array[Int] = SortByHash.order(hashes, count)
    def hash(i: Int): Int = hashes(i)
    def rank(i: Int): Long = ranks(i)
    def end(i: Int): Long = ends(i)
    def handle(i: Int): Long = handles(i)
    def key(i: Int): KeyGroup = keyOf(i)
    def isNew(i: Int): Boolean = places(i) == Place.New
    def isMatched(i: Int): Boolean = false
    def stays(i: Int): Boolean = waits(ends(i))
  }

  private def widen(): Unit = {
    val capacity = count * 2
    hashes = util.Arrays.copyOf(hashes, capacity)
    ranks = util.Arrays.copyOf(ranks, capacity)
    lows = util.Arrays.copyOf(lows, capacity)
    ends = util.Arrays.copyOf(ends, capacity)
    handles = util.Arrays.copyOf(handles, capacity)
    places = util.Arrays.copyOf(places, capacity)
    births = util.Arrays.copyOf(births, capacity)
    moved = util.Arrays.copyOf(moved, capacity)
  }
}
