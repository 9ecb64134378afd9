// SPDX-License-Identifier: Apache-2.0
package plait.join

/** Rows that stand still, each with a key and an interval of ranks, made to be asked for those of a
  * key whose interval meets another:
  *
  * {{{
  * meeting(k, low, high)  =  { row : key(row) = k, low(row) <= high, low <= high(row) }
  *
  * of key 7     row 0 [1, 9]   row 1 [4, 5]   row 2 [6, 6]
  * meeting(7, 6, 8)  =  row 0, row 2
  * }}}
  *
  * Within a key the rows lie by their low ends. So those with `low(row) <= high` are a first part of
  * them, found by halving; but first near where the last question of the key ended, for rows mostly come
  * in about the sequence of their ranks. Of these, the first that reaches `low` is the first at which the greatest
  * high end so far does; it mostly lies near the last one, from where it is looked for. From there on
  * blocks of 16, of 256, ... rows whose greatest high end is below `low` are passed over as one. That
  * is the interval tree of the textbooks, laid out in arrays.
  *
  * Conventions:
  *   1. Both ends are in. An interval whose ends have passed each other is asked about all the same,
  *      by the formula above.
  *   2. Keys are the numbers `0 until keys`; rows are numbered as they were given.
  *   3. The rows of an answer come by their low ends.
  *
  * It promises nothing of the time that one answer takes: where many intervals of a key are long and
  * few meet, it steps over 16 at a time.
  *
  * @param keyOf
  *   the key of each row
  */
final class IntervalIndex(keys: Int, keyOf: Array[Int], lows: Array[Long], highs: Array[Long]) {
  import IntervalIndex._

  val size: Int = keyOf.length
  private val rows: Array[Int] = RowsInOrder.of(keys, keyOf, lows)
  private val sortedLows: Array[Long] = inSequence(lows)
  private val sortedHighs: Array[Long] = inSequence(highs)

  /** Where each key's rows begin; the last is where they all end. */
  private val begins: Array[Int] = RowsInOrder.begins(keys, keyOf)

  /** The greatest high end of each block: of 16 rows, of 256, ... */
  private val greatest: Array[Array[Long]] =
    Iterator.iterate(sortedHighs)(blocks).drop(1).takeWhile(_.nonEmpty).toArray

  /** The greatest high end of a key's rows up to each place. */
  private val greatestSoFar: Array[Long] = {
    val found = sortedHighs.clone()
    var key = 0
    var place = 0
    // Invariant: the places before `place` are done, and it is not before those of `key`.
    while (place < size) {
      while (begins(key + 1) <= place) key += 1
      if (place > begins(key)) found(place) = math.max(found(place), found(place - 1))
      place += 1
    }
    found
  }

  def cursor(): Cursor = new Cursor

  /** One question after the other; for one thread. */
  final class Cursor {
    private var at = 0
    private var end = 0
    private var low = 0L
    // Of each key, the end of the first part that was found last. Where keys have few rows, halving is as quick.
    private val ends = if (size < keys.toLong * Crowded) null else begins.clone()

    def ask(key: Int, low: Long, high: Long): Unit = {
      val begin = begins(key)
      if (ends == null) end = firstAbove(sortedLows, high, begin, begins(key + 1))
      else {
        end = firstAboveFrom(ends(key), sortedLows, high, begin, begins(key + 1))
        ends(key) = end
      }
      // The first up to which something reaches `low`; mostly near the last.
      at =
        if (low == Long.MinValue) begin
        else firstAboveFrom(end, greatestSoFar, low - 1, begin, end)
      this.low = low
    }

    /** The next row, or -1. */
    def next(): Int = {
      at = firstReaching(at, end, low)
      if (at >= end) -1
      else {
        at += 1
        rows(at - 1)
      }
    }
  }

  /** The first place from `from` on whose end is above a limit; the ends rise. */
  private def firstAbove(ends: Array[Long], limit: Long, from: Int, until: Int): Int = {
    var below = from
    var above = until
    // Invariant: ends before `below` are at most the limit, those from `above` on are greater.
    while (below < above) {
      val middle = (below + above) >>> 1
      if (ends(middle) <= limit) below = middle + 1 else above = middle
    }
    below
  }

  /** As [[firstAbove]], sought in steps of 1, 2, 4, ... from a place: up to a few hundred away in no more steps than
    * halving would take, and else by halving.
    */
  private def firstAboveFrom(
      place: Int,
      ends: Array[Long],
      limit: Long,
      from: Int,
      until: Int
  ): Int = {
    var below = from
    var above = until
    var step = 1
    if (place > from && ends(place - 1) > limit) {
      above = place - 1
      // Invariant: ends from `above` on are greater than the limit.
      while (step <= Near && above - step >= from && ends(above - step) > limit) {
        above -= step
        step *= 2
      }
      if (step <= Near) below = math.max(from, above - step)
    } else {
      below = place
      // Invariant: ends before `below` are at most the limit.
      while (step <= Near && below + step <= until && ends(below + step - 1) <= limit) {
        below += step
        step *= 2
      }
      if (step <= Near) above = math.min(until, below + step - 1)
    }
    firstAbove(ends, limit, below, above)
  }

  /** The first place from `from` on whose high end is at least `low`; `until` or more if none. */
  private def firstReaching(from: Int, until: Int, low: Long): Int = {
    var place = from
    var level = -1
    // Invariant: no place from `from` to before `place` reaches `low`, and `place` begins a block of
    // `level`.
    while (place < until) {
      if (level < 0 && sortedHighs(place) >= low) return place
      if (level >= 0 && greatest(level)(place >> shift(level)) >= low) level -= 1
      else {
        place += 1 << shift(level)
        while (level + 1 < greatest.length && (place & ((1 << shift(level + 1)) - 1)) == 0)
          level += 1
      }
    }
    place
  }

  private def inSequence(ends: Array[Long]): Array[Long] = {
    val found = new Array[Long](size)
    var place = 0
    while (place < size) {
      found(place) = ends(rows(place))
      place += 1
    }
    found
  }
}

object IntervalIndex {
  private val Bits = 4

  /** So many rows of a key are worth remembering where a question ended. */
  private val Crowded = 32

  /** The longest step from there. */
  private val Near = 256

  /** A block of level -1 is one row, of level 0 it is 16 rows. */
  private def shift(level: Int): Int = (level + 1) * Bits

  private def blocks(ends: Array[Long]): Array[Long] =
    if (ends.length <= 1) Array.empty
    else {
      val found = new Array[Long]((ends.length - 1 >> Bits) + 1)
      java.util.Arrays.fill(found, Long.MinValue)
      var place = 0
      while (place < ends.length) {
        found(place >> Bits) = math.max(found(place >> Bits), ends(place))
        place += 1
      }
      found
    }
}
