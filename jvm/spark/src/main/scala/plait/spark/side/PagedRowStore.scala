// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util

import org.apache.spark.internal.Logging
import org.apache.spark.memory.{MemoryConsumer, SparkOutOfMemoryError, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.memory.MemoryBlock

import plait.join.SortableRowStore

/** The bytes of buffered rows, in pages of Spark's task memory, on or off heap.
  *
  * A row is its length and the length that fits into its place (4 bytes each, so that what follows stays
  * aligned) and its bytes. A handle is the page's number and the offset in it:
  *
  * {{{
  * handle 0x00000002_00000030        page 2, offset 48
  * page 2   | 40, 40 | row .. | 56, 56 | row ........ | free
  *          0                 48  (rows of 40 and 56 bytes with their lengths)
  * }}}
  *
  * Rows are put one behind the other; a page whose rows were all freed is used again. Where rows die
  * nearly in the sequence in which they came, few pages are held; where some stay much longer, whoever has their handles
  * moves them together.
  *
  * Conventions:
  *   1. `get` gives one row object that points into the page.
  *   2. Pages grow with what is held ([[PageGrowth]]). A row that is larger has a page of its own; a page
  *      that is larger than the next would be goes back to Spark with its last row.
  *   3. A row that takes another's place stays there if it fits, else it gets a place half as long
  *      again: one row of each key, replaced over and over, does not wander through the pages and hold
  *      a page each.
  *   4. Under pressure pages go to a file, all but the one that is being filled and the one in which
  *      the row given last lies. Their rows are read from there; they do not come back into memory.
  *   5. Where Spark has no page left, since an operator above has taken all there was and gives nothing back, the next
  *      one is on the heap and uncounted. There are no more of these than may not go to the file.
  *
  * @param target
  *   where the file is made, and its bytes are counted
  * @param mostPages
  *   with so many in memory one goes to the file before another is taken
  */
final class PagedRowStore(
    memory: TaskMemoryManager,
    fields: Int,
    target: SpillTarget,
    mostPages: Int = PageGrowth.MostPages,
    reading: ReadingThread = new ReadingThread
) extends MemoryConsumer(memory, PageGrowth.Smallest, memory.getTungstenMemoryMode)
    with SortableRowStore[UnsafeRow]
    with Logging {
  private val pages = new util.ArrayList[MemoryBlock]
  private var live = new Array[Int](8)
  // The rows that were put into a page since it was empty.
  private var filled = new Array[Int](8)
  private var rows = 0L
  // Places of rows that are gone, in pages that hold others still.
  private var gone = 0L
  private val emptied = new util.ArrayDeque[Integer]
  // Numbers of pages that were given back.
  private val vacant = new util.ArrayDeque[Integer]
  private var inMemory = 0
  // For each page its place in the file, and its size; the place is -1 of one in memory.
  private var places = Array.fill(8)(PagedRowStore.InMemory)
  private var sizes = new Array[Long](8)
  private var file: SpillFile = _
  private var current = -1
  private var isWarned = false
  // The page of the row that was given last.
  private var pinned = -1
  private var position = 0L
  // Places of rows that were in the page that is being filled, and have gone.
  private val vacated = new Array[Long](PagedRowStore.MostVacated)
  private var vacatedCount = 0
  private val row = new UnsafeRow(fields)
  private val second = new UnsafeRow(fields)
  private val copyOfSecond = new UnsafeRow(fields)

  def put(source: UnsafeRow): Long = put(source, source.getSizeInBytes)

  private def put(source: UnsafeRow, room: Int): Long = {
    val bytes = source.getSizeInBytes
    val place = if (vacatedCount > 0) placeOfVacated(room) else placeAtEnd(room)
    val page = pages.get(current)
    val at = page.getBaseOffset + place
    Platform.putLong(page.getBaseObject, at, (room.toLong << 32) | bytes)
    RowBytes.copy(source, page.getBaseObject, at + PagedRowStore.LengthBytes)
    live(current) += 1
    rows += 1
    (current.toLong << 32) | place
  }

  private def placeAtEnd(room: Int): Long = {
    val needed = room + PagedRowStore.LengthBytes
    if (current < 0 || position + needed > pages.get(current).size) turnPage(needed)
    val place = position
    position += needed
    filled(current) += 1
    place
  }

  /** Where a row of the same length was a moment ago memory is nearer than behind the last one. */
  private def placeOfVacated(room: Int): Long = {
    vacatedCount -= 1
    val place = vacated(vacatedCount)
    if (roomAt((current.toLong << 32) | place) != room) placeAtEnd(room)
    else {
      gone -= 1
      place
    }
  }

  /** In the place of the other, if it fits there. */
  override def replace(handle: Long, source: UnsafeRow): Long = {
    val bytes = source.getSizeInBytes
    val room = if (isInMemory(handle)) roomAt(handle) else 0
    if (bytes <= room) {
      val page = pages.get((handle >>> 32).toInt).getBaseObject
      Platform.putLong(page, offsetOf(handle), (room.toLong << 32) | bytes)
      RowBytes.copy(source, page, offsetOf(handle) + PagedRowStore.LengthBytes)
      handle
    } else {
      free(handle)
      put(source, (bytes + bytes / 2 + 7) / 8 * 8)
    }
  }

  private def isInMemory(handle: Long): Boolean =
    places((handle >>> 32).toInt) == PagedRowStore.InMemory

  private def roomAt(handle: Long): Int =
    (Platform.getLong(
      pages.get((handle >>> 32).toInt).getBaseObject,
      offsetOf(handle)
    ) >>> 32).toInt

  private def offsetOf(handle: Long): Long =
    pages.get((handle >>> 32).toInt).getBaseOffset + (handle & 0xffffffffL)

  def get(handle: Long): UnsafeRow = {
    pinned = (handle >>> 32).toInt
    point(row, handle)
    row
  }

  /** Nothing is pinned by it: no memory is asked for while two rows are compared. */
  def beside(handle: Long): UnsafeRow = {
    point(second, handle)
    if (isInMemory(handle)) second
    else {
      copyOfSecond.copyFrom(second)
      copyOfSecond
    }
  }

  private def point(row: UnsafeRow, handle: Long): Unit = {
    val number = (handle >>> 32).toInt
    val offset = handle & 0xffffffffL
    if (places(number) != PagedRowStore.InMemory) file.read(places(number), offset, row)
    else {
      val page = pages.get(number)
      val at = page.getBaseOffset + offset
      val bytes = Platform.getLong(page.getBaseObject, at).toInt
      row.pointTo(page.getBaseObject, at + PagedRowStore.LengthBytes, bytes)
    }
  }

  def free(handle: Long): Unit = {
    val page = (handle >>> 32).toInt
    live(page) -= 1
    rows -= 1
    gone += 1
    if (live(page) > 0) {
      if (page == current && vacatedCount < vacated.length) {
        vacated(vacatedCount) = handle & 0xffffffffL
        vacatedCount += 1
      }
    } else {
      gone -= filled(page)
      filled(page) = 0
      if (page == current) {
        position = 0
        vacatedCount = 0
      } else if (places(page) == PagedRowStore.InMemory) retire(page)
      else {
        file.free(places(page), sizes(page))
        places(page) = PagedRowStore.InMemory
        vacant.push(page)
      }
    }
  }

  override def isSparse: Boolean =
    gone > rows && pages.size - vacant.size - emptied.size > PagedRowStore.FewPages

  /** From a page of which half is gone to the one that is being filled. */
  override def moved(handle: Long): Long = {
    val page = (handle >>> 32).toInt
    if (page == current || 2 * live(page) > filled(page)) handle
    else {
      val to = put(get(handle))
      free(handle)
      to
    }
  }

  private def retire(page: Int): Unit =
    if (pages.get(page).size <= PageGrowth.next(getUsed)) emptied.push(page) else giveBack(page)

  private def giveBack(page: Int): Unit = {
    release(page)
    vacant.push(page)
  }

  private def release(number: Int): Unit = {
    val page = pages.set(number, null)
    if (isCounted(page)) freePage(page)
    inMemory -= 1
  }

  private def isCounted(page: MemoryBlock): Boolean =
    page.pageNumber != MemoryBlock.NO_PAGE_NUMBER

  /** Gives all memory back; handles are invalid from here on. */
  def clear(): Unit = {
    pages.forEach(page => if (page != null && isCounted(page)) freePage(page))
    pages.clear()
    inMemory = 0
    live = new Array[Int](8)
    filled = new Array[Int](8)
    rows = 0
    gone = 0
    places = Array.fill(8)(PagedRowStore.InMemory)
    sizes = new Array[Long](8)
    emptied.clear()
    vacant.clear()
    current = -1
    vacatedCount = 0
    pinned = -1
    if (file != null) file.close()
    file = null
  }

  /** Empty pages first; then the newest, whose rows will be held the longest. Nothing for another
    * thread of the task, such as one that feeds Python: this one may be writing.
    */
  override def spill(size: Long, trigger: MemoryConsumer): Long =
    reading.unlessAnother(() => spillHere(size))

  private def spillHere(size: Long): Long = {
    val before = getUsed
    while (!emptied.isEmpty && before - getUsed < size) giveBack(emptied.pop())
    toFile(isCounted, before - getUsed < size)
    before - getUsed
  }

  /** Such pages as may go, the newest first, as long as more are wanted. */
  private def toFile(which: MemoryBlock => Boolean, isMoreWanted: => Boolean): Unit = {
    var number = pages.size - 1
    var left = inMemory
    // Invariant: pages above `number` are in the file, or have to stay in memory; of the others so many are in memory.
    while (left > 0 && isMoreWanted) {
      if (pages.get(number) != null) {
        left -= 1
        if (mayGo(number) && which(pages.get(number))) toFile(number)
      }
      number -= 1
    }
  }

  private def mayGo(number: Int): Boolean =
    number != current && number != pinned && live(number) > 0

  private def toFile(number: Int): Unit = {
    val page = pages.get(number)
    if (file == null) file = target.newFile()
    sizes(number) = page.size
    places(number) = file.write(page)
    release(number)
    target.count(sizes(number))
  }

  private def turnPage(needed: Long): Unit = {
    if (current >= 0 && live(current) == 0) retire(current)
    position = 0
    vacatedCount = 0
    // Invariant: the pages taken off were too small for a row that has come, and went back.
    while (!emptied.isEmpty && pages.get(emptied.peek).size < needed) giveBack(emptied.pop())
    // The page that is full may go to the file, to make room for the next.
    current = -1
    current = if (emptied.isEmpty) newPage(needed) else emptied.pop()
  }

  /** Where there is no room for a large page there may be for a small one. */
  private def allocated(needed: Long): MemoryBlock = {
    val least = math.max(PageGrowth.Smallest, needed)
    granted(math.max(PageGrowth.next(getUsed), needed))
      .orElse(granted(least))
      .getOrElse(uncounted(least))
  }

  /** Asks before it takes, as each error would log how all memory is used. */
  private def granted(bytes: Long): Option[MemoryBlock] = {
    val had = acquireMemory(bytes)
    freeMemory(had)
    if (had < bytes) None
    else
      try Some(allocatePage(bytes))
      catch { case _: SparkOutOfMemoryError => None }
  }

  private def uncounted(bytes: Long): MemoryBlock = {
    warn()
    toFile(_ => true, isMoreWanted = true)
    MemoryBlock.fromLongArray(new Array[Long](math.toIntExact((bytes + 7) / 8)))
  }

  private def warn(): Unit = if (!isWarned) {
    isWarned = true
    logWarning(
      "Spark has no memory left for the rows that a join holds, as another operator of the task has taken it: they go " +
        "to disk page by page. More partitions, or more memory a task, would spare that."
    )
  }

  private def newPage(needed: Long): Int = {
    reading.begin()
    if (inMemory >= mostPages) spillHere(1): Unit
    val page = allocated(needed)
    inMemory += 1
    if (vacant.isEmpty) {
      pages.add(page)
      if (pages.size > live.length) {
        live = util.Arrays.copyOf(live, pages.size * 2)
        filled = util.Arrays.copyOf(filled, pages.size * 2)
        sizes = util.Arrays.copyOf(sizes, pages.size * 2)
        places = places.padTo(pages.size * 2, PagedRowStore.InMemory)
      }
      pages.size - 1
    } else {
      val number = vacant.pop()
      pages.set(number, page)
      number
    }
  }
}

object PagedRowStore {
  private val LengthBytes = 8
  private val InMemory = -1L
  private val FewPages = 8
  private val MostVacated = 64
}
