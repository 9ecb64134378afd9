// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The [[BucketJoin]] of two sides that come in the sequence of their keys: the merge join of the textbooks, with reaches. A
  * key is a bucket, and no row is moved.
  *
  * {{{
  * built     1 1   | 3 | 4 4 4 | 6 7
  * probing       2 | 3 | 4     | 5         buckets of pairs: 3 with 3, 4 4 4 with 4
  * }}}
  *
  * Conventions:
  *   1. The sequence is that of any order which is the same for both sides. Keys that are equal stand at one place in it;
  *      of those that stand at one place the caller tells whether they are equal.
  *   2. A built row that is passed by comes out alone as soon as the next key of the probing side stands behind it, and so
  *      the other way about.
  *
  * What it does not promise: that a key with many rows is quick. All its built rows are looked at for each that probes.
  */
final class MergeJoin(
    rows: BySide[MergeJoin.Rows],
    built: Side,
    roles: BySide[Role],
    rankless: Rankless,
    sequence: MergeJoin.Sequence
) extends BucketJoin(built, roles, rankless) {
  private val build = rows(built)
  private val probes = rows(built.other)
  // The rows before these were in buckets, or passed by.
  private var builtUntil = 0
  private var probedUntil = 0
  // Of the bucket's built rows: their ranks, and which is looked at next.
  private var ranks = new Array[Long](64)
  private var next = 0

  override protected def nextBucket(): Boolean = {
    var isFound = false
    // Invariant: the rows before `builtUntil` and `probedUntil` were in a bucket if they had to be.
    while (!isFound && (builtUntil < build.count || probedUntil < probes.count)) {
      val compared = compare()
      val (from, at) = (builtUntil, probedUntil)
      if (compared <= 0) builtUntil = build.nextKey(from)
      if (compared >= 0) probedUntil = probes.nextKey(at)
      isFound = compared == 0 || (if (compared < 0) buildIsAloud else probeIsAloud)
      if (isFound) {
        begin(from, builtUntil - from, at, probedUntil)
        if (at < probedUntil) readRanks()
      }
    }
    isFound
  }

  private def readRanks(): Unit = {
    if (ranks.length < size) ranks = new Array[Long](size + size / 2)
    var row = 0
    // Invariant: the rows before `row` have their ranks.
    while (row < size) {
      ranks(row) = build.rank(from + row)
      row += 1
    }
  }

  /** Less than 0 if the built side's next key comes before that of the probing one, or that has none. */
  private def compare(): Int =
    if (builtUntil == build.count) 1
    else if (probedUntil == probes.count) -1
    else sequence.compare(builtUntil, probedUntil)

  override protected def probe(row: Int): Unit = next = 0

  override def hasCandidates: Boolean = size > 0

  override def nextCandidate(): Boolean = {
    var row = if (isSettled) size else next
    // Invariant: of the bucket's rows before `row` those that are candidates were given.
    while (row < size && !(isReached(ranks(row)) && isFree(row))) row += 1
    next = row + 1
    found(row)
    row < size
  }

  /** They are side by side as it is. */
  override def enterCluster(): Boolean = false
  override def nextPlaces(into: Array[Int]): Int = 0
  override def acceptAt(place: Int): Unit = ()

  /** The caller knows if those that stand at one place are. */
  override def isKnownEqual: Boolean = false
  override def foundEqual(): Unit = ()

  /** Rows are asked for where they lie. */
  override def reload(): Unit = ()

  override protected def builtHandle(row: Int): Long = build.handle(row)
  override protected def probingHandle(row: Int): Long = probes.handle(row)
  override def probingRank: Long = probes.rank(probingRow)
}

object MergeJoin {

  /** What a row of the key with the most of them takes of the heap: its rank and whether it has matched, with room for half
    * as many more.
    */
  val BytesPerRow: Int = 14

  /** The rows of a side, by their numbers, in the sequence of their keys. */
  trait Rows {
    def count: Int

    /** The first row behind this one that has another key; `count` if there is none. */
    def nextKey(row: Int): Int
    def rank(row: Int): Long
    def handle(row: Int): Long
  }

  trait Sequence {

    /** Less than 0 if the key of the built row comes before that of the probing one, 0 if they stand at one place. */
    def compare(built: Int, probing: Int): Int
  }
}
