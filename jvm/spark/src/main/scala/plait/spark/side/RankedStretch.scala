// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.plait.RankedFile
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

  /** Rows in a file.
    *
    * @param reader
    *   of the file; it closes itself after its last row
    */
  final class InFile(val file: RankedFile, reader: UnsafeSorterSpillReader, rows: Int)
      extends RankedStretch {
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
