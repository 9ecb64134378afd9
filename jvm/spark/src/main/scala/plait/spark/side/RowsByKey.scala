// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.Leaving

/** The rows of one side that are known to come by key, with the next one at hand.
  *
  * {{{
  * rows        (k 3, a)    (k 3, b)    (k NULL, c)    (k 4, d)
  * at hand     a, a new key; beginKey(); advance()
  *             b, goesOn: of the key that began last; advance()
  *             c, no key; advance()
  *             d, a new key
  * }}}
  *
  * A row whose key stands before that of a row before it ends the join, and so does one of the same key with a row between
  * that has none: whoever said that they come by key was wrong, and what was joined may lack rows.
  *
  * @param reader
  *   of the key of the row at hand
  * @param newRanks
  *   makes what reads the rank of a row
  * @param sort
  *   where rows are stored
  * @param name
  *   of the side
  */
final private[spark] class RowsByKey(
    rows: Iterator[InternalRow],
    val reader: SideReader,
    order: KeyOrder,
    newRanks: () => SideReader,
    sort: RankSort,
    leaves: Leaving,
    name: String
) {
  private val runs = new KeyRuns
  // The key that began last, if one did.
  private val held = new HeldKey
  private var isHeld = false
  private var isAtEnd = false
  private var isOfHeld = false
  private var storedRows = 0
  private var allStored = 0L
  private var readRows = 0L
  private var passedRows = 0L

  /** Of the rank of any row. It is made when it is needed: most sides come without a key of many rows. */
  lazy val ranks: SideReader = newRanks()

  /** Do rows without a match come out? */
  val isAloud: Boolean = leaves eq Leaving.Aloud

  /** Is there no row at hand? */
  def isOver: Boolean = isAtEnd
  def row: UnsafeRow = reader.row

  /** Has the row at hand a key? */
  def hasKey: Boolean = reader.reaches

  /** Is that the one which began last? */
  def goesOn: Boolean = isOfHeld

  /** Is there a row at hand with a key that did not begin? */
  def isAtNewKey: Boolean = !isAtEnd && !isOfHeld && reader.reaches

  /** How many rows were read and not stored, and how many of them match nothing and did not come out. */
  def merged: Long = readRows - allStored
  def passed: Long = passedRows

  /** Goes on to the next row. */
  def advance(): Unit = {
    // Before the first row is read no key is held.
    val isApart = !reader.reaches
    isOfHeld = false
    isAtEnd = !rows.hasNext
    if (!isAtEnd) {
      // Not by `read(row)`, which all readers share: here Java sees those of two sides, and mostly of one class.
      reader.read(rows.next(), SideReader.Unknown)
      readRows += 1
      if (isHeld && reader.reaches) {
        val compared = order.compare(held, reader)
        isOfHeld = compared == 0
        if (compared > 0 || (isOfHeld && isApart)) failOutOfPlace()
      }
    }
  }

  /** Nothing becomes of the row at hand. */
  def pass(): Unit = {
    passedRows += 1
    advance()
  }

  /** The key of the row at hand is a new one, that stands before this one: goes past the rows before it, or to the first of
    * them that comes out.
    */
  def passBefore(other: RowKey): Unit =
    if (isAloud) beginKey()
    else
      // Invariant: the keys of all rows passed stand before it.
      while (!isAtEnd && (!hasKey || order.compare(reader, other) < 0)) {
        if (hasKey && !isOfHeld) beginKey()
        pass()
      }

  /** The key of the row at hand, which is a new one, begins. */
  def beginKey(): Unit = {
    held.hold(reader)
    isHeld = true
    isOfHeld = true
  }

  /** Since [[beginStoring]]: how many rows were stored. */
  def stored: Int = storedRows

  /** What was stored goes; what is stored next is of the key that began last. */
  def beginStoring(): Unit = {
    runs.clear()
    runs.beginRun()
    sort.begin(runs)
    storedRows = 0
  }

  /** Stores the rows of the key at hand, which is a new one. */
  def takeKey(): Unit = {
    beginKey()
    runs.beginRun()
    takeRest()
  }

  /** Stores rows that were at hand before, of the key that began last. */
  def takeBack(before: FewRows): Unit =
    for (number <- 0 until before.count) store(before.rows(number))

  /** Stores the rows of the key that began last, from the one at hand on. */
  def takeRest(): Unit =
    // Invariant: the rows of the key before the one at hand are stored.
    while (isOfHeld) {
      store(row)
      advance()
    }

  /** Stores the row at hand, which comes out alone. */
  def takeAlone(): Unit = {
    ranks.read(row)
    runs.addDead()
    put()
    advance()
  }

  private def store(row: UnsafeRow): Unit = {
    ranks.read(row)
    if (ranks.reaches) runs.goOn() else runs.addDead()
    put()
  }

  private def put(): Unit = {
    sort.insert(ranks)
    storedRows += 1
    allStored += 1
  }

  private def failOutOfPlace(): Nothing = throw new IllegalStateException(
    s"The rows of the $name side of a join do not come in the order of their key, as the plan below says that they do. " +
      "spark.plait.join.radix=never joins them by their order instead."
  )
}
