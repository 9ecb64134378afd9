// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util.concurrent.TimeUnit

import scala.collection.mutable

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, UnsafeRow}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.plait.{TaskMemory, TaskWatch}

/** The rows of one side of a task by their rank, ascending: a side of any type is sorted by radix and
  * never row against row, and one that comes in few stretches that are in order is merged, not sorted.
  *
  * {{{
  * rows  (k 1, s 7) (k 2, s 5) (k 1, s NULL)      ranks  7 5 -
  * gives (k 1, s NULL) (k 2, s 5) (k 1, s 7)
  *
  * rows in memory ([[RankedRows]]) ---- when memory is short, in order ----> a file ([[RankedFile]])
  *          |                                                                   |
  *          +----------------------> merged ([[StretchMerge]]) <----------------+
  * }}}
  *
  * Conventions:
  *   1. The input is read when the first row is asked for, or by [[fill]], not before.
  *   2. Rows without a rank stand first. Rows of one rank stand in any sequence.
  *   3. A row is valid until it is asked whether there is a next one. Memory goes back with the last row, by
  *      [[release]], or with the end of the task.
  *   4. Rows go to a file when this sort asks for memory that is not there; and once they are read, also when
  *      somebody else does, all but the page of the row given last; unless they are kept ([[keep]]), as [[KeptRows]].
  *   5. A file that is read takes some 100 KB that nobody counts, and a handle of the system. So while the input is
  *      read 32 files whose rows were written once become one, and so 32 of twice, and so on: of n spills there are
  *      at most 32 for each power of 32 up to n, and a row is written as often.
  */
