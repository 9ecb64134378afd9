// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{IndexMemory, MergeJoin}

/** The rows of one side that came by key ([[KeyRuns]]), as they lie, and their keys.
  *
  * {{{
  * rows  (k 3) (k 3) (k NULL) (k 4)      numbers 0 1 - 2      nextKey(0) = 2      dead  (k NULL)
  * }}}
  *
  * @param reader
  *   of a key alone
  * @param index
  *   told what rows that are read from a file take of the heap
  */
final private[spark] class RowsInRuns(
    kept: KeptRows,
    runs: KeyRuns,
    reader: SideReader,
    fields: Int,
    index: IndexMemory = IndexMemory.Uncounted
) extends MergeJoin.Rows
    with KeptRows.Buckets {
  private val rows = kept.inMemory
  private val row = new UnsafeRow(fields)
  private var keyAt = -1
  // Once they are read from a file: of the runs that were loaded, [loadedFrom, loadedUntil), handles and ranks.
  private var isLoading = false
  private var loadedFrom = 0
  private var loadedUntil = 0
  private var handles = Array.emptyLongArray
  private var ranks = Array.emptyLongArray

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
  override def endOf(number: Int): Int = runs.nextRun(number)

  override def rank(number: Int): Long =
    if (!isLoading) rows.rankOf(number)
    else {
      load(number)
      ranks(number - loadedFrom)
    }

  override def handle(number: Int): Long =
    if (!isLoading) rows.handle(number)
    else {
      load(number)
      handles(number - loadedFrom)
    }

  override def loadFrom(number: Int): Unit = {
    isLoading = true
    loadedUntil = number
    keyAt = -1
  }

  /** Runs are asked for in their sequence, and some are passed by. */
  private def load(number: Int): Unit = if (number >= loadedUntil) {
    val until = nextKey(number)
    loadedFrom = if (nextKey(loadedUntil) == until) loadedUntil else number
    loadedUntil = until
    if (handles.length < until - loadedFrom) {
      index.add(RowsInRuns.BytesPerLoaded * (until - loadedFrom - handles.length))
      handles = new Array[Long](until - loadedFrom)
      ranks = new Array[Long](until - loadedFrom)
    }
    kept.load(
      loadedFrom,
      until,
      (place, handle, rank) => {
        handles(place - loadedFrom) = handle
        ranks(place - loadedFrom) = rank
      }
    )
  }

  /** Valid until another is asked for. */
  def key(number: Int): RowKey = {
    if (number != keyAt) {
      rows.point(handle(number), row)
      reader.read(row)
      keyAt = number
    }
    reader
  }
}

private[spark] object RowsInRuns {

  /** What a dead row takes of the heap: its number while they are taken out, and its handle. */
  val BytesPerDeadRow: Int = 4 + 8

  /** What a row of the longest run takes that is read from a file: its handle and rank. */
  private val BytesPerLoaded = 8L + 8
}
