// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeRow}

import plait.join.{JoinCore, KeyGroup}
import plait.spark.side.SideReader
import plait.{BySide, Side}

/** Drives the join core from two iterators: reads a row of the side that the core wants, takes that
  * row's matches, and reads on.
  *
  * {{{
  * left   (s 1)          right  (s 1)          condition l.s - r.s is 5 or 6
  *  reads  left 1 | right 1 | left 2, 3, 4, 5, 6 -> pair (6, 1)
  * }}}
  *
  * Conventions:
  *   1. It is driven by demand: nothing is read before `hasNext` is asked, and no more than the next
  *      pair needs.
  *   2. Each side comes sorted by its order; rows without an order value may stand anywhere.
  *   3. The row that `next` gives is valid until the next call.
  *
  * @param accepts
  *   the join's condition beyond its keys, on the row of both sides
  */
final class SymmetricHashJoinIterator(
    inputs: BySide[Iterator[InternalRow]],
    readers: BySide[SideReader],
    core: JoinCore[UnsafeRow, KeyGroup, UnsafeRow],
    accepts: InternalRow => Boolean,
    output: (UnsafeRow, UnsafeRow) => UnsafeRow,
    trace: BufferTrace
) extends Iterator[InternalRow] {
  private val pair = new JoinedRow
  private var arrived: Side = Side.Left
  private var current: UnsafeRow = _
  private var ready = false
  private var foundProbingLeft = 0L
  private var foundProbingRight = 0L

  def pairsByProbing(side: Side): Long =
    if (side eq Side.Left) foundProbingLeft else foundProbingRight

  override def hasNext: Boolean = {
    if (!ready) ready = findPair()
    ready
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("the join has no more rows")
    ready = false
    output(pair.getLeft.asInstanceOf[UnsafeRow], pair.getRight.asInstanceOf[UnsafeRow])
  }

  private def findPair(): Boolean = {
    // Invariant: every pair of rows read so far but those of `current` has been given.
    while (true) {
      var partner = core.nextMatch()
      while (partner != null) {
        if (arrived eq Side.Left) pair(current, partner) else pair(partner, current)
        if (accepts(pair)) {
          if (arrived eq Side.Left) foundProbingRight += 1 else foundProbingLeft += 1
          return true
        }
        partner = core.nextMatch()
      }
      if (core.isDone) return false
      read(core.wants)
    }
    false
  }

  private def read(side: Side): Unit = {
    val input = inputs(side)
    if (!input.hasNext) core.finish(side)
    else {
      val reader = readers(side)
      reader.read(input.next())
      arrived = side
      current = reader.row
      if (reader.hasRank) core.advance(side, reader.rank)
      if (reader.reaches) {
        core.add(side, reader.key, reader.row, reader.rank, reader.low, reader.high)
      } else core.addDead(side)
      trace.rowRead(core)
    }
  }
}
