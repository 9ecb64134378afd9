// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The join of two sides whose rows stand still, bucket by bucket: all rows of a key, of both sides, lie in one bucket.
  *
  * One side is *built*, the other *probes*. Of a probing row p the candidates are, each once,
  *
  * {{{
  * { b built, in the bucket of p : b may have the key of p, rank(b) in reach(p) }
  * }}}
  *
  * and those that have no rank, where such rows may match. The caller compares the keys, evaluates the condition, and
  * says [[accept]] where both hold.
  *
  * {{{
  * built    bucket 0: k 3 rank 7         bucket 1: k 4 rank 1, k 4 rank 9
  * probing  bucket 0: k 5                bucket 1: k 4 reaching [8, 12]
  *   step Probes k 5 (if it comes out alone)   step Probes k 4, look(8, 12), candidates: k 4 rank 9
  *   then, if built rows come out alone: Leaves k 3 rank 7 after bucket 0, Leaves k 4 rank 1 after bucket 1
  * }}}
  *
  * It sorts nothing. That is quicker than [[JoinCore]] where a key has few rows, since a probing row is compared with all of
  * its key.
  *
  * Conventions:
  *   1. Rows that can match nothing (NULL keys, no rank where such are [[Rankless.Dead]]) are in no bucket.
  *   2. After [[BucketJoin.Probes]] come `look` and all candidates, if `hasCandidates`, and then [[leavesAtOnce]].
  *   3. Of a probing row that reaches nothing no candidates are asked for.
  *   4. Keys need not be compared where [[isKnownEqual]]; where they were and are equal, the caller says so.
  *   5. Where many rows share a key they are looked up by place in a cluster ([[ClusteredRows]]), not one by one.
  *   6. Between a step or a candidate and the next, rows may be moved, but for those that are passed ([[builtFrom]],
  *      [[probingFrom]]), which nobody asks for any more: then [[reload]] comes first.
  *
  * Two ways to have buckets: [[RadixJoin]] deals rows by hash, [[MergeJoin]] takes those that come in the sequence of their
  * keys.
  */
abstract class BucketJoin(val built: Side, roles: BySide[Role], rankless: Rankless) {
  import BucketJoin._

  final protected val probeIsAloud: Boolean = roles(built.other).leaves eq Leaving.Aloud
  final protected val buildIsAloud: Boolean = roles(built).leaves eq Leaving.Aloud
  final protected val probeSettles: Boolean = roles(built.other).matches eq Matching.Settles
  private val buildSettles = roles(built).matches eq Matching.Settles
  private val hasRankless = rankless eq Rankless.Matching

  /** Is a built row a candidate whenever it is reached? */
  final protected val reachSuffices: Boolean = !buildSettles && !hasRankless

  // The built rows of the bucket, [from, from + size).
  final protected var from: Int = 0
  final protected var size: Int = 0
  private var matched = new Array[Boolean](64)
  // Probing rows of the bucket from `at` on were not given; then built rows from `leaving` on.
  private var at = 0
  private var until = 0
  private var leaving = 0

  // The probing row at hand.
  final protected var low: Long = 0
  final protected var high: Long = 0
  private var last = 0
  private var isMatched = false

  /** Calls [[begin]] with the next bucket.
    * @return whether there is one
    */
  protected def nextBucket(): Boolean

  /** The candidates are those of this row. */
  protected def probe(row: Int): Unit

  protected def builtHandle(row: Int): Long
  protected def probingHandle(row: Int): Long

  /** Does a built row seem to have the key of the probing one? */
  def hasCandidates: Boolean

  /** Goes on to the next candidate, if there is one. */
  def nextCandidate(): Boolean

  /** Looks for a cluster of the probing row, once it has candidates and has been told its reach.
    * @return
    *   whether the candidates are had by [[nextPlaces]], all of its key, and not by [[nextCandidate]]
    */
  def enterCluster(): Boolean

  /** Writes down places of further candidates, as many as there is room for at most.
    * @return
    *   how many; 0 if there are no more
    */
  def nextPlaces(into: Array[Int]): Int

  /** The candidate in this place is a match. */
  def acceptAt(place: Int): Unit

  /** Is the candidate known to have the key of the probing row? */
  def isKnownEqual: Boolean

  /** The candidate has the key of the probing row. */
  def foundEqual(): Unit

  /** Rows have been moved, and have other handles: those of the bucket at hand are fetched anew. */
  def reload(): Unit

  /** The rank of the last step's row, if it probes. */
  def probingRank: Long

  /** Goes on to the next row to be looked up, or that comes out alone. */
  final def step(): Step = {
    var found: Step = null
    // Invariant: every row before those at hand was given if it had to be.
    while (found == null)
      if (at < until) {
        isMatched = false
        probe(at)
        at += 1
        if (probeIsAloud || hasCandidates) found = Probes
      } else if (buildIsAloud && leaving < size) {
        leaving += 1
        if (!matched(leaving - 1)) found = Leaves
      } else if (!nextBucket()) found = Over
    found
  }

  final protected def begin(from: Int, size: Int, at: Int, until: Int): Unit = {
    this.from = from
    this.size = size
    this.at = at
    this.until = until
    leaving = 0
    if (matched.length < size) matched = new Array[Boolean](size + size / 2)
    else java.util.Arrays.fill(matched, 0, size, false)
  }

  /** The built rows before this place, and the probing ones before that, are not asked for any more. */
  final def builtFrom: Int = from
  final def probingFrom: Int = math.max(0, at - 1)

  /** Those of the bucket that are still to probe, with the one that does, end here. */
  final protected def probingUntil: Int = until

  /** The row of the last step. */
  final def probing: Long = probingHandle(probingRow)
  final protected def probingRow: Int = at - 1
  final def leaver: Long = builtHandle(from + leaving - 1)

  /** The reach of the probing row. */
  final def look(low: Long, high: Long): Unit = {
    this.low = low
    this.high = high
  }

  /** Is the probing row done at its first match, and has had it? */
  final def isSettled: Boolean = isMatched && probeSettles

  /** May a built row of the bucket be matched, by its number in it? */
  final protected def isFree(row: Int): Boolean = !(buildSettles && matched(row))

  final protected def isReached(rank: Long): Boolean =
    (rank >= low && rank <= high) || (hasRankless && rank == Rankless.Rank)

  /** The candidate is this row of the bucket. */
  final protected def found(row: Int): Unit = last = row
  final protected def candidateRow: Int = last

  final def candidate: Long = builtHandle(from + last)

  /** The candidate is a match. */
  final def accept(): Unit = accept(last)

  final protected def accept(row: Int): Unit = {
    isMatched = true
    matched(row) = true
  }

  /** The probing row has had its candidates and comes out alone. */
  final def leavesAtOnce: Boolean = probeIsAloud && !isMatched
}

object BucketJoin {

  /** What is at hand. */
  sealed trait Step

  /** A probing row. */
  case object Probes extends Step

  /** A built row that comes out alone. */
  case object Leaves extends Step
  case object Over extends Step
}
