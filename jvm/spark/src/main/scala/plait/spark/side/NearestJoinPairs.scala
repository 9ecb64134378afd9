// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

import plait.join.{Home, NearestCore, Pairing, Role}
import plait.{BySide, Side}

/** Drives the core of nearest matches from two iterators: reads whichever side is behind, right rows of a
  * match value before left ones, and gives what is resolved or leaves because of it.
  *
  * {{{
  * NEAREST (l.ts, r.ts)     left 10:04, 10:07        right 10:01, 10:09
  *   reads right 10:01, left 10:04, left 10:07, right 10:09, its end: (10:04, 10:01), (10:07, 10:09)
  * }}}
  *
  * Conventions: those of [[AsOfJoinPairs]]; both sides come upwards, by rank or by value.
  */
final class NearestJoinPairs(
    inputs: BySide[HomedRows],
    readers: BySide[SideReader],
    pace: MatchPace,
    core: NearestCore[SideReader, UnsafeRow, UnsafeRow, _],
    roles: BySide[Role],
    conditions: PairConditions.Tests,
    reading: ReadingThread,
    release: () => Unit
) extends AsOfPairs(roles, reading, release) {
  // Is there a row that was read and not yet given to the core?
  private val has = Array(false, false)
  private val ended = Array(false, false)
  private val counts = Array(0L, 0L)
  private var phase = NearestJoinPairs.Reading

  override def rowsIn(side: Side): Long = counts(index(side))
  override def peak: Long = core.peak

  private def index(side: Side): Int = if (side eq Side.Left) 0 else 1

  override protected def find(): Boolean = {
    import NearestJoinPairs._
    var isFound = false
    // Invariant: what came of the rows read before has been given, but for what is resolved or leaving.
    while (!isFound)
      if (phase == Resolving) {
        if (core.nextResolved()) isFound = resolved() else phase = Clearing
      } else if (phase == Clearing) {
        val leaver = if (rightAloud) core.nextLeaving() else null
        if (leaver != null) isFound = alone(Side.Right, leaver)
        else if (ended(0) && ended(1)) return false
        else phase = Reading
      } else isFound = step()
    true
  }

  private def alone(side: Side, row: UnsafeRow): Boolean = {
    setAlone(side, row)
    true
  }

  private def step(): Boolean =
    if (!has(0) && !ended(0)) read(Side.Left)
    else if (!has(1) && !ended(1)) read(Side.Right)
    else {
      if (has(1) && (!has(0) || pace.isSeen(readers.left, readers.right))) {
        val rank = pace.rankOf(readers.right)
        core.offer(readers.right, rank, readers.right.row, inputs.right.home)
        has(1) = false
      } else if (has(0)) {
        core.await(readers.left, readers.left.row, inputs.left.home)
        has(0) = false
      } else core.finish()
      phase = NearestJoinPairs.Resolving
      false
    }

  /** A row that can match nothing comes out alone, if those do. */
  private def read(side: Side): Boolean = {
    val i = index(side)
    if (inputs(side).hasNext) {
      val reader = readers(side)
      reader.read(inputs(side).next())
      if (inputs(side).home eq Home.Here) counts(i) += 1
      val ofSide = if (side eq Side.Left) conditions.ofLeft else conditions.ofRight
      has(i) = reader.reaches && ofSide.forall(_(reader.row))
      if (has(i)) { if (side eq Side.Left) pace.leftRead(reader) else pace.rightRead(reader) }
      !has(i) && (if (i == 0) leftAloud else rightAloud) && alone(side, reader.row)
    } else {
      ended(i) = true
      false
    }
  }

  private def resolved(): Boolean = {
    val left = core.left
    val right = core.picked
    if (core.home eq Home.Elsewhere) false
    else if (right == null || !conditions.holds.forall(_.isTrueOf(left, right)))
      leftAloud && alone(Side.Left, left)
    else {
      if (givesMatches) set(left, right)
      givesMatches
    }
  }
}

object NearestJoinPairs {

  // What is under way; numbers, for they are asked for once a row.
  final private val Reading = 0
  final private val Resolving = 1
  final private val Clearing = 2

  /** What the core asks of a pair; `atEqual` is what becomes of a pair of equal match values. */
  def pairing(
      apart: MatchDistance,
      atEqual: AtEqual,
      conditions: PairConditions.Tests
  ): Pairing[UnsafeRow, UnsafeRow, apart.Distance] =
    new Pairing[UnsafeRow, UnsafeRow, apart.Distance] {
      override def isWithin(left: UnsafeRow, right: UnsafeRow): Boolean =
        conditions.isWithin.forall(_.isTrueOf(left, right))
      override def accepts(left: UnsafeRow, right: UnsafeRow): Boolean =
        conditions.accepts.forall(_.isTrueOf(left, right))
      override def refusesEqual: Boolean = atEqual eq AtEqual.Refused
      override def distance(left: UnsafeRow, right: UnsafeRow): apart.Distance =
        apart.of(left, right)
      override def isNearer(a: apart.Distance, b: apart.Distance): Boolean = apart.isNearer(a, b)
      override def isZero(d: apart.Distance): Boolean = apart.isZero(d)
    }
}
