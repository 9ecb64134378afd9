// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

import plait.join.DealtRows

/** The rows of one side that are read bucket by bucket, each bucket once: where they lie in memory; and once memory was
  * short, from a file, a bucket at a time.
  *
  * {{{
  * memory   | bucket 0 | bucket 1 | bucket 2 | bucket 3 |
  *            at hand     -- toFile -->                      file   | bucket 0 | 1 | 2 | 3 |
  * memory   | bucket 0 |                                     load   of bucket 1, over that of bucket 0
  * }}}
  *
  * Conventions:
  *   1. Rows go to a file once. So much memory stays as the largest bucket takes: who has asked for memory may leave none.
  *   2. The row given last stays where it is up to the next [[load]].
  *   3. Rows stay in memory where one bucket would take half of it or more: a key with most of the rows.
  *   4. What the file takes, nobody counts (see [[RankSort]]).
  */
final private[spark] class KeptRows private[side] (
    val inMemory: RankedRows,
    newFile: () => RankedFile,
    spilled: SQLMetric,
    fields: Int
) {
  private val row = new UnsafeRow(fields)
  private var file: RankedFile = _
  // The rows of the file: dead ones that are still to be read, and the place of the first behind them.
  private var deadLeft = 0
  private var place = 0
  private var until = 0
  // Why they could not be written: whoever asked for memory may go on without, so it is told here, too.
  private var lost: Option[Throwable] = None

  def isInFile: Boolean = file != null

  def point(handle: Long, row: UnsafeRow): Unit = inMemory.point(handle, row)

  /** Writes the rows from a place on.
    *
    * @param dead
    *   handles of rows that are to be read first
    * @param last
    *   the row that was given last
    * @return how many bytes of memory that frees
    */
  def toFile(
      buckets: KeptRows.Buckets,
      dead: Array[Long],
      from: Int,
      last: Option[UnsafeRow]
  ): Long =
    if (isInFile || lost.isDefined || buckets.largest >= (buckets.count - from + dead.length) / 2)
      0L
    else {
      val largest =
        try write(buckets, dead, from)
        catch { case error: Throwable => lost = Some(error); throw error }
      val freed = inMemory.clearFor(largest, last)
      buckets.loadFrom(from)
      file.count(freed)
      spilled += freed
      freed
    }

  /** @return the bytes of the largest bucket */
  private def write(buckets: KeptRows.Buckets, dead: Array[Long], from: Int): Long = {
    file = newFile()
    deadLeft = dead.length
    place = from
    until = buckets.count
    dead.foreach(write(_, Long.MinValue))
    var at = from
    var end = from
    var bytes, largest = 0L
    // Invariant: the rows before `at` are in the file; those of its bucket take `bytes`, and of no bucket more than `largest`.
    while (at < until) {
      if (at == end) {
        end = buckets.endOf(at)
        bytes = 0
      }
      write(buckets.handle(at), buckets.rank(at))
      bytes += KeptRows.bytesOf(row)
      largest = math.max(largest, bytes)
      at += 1
    }
    file.endWrites()
    largest
  }

  private def write(handle: Long, rank: Long): Unit = {
    inMemory.point(handle, row)
    file.write(row, rank)
  }

  /** Points `row` at the next of the dead rows, which are read first, valid until the next is read. */
  def readDead(row: UnsafeRow): Unit = {
    failIfLost()
    file.read(): Unit
    file.point(row)
    deadLeft -= 1
  }

  /** The rows of these places are in memory from here on, those that were loaded before no longer.
    * @param moved
    *   told where each lies
    */
  def load(from: Int, until: Int, moved: KeptRows.Moved): Unit = {
    failIfLost()
    // Invariant: the rows before `place` were read.
    while (deadLeft > 0 || place < from) skip()
    inMemory.layAnew()
    while (place < until) {
      val rank = file.read()
      file.point(row)
      moved.lies(place, inMemory.lay(row), rank)
      place += 1
    }
    if (place == this.until) file.endReads()
  }

  private def skip(): Unit = {
    file.read(): Unit
    if (deadLeft > 0) deadLeft -= 1 else place += 1
  }

  def failIfLost(): Unit = if (lost.isDefined)
    throw new IllegalStateException("Rows of a join could not be written to a file", lost.get)
}

private[spark] object KeptRows {

  /** The rows by their places, of which those of a bucket stand side by side. */
  trait Buckets {
    def count: Int

    /** Where the bucket of this place ends. */
    def endOf(place: Int): Int

    /** The most rows of a bucket. */
    def largest: Int
    def rank(place: Int): Long
    def handle(place: Int): Long

    /** The rows from this place on, which is perhaps amid a bucket, lie in a file. */
    def loadFrom(place: Int): Unit
  }

  /** They are loaded when they are fetched. */
  final class OfDealt(rows: DealtRows) extends Buckets {
    override def count: Int = rows.count
    override def endOf(place: Int): Int = rows.endOf(place)
    override val largest: Int = rows.largest
    override def rank(place: Int): Long = rows.rank(place)
    override def handle(place: Int): Long = rows.handle(place)
    override def loadFrom(place: Int): Unit = ()
  }

  trait Moved {

    /** @param rank
      *   as it was written
      */
    def lies(place: Int, handle: Long, rank: Long): Unit
  }

  private def bytesOf(row: UnsafeRow): Long = row.getSizeInBytes.toLong + 8
}
