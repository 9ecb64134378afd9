// SPDX-License-Identifier: Apache-2.0
package plait.join

import scala.collection.mutable

import plait.{BySide, Side}

/** Where two sides that come in the sequence of their keys begin the buckets of a [[RadixJoin]]: no row is moved, and no
  * key lies on both sides of a cut.
  *
  * {{{
  * built     1 1 | 3 | 4 4 4 | 6 7        begins 0 2 3 6 8        cut before the keys of every second built row: 3, 4, 6
  * probing   2   | 3 | 4 5   |            begins 0 1 2 4 4
  * }}}
  *
  * Conventions:
  *   1. The sequence is that of any order which is the same for both sides, and in which equal keys stand at the same place.
  *   2. The built side is cut, as it is its rows that a bucket has a table of. The probing side may have anything between
  *      two keys of the built one.
  *
  * What it does not promise: that buckets are even. A key with many rows makes one that is large.
  */
object KeyStretches {

  /** With as many of the probing side they are what a bucket of [[DealtRows]] has. */
  private val RowsPerStretch = 2048

  /** @param built
    *   the side that is cut
    * @param isBelow
    *   of a side, its row, and a row of the built side: does the key of the one stand before that of the other?
    */
  def begins(counts: BySide[Int], built: Side, rows: Int = RowsPerStretch)(
      isBelow: (Side, Int, Int) => Boolean
  ): BySide[Array[Int]] = {
    val begins = BySide.make(_ => mutable.ArrayBuffer(0))
    var cut = rows
    // Invariant: the rows before the last begin of each side have their buckets, and the built side's lie before `cut`.
    while (cut < counts(built)) {
      val at = cut
      val places = BySide.make { side =>
        firstNot(begins(side).last, counts(side))(isBelow(side, _, at))
      }
      if (places(built) > begins(built).last)
        for (side <- Side.both) begins(side) += places(side)
      cut += rows
    }
    BySide.make(side => (begins(side) += counts(side)).toArray)
  }

  /** The first of [from, until) of which it does not hold; it holds of none after that. */
  private def firstNot(from: Int, until: Int)(holds: Int => Boolean): Int = {
    var (low, high) = (from, until)
    // Invariant: it holds of all before `low`, and not of `high` if that is not `until`.
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(middle)) low = middle + 1 else high = middle
    }
    low
  }
}
