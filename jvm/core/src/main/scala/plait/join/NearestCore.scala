// SPDX-License-Identifier: Apache-2.0
package plait.join

import java.util.Comparator

import scala.collection.mutable

/** The rows of the left side that wait for the right row that is nearest to them, by key.
  *
  * {{{
  * right  10:01 a          10:09 b                   nearest to 10:04 is a, to 10:07 b, to 10:05 a: of two
  *          |---- left 10:04, 10:05, 10:07 ----|     that are as near the earlier
  * }}}
  *
  * The driver gives both sides by match value, a left row after the right rows of its value. The best
  * before a left row is known when it comes. It waits until that beyond it is known, too: all right
  * rows of a greater value have come of which one is accepted; or one that is no nearer than what is
  * before, or too far; or the end.
  *
  * Conventions:
  *   1. Ranks of right rows are equal where match values are. Rows of equal rank stand by `precedence`;
  *      the last for which the condition is TRUE counts.
  *   2. After [[offer]], [[await]] and [[finish]] the driver asks [[nextResolved]] until it says no, and
  *      then, with [[Leaving.Aloud]], [[nextLeaving]] until it gives null. The row offered last stays
  *      valid until then.
  *   3. A row given is valid until the next call. One that nobody picked is given with [[Home.Here]] only.
  *   4. With a tolerance ([[Keeping.expires]]) left rows wait for right rows of any key, and with
  *      [[Keeping.AllInReach]] right rows are dropped when they are out of reach of the oldest left row
  *      that waits, of any key: what is held is what twice the tolerance spans.
  *
  * Each left row looks at a right row once, and where nothing is refused at two or three of them. It
  * promises no sequence of the left rows, but that of one key.
  *
  * @tparam D
  *   a distance
  */
