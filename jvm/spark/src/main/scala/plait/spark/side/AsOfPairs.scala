// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import plait.join.{Leaving, Role}
import plait.{BySide, Side}

/** The pairs of an as-of join in one task, found one at a time, and what was read for them.
  *
  * @param reading
  *   told who reads
  * @param release
  *   gives back all that is held, with the last pair, and not with the end of the task
  */
abstract class AsOfPairs(roles: BySide[Role], reading: ReadingThread, release: () => Unit)
    extends JoinedPairs {
  final protected val leftAloud: Boolean = roles.left.leaves eq Leaving.Aloud
  final protected val rightAloud: Boolean = roles.right.leaves eq Leaving.Aloud
  final protected val givesMatches: Boolean = Role.givesMatches(roles)
  private var rows = 0L
  private var isOver = false

  /** Sets the next pair, or row alone, if there is one. */
  protected def find(): Boolean

  /** Rows read of a side, that come out here if they do. */
  def rowsIn(side: Side): Long

  /** The most rows kept at once. */
  def peak: Long

  final def rowsOut: Long = rows

  final override def advance(): Boolean = {
    if (!isOver) {
      reading.begin()
      isOver = !find()
      if (isOver) release() else rows += 1
    }
    !isOver
  }
}
