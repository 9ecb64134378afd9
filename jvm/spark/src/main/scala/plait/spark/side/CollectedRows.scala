// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows by their place in an index, where they lie: in the pages or arrays of a broadcast, not copied.
  *
  * {{{
  * place 3   base: a page of the broadcast     offset: 4112     size: 24 bytes
  * }}}
  */
final class CollectedRows private (
    val columns: Int,
    private val bases: Array[AnyRef],
    private val offsets: Array[Long],
    private val sizes: Array[Int]
) {

  /** Makes `row` the row of this place. */
  def point(row: UnsafeRow, place: Int): Unit =
    row.pointTo(bases(place), offsets(place), sizes(place))
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

    /** @param places
      *   how many
      * @param rowAt
      *   the number of the row of each, as they were added
      */
    def result(columns: Int, places: Int, rowAt: Int => Int): CollectedRows = {
      val (base, offset, size) = (bases.result(), offsets.result(), sizes.result())
      val rows =
        new CollectedRows(columns, new Array(places), new Array(places), new Array(places))
      var place = 0
      while (place < places) {
        val number = rowAt(place)
        rows.bases(place) = base(number)
        rows.offsets(place) = offset(number)
        rows.sizes(place) = size(number)
        place += 1
      }
      rows
    }
  }
}
