// SPDX-License-Identifier: Apache-2.0
package plait.join

/** A store of rows of which two can be looked at, to be compared. */
trait SortableRowStore[R] extends RowStore[R] {

  /** The row, valid until the next call of this, and beside one that [[get]] gives after it. */
  def beside(handle: Long): R
}
