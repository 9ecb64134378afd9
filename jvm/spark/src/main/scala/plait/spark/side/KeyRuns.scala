// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}

/** Whether the rows of one side come in the sequence of their keys, seen as they come, and where the *run* of each key
  * begins.
  *
  * {{{
  * k 3, k 3, k NULL, k 4, k 7        comes by key: of rows 0, 1, 3, 4, the 0th, 2nd and 3rd begin a run        dead: row 2
  * k 3, k 3, k 2                     does not come by key
  * }}}
  *
  * Conventions:
  *   1. A row is dead that has no key, or no rank where such rows match nothing. It may stand anywhere.
  *   2. The sequence is that of [[KeyOrder]]; nobody has to say that rows come in it.
  *   3. After the first row that is out of place nothing is seen any more, as it costs time.
  *
  * What it takes of the heap, up to half a byte a row and one key, nobody counts.
  *
  * @param reader
  *   of key and rank, for the rows that come; ends of a reach are not asked for
  */
final private[spark] class KeyRuns(val reader: SideReader, val order: KeyOrder) {
  private val last = new HeldKey
  private val begins = new util.BitSet
  private val deadRows = new util.BitSet
  private var isSoFar = true
  private var rows = 0
  private var alive = 0
  // Where the last run begins, and what those before it come to.
  private var begin = 0
  private var longestSoFar = 0
  private var squaresSoFar = 0.0

  /** The row that the reader has read is the next one.
    * @return whether all rows up to it come by key
    */
  def see(): Boolean = {
    if (!reader.reaches) deadRows.set(rows)
    else {
      val compared = if (alive == 0) -1 else order.compare(last, reader)
      if (compared < 0) beginRun() else if (compared > 0) isSoFar = false
      alive += 1
    }
    rows += 1
    isSoFar
  }

  private def beginRun(): Unit = {
    longestSoFar = longest
    squaresSoFar = squares
    last.hold(reader)
    begins.set(alive)
    begin = alive
  }

  /** Of all rows that are not dead: how many there are, the most of one key, and the squares of how many each key has. */
  def count: Int = alive
  def longest: Int = math.max(longestSoFar, alive - begin)
  def squares: Double = squaresSoFar + (alive - begin).toDouble * (alive - begin)

  /** The numbers of dead rows among all, ascending. */
  def dead: Array[Int] = deadRows.stream.toArray

  /** Of those that are not dead: the first behind this one that begins a run; `count` if there is none. */
  def nextRun(row: Int): Int = {
    val next = begins.nextSetBit(row + 1)
    if (next < 0) alive else next
  }
}

private[spark] object KeyRuns {

  /** @param after
    *   how many rows come before it is worth to look at their keys
    */
  final case class Watch(key: KeyForm, after: Int)

  /** None of keys that have no order. */
  def of(key: KeyForm, rank: Expression, output: Seq[Attribute]): Option[KeyRuns] =
    KeyOrder
      .of(key)
      .map(order => new KeyRuns(SideReader.create(key, Seq.fill(3)(rank), output), order))

  /** There are no more pairs of rows of one key than these (Cauchy and Schwarz). */
  def pairsAtMost(left: KeyRuns, right: KeyRuns): Double = math.sqrt(left.squares * right.squares)
}
