// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

/** Where the rows of a batch lie, by rank once they are sorted: rows that are added by rank are put at the
  * ends of their runs, where it costs a step.
  */
final private[stream] class Arrivals extends HandleList {
  private var handles = new Array[Long](Arrivals.InitialCapacity)
  private var ranks = new Array[Long](Arrivals.InitialCapacity)
  private var count = 0

  def size: Int = count
  def apply(i: Int): Long = handles(i)

  def add(handle: Long, rank: Long): Unit = {
    if (count == handles.length) {
      handles = util.Arrays.copyOf(handles, count * 2)
      ranks = util.Arrays.copyOf(ranks, count * 2)
    }
    handles(count) = handle
    ranks(count) = rank
    count += 1
  }

  /** Rows of equal rank stay in the sequence of their arrival. */
  def sort(): Unit = {
    var (fromRanks, fromHandles) = (ranks, handles)
    var (toRanks, toHandles) = (new Array[Long](count), new Array[Long](count))
    var width = 1
    // Invariant: each stretch of `width` rows is sorted.
    while (width < count) {
      var start = 0
      while (start < count) {
        val end = math.min(start + 2 * width, count)
        merge(fromRanks, fromHandles, toRanks, toHandles, start, math.min(start + width, end), end)
        start = end
      }
      val (r, h) = (fromRanks, fromHandles)
      fromRanks = toRanks
      fromHandles = toHandles
      toRanks = r
      toHandles = h
      width *= 2
    }
    ranks = fromRanks
    handles = fromHandles
  }

  private def merge(
      ranks: Array[Long],
      handles: Array[Long],
      toRanks: Array[Long],
      toHandles: Array[Long],
      start: Int,
      middle: Int,
      end: Int
  ): Unit =
    if (middle == end || ranks(middle - 1) <= ranks(middle)) {
      System.arraycopy(ranks, start, toRanks, start, end - start)
      System.arraycopy(handles, start, toHandles, start, end - start)
    } else {
      var left = start
      var right = middle
      var at = start
      // Invariant: [start, at) of `to` holds the rows before `left` and before `right`, by rank.
      while (at < end) {
        val from =
          if (right == end || (left < middle && ranks(left) <= ranks(right))) {
            left += 1; left - 1
          } else { right += 1; right - 1 }
        toRanks(at) = ranks(from)
        toHandles(at) = handles(from)
        at += 1
      }
    }
}

private[stream] object Arrivals {
  private val InitialCapacity = 64
}
