// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow

import plait.join.{Leaving, Role}
import plait.{BySide, Side}

/** The rows of an as-of join in one task, found one at a time, and what was read for them.
  *
  * @param release
  *   gives back all that is held, with the last row, and not with the end of the task
  */
abstract class JoinRows(roles: BySide[Role], release: () => Unit) extends Iterator[InternalRow] {
  final protected val leftAloud: Boolean = roles.left.leaves eq Leaving.Aloud
  final protected val rightAloud: Boolean = roles.right.leaves eq Leaving.Aloud
  final protected val givesMatches: Boolean = !roles.left.eq(Role.Missing)
  private var found: InternalRow = _
  private var rows = 0L
  private var isOver = false

  /** The next row, or null. */
  protected def findRow(): InternalRow

  /** Rows read of a side, that come out here if they do. */
  def rowsIn(side: Side): Long

  /** The most rows kept at once. */
  def peak: Long

  final def rowsOut: Long = rows

  final override def hasNext: Boolean = {
    if (found == null && !isOver) {
      found = findRow()
      if (found == null) {
        isOver = true
        release()
      }
    }
    found != null
  }

  final override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("the join has no more rows")
    val row = found
    found = null
    rows += 1
    row
  }
}
