// SPDX-License-Identifier: Apache-2.0
package plait.spark.exec

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.plait.TaskWatch

import plait.join._
import plait.spark.side.{
  JoinedPairs,
  KeptRows,
  KeyForm,
  PairTest,
  RankedRows,
  ReadingThread,
  SideReader
}
import plait.{BySide, Side}

/** Drives a [[BucketJoin]] over rows in memory: reads the reach of each row that is looked up, compares keys, and
  * evaluates the condition.
  *
  * {{{
  * dead rows that come out alone, then of each bucket:
  *   a probing row and its partners, or it alone, and so on; then built rows that had none
  * }}}
  *
  * What it gives is valid until the next call. When memory is short, rows that were not joined go to files, and are read
  * bucket by bucket: between two calls, for during one they are used.
  *
  * @param buckets
  *   their places
  * @param dead
  *   rows that can match nothing
  * @param reader
  *   of a probing row: its reach, and its key if that is to be compared
  * @param keys
  *   None if candidates are known to have the key of the row that probes
  * @param kept
  *   the rows of clusters
  * @param watch
  *   told how many rows were looked at
  * @param release
  *   gives back what is held, after the last row
  */
final class BucketJoinPairs(
    core: BucketJoin,
    rows: BySide[KeptRows],
    buckets: BySide[KeptRows.Buckets],
    dead: BySide[Array[Long]],
    reader: SideReader,
    keys: Option[BucketJoinPairs.Keys],
    kept: BucketJoinPairs.Kept,
    roles: BySide[Role],
    fields: BySide[Int],
    accepts: PairTest,
    watch: TaskWatch,
    reading: ReadingThread,
    release: () => Unit
) extends JoinedPairs {
  private val built = core.built
  private val probing = built.other
  private val probingRow = new UnsafeRow(fields(probing))
  private val builtRow = new UnsafeRow(fields(built))
  private val buildsLeft = built eq Side.Left
  // The two rows stay the same and point elsewhere: to write a reference costs a barrier of the collector's.
  private val leftRow = if (buildsLeft) builtRow else probingRow
  private val rightRow = if (buildsLeft) probingRow else builtRow
  private val givesMatches = Role.givesMatches(roles)
  // Those of a cluster that are reached; the ones before `next` were given or do not match.
  private val places = new Array[Int](BucketJoinPairs.Reached)
  private var reached = 0
  private var next = 0
  private var isClustered = false
  // Dead rows that come out were not given from here on.
  private val firstDead =
    BySide.make(side =>
      if (roles(side).leaves eq Leaving.Aloud) dead(side) else Array.emptyLongArray
    )
  private val deadGiven = new BucketJoinPairs.Counts
  private var isAtRest = true
  // Did rows go to files since the last call?
  private var isMoved = false
  private var isMatching = false
  private var found = 0L
  private var rowsGiven = 0L

  /** Matches found, all by probing the built side. */
  def pairs: Long = found
  def rowsOut: Long = rowsGiven

  override def advance(): Boolean = {
    reading.begin()
    isAtRest = false
    if (isMoved) resume()
    val isFound = find()
    if (isFound) rowsGiven += 1 else release()
    isAtRest = true
    isFound
  }

  /** Sends the rows of a side to a file, but for the one given last.
    * @return how many bytes of memory that frees
    */
  def spill(side: Side): Long =
    if (!isAtRest) 0L
    else {
      val from = if (side eq built) core.builtFrom else core.probingFrom
      val last = Option(if (side eq Side.Left) left else right)
      val freed = rows(side).toFile(buckets(side), firstDead(side), deadGiven(side), from, last)
      isMoved ||= rows(side).isInFile
      freed
    }

  /** What was at hand lies elsewhere. */
  private def resume(): Unit = {
    isMoved = false
    core.reload()
    if (isMatching) {
      rows(probing).point(core.probing, probingRow)
      reader.read(probingRow, core.probingRank)
    }
  }

  private def find(): Boolean =
    if (isMatching && nextMatch()) true
    else if (nextDead()) true
    else {
      var step: BucketJoin.Step = null
      var isFound = false
      // Invariant: all that came of the steps before the last was given.
      while (!isFound && !(step eq BucketJoin.Over)) {
        step = core.step()
        watch.saw(1)
        if (step eq BucketJoin.Probes) isFound = probe()
        else if (step eq BucketJoin.Leaves) {
          rows(built).point(core.leaver, builtRow)
          setAlone(built, builtRow)
          isFound = true
        }
      }
      isFound
    }

  private def nextDead(): Boolean = nextDead(Side.Left) || nextDead(Side.Right)

  private def nextDead(side: Side): Boolean = {
    val isFound = deadGiven(side) < firstDead(side).length
    if (isFound) {
      val row = if (side eq built) builtRow else probingRow
      if (rows(side).isInFile) rows(side).readDead(row)
      else rows(side).point(firstDead(side)(deadGiven(side)), row)
      setAlone(side, row)
      deadGiven(side) += 1
    }
    isFound
  }

  private def probe(): Boolean = {
    rows(probing).point(core.probing, probingRow)
    if (core.hasCandidates) {
      reader.read(probingRow, core.probingRank)
      if (reader.reaches) {
        core.look(reader.low, reader.high)
        isClustered = core.enterCluster()
        reached = 0
        next = 0
        return nextMatch()
      }
    }
    alone()
  }

  private def alone(): Boolean = {
    isMatching = false
    val isFound = core.leavesAtOnce
    if (isFound) setAlone(probing, probingRow)
    isFound
  }

  /** The next match of the probing row, or it alone. */
  private def nextMatch(): Boolean = {
    isMatching = true
    if (isClustered) nextOfCluster() else nextCandidate()
  }

  private def nextOfCluster(): Boolean = {
    // Invariant: the matches in the places before `next`, and in those of before, have been given.
    while (!core.isSettled && hasPlace) {
      next = first()
      if (next < reached) {
        val place = places(next)
        next += 1
        found += 1
        core.acceptAt(place)
        if (givesMatches) {
          val partner = kept.row(place)
          if (buildsLeft) set(partner, probingRow) else set(probingRow, partner)
          return true
        }
      }
    }
    alone()
  }

  private def hasPlace: Boolean = next < reached || {
    next = 0
    reached = core.nextPlaces(places)
    watch.saw(reached)
    reached > 0
  }

  private def first(): Int =
    if (buildsLeft) accepts.firstLeft(kept.rows, probingRow, places, next, reached)
    else accepts.firstRight(probingRow, kept.rows, places, next, reached)

  private def nextCandidate(): Boolean = {
    // Invariant: the matches of the probing row before the candidate have been given.
    while (core.nextCandidate()) {
      rows(built).point(core.candidate, builtRow)
      if (hasSameKey && accepts.isTrueOf(leftRow, rightRow)) {
        found += 1
        core.accept()
        if (givesMatches) {
          set(leftRow, rightRow)
          return true
        }
      }
    }
    alone()
  }

  private def hasSameKey: Boolean = keys.isEmpty || core.isKnownEqual || {
    val isSame = keys.get.isOf(builtRow, reader)
    if (isSame) core.foundEqual()
    isSame
  }
}

