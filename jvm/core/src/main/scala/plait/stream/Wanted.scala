// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

/** Which stored rows of a side a batch may meet: for each hash of a key the ranks that any of the batch's
  * rows of that hash reaches, as one interval, and the least rank of those rows: what reaches less far does not
  * reach them.
  *
  * {{{
  * rows (hash 9, rank 20, reach 10 .. 20), (hash -3, rank 5, reach 0 .. 5), (hash 9, rank 50, reach 40 .. 50)
  * hashes -3, 9      lows 0, 10      highs 5, 50      since 5, 20
  *
  * stored (hash 9, rank 15, reach .. 18)    is not wanted: it ends before 20
  * }}}
  */
final class Wanted {
  private var hashes = new Array[Int](Wanted.InitialCapacity)
  private var lows = new Array[Long](Wanted.InitialCapacity)
  private var highs = new Array[Long](Wanted.InitialCapacity)
  private var sinces = new Array[Long](Wanted.InitialCapacity)
  private var count = 0
  // Of all ranks that are reached.
  private var least = Long.MaxValue
  private var greatest = Long.MinValue

  def size: Int = count
  def hash(i: Int): Int = hashes(i)

  /** @param since
    *   the rank of the row that reaches from `low` to `high`; `Long.MinValue` if it has none, or if all rows
    *   of these ranks are wanted
    */
  def add(hash: Int, low: Long, high: Long, since: Long): Unit = if (low <= high) {
    if (count == hashes.length) {
      hashes = util.Arrays.copyOf(hashes, count * 2)
      lows = util.Arrays.copyOf(lows, count * 2)
      highs = util.Arrays.copyOf(highs, count * 2)
      sinces = util.Arrays.copyOf(sinces, count * 2)
    }
    hashes(count) = hash
    lows(count) = low
    highs(count) = high
    sinces(count) = since
    count += 1
    least = math.min(least, low)
    greatest = math.max(greatest, high)
  }

  /** Puts the hashes in order, each once. Nothing is added after it. */
  def sort(): Unit = {
    val order = SortByHash.order(hashes, count)
    val (h, l, u) = (new Array[Int](count), new Array[Long](count), new Array[Long](count))
    val s = new Array[Long](count)
    var to = -1
    var i = 0
    // Invariant: [0, to] hold the hashes of the first i of `order`, each with the hull of its reaches
    // and the least of its ranks.
    while (i < count) {
      val from = order(i)
      if (to >= 0 && h(to) == hashes(from)) {
        l(to) = math.min(l(to), lows(from))
        u(to) = math.max(u(to), highs(from))
        s(to) = math.min(s(to), sinces(from))
      } else {
        to += 1
        h(to) = hashes(from)
        l(to) = lows(from)
        u(to) = highs(from)
        s(to) = sinces(from)
      }
      i += 1
    }
    hashes = h
    lows = l
    highs = u
    sinces = s
    count = to + 1
  }

  /** Is a row of the i-th hash wanted? */
  def wants(i: Int, rank: Long, end: Long): Boolean =
    rank >= lows(i) && rank <= highs(i) && end >= sinces(i)

  /** Whether a chunk, of which nothing is known but its hull, may hold a row that is wanted.
    * @param from
    *   those before it have lower hashes
    */
  def meets(segment: Segment, chunk: Int, from: Int): Boolean =
    segment.maxRank(chunk) >= least && segment.minRank(chunk) <= greatest &&
      anyMeets(segment, chunk, from)

  private def anyMeets(segment: Segment, chunk: Int, from: Int): Boolean = {
    var i = from
    // Invariant: the hashes of [from, i) meet nothing of the chunk.
    while (i < count && hashes(i) <= segment.lastHash(chunk)) {
      if (meets(i, segment, chunk)) return true
      i += 1
    }
    false
  }

  private def meets(i: Int, segment: Segment, chunk: Int): Boolean =
    highs(i) >= segment.minRank(chunk) && lows(i) <= segment.maxRank(chunk) &&
      sinces(i) <= segment.maxEnd(chunk)

  /** The first index whose hash is at least `hash`, from `from` on, or `size`. */
  def firstAtOrAbove(hash: Int, from: Int): Int = {
    var step = 1
    var low = from
    // Invariant: all before `low` are below `hash`.
    while (low + step < count && hashes(low + step) < hash) {
      low += step
      step *= 2
    }
    var high = math.min(low + step, count)
    // Invariant: all before `low` are below `hash`, and all from `high` on are not.
    while (low < high) {
      val middle = (low + high) >>> 1
      if (hashes(middle) < hash) low = middle + 1 else high = middle
    }
    low
  }
}

object Wanted {
  private val InitialCapacity = 64
}
