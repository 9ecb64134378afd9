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
  * The driver gives both sides by match value, a left row after the right rows of its value. A left row
  * waits until a right row beyond it has come and the next right row is farther, or the end. Then the
  * candidates are looked through away from it, to both sides.
  *
  * Conventions:
  *   1. Rows of equal match value stand by `precedence`; the last for which the condition is TRUE counts.
  *   2. After [[offer]], [[await]] and [[finish]] the driver asks [[nextResolved]] until it says no, and
  *      then, with [[Leaving.Aloud]], [[nextLeaving]] until it gives null.
  *   3. A row given is valid until the next call.
  *
  * It promises no sequence of the left rows, but that of one key.
  *
  * @tparam D
  *   a distance
  */
final class NearestCore[Q, L >: Null <: AnyRef, R >: Null <: AnyRef, D](
    keys: KeyTable[Q, KeyGroup],
    lefts: RowStore[L],
    rights: RowStore[R],
    precedence: Comparator[_ >: R],
    pairing: Pairing[L, R, D],
    keeping: Keeping,
    leaving: Leaving
) {
  private val keepsAll = keeping eq Keeping.All
  private val isAloud = leaving eq Leaving.Aloud
  private val all = mutable.ArrayBuffer.empty[NearestCore.AtKey]
  // The key that the last row belongs to, or at the end the one that is looked at.
  private var current: NearestCore.AtKey = _
  private var isFinished = false
  private var finishedKeys = 0
  // Handles of rows that nobody picked and nobody will.
  private val leavers = mutable.ArrayDeque.empty[Long]
  private var handedOut = -1L
  private var resolvedHandle = -1L
  private var pickedSlot = -1
  private var held = 0L
  private var mostHeld = 0L

  /** The left row that was resolved, and the right one that it picked, or null. */
  private var leftRow: L = _
  def left: L = leftRow
  def picked: R = if (pickedSlot < 0) null else rights.get(current.rights.handle(pickedSlot))

  /** The most rows of both sides held at once. */
  def peak: Long = mostHeld

  def offer(key: Q, rank: Long, row: R): Unit = {
    current = atKey(key)
    current.rights.add(rank, row, rights, precedence)
    noteHeld()
    if (current.waiting.isEmpty) trim(current)
  }

  /** A left row that picks when all that is near is known. */
  def await(key: Q, row: L): Unit = {
    current = atKey(key)
    current.waiting.append(lefts.put(row))
    current.bounds.append(current.position(current.rights.until))
    noteHeld()
  }

  private def noteHeld(): Unit = {
    held += 1
    mostHeld = math.max(mostHeld, held)
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
    current != null && current.waiting.nonEmpty && resolve(current)
  }

  /** What was given last is not needed any more. */
  private def release(): Unit = if (resolvedHandle >= 0) {
    lefts.free(resolvedHandle)
    held -= 1
    resolvedHandle = -1L
    pickedSlot = -1
    trim(current)
  }

  /** The first waiting row of a key picks, if nothing that is still to come can be nearer. */
  private def resolve(at: NearestCore.AtKey): Boolean = {
    leftRow = lefts.get(at.waiting.head)
    val bound = at.slot(at.bounds.head)
    val before = lastBefore(at, bound)
    val search = new Ahead(at, bound)
    // A left row that came later has seen all rows of the match value found.
    val isComplete = search.found >= 0 && at.bounds.last > at.position(search.found)
    val isSure = isFinished || search.isOver || isComplete
    if (!isSure && !(before >= 0 && isEqual(at, before))) false
    else {
      pickedSlot = nearer(at, before, search.found)
      if (pickedSlot >= 0 && isAloud) at.rights.pick(pickedSlot)
      resolvedHandle = at.waiting.removeHead()
      at.bounds.removeHead()
      true
    }
  }

  /** Nothing is nearer than a row of the same value. */
  private def isEqual(at: NearestCore.AtKey, slot: Int): Boolean =
    pairing.isZero(distance(at, slot))

  private def lastBefore(at: NearestCore.AtKey, bound: Int): Int = {
    var slot = bound - 1
    // Invariant: the candidates between `slot` and the row do not satisfy the condition.
    while (slot >= at.rights.from) {
      val row = rights.get(at.rights.handle(slot))
      if (!pairing.isWithin(leftRow, row)) {
        at.outOfReach = math.max(at.outOfReach, at.position(slot) + 1)
        return -1
      }
      if (pairing.accepts(leftRow, row)) return slot
      slot -= 1
    }
    -1
  }

  /** Looks for the nearest row beyond: of those that are as near the last. */
  final private class Ahead(at: NearestCore.AtKey, bound: Int) {
    var found: Int = -1

    /** Every row that is still to come is farther. */
    var isOver: Boolean = false
    private var best: D = _
    private var slot = bound
    // Invariant: of the rows before `slot` the one found is the nearest, and the last as near.
    while (!isOver && slot < at.rights.until) {
      val row = rights.get(at.rights.handle(slot))
      if (!pairing.isWithin(leftRow, row)) isOver = true
      else if (found >= 0 && pairing.compare(distance(at, slot), best) > 0) isOver = true
      else {
        if (pairing.accepts(leftRow, row)) {
          best = distance(at, slot)
          found = slot
        }
        slot += 1
      }
    }
  }

  private def distance(at: NearestCore.AtKey, slot: Int): D =
    pairing.distance(leftRow, rights.get(at.rights.handle(slot)))

  private def nearer(at: NearestCore.AtKey, before: Int, ahead: Int): Int =
    if (before < 0) ahead
    else if (ahead < 0) before
    else if (pairing.compare(distance(at, ahead), distance(at, before)) < 0) ahead
    else before

  /** Drops what no row that waits or is to come picks: where the condition is settled, all before the last
    * row that the first waiting one sees.
    */
  private def trim(at: NearestCore.AtKey): Unit = {
    val seen = at.bounds.headOption.getOrElse(at.position(at.rights.until))
    val first = if (keepsAll) at.outOfReach else math.max(seen - 1, at.outOfReach)
    // Invariant: the entries before `from` are dropped.
    while (!at.rights.isEmpty && at.position(at.rights.from) < first) drop(at)
  }

  private def drop(at: NearestCore.AtKey): Unit = {
    val entry = at.rights.removeFirst()
    at.removed += 1
    held -= 1
    if (isAloud && !Candidates.isPicked(entry)) leavers += entry
    else rights.free(Candidates.handleOf(entry))
  }

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

  private def atKey(key: Q): NearestCore.AtKey = {
    val group = keys.claim(key)
    // Invariant: keys are numbered in sequence, and the buffer has those before.
    while (all.size <= group.number) all += new NearestCore.AtKey
    all(group.number)
  }
}

object NearestCore {

  /** The rows of one key: candidates, and left rows that wait, each with the position of the first
    * candidate beyond it.
    */
  final private class AtKey {
    val rights = new Candidates
    val waiting: mutable.ArrayDeque[Long] = mutable.ArrayDeque.empty
    val bounds: mutable.ArrayDeque[Long] = mutable.ArrayDeque.empty
    var removed = 0L

    /** Candidates before this position are farther than the tolerance, of every row that waits. */
    var outOfReach = 0L

    /** Positions count from the first candidate of the key; slots are where they stand now. */
    def position(slot: Int): Long = removed + slot - rights.from
    def slot(position: Long): Int = (position - removed + rights.from).toInt
  }
}

/** What is to be known of a left and a right row for the nearest to be found. */
trait Pairing[L, R, D] {

  /** Near enough: TRUE for all between the left row and any one for which it is. */
  def isWithin(left: L, right: R): Boolean

  /** The join's condition beyond keys and match values. */
  def accepts(left: L, right: R): Boolean

  /** Growing with every step away from the left row, to either side. */
  def distance(left: L, right: R): D
  def compare(a: D, b: D): Int
  def isZero(distance: D): Boolean
}
