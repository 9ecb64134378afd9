// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.Home

/** The rows of one side in a task, and around them a row of a range before it and one of a range after it,
  * which come out there.
  *
  * {{{
  * before 09:58, own 10:01 10:05, after 11:03      09:58 Elsewhere, 10:01 Here, 10:05 Here, 11:03 Elsewhere
  * }}}
  *
  * @param before
  *   or null, as `after`
  */
final class HomedRows(own: Iterator[InternalRow], before: UnsafeRow, after: UnsafeRow)
    extends Iterator[InternalRow] {
  private var isBegun = before == null
  private var isEnded = after == null
  private var homeOfLast: Home = Home.Here

  /** Of the row given last. */
  def home: Home = homeOfLast

  override def hasNext: Boolean = !isBegun || own.hasNext || !isEnded

  override def next(): InternalRow =
    if (!isBegun) {
      isBegun = true
      homeOfLast = Home.Elsewhere
      before
    } else if (own.hasNext) {
      homeOfLast = Home.Here
      own.next()
    } else if (!isEnded) {
      isEnded = true
      homeOfLast = Home.Elsewhere
      after
    } else throw new NoSuchElementException("the side has no more rows")
}
