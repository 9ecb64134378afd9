// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util.Comparator

import scala.collection.mutable.ArrayBuffer

import plait.Side
import plait.join.{KeyGroup, SortableRowStore}

/** How many rows of a key a side stores at most: of more, those leave whose reach ends first.
  *
  * {{{
  * most 2      key 7    end    12  15  15  20
  *                      rank    3   6   4   5
  *             leave            x       x             what waits: (15, 6) and (20, 5)
  * }}}
  *
  * Conventions:
  *   1. It holds at the end of a batch: its pairs were found, and what the frontiers pass is not counted.
  *   2. Rows leave by their end, then by rank, then those that waited before the batch, then by `ties`,
  *      then those that have matched. So who leaves follows from the rows, and not from the sequence in
  *      which they came.
  *   3. Only keys that gain rows are looked at. One that had more before there was a limit keeps them until
  *      then.
  *
  * @param ties
  *   tells any two rows apart that differ
  * @param exceeded
  *   is given a row of each key that has more, before any of them leaves; it may throw
  */
final class KeyLimit[R](val most: Int, ties: Comparator[_ >: R], exceeded: (Side, R) => Unit) {

  /** The numbers of the rows that leave.
    * @param pages
    *   where their bytes lie
    */
  private[stream] def excess(
      side: Side,
      rows: KeyedRows,
      pages: SortableRowStore[R]
  ): collection.Seq[Int] = {
    val found = new ArrayBuffer[Int]
    val leaving = new Leaving(rows, pages)
    val order = rows.byHash
    var from = 0
    // Invariant: of the keys whose hash stands before `from` those that leave are found.
    while (from < order.length) {
      val hash = rows.hash(order(from))
      var until = from + 1
      while (until < order.length && rows.hash(order(until)) == hash) until += 1
      // Nearly all hashes have few rows, and their keys need not be looked at.
      if (until - from > most)
        for (ofKey <- keysOf(rows, order.slice(from, until))) {
          exceeded(side, pages.get(rows.handle(ofKey.head)))
          found ++= ofKey.sorted(leaving).take(ofKey.length - most)
        }
      from = until
    }
    found
  }

  /** The rows of each key that has too many, and has gained some. */
  private def keysOf(rows: KeyedRows, numbers: Array[Int]): Iterable[Array[Int]] =
    numbers
      .filter(rows.stays)
      .groupBy(rows.key)
      .values
      .filter(ofKey => ofKey.length > most && ofKey.exists(rows.isNew))

  /** Who leaves first. */
  final private class Leaving(rows: KeyedRows, pages: SortableRowStore[R]) extends Ordering[Int] {
    override def compare(a: Int, b: Int): Int = {
      val byEnd = java.lang.Long.compare(rows.end(a), rows.end(b))
      if (byEnd != 0) byEnd
      else {
        val byRank = java.lang.Long.compare(rows.rank(a), rows.rank(b))
        if (byRank != 0) byRank else compareAlike(a, b)
      }
    }

    private def compareAlike(a: Int, b: Int): Int = {
      val byAge = java.lang.Boolean.compare(rows.isNew(a), rows.isNew(b))
      if (byAge != 0) byAge
      else {
        val byRow = ties.compare(pages.get(rows.handle(a)), pages.beside(rows.handle(b)))
        if (byRow != 0) byRow else java.lang.Boolean.compare(rows.isMatched(b), rows.isMatched(a))
      }
    }
  }
}

/** Rows of one side during a batch, by number: all that are new, and of each of their keys all that are stored. */
private[stream] trait KeyedRows {

  /** The numbers of all, by the hash of their key. */
  def byHash: Array[Int]
  def hash(i: Int): Int
  def rank(i: Int): Long
  def end(i: Int): Long

  /** Where its bytes lie. */
  def handle(i: Int): Long
  def key(i: Int): KeyGroup
  def isNew(i: Int): Boolean
  def isMatched(i: Int): Boolean

  /** Whether it waits after the batch, if nobody limits that. */
  def stays(i: Int): Boolean
}