final class NearestCore[Q, L >: Null <: AnyRef, R >: Null <: AnyRef, D](
    keys: KeyTable[Q, KeyGroup],
    lefts: RowStore[L],
    rights: SortableRowStore[R],
    precedence: Comparator[_ >: R],
    pairing: Pairing[L, R, D],
    keeping: Keeping,
    leaving: Leaving,
    index: IndexMemory = IndexMemory.Uncounted
) {
  import NearestCore._

  private val isAloud = leaving eq Leaving.Aloud
  private val all = mutable.ArrayBuffer.empty[AtKey]
  // The key that the last row belongs to, or at the end the one that is looked at.
  private var current: AtKey = _
  private var offered: R = _
  private var isFinished = false
  private var finishedKeys = 0
  // In the sequence in which they came, the keys of right rows held, and of left rows that wait or waited.
  private val arrivals = new LongQueue(index)
  private val waiters = new LongQueue(index)
  // Handles of rows that nobody picked and nobody will.
  private val leavers = new LongQueue(index)
  private var handedOut = -1L
  private var resolvedHandle = -1L
  private var pickedSlot = -1
  private var held = 0L
  private var mostHeld = 0L

  private var leftRow: L = _
  private var leftHome: Home = Home.Here

  /** The left row that was resolved, where it comes out, and the right one that it picked, or null. */
  def left: L = leftRow
  def home: Home = leftHome
  def picked: R = if (pickedSlot < 0) null else rights.get(current.rights.handle(pickedSlot))

  /** The most rows of both sides held at once. */
  def peak: Long = mostHeld

  def size: Long = held

  def offer(key: Q, rank: Long, row: R, home: Home): Unit = {
    current = atKey(key)
    offered = row
    val run = current.rights
    val isAlone = !keeping.all && !isAloud && current.waiting.isEmpty && run.size == 1
    if (isAlone && run.lastRank != rank) run.setLast(rank, rights.replace(run.lastHandle, row))
    else if (!keeping.all && !run.isEmpty && run.lastRank == rank) improve(run, rank, row, home)
    else {
      run.add(rank, Candidates.entryOf(rights.put(row), home), rights, precedence)
      if (keeping.all && keeping.expires) arrivals.append(current.number.toLong)
      noteHeld()
      trim(current)
    }
  }

  /** Of rows of one match value one is kept, where no condition tells them apart. */
  private def improve(run: Candidates, rank: Long, row: R, home: Home): Unit =
    if (precedence.compare(row, rights.get(run.lastHandle)) < 0) {
      if (isAloud && (home eq Home.Here)) leavers.append(rights.put(row))
    } else if (isAloud) {
      leave(run.removeLast())
      run.append(rank, Candidates.entryOf(rights.put(row), home))
    } else run.setLast(rank, rights.replace(run.lastHandle, row))

  /** A left row that picks when all that is near is known. */
  def await(key: Q, row: L, home: Home): Unit = {
    current = atKey(key)
    offered = null
    current.rights.settle(rights, precedence)
    current.waiting.append(Candidates.entryOf(lefts.put(row), home))
    current.bounds.append(current.position(current.rights.until))
    if (keeping.expires) waiters.append(current.number.toLong)
    noteHeld()
    // Invariant: the rows that came before the oldest of `arrivals` are dropped.
    while (!arrivals.isEmpty && !pairing.isWithin(firstOf(oldestWaiting()), oldestRight()))
      drop(all(arrivals.removeHead().toInt))
  }

  private def noteHeld(): Unit = {
    held += 1
    mostHeld = math.max(mostHeld, held)
  }

  private def firstOf(at: AtKey): L = lefts.get(Candidates.handleOf(at.waiting.head))

  /** A right row of the least rank of all that are held. */
  private def oldestRight(): R = {
    val run = all(arrivals.head.toInt).rights
    rights.get(run.handle(run.from))
  }

  /** The key of the left row that has waited the longest, or null. */
  private def oldestWaiting(): AtKey = {
    // Invariant: the left rows before the oldest of `waiters` are resolved. Those of a key are resolved
    // in their sequence, so that its first numbers are those of its resolved rows.
    while (!waiters.isEmpty && all(waiters.head.toInt).resolved > 0)
      all(waiters.removeHead().toInt).resolved -= 1
    if (waiters.isEmpty) null else all(waiters.head.toInt)
  }

  /** No row of either side will come any more. */
  def finish(): Unit = isFinished = true

  /** Whether another left row has been resolved. */
  def nextResolved(): Boolean = {
    release()
    if (isFinished) {
      // Invariant: no row waits at the keys before `finishedKeys`.
      while (finishedKeys < all.size && all(finishedKeys).waiting.isEmpty) finishedKeys += 1
      current = if (finishedKeys < all.size) all(finishedKeys) else null
    }
    val isNext = current != null && !current.waiting.isEmpty && resolve(isFinished)
    isNext || (keeping.expires && !isFinished && offered != null && resolveFar())
  }

  /** The left row that has waited the longest, if it does not reach what was offered last. */
  private def resolveFar(): Boolean = {
    val far = oldestWaiting()
    if (far == null || pairing.isWithin(firstOf(far), offered)) false
    else {
      current = far
      resolve(isComplete = true)
    }
  }

  /** What was given last is not needed any more. */
  private def release(): Unit = if (resolvedHandle >= 0) {
    lefts.free(resolvedHandle)
    held -= 1
    resolvedHandle = -1L
    pickedSlot = -1
    trim(current)
  }

  /** The first waiting row of the key picks, if nothing that is still to come can be nearer.
    *
    * @param isComplete
    *   all that it reaches has come
    */
  private def resolve(isComplete: Boolean): Boolean = {
    leftRow = firstOf(current)
    if (!current.isSearched) {
      current.before = lastBefore()
      current.ahead = current.bounds.head
      current.isSearched = true
    }
    val found = nearerBeyond(isComplete)
    if (found == Unknown) false
    else {
      pickedSlot =
        if (found != Missing) found
        else if (current.before >= 0) current.slot(current.before)
        else Missing
      if (pickedSlot >= 0 && isAloud) current.rights.pick(pickedSlot)
      val entry = current.waiting.removeHead()
      leftHome = if (Candidates.isPicked(entry)) Home.Elsewhere else Home.Here
      resolvedHandle = Candidates.handleOf(entry)
      val _ = current.bounds.removeHead()
      if (keeping.expires) current.resolved += 1
      current.isSearched = false
      true
    }
  }

  /** The position of the best row before the left row, or [[NearestCore.Missing]]. */
  private def lastBefore(): Long = {
    var slot = current.slot(current.bounds.head) - 1
    if (pairing.refusesEqual && slot >= current.rights.from && pairing.isZero(distance(slot)))
      slot = current.rights.firstOf(slot) - 1
    // Invariant: the candidates between `slot` and the left row do not satisfy the condition.
    while (slot >= current.rights.from) {
      val row = rights.get(current.rights.handle(slot))
      if (!pairing.isWithin(leftRow, row)) return Missing
      if (pairing.accepts(leftRow, row)) return current.position(slot)
      slot -= 1
    }
    Missing
  }

  /** The slot of the best row beyond, if it is nearer than that before; None if none is; or Unknown. */
  private def nearerBeyond(isComplete: Boolean): Int = {
    val at = current
    val hasBefore = at.before >= 0
    if (hasBefore && pairing.isZero(distance(at.slot(at.before)))) return Missing
    // Invariant: of the rows beyond, none before `ahead` satisfies the condition.
    while (at.slot(at.ahead) < at.rights.until) {
      val slot = at.slot(at.ahead)
      if (!pairing.isWithin(leftRow, rights.get(at.rights.handle(slot)))) return Missing
      if (hasBefore && !pairing.isNearer(distance(slot), distance(at.slot(at.before))))
        return Missing
      val next = at.rights.beyond(slot)
      // Another left row that came later has seen all rows of this match value.
      val isWhole = next < at.rights.until || isComplete || at.bounds.last > at.ahead
      if (!isWhole) return Unknown
      if (next == at.rights.until) at.rights.settle(rights, precedence)
      val last = lastAccepted(slot, next)
      if (last != Missing) return last
      at.ahead = at.position(next)
    }
    if (isComplete) Missing else Unknown
  }

  private def distance(slot: Int): D =
    pairing.distance(leftRow, rights.get(current.rights.handle(slot)))

  private def lastAccepted(from: Int, until: Int): Int = {
    var slot = until - 1
    // Invariant: those of the slots behind this one do not satisfy the condition.
    while (slot >= from) {
      if (pairing.accepts(leftRow, rights.get(current.rights.handle(slot)))) return slot
      slot -= 1
    }
    Missing
  }

  /** Drops what no row that waits or is to come picks, where the condition is settled: all before the last
    * row that the first waiting one sees.
    */
  private def trim(at: AtKey): Unit = if (!keeping.all) {
    val seen = if (at.bounds.isEmpty) at.position(at.rights.until) else at.bounds.head
    // Invariant: the entries before `from` are dropped.
    while (!at.rights.isEmpty && at.position(at.rights.from) < seen - 1) drop(at)
  }

  private def drop(at: AtKey): Unit = {
    leave(at.rights.removeFirst())
    at.removed += 1
    held -= 1
  }

  private def leave(entry: Long): Unit =
    if (isAloud && !Candidates.isPicked(entry)) leavers.append(entry)
    else rights.free(Candidates.handleOf(entry))

  /** The next row that leaves because nobody picked it, or null. */
  def nextLeaving(): R = {
    if (handedOut >= 0) rights.free(handedOut)
    handedOut = -1L
    if (leavers.isEmpty && isFinished && isAloud) finishKey()
    if (leavers.isEmpty) null
    else {
      handedOut = leavers.removeLast()
      rights.get(handedOut)
    }
  }

  /** The next key with rows that nobody picked; all left rows are resolved. */
  private def finishKey(): Unit =
    // Invariant: the keys behind the last have no rows that are to leave.
    while (leavers.isEmpty && all.nonEmpty) {
      val last = all.remove(all.size - 1)
      while (!last.rights.isEmpty) drop(last)
    }

  private def atKey(key: Q): AtKey = {
    val group = keys.claim(key)
    // Invariant: keys are numbered in sequence, and the buffer has those before.
    while (all.size <= group.number) all += newKey()
    all(group.number)
  }

  private def newKey(): AtKey = {
    index.add(KeyBytes)
    new AtKey(all.size, index)
  }
}

object NearestCore {

  /** Answers of a search that are no slot and no position. */
  final private val Missing = -1
  final private val Unknown = -2

  // With two short queues, and its place among all.
  private val KeyBytes = 184L

  /** The rows of one key: candidates, and left rows that wait, each with the position of the first
    * candidate beyond it.
    */
  final private class AtKey(val number: Int, index: IndexMemory) {
    val rights = new Candidates(index)
    val waiting = new LongQueue(index)
    val bounds = new LongQueue(index)
    var removed = 0L

    /** So many of the first of this key's numbers in `waiters` are of rows that are resolved. */
    var resolved = 0

    /** What is known for the first row that waits: the best before it, and up to where it has looked. */
    var isSearched = false
    var before = 0L
    var ahead = 0L

    /** Positions count from the first candidate of the key; slots are where they stand now. */
    def position(slot: Int): Long = removed + slot - rights.from
    def slot(position: Long): Int = (position - removed + rights.from).toInt
  }
}
