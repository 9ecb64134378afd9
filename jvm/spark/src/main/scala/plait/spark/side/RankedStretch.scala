// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

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
  def left: Long
}

private[side] object RankedStretch {

  /** Rows in a file, which is opened when the first of them is wanted. */
  final class InFile(val file: RankedFile) extends RankedStretch {
    private var count = file.rows
    private var isRead = false
    rank = file.firstRank

    override def point(row: UnsafeRow): Unit = {
      readFirst()
      file.point(row)
    }

    override def left: Long = count

    override def advance(): Unit = {
      readFirst()
      count -= 1
      if (count > 0) rank = file.read()
      else {
        isOver = true
        file.endReads()
      }
    }

    private def readFirst(): Unit = if (!isRead) {
      isRead = true
      rank = file.read()
    }
  }
}
