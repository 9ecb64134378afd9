// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Comparator

/** The rows of the right side that a left row may pick, by key, the best last.
  *
  * With R the rows offered so far, in the order of their match values, a left row that comes now has the
  * candidates
  *
  * {{{
  * { r in R : key(r) = key(l) }        best first: the last by match value, then by `precedence`
  * }}}
  *
  * The driver decides when a left row comes: with `l.ts >= r.ts` after all right rows up to l.ts, with
  * `l.ts > r.ts` after those before it. For `<=` and `<` both sides come the other way round, and all
  * else is the same.
  *
  * {{{
  * offer (k, 10:01, a)      offer (k, 10:05, b)      offer (k, 10:05, c), b before c
  * seek k                   candidate c, then b, then a             Keeping.All
  *                          candidate c                             Keeping.Best: a and b are superseded
  * }}}
  *
  * Conventions:
  *   1. Ranks of offered rows never fall, and are equal where match values are. Rows of equal rank stand
  *      by `precedence`; of rows that it holds equal the later is last.
  *   2. [[pick]] is said of the candidate given last. A row may be picked by many.
  *   3. With [[Leaving.Aloud]] each row offered with [[Home.Here]] that nobody picked is given by
  *      [[nextLeaving]], once, when nobody can pick it any more: superseded, out of reach, or at the end.
  *      It is to be asked after [[offer]], [[outOfReach]], [[dropOldest]] and [[finish]] until it gives
  *      null.
  *   4. A row given is valid until the next call.
  *   5. With [[Keeping.AllInReach]] the driver drops the [[oldest]] rows before a left row picks, as long
  *      as they are out of its reach, so that no search meets one: what is held is what a tolerance spans.
  *
  * It does not promise that a candidate satisfies the join's condition: the caller asks for the next
  * one until it does, which [[Keeping.Best]] allows only where there is none across the sides. n left rows
  * and m right ones cost n + m steps with [[Keeping.Best]]; with [[Keeping.All]] those that the search for
  * a candidate takes, and m log m comparisons at most among rows of equal rank.
  *
  * @tparam Q
  *   a key as it comes with a row
  */
final class AsOfCore[Q, R >: Null <: AnyRef](
    keys: KeyTable[Q, KeyGroup],
    store: SortableRowStore[R],
    precedence: Comparator[_ >: R],
    keeping: Keeping,
    leaving: Leaving,
    index: IndexMemory = IndexMemory.Uncounted
) {
  private val isAloud = leaving eq Leaving.Aloud
  private var runs = new Array[Candidates](16)
  private var sought: Candidates = _
  private var slot = 0

  // With AllInReach: for each row held, in the sequence in which they came, the number of its key.
  private val arrivals = new LongQueue(index)
  // Handles of rows that nobody picked and nobody will.
  private val leavers = new LongQueue(index)
  private var isFinished = false
  private var finishedRuns = 0
  // The row that was given last, to be freed, or -1.
  private var handedOut = -1L
  private var held = 0L
  private var mostHeld = 0L

  /** The most rows held at once. */
  def peak: Long = mostHeld

  def size: Long = held

  def offer(key: Q, rank: Long, row: R, home: Home): Unit = {
    val group = keys.claim(key)
    val run = runOf(group)
    if (keeping.all || run.isEmpty) insert(group, run, rank, row, home)
    else if (run.lastRank == rank && precedence.compare(row, store.get(run.lastHandle)) < 0) {
      if (isAloud && (home eq Home.Here)) leavers.append(store.put(row))
    } else if (isAloud) {
      leave(run.removeLast())
      run.append(rank, Candidates.entryOf(store.put(row), home))
    } else run.setLast(rank, store.replace(run.lastHandle, row))
  }

  private def insert(group: KeyGroup, run: Candidates, rank: Long, row: R, home: Home): Unit = {
    run.add(rank, Candidates.entryOf(store.put(row), home), store, precedence)
    if (expires) arrivals.append(group.number.toLong)
    held += 1
    mostHeld = math.max(mostHeld, held)
  }

  /** A picked row goes in silence. */
  private def leave(entry: Long): Unit =
    if (Candidates.isPicked(entry) || !isAloud) store.free(Candidates.handleOf(entry))
    else leavers.append(entry)

  /** Looks up the candidates of a key. */
  def seek(key: Q): Unit = {
    val group = keys.find(key)
    sought = if (group == null) null else runOf(group)
    if (sought != null) sought.settle(store, precedence)
    slot = if (sought == null) 0 else sought.until
  }

  /** The next best candidate of the key sought last, or null. */
  def candidate(): R =
    if (sought == null || slot == sought.from) null
    else {
      slot -= 1
      store.get(sought.handle(slot))
    }

  /** The candidate given last is picked. */
  def pick(): Unit = if (isAloud) sought.pick(slot)

  /** No later left row reaches the candidate given last, nor any that is worse. */
  def outOfReach(): Unit = {
    // Invariant: the entries before `from` are dropped.
    while (sought.from <= slot) drop(sought)
    sought = null
  }

  private def drop(run: Candidates): Unit = {
    leave(run.removeFirst())
    held -= 1
  }

  /** Are the oldest rows to be dropped by the driver? */
  def expires: Boolean = keeping.all && keeping.expires

  /** With [[Keeping.AllInReach]]: a row of the least rank of all that are held, or null. */
  def oldest(): R =
    if (arrivals.isEmpty) null
    else {
      // Those of a key came by rank: the first that came is of the rank of its run's first.
      val run = runs(arrivals.head.toInt)
      store.get(run.handle(run.from))
    }

  /** No later left row reaches the oldest row. */
  def dropOldest(): Unit = drop(runs(arrivals.removeHead().toInt))

  /** No left row will come any more. */
  def finish(): Unit = isFinished = true

  /** The next row that leaves because nobody picked it, or null. */
  def nextLeaving(): R = {
    if (handedOut >= 0) store.free(handedOut)
    handedOut = -1L
    if (leavers.isEmpty && isFinished && isAloud) finishRun()
    if (leavers.isEmpty) null
    else {
      handedOut = leavers.removeLast()
      store.get(handedOut)
    }
  }

  /** The next run with rows that nobody picked. */
  private def finishRun(): Unit =
    // Invariant: the runs before `finishedRuns` are empty.
    while (leavers.isEmpty && finishedRuns < runs.length) {
      val run = runs(finishedRuns)
      if (run != null) while (!run.isEmpty) leave(run.removeFirst())
      finishedRuns += 1
    }

  private def runOf(group: KeyGroup): Candidates = {
    if (group.number >= runs.length) {
      val length = math.max(group.number + 1, runs.length * 2)
      index.add(4L * (length - runs.length))
      runs = java.util.Arrays.copyOf(runs, length)
    }
    if (runs(group.number) == null) runs(group.number) = new Candidates(index)
    runs(group.number)
  }
}
