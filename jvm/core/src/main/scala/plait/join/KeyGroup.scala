// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.Side

/** The buffered rows of one key: for each side none, one, or a [[Run]].
  *
  * {{{
  * key 7      left   entry 12            right  run of entries 3, 9, 4
  * }}}
  *
  * Of near-unique keys most have one row a side, which costs no more than its number here; a run is
  * made for the second row of a side, and kept for as long as the group is.
  */
class KeyGroup(index: IndexMemory = IndexMemory.Uncounted) {

  /** Which one it is in the sequence of its table's keys, if none has left. */
  final var number: Int = 0
  private var left = KeyGroup.None
  private var right = KeyGroup.None
  private var leftRun: Run = _
  private var rightRun: Run = _

  /** What its runs take of the heap. */
  final def runBytes: Long =
    (if (leftRun == null) 0L else leftRun.heapBytes) + (if (rightRun == null) 0L
                                                        else rightRun.heapBytes)

  final def isEmpty: Boolean = left == KeyGroup.None && right == KeyGroup.None

  /** The entry of the one row of a side, or [[KeyGroup.None]], or [[KeyGroup.Many]]. */
  final def sole(side: Side): Int = if (side eq Side.Left) left else right

  /** The rows of a side that has [[KeyGroup.Many]]. */
  final def run(side: Side): Run = if (side eq Side.Left) leftRun else rightRun

  /** How many rows of a side there are. */
  final def count(side: Side): Int = sole(side) match {
    case KeyGroup.None => 0
    case KeyGroup.Many => run(side).size
    case _ => 1
  }

  /** @param ranks
    *   the rank of each entry
    */
  final def insert(side: Side, entry: Int, ranks: Array[Long]): Unit = sole(side) match {
    case KeyGroup.None => set(side, entry)
    case KeyGroup.Many => run(side).insert(ranks(entry), entry)
    case first =>
      val rows = runFor(side)
      rows.insert(ranks(first), first)
      rows.insert(ranks(entry), entry)
      set(side, KeyGroup.Many)
  }

  final def remove(side: Side, entry: Int, rank: Long): Unit =
    if (sole(side) == entry) set(side, KeyGroup.None)
    else {
      run(side).remove(rank, entry)
      if (run(side).isEmpty) set(side, KeyGroup.None)
    }

  private def runFor(side: Side): Run = {
    if (run(side) == null) {
      if (side eq Side.Left) leftRun = new Run(index) else rightRun = new Run(index)
    }
    run(side)
  }

  private def set(side: Side, to: Int): Unit = if (side eq Side.Left) left = to else right = to
}

object KeyGroup {
  final val None = -1
  final val Many = -2
}