object BucketJoinPairs {

  /** A number of rows of each side. */
  final private class Counts {
    private val ofSide = new Array[Int](2)
    private def at(side: Side) = if (side eq Side.Left) 0 else 1
    def apply(side: Side): Int = ofSide(at(side))
    def update(side: Side, count: Int): Unit = ofSide(at(side)) = count
  }

  /** So many places of a cluster are tested at a time. */
  private val Reached = 1024

  /** @param reader
    *   of a built row: its key
    */
  final case class Keys(form: KeyForm, reader: SideReader) {

    /** Does the built row have the key that was read of the probing one? */
    def isOf(row: UnsafeRow, probing: SideReader): Boolean = {
      reader.read(row)
      form.isSame(probing, reader)
    }
  }

  /** Rows of clusters by their places.
    *
    * @param index
    *   told what they and the clusters take
    */
  final class Kept(from: KeptRows, fields: Int, index: IndexMemory) {
    private var byPlace = new Array[UnsafeRow](64)

    def rows: Array[UnsafeRow] = byPlace
    def row(place: Int): UnsafeRow = byPlace(place)

    def keep(handle: Long, place: Int): Unit = {
      if (place == byPlace.length) {
        byPlace = java.util.Arrays.copyOf(byPlace, place * 2)
        index.add(place * Kept.BytesPerPlace)
      }
      if (byPlace(place) == null) byPlace(place) = new UnsafeRow(fields)
      from.point(handle, byPlace(place))
    }
  }

  object Kept {

    /** A reference, an object, and what a cluster has for it. */
    private val BytesPerPlace = 8 + 40 + ClusteredRows.BytesPerPlace
  }

  /** Reads the rows that a [[RadixJoin]] asks about.
    *
    * @param probing
    *   that of the probing row
    */
  final class Touch(
      rows: BySide[KeptRows],
      built: Side,
      keys: Keys,
      probing: SideReader,
      kept: Kept,
      fields: Int
  ) extends RadixJoin.Touch {
    private val row = new UnsafeRow(fields)

    override def fetch(side: Side, of: DealtRows, from: Int, until: Int): Unit = {
      val held = rows(side)
      if (held.isInFile) held.load(from, until, (place, handle, _) => of.move(place, handle))
      else touch(held.inMemory, of, from, until)
    }

    private def touch(held: RankedRows, of: DealtRows, from: Int, until: Int): Unit = {
      var place = from
      // Invariant: the rows before `place` are on their way.
      while (place < until) {
        held.touch(of.handle(place))
        place += 1
      }
    }

    override def hasKey(handle: Long): Boolean = {
      rows(built).point(handle, row)
      keys.isOf(row, probing)
    }

    override def keep(handle: Long, place: Int): Unit = kept.keep(handle, place)
  }
}
