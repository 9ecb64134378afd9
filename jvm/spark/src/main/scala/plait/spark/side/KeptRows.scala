// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.io.IOException
import java.nio.channels.ClosedByInterruptException

import org.apache.spark.TaskContext
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.TaskWatch

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
  *   3. Rows stay in memory where that gives back less than half of what they take: a key has most of them, say.
  *   4. Where they cannot be written they stay, too.
  *   5. What the file takes, nobody counts (see [[RankSort]]).
  */
final private[spark] class KeptRows(
    val inMemory: RankedRows,
    newFile: () => RankedFile,
    spilled: SQLMetric,
    fields: Int
) extends Logging {
  private val row = new UnsafeRow(fields)
  private val watch = TaskWatch.of(TaskContext.get())
  private var file: RankedFile = _
  // The rows of the file: dead ones that are still to be read, and the place of the first behind them.
  private var deadLeft = 0
  private var place = 0
  private var until = 0
  // With no more rows than these it is worth to see whether they may go to a file.
  private var askAt = Int.MaxValue

  def isInFile: Boolean = file != null

  def point(handle: Long, row: UnsafeRow): Unit = inMemory.point(handle, row)

  /** Writes the rows from a place on.
    *
    * @param dead
    *   handles of rows that are to be read first, from the one of this number on
    * @param last
    *   the row that was given last
    * @return how many bytes of memory that frees
    */
  def toFile(
      buckets: KeptRows.Buckets,
      dead: Array[Long],
      deadFrom: Int,
      from: Int,
      last: Option[UnsafeRow]
  ): Long = {
    val rows = buckets.count - from + dead.length - deadFrom
    if (isInFile || rows > askAt) 0L
    else if (rows == 0) inMemory.clearBut(last)
    else {
      val sizes = sizesOf(buckets, dead, deadFrom, from)
      val isWorthIt =
        inMemory.freedFor(sizes.largest, sizes.longest, last) >= inMemory.getUsed / 2
      if (isWorthIt && isWritten(buckets, dead, deadFrom, from)) {
        val freed = inMemory.clearFor(sizes.largest, sizes.longest, last)
        buckets.loadFrom(from)
        file.count(freed)
        spilled += freed
        freed
      } else {
        // Each answer takes a look at all of them.
        askAt = rows / 2
        0L
      }
    }
  }

  private def sizesOf(
      buckets: KeptRows.Buckets,
      dead: Array[Long],
      deadFrom: Int,
      from: Int
  ): KeptRows.Sizes = {
    var largest, longest, bytes = 0L
    for (number <- deadFrom until dead.length)
      longest = math.max(longest, inMemory.bytesOf(dead(number)))
    var at = from
    var end = from
    // Invariant: of the rows before `at` those of its bucket take `bytes`, and of no bucket more than `largest`.
    while (at < buckets.count) {
      if (at == end) {
        end = buckets.endOf(at)
        bytes = 0
      }
      val own = inMemory.bytesOf(buckets.handle(at))
      bytes += own
      largest = math.max(largest, bytes)
      longest = math.max(longest, own)
      at += 1
    }
    KeptRows.Sizes(largest, longest)
  }

  private def isWritten(
      buckets: KeptRows.Buckets,
      dead: Array[Long],
      deadFrom: Int,
      from: Int
  ): Boolean = {
    var fresh: RankedFile = null
    try {
      fresh = newFile()
      for (number <- deadFrom until dead.length) write(fresh, dead(number), Long.MinValue)
      for (at <- from until buckets.count) write(fresh, buckets.handle(at), buckets.rank(at))
      fresh.endWrites()
      file = fresh
      deadLeft = dead.length - deadFrom
      place = from
      until = buckets.count
    } catch {
      case error: IOException if !error.isInstanceOf[ClosedByInterruptException] =>
        logWarning("Rows of a join cannot be written to a file and stay in memory", error)
        if (fresh != null) fresh.delete()
    }
    isInFile
  }

  private def write(to: RankedFile, handle: Long, rank: Long): Unit = {
    inMemory.point(handle, row)
    to.write(row, rank)
  }

  /** Points `row` at the next of the dead rows, which are read first, valid until the next is read. */
  def readDead(row: UnsafeRow): Unit = {
    file.read(): Unit
    file.point(row)
    deadLeft -= 1
  }

  /** The rows of these places are in memory from here on, those that were loaded before no longer.
    * @param moved
    *   told where each lies
    */
  def load(from: Int, until: Int, moved: KeptRows.Moved): Unit = if (
    from < until && place < until
  ) {
    // Invariant: the rows before `place` were read.
    while (deadLeft > 0 || place < from) skip()
    inMemory.layAnew()
    while (place < until) {
      watch.saw(1)
      val rank = file.read()
      file.point(row)
      moved.lies(place, inMemory.lay(row), rank)
      place += 1
    }
    if (place == this.until) file.endReads()
  }

  private def skip(): Unit = {
    watch.saw(1)
    file.read(): Unit
    if (deadLeft > 0) deadLeft -= 1 else place += 1
  }
}

private[spark] object KeptRows {

  /** The rows by their places, of which those of a bucket stand side by side. */
  trait Buckets {
    def count: Int

    /** Where the bucket of this place ends. */
    def endOf(place: Int): Int

    def rank(place: Int): Long
    def handle(place: Int): Long

    /** The rows from this place on, which is perhaps amid a bucket, lie in a file. */
    def loadFrom(place: Int): Unit
  }

  /** They are loaded when they are fetched. */
  final class OfDealt(rows: DealtRows) extends Buckets {
    override def count: Int = rows.count
    override def endOf(place: Int): Int = rows.endOf(place)
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

  /** Bytes of the largest bucket, and of the longest row. */
  final private case class Sizes(largest: Long, longest: Long)
}
