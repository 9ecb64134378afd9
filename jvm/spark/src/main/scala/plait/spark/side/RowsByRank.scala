// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow

/** Rows of a side in the sequence of their ranks; and of each its rank, where that was computed to bring it there.
  *
  * {{{
  * next()  (k 2, s 5)     knownRank 5                         sorted here
  * next()  (k 2, s 5)     knownRank SideReader.Unknown        it came in this sequence
  * }}}
  *
  * `knownRank` is of the row that `next` gave last.
  */
trait RowsByRank extends Iterator[InternalRow] {
  def knownRank: Long
}

object RowsByRank {

  /** Rows that come as they should: nobody has computed their ranks. */
  def asTheyCome(rows: Iterator[InternalRow]): RowsByRank = new RowsByRank {
    override def knownRank: Long = SideReader.Unknown
    override def hasNext: Boolean = rows.hasNext
    override def next(): InternalRow = rows.next()
  }
}
