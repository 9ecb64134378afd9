// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The join of two sides whose rows stand still, bucket by bucket: the radix join of the textbooks, with reaches.
  *
  * One side is *built*, the other *probes*. Of a probing row p the candidates are, each once,
  *
  * {{{
  * { b built : hash(b) = hash(p), rank(b) in reach(p) }
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
  * It sorts nothing: a table of one bucket's rows fits the cache. That is quicker than [[JoinCore]] where a key has few
  * rows ([[SampledPairs]] guesses that), since a probing row is compared with all of its key.
  *
  * Conventions:
  *   1. Rows that can match nothing (NULL keys, no rank where such are [[Rankless.Dead]]) are not dealt.
  *   2. After [[RadixJoin.Probes]] come `look` and all candidates, if `hasCandidates`, and then [[leavesAtOnce]].
  *   3. Of a probing row that reaches nothing no candidates are asked for.
  *
  * @param touch
  *   told of each bucket's handles before they are used, so that rows far apart in memory are fetched side by side
  */
final class RadixJoin(
    rows: BySide[DealtRows],
    val built: Side,
    roles: BySide[Role],
    rankless: Rankless,
    touch: RadixJoin.Touch
) {
  import RadixJoin._

  private val build = rows(built)
  private val probe = rows(built.other)
  private val probeIsAloud = roles(built.other).leaves eq Leaving.Aloud
  private val probeSettles = roles(built.other).matches eq Matching.Settles
  private val buildIsAloud = roles(built).leaves eq Leaving.Aloud
  private val buildSettles = roles(built).matches eq Matching.Settles
  private val hasRankless = rankless eq Rankless.Matching

  private var bucket = -1
  // The built rows of the bucket, [from, from + size), in chains of those whose hashes end alike: a number is that of
  // the row among them and one, 0 is none.
  private var from = 0
  private var size = 0
  private var heads = new Array[Int](64)
  private var mask = 0
  private var next = new Array[Int](64)
  private var matched = new Array[Boolean](64)
  // Probing rows of the bucket from `at` on were not given; then built rows from `leaving` on.
  private var at = 0
  private var until = 0
  private var leaving = 0

  // The probing row at hand.
  private var hash = 0
  private var chain = 0
  private var low = 0L
  private var high = 0L
  private var last = 0
  private var isMatched = false

  /** Goes on to the next row to be looked up, or that comes out alone. */
  def step(): Step = {
    var found: Step = null
    // Invariant: every row before those at hand was given if it had to be.
    while (found == null)
      if (at < until) {
        take()
        if (chain != 0 || probeIsAloud) found = Probes
      } else if (buildIsAloud && leaving < size) {
        leaving += 1
        if (!matched(leaving - 1)) found = Leaves
      } else if (bucket + 1 == build.buckets) found = Over
      else begin(bucket + 1)
    found
  }

  /** The row of the last step. */
  def probing: Long = probe.handle(at - 1)
  def probingRank: Long = probe.rank(at - 1)
  def leaver: Long = build.handle(from + leaving - 1)

  /** Does a built row share the hash of the probing one? */
  def hasCandidates: Boolean = chain != 0

  /** The reach of the probing row. */
  def look(low: Long, high: Long): Unit = {
    this.low = low
    this.high = high
  }

  /** Goes on to the next candidate, if there is one. */
  def nextCandidate(): Boolean = {
    var isFound = false
    if (!(isMatched && probeSettles))
      // Invariant: no row of the chain before `chain` is a candidate that was not given.
      while (!isFound && chain != 0) {
        val row = chain - 1
        chain = next(row)
        if (build.hash(from + row) == hash && isReached(build.rank(from + row)))
          if (!(buildSettles && matched(row))) {
            last = row
            isFound = true
          }
      }
    isFound
  }

  private def isReached(rank: Long): Boolean =
    (rank >= low && rank <= high) || (hasRankless && rank == Rankless.Rank)

  def candidate: Long = build.handle(from + last)

  /** The candidate is a match. */
  def accept(): Unit = {
    isMatched = true
    matched(last) = true
  }

  /** The probing row has had its candidates and comes out alone. */
  def leavesAtOnce: Boolean = probeIsAloud && !isMatched

  private def take(): Unit = {
    hash = probe.hash(at)
    isMatched = false
    chain = if (size == 0) 0 else heads(hash & mask)
    // Invariant: no row of the chain before `chain` shares the hash.
    while (chain != 0 && build.hash(from + chain - 1) != hash) chain = next(chain - 1)
    at += 1
  }

  private def begin(number: Int): Unit = {
    bucket = number
    at = probe.begin(number)
    until = probe.end(number)
    from = build.begin(number)
    size = build.end(number) - from
    leaving = 0
    if (size > 0 && (at < until || buildIsAloud)) chains()
    if (at < until && size > 0) {
      touch.fetch(built, build, from, from + size)
      touch.fetch(built.other, probe, at, until)
    }
  }

  private def chains(): Unit = {
    val slots = Integer.highestOneBit(size) * 2
    mask = slots - 1
    if (heads.length < slots) heads = new Array[Int](slots)
    else java.util.Arrays.fill(heads, 0, slots, 0)
    if (next.length < size) {
      next = new Array[Int](size + size / 2)
      matched = new Array[Boolean](next.length)
    } else java.util.Arrays.fill(matched, 0, size, false)
    var row = size
    // Invariant: the rows from `row` on are in their chains, each before those that come after it.
    while (row > 0) {
      val slot = build.hash(from + row - 1) & mask
      next(row - 1) = heads(slot)
      heads(slot) = row
      row -= 1
    }
  }
}

object RadixJoin {

  /** What a built row of a bucket takes of the heap at most, beside what it takes of [[DealtRows]]: two heads of chains,
    * a link and a half, and whether it has matched.
    */
  val BytesPerRow: Int = 16

  /** What is at hand. */
  sealed trait Step

  /** A probing row. */
  case object Probes extends Step

  /** A built row that comes out alone. */
  case object Leaves extends Step
  case object Over extends Step

  /** Fetches rows that are about to be read. */
  trait Touch {
    def fetch(side: Side, of: DealtRows, from: Int, until: Int): Unit
  }

  object Touch {

    /** Of rows that lie one after the other, which the processor sees coming. */
    val Needless: Touch = (_, _, _, _) => ()
  }
}
