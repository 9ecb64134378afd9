// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util

/** Where the *run* of each key begins, of rows that come in the sequence of their keys.
  *
  * {{{
  * k 3, k 3, k NULL, k 4, k 7        of rows 0, 1, 3, 4, the 0th, 2nd and 3rd begin a run        dead: row 2
  * }}}
  *
  * A row is dead that has no key, or no rank where such rows match nothing. It may stand anywhere.
  *
  * What it takes of the heap, up to half a byte a row, nobody counts.
  */
final private[spark] class KeyRuns {
  private val begins = new util.BitSet
  private val deadRows = new util.BitSet
  private var rows = 0
  private var alive = 0
  // Where the last run begins, and what those before it come to.
  private var begin = 0
  private var longestSoFar = 0
  private var squaresSoFar = 0.0

  /** The rows that come have another key than those before. */
  def beginRun(): Unit = {
    longestSoFar = longest
    squaresSoFar = squares
    begins.set(alive)
    begin = alive
  }

  /** The next row, of the run that began last. */
  def goOn(): Unit = {
    alive += 1
    rows += 1
  }

  def addDead(): Unit = {
    deadRows.set(rows)
    rows += 1
  }

  def clear(): Unit = {
    begins.clear()
    deadRows.clear()
    rows = 0
    alive = 0
    begin = 0
    longestSoFar = 0
    squaresSoFar = 0
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

  /** There are no more pairs of rows of one key than these (Cauchy and Schwarz). */
  def pairsAtMost(left: KeyRuns, right: KeyRuns): Double = math.sqrt(left.squares * right.squares)
}
