// SPDX-License-Identifier: Apache-2.0
package plait.join

import plait.{BySide, Side}

/** The [[BucketJoin]] of rows that are dealt to buckets by the hash of their keys: the radix join of the textbooks, with
  * reaches. A table of one bucket's rows fits the cache.
  *
  * {{{
  * of a bucket, by the last 2 bits of a hash      heads  0 -> row 2    1 -> row 0 -> row 3    2    3 -> row 1
  * a probing row of hash ..01                     candidates: row 0 and row 3, if their hashes are the same in all bits
  * }}}
  *
  * [[SampledPairs]] guesses whether keys have few enough rows.
  *
  * @param touch
  *   told of each bucket's handles before they are used, so that rows far apart in memory are fetched side by side, and
  *   of the rows of clusters
  */
final class RadixJoin(
    rows: BySide[DealtRows],
    built: Side,
    roles: BySide[Role],
    rankless: Rankless,
    touch: RadixJoin.Touch
) extends BucketJoin(built, roles, rankless) {
  private val build = rows(built)
  private val probes = rows(built.other)

  private var bucket = -1
  // Chains of built rows whose hashes end alike: a number is that of the row in the bucket and one, 0 is none.
  private var heads = new Array[Int](64)
  private var mask = 0
  private var next = new Array[Int](64)
  // Rows of one label have one key. It is the place of one of them and one: those up to `from` are of buckets before.
  private var labels = new Array[Int](64)

  // The probing row at hand.
  private var hash = 0
  private var chain = 0
  // Of the built rows of the bucket that are known to have its key; 0 while none is.
  private var label = 0

  private val clusters = new ClusteredRows
  // The places of its cluster that were not looked at.
  private var place = 0
  private var placesEnd = 0
  // So many are looked at next: a row that is done at its first match may have it soon.
  private var stride = 0

  override def hasCandidates: Boolean = chain != 0

  override def nextCandidate(): Boolean = {
    var isFound = false
    if (!isSettled)
      // Invariant: no row of the chain before `chain` is a candidate that was not given.
      while (!isFound && chain != 0) {
        val row = chain - 1
        chain = next(row)
        if (build.hash(from + row) == hash && isReached(build.rank(from + row)) && isFree(row)) {
          found(row)
          isFound = true
        }
      }
    isFound
  }

  override def enterCluster(): Boolean = reachSuffices && {
    val head = chain - 1
    if (clusters.ask(head) && clusters.takes(countAlike())) cluster(head)
    val isThere = clusters.has(head) && touch.hasKey(build.handle(from + rowAt(head)))
    if (isThere) {
      place = clusters.begin(head)
      placesEnd = clusters.end(head)
      stride = if (probeSettles) RadixJoin.FirstStride else Int.MaxValue
    }
    isThere
  }

  private def rowAt(head: Int): Int = clusters.row(clusters.begin(head))

  /** How many built rows have the hash. */
  private def countAlike(): Int = {
    var row = chain
    var count = 0
    // Invariant: before `row` the chain has `count` rows with the hash.
    while (row != 0) {
      count += 1
      row = alike(next(row - 1))
    }
    count
  }

  /** Those with the key of the probing row; of two keys with one hash the other has none. */
  private def cluster(head: Int): Unit = {
    clusters.open(head)
    var row = chain
    // Invariant: the rows of the chain before `row` are in the cluster if they have the key.
    while (row != 0) {
      val at = from + row - 1
      if (touch.hasKey(build.handle(at)))
        touch.keep(build.handle(at), clusters.add(head, row - 1, build.rank(at)))
      row = alike(next(row - 1))
    }
  }

  /** From `row` on the first of its chain that has the hash; 0 if there is none. */
  private def alike(row: Int): Int = {
    var at = row
    // Invariant: no row of the chain before `at` has the hash.
    while (at != 0 && build.hash(from + at - 1) != hash) at = next(at - 1)
    at
  }

  override def nextPlaces(into: Array[Int]): Int = {
    var found = 0
    // Invariant: none of the places looked at before is reached and was not given.
    while (found == 0 && place < placesEnd && !isSettled) {
      val until = place + math.min(placesEnd - place, math.min(into.length, stride))
      stride = math.max(stride, stride * 2)
      found = clusters.reached(place, until, low, high, into)
      place = until
    }
    found
  }

  override def acceptAt(place: Int): Unit = accept(clusters.row(place))

  override def isKnownEqual: Boolean = label != 0 && labels(candidateRow) == label

  /** That a row has another label than this says nothing: it may have been looked up when that was not known. */
  override def foundEqual(): Unit = {
    val row = candidateRow
    if (label == 0) label = if (labels(row) > from) labels(row) else from + row + 1
    labels(row) = label
  }

  override protected def probe(row: Int): Unit = {
    hash = probes.hash(row)
    label = 0
    chain = if (size == 0) 0 else alike(heads(hash & mask))
  }

  override protected def nextBucket(): Boolean = {
    val isThere = bucket + 1 < build.buckets
    if (isThere) {
      bucket += 1
      val (first, count) = (build.begin(bucket), build.end(bucket) - build.begin(bucket))
      val (at, until) = (probes.begin(bucket), probes.end(bucket))
      begin(first, count, at, until)
      clusters.clear(if (reachSuffices) size else 0)
      if (at < until && size > 0) chains()
      fetch(at)
    }
    isThere
  }

  /** Rows that are compared, or that come out alone. */
  private def fetch(at: Int): Unit = {
    val areCompared = at < probingUntil && size > 0
    if (areCompared || buildIsAloud) touch.fetch(built, build, from, from + size)
    if (areCompared || probeIsAloud) touch.fetch(built.other, probes, at, probingUntil)
  }

  override def reload(): Unit = {
    fetch(probingFrom)
    var place = 0
    // Invariant: the rows of the places before `place` are looked up where they lie now.
    while (place < clusters.places) {
      touch.keep(build.handle(from + clusters.row(place)), place)
      place += 1
    }
  }

  private def chains(): Unit = {
    val slots = Integer.highestOneBit(size) * 2
    mask = slots - 1
    if (heads.length < slots) heads = new Array[Int](slots)
    else java.util.Arrays.fill(heads, 0, slots, 0)
    if (next.length < size) {
      next = new Array[Int](size + size / 2)
      labels = new Array[Int](size + size / 2)
    }
    var row = size
    // Invariant: the rows from `row` on are in their chains, each before those that come after it.
    while (row > 0) {
      val slot = build.hash(from + row - 1) & mask
      next(row - 1) = heads(slot)
      heads(slot) = row
      row -= 1
    }
  }

  override protected def builtHandle(row: Int): Long = build.handle(row)
  override protected def probingHandle(row: Int): Long = probes.handle(row)
  override def probingRank: Long = probes.rank(probingRow)
}

object RadixJoin {
  private val FirstStride = 16

  /** What a built row of a bucket takes of the heap at most, beside what it takes of [[DealtRows]]: two heads of chains,
    * a link and a half, a label and a half, whether it has matched, and what clusters take.
    */
  val BytesPerRow: Int = 22 + ClusteredRows.BytesPerRow

  /** The rows themselves. */
  trait Touch {

    /** Fetches rows that are about to be read; where rows are moved they are given other handles. */
    def fetch(side: Side, of: DealtRows, from: Int, until: Int): Unit

    /** Does this built row have the key of the probing row? */
    def hasKey(handle: Long): Boolean

    /** This built row is looked up by its place from here on, until there is another bucket. */
    def keep(handle: Long, place: Int): Unit
  }
}
