// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.util.collection.unsafe.sort.UnsafeSorterSpillReader

/** Rows whose ranks never fall, read from the first to the last. */
abstract private[side] class RankedStretch {

  /** Of the row at hand; says nothing once it [[isOver]]. */
  final var rank: Long = Long.MinValue
  final var isOver: Boolean = false

  /** Makes `row` the row at hand, valid until [[advance]]. */
  def point(row: UnsafeRow): Unit

  /** Goes on to the next row. */
  def advance(): Unit

  /** How many rows there are from the one at hand on. */
  def left: Int
}

private[side] object RankedStretch {

  /** Rows in a file. */
  final class InFile(reader: UnsafeSorterSpillReader, rows: Int) extends RankedStretch {
    private var count = rows + 1
    advance()

    override def point(row: UnsafeRow): Unit =
      row.pointTo(reader.getBaseObject, reader.getBaseOffset, reader.getRecordLength)

    override def left: Int = count

    override def advance(): Unit = {
      count -= 1
      if (count > 0) {
        reader.loadNext()
        rank = reader.getKeyPrefix
      } else isOver = true
    }
  }
}

/** Stretches merged: of all rows at hand the one of the least rank comes next.
  *
  * {{{
  * 1 2 3 | 2 9 | 7 8         1 2 2 3 7 8 9
  * }}}
  *
  * As long as the stretch that gave a row has the least rank, it costs one comparison; another is then found
  * among n of them in log n. So a few long stretches that follow each other, as the sorted files of a table
  * do, cost next to nothing.
  */
final private[side] class StretchMerge(stretches: Array[RankedStretch]) {
  // A binary heap by rank of those that are not over, without the one at hand.
  private val heap = new Array[RankedStretch](stretches.length)
  private var size = 0
  private var top: RankedStretch = _

  for (stretch <- stretches if !stretch.isOver) push(stretch)
  top = if (size == 0) null else pop()

  /** The stretch whose row is the next, or null. */
  def head: RankedStretch = top

  /** The row of [[head]] has been taken. */
  def advance(): Unit = {
    top.advance()
    if (top.isOver) top = if (size == 0) null else pop()
    else if (size > 0 && heap(0).rank < top.rank) {
      val next = heap(0)
      sink(top)
      top = next
    }
  }

  private def push(stretch: RankedStretch): Unit = {
    var slot = size
    size += 1
    // Invariant: `slot` is free, and what stands below it has a greater rank.
    while (slot > 0 && heap((slot - 1) >> 1).rank > stretch.rank) {
      heap(slot) = heap((slot - 1) >> 1)
      slot = (slot - 1) >> 1
    }
    heap(slot) = stretch
  }

  private def pop(): RankedStretch = {
    val least = heap(0)
    size -= 1
    sink(heap(size))
    least
  }

  /** Puts a stretch into the place of the first. */
  private def sink(stretch: RankedStretch): Unit = {
    var slot = 0
    var child = 1
    // Invariant: `slot` is free, and what stands above it has a rank that is not greater.
    while (child < size) {
      if (child + 1 < size && heap(child + 1).rank < heap(child).rank) child += 1
      if (heap(child).rank < stretch.rank) {
        heap(slot) = heap(child)
        slot = child
        child = 2 * slot + 1
      } else child = Int.MaxValue
    }
    heap(slot) = stretch
  }
}
