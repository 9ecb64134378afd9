// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows by number, where they lie: in the pages or arrays of a broadcast, not copied.
  *
  * {{{
  * row 3     base: a page of the broadcast     offset: 4112     size: 24 bytes
  * }}}
  */
final class CollectedRows private (
    val columns: Int,
    bases: Array[AnyRef],
    offsets: Array[Long],
    sizes: Array[Int]
) {

  /** Makes `row` the row of this number. */
  def point(row: UnsafeRow, number: Int): Unit =
    row.pointTo(bases(number), offsets(number), sizes(number))
}

object CollectedRows {
  final class Builder {
    private val bases = mutable.ArrayBuilder.make[AnyRef]
    private val offsets = mutable.ArrayBuilder.make[Long]
    private val sizes = mutable.ArrayBuilder.make[Int]

    def +=(row: UnsafeRow): Unit = {
      bases += row.getBaseObject
      offsets += row.getBaseOffset
      sizes += row.getSizeInBytes
    }

    def result(columns: Int): CollectedRows =
      new CollectedRows(columns, bases.result(), offsets.result(), sizes.result())
  }
}
