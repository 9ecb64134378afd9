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
  * them, which ends in one bucket of a [[RankDirectory]]. A large one is searched from where the last question of the
  * key ended, for rows mostly come in about the sequence of their ranks. Of these, the first that
  * reaches `low` is the first at which the greatest high end so far does; it mostly lies near the last one, from where
  * it is looked for. From there on blocks of 16, of 256, ... rows whose greatest high end is below `low` are passed over
  * as one. That is the interval tree of the textbooks, laid out in arrays.
  *
  * Conventions:
  *   1. Both ends are in. An interval whose ends have passed each other is asked about all the same,
  *      by the formula above.
  *   2. Keys are the numbers `0 until keys`; rows are numbered as they were given.
  *   3. An answer is the *places* of its rows in the index, and they rise. So what is kept of rows beside the index lies
  *      best by their places.
  *
  * It promises nothing of the time that one answer takes: where many intervals of a key are long and
  * few meet, it steps over 16 at a time.
  */
final class IntervalIndex private (
    begins: Array[Int],
    rows: Array[Int],
    // Of each place the low end, the high end, and the greatest high end of its key up to there: what a question looks
    // at lies together.
    ends: Array[Long],
    // The greatest high end of each block: of 16 rows, of 256, ...
    greatest: Array[Array[Long]],
    // Null where keys have few rows: halving is as quick.
    directory: RankDirectory
) {
  import IntervalIndex._

  def size: Int = rows.length

  /** The number of the row at a place. */
  def rowAt(place: Int): Int = rows(place)

  def cursor(): Cursor = new Cursor

  /** One question after the other; for one thread. */
  final class Cursor {
    private var at = 0
    private var end = 0
    private var low = 0L
    // Of each key, the end of the first part that was found last.
    private val last = if (directory == null) null else begins.clone()

    def ask(key: Int, low: Long, high: Long): Unit = {
      val begin = begins(key)
      end = endOf(key, high)
      // The first up to which something reaches `low`; mostly near the last.
      at = if (low == Long.MinValue) begin else firstAboveFrom(end, SoFar, low - 1, begin, end)
      this.low = low
    }

    /** Where the rows end that begin up to `high`. */
    private def endOf(key: Int, high: Long): Int =
      if (directory == null) firstAbove(Low, high, begins(key), begins(key + 1))
      else {
        val (below, above) = (directory.below(key, high), directory.above(key, high))
        if (above - below <= Crowded) firstAbove(Low, high, below, above)
        else {
          val near = math.max(below, math.min(above, last(key)))
          last(key) = firstAboveFrom(near, Low, high, below, above)
          last(key)
        }
      }

    /** The place of the next row, or -1. */
    def next(): Int = {
      at = firstReaching(at, end, low)
      if (at >= end) -1
      else {
        at += 1
        at - 1
      }
    }
  }

  /** The first place from `from` on where a column of the ends is above a limit; it rises. */
  private def firstAbove(column: Int, limit: Long, from: Int, until: Int): Int = {
    var below = from
    var above = until
    // Invariant: what is before `below` is at most the limit, what is from `above` on is greater.
    while (below < above) {
      val middle = (below + above) >>> 1
      if (ends(middle * Columns + column) <= limit) below = middle + 1 else above = middle
    }
    below
  }

  /** As [[firstAbove]], sought in steps of 1, 2, 4, ... from a place: up to a few hundred away in no more steps than
    * halving would take, and else by halving.
    */
  private def firstAboveFrom(
      place: Int,
      column: Int,
      limit: Long,
      from: Int,
      until: Int
  ): Int = {
    var below = from
    var above = until
    var step = 1
    if (place > from && ends((place - 1) * Columns + column) > limit) {
      above = place - 1
      // Invariant: what is from `above` on is greater than the limit.
      while (
        step <= Near && above - step >= from && ends((above - step) * Columns + column) > limit
      ) {
        above -= step
        step *= 2
      }
      if (step <= Near) below = math.max(from, above - step)
    } else {
      below = place
      // Invariant: what is before `below` is at most the limit.
      while (
        step <= Near && below + step <= until && ends(
          (below + step - 1) * Columns + column
        ) <= limit
      ) {
        below += step
        step *= 2
      }
      if (step <= Near) above = math.min(until, below + step - 1)
    }
    firstAbove(column, limit, below, above)
  }

  /** The first place from `from` on whose high end is at least `low`; `until` or more if none. */
  private def firstReaching(from: Int, until: Int, low: Long): Int = {
    var place = from
    var level = -1
    // Invariant: no place from `from` to before `place` reaches `low`, and `place` begins a block of
    // `level`.
    while (place < until) {
      if (level < 0 && ends(place * Columns + High) >= low) return place
      if (level >= 0 && greatest(level)(place >> shift(level)) >= low) level -= 1
      else {
        place += 1 << shift(level)
        while (level + 1 < greatest.length && (place & ((1 << shift(level + 1)) - 1)) == 0)
          level += 1
      }
    }
    place
  }
}

object IntervalIndex {
  private val Low = 0
  private val High = 1
  private val SoFar = 2
  private val Columns = 3
  private val Bits = 4

  /** Of fewer rows halving finds one as quickly as anything else. */
  private val Crowded = 32

  /** The longest step from a place. */
  private val Near = 256

  /** @param keys
    *   how many there are
    * @param keyOf
    *   the key of each row
    */
  def of(
      keys: Int,
      keyOf: Array[Int],
      lows: Array[Long],
      highs: Array[Long]
  ): IntervalIndex = {
    val rows = RowsInOrder.of(keys, keyOf, lows)
    val begins = RowsInOrder.begins(keys, keyOf)
    val (lowsInOrder, highsInOrder) = (inOrder(rows, lows), inOrder(rows, highs))
    new IntervalIndex(
      begins,
      rows,
      ends(begins, lowsInOrder, highsInOrder),
      Iterator.iterate(highsInOrder)(blocks).drop(1).takeWhile(_.nonEmpty).toArray,
      if (rows.length < keys.toLong * Crowded) null else RankDirectory.of(begins, lowsInOrder)
    )
  }

  private def inOrder(rows: Array[Int], values: Array[Long]): Array[Long] = {
    val found = new Array[Long](rows.length)
    var place = 0
    while (place < found.length) {
      found(place) = values(rows(place))
      place += 1
    }
    found
  }

  private def ends(begins: Array[Int], lows: Array[Long], highs: Array[Long]): Array[Long] = {
    val found = new Array[Long](Math.multiplyExact(lows.length, Columns))
    var key = 0
    var place = 0
    var soFar = Long.MinValue
    // Invariant: the places before `place` are done, the last of them is of `key` or one before it, and `soFar` is the
    // greatest high end of that key's.
    while (place < lows.length) {
      if (begins(key + 1) <= place) soFar = Long.MinValue
      while (begins(key + 1) <= place) key += 1
      soFar = math.max(soFar, highs(place))
      found(place * Columns + Low) = lows(place)
      found(place * Columns + High) = highs(place)
      found(place * Columns + SoFar) = soFar
      place += 1
    }
    found
  }

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
