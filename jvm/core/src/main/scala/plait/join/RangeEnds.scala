// SPDX-License-Identifier: Apache-2.0
package plait.join

/** How far the rows of a home side reach that are stretches, counted while they are read: of each range, the
  * greatest end of the rows that begin there.
  *
  * {{{
  * cuts 10, 20, 30       rows [1, 4] [2, 13] [11, 12] [25, 28] [3, 99]
  *
  *   range    rows that begin there          stays until
  *   0        [1, 4] [2, 13], and [3, 99]    13 or 99
  *   1        [11, 12]                       12
  *   2        [25, 28]                       28
  *   3        none                           Long.MinValue
  * }}}
  *
  * A row that ends more than a range after the one that it begins in would draw to its own range whatever lies
  * between. Of a range whose rows all but a few end earlier, those few lie *afar*: in one place, those of
  * all ranges together. Whether [3, 99] stays hangs on how many are `enough`.
  *
  * Conventions:
  *   1. Rows are told apart by how many ranges on they end: 0, 1, 2 or 3, 4 to 7, ... Of a range none that ends
  *      0 or 1 on lies afar; of the others the farthest ones do, as long as they are fewer than `enough`.
  *   2. So a row lies afar if its high end is above what its range stays until, and only then.
  *   3. A row may end before it begins. It ends 0 ranges on.
  */
final class RangeEnds private (val ranges: Int, private val cells: Array[Long]) {
  import RangeEnds._

  /** A row that begins in the range `first` and ends in `last`. */
  def add(first: Int, last: Int, low: Long, high: Long): Unit = {
    val cell = cellOf(first, classOf(math.max(last - first, 0)))
    join(cell, 1, low, high)
  }

  def addAll(other: RangeEnds): Unit =
    for (cell <- cells.indices by Width)
      join(cell, other.cells(cell), other.cells(cell + Low), other.cells(cell + High))

  /** Of each range the end until which it stays; then from where to where the rows lie that are afar, from
    * Long.MaxValue to Long.MinValue if there are none.
    */
  def until(enough: Long): Array[Long] = {
    val found = Array.fill(ranges + 1)(Long.MinValue) :+ Long.MinValue
    found(ranges) = Long.MaxValue
    for (range <- 0 until ranges) {
      val farthest = farthestToStay(range, enough)
      for (span <- 0 until spans) {
        val cell = cellOf(range, span)
        if (span <= farthest) found(range) = math.max(found(range), cells(cell + High))
        else {
          found(ranges) = math.min(found(ranges), cells(cell + Low))
          found(ranges + 1) = math.max(found(ranges + 1), cells(cell + High))
        }
      }
    }
    found
  }

  def toArray: Array[Long] = cells.clone()

  private def farthestToStay(range: Int, enough: Long): Int = {
    var span = spans - 1
    var rows = if (span < 0) 0 else cells(cellOf(range, span))
    // Invariant: `rows` end as many ranges on as `span` says, or more.
    while (span >= classOf(LeastAfar) && rows < enough) {
      span -= 1
      rows += cells(cellOf(range, span))
    }
    span
  }

  private def spans: Int = spansOf(ranges)
  private def cellOf(range: Int, span: Int): Int = (range * spans + span) * Width

  private def join(cell: Int, rows: Long, low: Long, high: Long): Unit = {
    cells(cell) += rows
    cells(cell + Low) = math.min(cells(cell + Low), low)
    cells(cell + High) = math.max(cells(cell + High), high)
  }
}

object RangeEnds {
  private val LeastAfar = 2

  // A cell: how many rows, their least low and their greatest high end.
  private val Low = 1
  private val High = 2
  private val Width = 3

  def of(ranges: Int): RangeEnds = {
    val none = Array(0L, Long.MaxValue, Long.MinValue)
    new RangeEnds(ranges, Array.fill(ranges * spansOf(ranges))(none).flatten)
  }

  /** What `toArray` gave. */
  def from(ranges: Int, cells: Array[Long]): RangeEnds = new RangeEnds(ranges, cells)

  private def spansOf(ranges: Int): Int = classOf(ranges - 1) + 1

  /** 0, 1, then one for each power of two. */
  private def classOf(span: Int): Int = 32 - Integer.numberOfLeadingZeros(span)
}