final class RankSort(
    rank: Expression,
    output: Seq[Attribute],
    metrics: Map[String, SQLMetric],
    reading: ReadingThread = new ReadingThread
) {
  private val context = TaskContext.get()
  private val held = new RankedRows(TaskMemory.of(context), reading)
  private val files = mutable.ArrayBuffer.empty[RankedFile]
  private val inFiles = mutable.ArrayBuffer.empty[RankedStretch.InFile]
  // So many were left when they were merged last.
  private var leftByMerge = 0
  private val row = new UnsafeRow(output.size)
  private var mostUsed = 0L
  private val most = math.min(RankedFile.mostInMemory, RankedRows.MostRows)
  // Why rows could not be written: those that were on their way to a file are lost. Whoever asked for memory may
  // go on without, so it is told here, too.
  private var lost: Option[Throwable] = None
  context.addTaskCompletionListener[Unit] { _ =>
    dispose()
    if (mostUsed > 0) TaskMemory.notePeak(context, mostUsed)
  }

  // Was the input read?
  private var isFilled = false
  // While the rows that have come are known to come by key and lie in memory.
  private var runs: Option[KeyRuns] = None

  /** Reads all of the input, before it is asked for in its order or taken as it lies.
    *
    * @param watch
    *   whether to see if it comes by key
    */
  def fill(rows: Iterator[InternalRow], watch: Option[RunsSeen.Watch] = None): Unit =
    if (!isFilled) {
      isFilled = true
      letGo()
      insert(rows, watch)
    }

  /** Lets go of the rows of before. Others come one by one ([[insert]]), and then are asked for in their order or taken as
    * they lie.
    *
    * @param byKey
    *   told of each: they come by key
    */
  def begin(byKey: KeyRuns): Unit = {
    release()
    isFilled = true
    letGo()
    runs = Some(byKey)
  }

  /** Has room for some rows from now on, up to [[dispose]], however little memory is left when they come. */
  def reserve(): Unit = held.reserve()

  /** No rows will come any more. */
  def dispose(): Unit = {
    release()
    held.dispose()
  }

  /** The row that was read last comes next: of files there are not too many before, and of rows in memory. */
  def insert(read: SideReader): Unit = {
    failIfLost()
    // `length` and not `size`: that is one method for all of Scala's collections, and is not inlined.
    if (inFiles.length > leftByMerge) mergeFiles()
    if (held.count >= most) toFile(held.sorted(), None): Unit
    held.insert(read.row, if (read.hasRank) read.rank else Long.MinValue)
  }

  /** Was the input read, and nothing in it? */
  def isEmpty: Boolean = isFilled && files.isEmpty && held.count == 0

  /** The rows that were read, if all of them lie in memory. */
  def inMemory: Option[RankedRows] = Option.when(isFilled && files.isEmpty)(held)

  /** The same, if they were seen to come by key. */
  def inRuns: Option[KeyRuns] = runs.filter(_ => inMemory.isDefined)

  /** The rows are taken as they lie, and stay in memory up to [[release]], [[letGo]] or [[whenShort]]. */
  def keep(): Unit = {
    noteUsed()
    held.whenShort(() => 0L)
  }

  /** The rows, which were [[keep kept]], to be read bucket by bucket. */
  def kept: KeptRows =
    new KeptRows(held, () => newFile(writes = 1), metrics(JoinMetrics.SpillSize), output.size)

  /** @param action
    *   asked when memory is short: what becomes of rows that are kept
    */
  def whenShort(action: () => Long): Unit = held.whenShort(action)

  /** The rows may go to a file when memory is short: at first, and after they were kept in vain. */
  def letGo(): Unit = held.whenShort(() => toFile(held.sorted(), None))

  def sorted(rows: Iterator[InternalRow]): RowsByRank = new RowsByRank {
    private var rankOfLast = SideReader.Unknown
    override def knownRank: Long = rankOfLast
    // Of the rows that were not given, and perhaps of the one given last; null before the input is read.
    private var merge: StretchMerge = _
    private var isGiven = false
    private var isOver = false
    // Is the row that comes next known to be there?
    private var isReady = false
    private val taskWatch = TaskWatch.of(context)
    // Did all rows in memory go to files, but for the page of the one given last?
    private var hasLeft = false

    override def hasNext: Boolean = isReady || (!isOver && {
      failIfLost()
      if (merge == null) merge = read(rows, () => spillRest())
      else if (isGiven) goOn()
      isReady = merge.head != null
      if (!isReady) {
        isOver = true
        release()
      }
      isReady
    })

    override def next(): InternalRow = {
      if (!hasNext) throw new NoSuchElementException("there are no more rows")
      failIfLost()
      taskWatch.saw(1)
      isReady = false
      isGiven = true
      merge.head.point(row)
      rankOfLast = merge.head.rank
      row
    }

    private def goOn(): Unit = {
      isGiven = false
      merge.advance()
      if (hasLeft) {
        hasLeft = false
        held.clear()
      }
    }

    private def spillRest(): Long = if (lost.isDefined) 0L
    else {
      val isInMemory = isGiven && held.contains(row)
      // A row in a file is the one at hand of its stretch: that one stays the first.
      val first = if (isGiven && !isInMemory) Some(merge.head) else None
      if (isInMemory) goOn()
      val freed = toFile(held.unread, if (isInMemory) Some(row) else None)
      hasLeft = isInMemory
      merge = new StretchMerge((first ++ inFiles.filterNot(first.contains)).toArray)
      freed
    }
  }

  private def read(rows: Iterator[InternalRow], spillRest: () => Long): StretchMerge = {
    fill(rows)
    val start = System.nanoTime()
    val inMemory = held.sorted()
    metrics(JoinMetrics.SortTime) += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)
    noteUsed()
    held.whenShort(spillRest)
    new StretchMerge(inMemory ++ inFiles)
  }

  private def insert(rows: Iterator[InternalRow], watch: Option[RunsSeen.Watch]): Unit = {
    val ofRank = SideReader.create(Nil, Seq.fill(3)(rank), output)
    var reader = ofRank
    var watchAt = watch.fold(RankSort.Never)(_.after)
    var seen: RunsSeen = null
    // Invariant: the rows before are held or in files, and `seen` has seen them if the reader is its own.
    while (rows.hasNext) {
      if (held.count == watchAt) {
        watchAt = RankSort.Never
        seen = if (files.length == 0) seenSoFar(watch.get.key).orNull else null
        if (seen != null) reader = seen.reader
      }
      val read = reader
      read.read(rows.next())
      insert(read)
      if ((read ne ofRank) && !(files.length == 0 && seen.see())) {
        seen = null
        reader = ofRank
      }
    }
    runs = Option(seen).map(_.runs)
  }

  /** Of the rows that have come; None if they do not come by key. */
  private def seenSoFar(key: KeyForm): Option[RunsSeen] =
    RunsSeen.of(key, rank, output).filter { seen =>
      (0 until held.count).forall { number =>
        held.point(held.handle(number), row)
        seen.reader.read(row, held.rankOf(number))
        seen.see()
      }
    }

  private def failIfLost(): Unit = if (lost.isDefined)
    throw new IllegalStateException("Rows of a join could not be written to a file", lost.get)

  /** How many files it has. */
  private[spark] def filesHeld: Int = files.size

  private def noteUsed(): Unit = mostUsed = math.max(mostUsed, held.getUsed)

  /** Writes what is left of stretches in memory, in order.
    * @param last
    *   a row of them whose page stays
    * @return how many bytes of memory that frees
    */
  private def toFile(stretches: Array[RankedStretch], last: Option[UnsafeRow]): Long = {
    noteUsed()
    val rows = stretches.map(_.left).sum
    if (rows == 0) held.clearBut(last)
    else {
      val file = newFile(writes = 1)
      // Somebody who asks for memory does not end here when the task is to end: what is to be written would be lost.
      try write(stretches, file, TaskWatch.never)
      catch { case error: Throwable => lost = Some(error); throw error }
      val freed = held.clearBut(last)
      file.count(freed)
      inFiles += new RankedStretch.InFile(file)
      metrics(JoinMetrics.SpillSize) += freed
      freed
    }
  }

  /** As many files whose rows were written as often become one; none of them has been read from. */
  private def mergeFiles(): Unit = {
    var writes = 1
    var alike = written(writes)
    // Invariant: of files whose rows were written less often there are fewer.
    while (alike.size >= RankSort.MostAlike) {
      writes += 1
      mergeInto(newFile(writes), alike)
      alike = written(writes)
    }
    leftByMerge = inFiles.size
  }

  private def written(times: Int) = inFiles.toSeq.filter(_.file.writes == times)

  private def mergeInto(file: RankedFile, stretches: Seq[RankedStretch.InFile]): Unit = {
    write(stretches.toArray, file, TaskWatch.of(context))
    file.count(freed = 0L)
    stretches.foreach { stretch =>
      stretch.file.delete()
      files -= stretch.file
    }
    inFiles --= stretches
    inFiles += new RankedStretch.InFile(file)
  }

  /** It is deleted whatever comes. */
  private def newFile(writes: Int): RankedFile = {
    val file = new RankedFile(writes)
    files += file
    file
  }

  private def write(
      stretches: Array[RankedStretch],
      file: RankedFile,
      taskWatch: TaskWatch
  ): Unit = {
    val merge = new StretchMerge(stretches)
    val each = new UnsafeRow(output.size)
    // Invariant: the rows before the head are in the file.
    while (merge.head != null) {
      taskWatch.saw(1)
      merge.head.point(each)
      file.write(each, merge.head.rank)
      merge.advance()
    }
    file.endWrites()
  }

  /** No more rows will be asked for. */
  def release(): Unit = {
    noteUsed()
    runs = None
    held.clear()
    // Else the rows' iterator, and all below it, would stay to the end of the task.
    held.whenShort(() => 0L)
    files.foreach(_.delete())
    files.clear()
    inFiles.clear()
    leftByMerge = 0
  }
}

object RankSort {
  private val Never = -1
  private val MostAlike = 32
}
