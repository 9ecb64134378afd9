// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.MergeJoin

/** The rows of one side that came by key ([[KeyRuns]]), as they lie in memory, and their keys.
  *
  * {{{
  * rows  (k 3) (k 3) (k NULL) (k 4)      numbers 0 1 - 2      nextKey(0) = 2      dead  (k NULL)
  * }}}
  *
  * @param reader
  *   of a key alone
  */
final private[spark] class RowsInRuns(
    rows: RankedRows,
    runs: KeyRuns,
    reader: SideReader,
    fields: Int
) extends MergeJoin.Rows {
  private val row = new UnsafeRow(fields)
  private var keyAt = -1

  /** The handles of dead rows, which have no number from here on. */
  val dead: Array[Long] = {
    val numbers = runs.dead
    val handles = numbers.map(rows.handle)
    var taken = 0
    var number = numbers.headOption.getOrElse(rows.count)
    // Invariant: of the rows before `number` those that are `taken` are dead, and the others have the first numbers.
    while (number < rows.count) {
      if (taken < numbers.length && numbers(taken) == number) taken += 1
      else rows.renumber(number, number - taken)
      number += 1
    }
    handles
  }

  override def count: Int = runs.count
  override def nextKey(number: Int): Int = runs.nextRun(number)
  override def rank(number: Int): Long = rows.rankOf(number)
  override def handle(number: Int): Long = rows.handle(number)

  /** Valid until another is asked for. */
  def key(number: Int): RowKey = {
    if (number != keyAt) {
      rows.point(rows.handle(number), row)
      reader.read(row)
      keyAt = number
    }
    reader
  }
}

private[spark] object RowsInRuns {

  /** What a dead row takes of the heap: its number while they are taken out, and its handle. */
  val BytesPerDeadRow: Int = 4 + 8
}
