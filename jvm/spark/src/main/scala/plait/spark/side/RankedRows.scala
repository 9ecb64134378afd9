// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util

import scala.collection.mutable

import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.LongArray
import org.apache.spark.unsafe.memory.MemoryBlock
import org.apache.spark.util.collection.unsafe.sort.RadixSort

/** Rows in pages of Spark's task memory, and for each its address and its rank, to be given by rank.
  *
  * {{{
  * page 0   | 24 | row .. | 24 | row .. | 32 | row ......... |
  * pairs    (address, rank 7) (address, 9) (address, 3)          two stretches: 7 9 | 3
  * }}}
  *
  * Rows that come in few stretches whose ranks never fall (a sorted table, one stretch a file of the shuffle)
  * are read as they lie, a stretch beside the other. Others are sorted by radix, which moves pairs, not rows.
  *
  * Reading sorted rows goes to and fro in memory, and waiting for it takes longer than all else. So the rows
  * to come are touched some at a time: nothing depends on one of these reads, and the processor waits for
  * all of them at once.
  *
  * Spark makes no page smaller than the one that a consumer says it has, if there is memory for it, so that is the
  * smallest: the first of a few rows would else take all that a task with little memory has.
  */
final private[spark] class RankedRows(
    memory: TaskMemoryManager,
    reading: ReadingThread = new ReadingThread
) extends MemoryConsumer(memory, RankedRows.SmallestPage, memory.getTungstenMemoryMode) {
  import RankedRows._

  private val pages = new util.ArrayList[MemoryBlock]
  private var page: MemoryBlock = _
  private var position = 0L
  private var pageSize = SmallestPage
  private var pairs: LongArray = _
  private var rows = 0
  // Of pages that stay for rows that are laid down, so many are in use.
  private var laidIn = 0
  private var lastRank = Long.MaxValue
  private val begins = new Array[Int](MostStretches)
  private var stretches = 0
  // What is asked when memory is short.
  private var onPressure: () => Long = () => 0L
  private var touched = 0L
  private var read = Array.empty[RankedStretch]
  // Null if nothing was reserved.
  private var sparePage: MemoryBlock = _
  private var sparePairs: LongArray = _

  /** Has room for some rows from now on, up to [[dispose]], that nobody else gets: they go to a file in small parts then,
    * if an operator above has taken all other memory. Does nothing where there is no memory even now.
    */
  def reserve(): Unit = if (sparePage == null)
    try {
      sparePage = allocatePage(SmallestPage)
      sparePairs = allocateArray(FirstPairs)
    } catch { case _: SparkOutOfMemoryError => dispose() }

  /** Gives back what was reserved, too. */
  def dispose(): Unit = {
    clear()
    if (sparePage != null) freePage(sparePage)
    if (sparePairs != null) freeArray(sparePairs)
    sparePage = null
    sparePairs = null
  }

  def count: Int = rows

  /** @param action
    *   frees what it can, and returns how many bytes
    */
  def whenShort(action: () => Long): Unit = onPressure = action

  def insert(row: UnsafeRow, rank: Long): Unit = {
    val bytes = row.getSizeInBytes
    makeRoom(bytes + LengthBytes)
    val at = page.getBaseOffset + position
    put(row, at)
    pairs.set(2 * rows, memory.encodePageNumberAndOffset(page, at))
    pairs.set(2 * rows + 1, rank)
    if (rank < lastRank || rows == 0) begin()
    lastRank = rank
    position += bytes + LengthBytes
    rows += 1
  }

  /** Another stretch begins with the row at hand. */
  private def begin(): Unit = {
    if (stretches < MostStretches) begins(stretches) = rows
    stretches += 1
  }

  /** Whoever is asked for memory may be told to spill, and all that was here is gone. */
  private def makeRoom(bytes: Long): Unit =
    while (lacksPairs || page == null || position + bytes > page.size)
      if (page == null || position + bytes > page.size) turnPage(bytes) else widen()

  /** Radix sort needs as much again, and is not left without when memory is short. The row that comes next may begin one
    * stretch more.
    */
  private def lacksPairs: Boolean =
    pairs == null || (if (stretches < MostStretches - 1) 2L else 4L) * (rows + 1) > pairs.size

  /** Few stretches are merged, many are sorted. */
  private def isInPlace: Boolean = stretches < MostStretches

  private def turnPage(bytes: Long): Unit = {
    reading.begin()
    val fresh = spareFor(bytes).getOrElse(allocated(bytes))
    pages.add(fresh)
    page = fresh
    position = 0
    // As large as Spark's own soon: those that its shuffle has left are used again, and a task has some thousand at most.
    pageSize = math.min(pageSize * 4, memory.pageSizeBytes)
  }

  /** Whoever asks for memory may find that all rows have gone to a file meanwhile: then what was reserved is free. */
  private def allocated(bytes: Long): MemoryBlock =
    try allocatePage(math.max(pageSize, bytes))
    catch {
      case error: SparkOutOfMemoryError =>
        spareFor(bytes).getOrElse {
          if (pageSize == SmallestPage) throw error
          pageSize = SmallestPage
          allocated(bytes)
        }
    }

  private def spareFor(bytes: Long): Option[MemoryBlock] =
    Option.when(sparePage != null && pages.isEmpty && bytes <= sparePage.size)(sparePage)

  private def widen(): Unit = {
    reading.begin()
    val wanted = if (pairs == null) FirstPairs else pairs.size * 2
    val wider =
      if (pairs == null && sparePairs != null) sparePairs
      else
        try allocateArray(wanted)
        catch {
          // All rows have gone to a file meanwhile, and what comes next needs few.
          case _: SparkOutOfMemoryError if rows == 0 && sparePairs != null => sparePairs
          case _: SparkOutOfMemoryError if rows == 0 && wanted > FirstPairs =>
            allocateArray(FirstPairs)
        }
    if (pairs != null) {
      Platform.copyMemory(
        pairs.getBaseObject,
        pairs.getBaseOffset,
        wider.getBaseObject,
        wider.getBaseOffset,
        16L * rows
      )
      free(pairs)
    }
    pairs = wider
  }

  /** All rows, by rank; nothing more is inserted before [[clear]]. */
  def sorted(): Array[RankedStretch] = {
    read =
      if (rows == 0) Array.empty
      else if (isInPlace) chains.map(new InMemory(_)).toArray
      else {
        val start = RadixSort.sortKeyPrefixArray(pairs, 0, rows.toLong, 0, 7, false, true) / 2
        Array(new InMemory(Seq(start until start + rows)))
      }
    read
  }

  /** Stretches that follow each other in rank as one, so that few are merged. */
  private def chains: Seq[Seq[Range]] = {
    val chains = mutable.ArrayBuffer.empty[mutable.ArrayBuffer[Range]]
    def last(chain: mutable.ArrayBuffer[Range]) = rankOf(chain.last.last)
    val ranges = (0 until stretches).map { n =>
      begins(n) until (if (n + 1 < stretches) begins(n + 1) else rows)
    }
    // Invariant: each of the ranges before is in one chain, whose ranks never fall.
    for (range <- ranges.sortBy(range => (rankOf(range.head), rankOf(range.last)))) {
      val fitting = chains.filter(last(_) <= rankOf(range.head))
      if (fitting.isEmpty) chains += mutable.ArrayBuffer(range)
      else fitting.maxBy(last) += range
    }
    chains.map(_.toSeq).toSeq
  }

  /** Of a row by its number, in the sequence of insertion: where it lies, and its rank. */
  def handle(number: Int): Long = pairs.get(2 * number)
  def rankOf(number: Int): Long = pairs.get(2 * number + 1)

  /** A row takes the number of another, which is named by its handle alone from here on. */
  def renumber(number: Int, as: Int): Unit = {
    pairs.set(2 * as, handle(number))
    pairs.set(2 * as + 1, rankOf(number))
  }

  /** Makes `row` the one that lies there. */
  def point(handle: Long, row: UnsafeRow): Unit = {
    val base = memory.getPage(handle)
    val offset = memory.getOffsetInPage(handle)
    row.pointTo(base, offset + LengthBytes, Platform.getLong(base, offset).toInt)
  }

  /** Rows are named by their handles from here on, and by no numbers. */
  def forgetNumbers(): Unit = {
    if (pairs != null) free(pairs)
    pairs = null
  }

  private def free(pairs: LongArray): Unit = if (pairs ne sparePairs) freeArray(pairs)

  /** Fetches a row that is read soon. */
  def touch(handle: Long): Unit = touched += firstAndLast(handle)

  private def firstAndLast(handle: Long): Long = {
    val base = memory.getPage(handle)
    val offset = memory.getOffsetInPage(handle)
    val bytes = Platform.getLong(base, offset)
    // Its last word, too: a row may lie across lines of the cache.
    bytes + Platform.getLong(base, offset + bytes)
  }

  /** What a row takes of its page. */
  def bytesOf(handle: Long): Long =
    Platform.getLong(memory.getPage(handle), memory.getOffsetInPage(handle)) + LengthBytes

  /** All rows are gone, as they lie in a file; memory goes back but for that of one row, and as much as is asked for.
    * @param bytes
    *   what stays for rows that are laid down ([[lay]]) one after the other, where there is so much
    * @param longest
    *   the most that one of them takes: so much of a page may not be used
    * @return how many bytes went back
    */
  def clearFor(bytes: Long, longest: Long, kept: Option[UnsafeRow]): Long = {
    val before = getUsed
    val stay = new util.ArrayList(staying(bytes, longest, kept))
    pages.forEach(page => if ((page ne sparePage) && !stay.contains(page)) freePage(page))
    forget()
    pages.addAll(stay)
    before - getUsed
  }

  /** How many bytes [[clearFor]] would give back. */
  def freedFor(bytes: Long, longest: Long, kept: Option[UnsafeRow]): Long =
    getUsed - reserved - staying(bytes, longest, kept).stream
      .filter(_ ne sparePage)
      .mapToLong(_.size)
      .sum

  private def reserved: Long =
    if (sparePage == null) 0L else sparePage.size + sparePairs.size * 8

  private def staying(
      bytes: Long,
      longest: Long,
      kept: Option[UnsafeRow]
  ): util.List[MemoryBlock] = {
    var spare = 0L
    val stay = new util.ArrayList[MemoryBlock]
    pages.forEach { page =>
      val room = math.max(0, page.size - longest)
      if ((spare < bytes && room > 0) || kept.exists(isIn(_, page))) {
        spare += room
        val _ = stay.add(page)
      }
    }
    // All of them, as one may be of a row that fits in no other.
    if (spare < bytes) pages else stay
  }

  /** Rows that were laid down are gone, and their memory is used again. */
  def layAnew(): Unit = {
    page = null
    laidIn = 0
  }

  /** A copy of a row that has no number.
    * @return its handle
    */
  def lay(row: UnsafeRow): Long = {
    val bytes = row.getSizeInBytes
    // Invariant: the row has no room in the pages before the one of number `laidIn`.
    while (page == null || position + bytes + LengthBytes > page.size) layOn(bytes + LengthBytes)
    val at = page.getBaseOffset + position
    put(row, at)
    position += bytes + LengthBytes
    memory.encodePageNumberAndOffset(page, at)
  }

  private def layOn(bytes: Int): Unit = {
    if (laidIn < pages.size) {
      page = pages.get(laidIn)
      position = 0
    } else {
      pageSize = SmallestPage
      turnPage(bytes.toLong)
    }
    laidIn += 1
  }

  private def put(row: UnsafeRow, at: Long): Unit = {
    Platform.putLong(page.getBaseObject, at, row.getSizeInBytes.toLong)
    RowBytes.copy(row, page.getBaseObject, at + LengthBytes)
  }

  /** What is left of the stretches that [[sorted]] gave last. */
  def unread: Array[RankedStretch] = read

  /** Rows by their numbers, range by range: ranks never fall from one to the next. */
  final private class InMemory(ranges: Seq[Range]) extends RankedStretch {
    private var rest = ranges.tail
    private var at = ranges.head.start
    private var until = ranges.head.end
    private var touchedUntil = at
    private var address = 0L
    load()

    private def load(): Unit = {
      if (at == touchedUntil) touch()
      address = handle(at)
      rank = rankOf(at)
    }

    private def touch(): Unit = {
      touchedUntil = math.min(at + TouchedAhead, until)
      var sum = 0L
      var next = at
      // Invariant: the rows before `next` are on their way.
      while (next < touchedUntil) {
        sum += firstAndLast(handle(next))
        next += 1
      }
      touched += sum
    }

    override def point(row: UnsafeRow): Unit = RankedRows.this.point(address, row)

    override def left: Long = until - at + rest.map(_.size.toLong).sum

    override def advance(): Unit = {
      at += 1
      if (at < until) load()
      else if (rest.isEmpty) isOver = true
      else {
        at = rest.head.start
        until = rest.head.end
        touchedUntil = at
        rest = rest.tail
        load()
      }
    }
  }

  override def spill(size: Long, trigger: MemoryConsumer): Long =
    if (rows > 0) reading.unlessAnother(onPressure) else 0L

  /** Gives all memory back, but for the page of one row.
    * @return how many bytes
    */
  def clearBut(kept: Option[UnsafeRow]): Long = clearFor(bytes = 0, longest = 0, kept)

  private def forget(): Unit = {
    pages.clear()
    forgetNumbers()
    page = null
    // What comes next may be less.
    pageSize = SmallestPage
    rows = 0
    stretches = 0
    read = Array.empty
  }

  def clear(): Unit = {
    val _ = clearBut(None)
  }

  /** Does the row lie here? */
  def contains(row: UnsafeRow): Boolean = pages.stream.anyMatch(isIn(row, _))

  private def isIn(row: UnsafeRow, page: MemoryBlock): Boolean = {
    val offset = row.getBaseOffset - page.getBaseOffset
    (page.getBaseObject eq row.getBaseObject) && offset >= 0 && offset < page.size
  }
}

private[spark] object RankedRows {
  private val SmallestPage = 64L * 1024
  private val LengthBytes = 8
  private val FirstPairs = 4096L

  /** So that a place among the pairs, twice over, is an Int. */
  val MostRows: Int = 1 << 28

  /** More than these are sorted: to merge them would take as long. */
  private val MostStretches = 128
  private val TouchedAhead = 32
}
