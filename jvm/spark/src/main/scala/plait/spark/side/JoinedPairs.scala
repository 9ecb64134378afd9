// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.Side

/** What a join gives, one after the other: a pair of rows, or a row of one side alone, whose partner is null.
  *
  * {{{
  * LEFT OUTER, left 1 and 5, right 1        (1, 1), (5, null)
  * }}}
  *
  * Generated code takes the columns that it needs off the two rows; [[JoinedPairs.Rows]] makes one row of both.
  */
abstract class JoinedPairs {

  /** Goes on to the next, if there is one. */
  def advance(): Boolean

  private var ofLeft: UnsafeRow = _
  private var ofRight: UnsafeRow = _

  final def left: UnsafeRow = ofLeft
  final def right: UnsafeRow = ofRight

  /** Are there rows of both sides? */
  final def isPair: Boolean = ofLeft != null && ofRight != null

  final protected def set(left: UnsafeRow, right: UnsafeRow): Unit = {
    // Mostly the same two objects; to write a reference costs a barrier of the collector's.
    if (ofLeft ne left) ofLeft = left
    if (ofRight ne right) ofRight = right
  }

  final protected def setAlone(side: Side, row: UnsafeRow): Unit =
    if (side eq Side.Left) set(row, null) else set(null, row)

  /** The one at hand as a row. */
  final def row(output: JoinOutput): InternalRow =
    if (isPair) output.matched(ofLeft, ofRight)
    else if (ofRight == null) output.alone(Side.Left, ofLeft)
    else output.alone(Side.Right, ofRight)
}

object JoinedPairs {

  /** Pairs as rows, each valid until the next is asked for. Who takes the [[pairs]] asks for no rows but
    * that of the one at hand.
    */
  final class Rows(val pairs: JoinedPairs, newOutput: () => JoinOutput)
      extends Iterator[InternalRow] {
    private lazy val output = newOutput()
    // Is there one at hand that was not given?
    private var isFound = false

    /** The one at hand. */
    def row: InternalRow = pairs.row(output)

    override def hasNext: Boolean = {
      if (!isFound) isFound = pairs.advance()
      isFound
    }

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("the join has no more rows")
      isFound = false
      row
    }
  }
}
