// SPDX-License-Identifier: Apache-2.0
package plait.spark.side

import java.util

import org.apache.spark.memory.{MemoryConsumer, TaskMemoryManager}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.memory.MemoryBlock

import plait.join.RowStore

/** The bytes of buffered rows, in pages of Spark's task memory, on or off heap.
  *
  * A row is its length (8 bytes, so that what follows stays aligned) and its bytes. A handle is the
  * page's number and the offset in it:
  *
  * {{{
  * handle 0x00000002_00000030        page 2, offset 48
  * page 2   | 24 | row ...... | 40 | row ............ | free
  *          0                 48  (rows of 40 and 56 bytes with their lengths)
  * }}}
  *
  * Rows are put one behind the other; a page whose rows were all freed is used again. Since rows die
  * nearly in the sequence in which they came, few pages are held.
  *
  * Conventions:
  *   1. `get` gives one row object that points into the page.
  *   2. Pages grow from 64 KiB to 1 MiB, so that a small join takes little. A row that is larger has a
  *      page of its own, which goes back to Spark with it.
  *   3. Memory that Spark does not grant is Spark's out-of-memory error; nothing spills yet.
  */
final class PagedRowStore(memory: TaskMemoryManager, fields: Int)
    extends MemoryConsumer(memory, PagedRowStore.SmallestPage, memory.getTungstenMemoryMode)
    with RowStore[UnsafeRow] {
  private val pages = new util.ArrayList[MemoryBlock]
  private var live = new Array[Int](8)
  private val emptied = new util.ArrayDeque[Integer]
  // Numbers of pages that were given back.
  private val vacant = new util.ArrayDeque[Integer]
  private var current = -1
  private var position = 0L
  private var pageSize = PagedRowStore.SmallestPage
  private val row = new UnsafeRow(fields)

  def put(source: UnsafeRow): Long = {
    val bytes = source.getSizeInBytes
    val needed = bytes + PagedRowStore.LengthBytes
    if (current < 0 || position + needed > pages.get(current).size) turnPage(needed)
    val page = pages.get(current)
    val at = page.getBaseOffset + position
    Platform.putLong(page.getBaseObject, at, bytes.toLong)
    Platform.copyMemory(
      source.getBaseObject,
      source.getBaseOffset,
      page.getBaseObject,
      at + PagedRowStore.LengthBytes,
      bytes.toLong
    )
    val handle = (current.toLong << 32) | position
    position += needed
    live(current) += 1
    handle
  }

  def get(handle: Long): UnsafeRow = {
    val page = pages.get((handle >>> 32).toInt)
    val at = page.getBaseOffset + (handle & 0xffffffffL)
    val bytes = Platform.getLong(page.getBaseObject, at).toInt
    row.pointTo(page.getBaseObject, at + PagedRowStore.LengthBytes, bytes)
    row
  }

  def free(handle: Long): Unit = {
    val page = (handle >>> 32).toInt
    live(page) -= 1
    if (live(page) == 0) { if (page == current) position = 0 else retire(page) }
  }

  private def retire(page: Int): Unit =
    if (pages.get(page).size <= PagedRowStore.LargestPage) emptied.push(page) else giveBack(page)

  private def giveBack(page: Int): Unit = {
    freePage(pages.get(page))
    pages.set(page, null)
    vacant.push(page)
  }

  /** Gives all memory back; handles are invalid from here on. */
  def clear(): Unit = {
    pages.forEach(page => if (page != null) freePage(page))
    pages.clear()
    live = new Array[Int](8)
    emptied.clear()
    vacant.clear()
    current = -1
  }

  /** Nothing can be spilled: every stored row may still be probed for. */
  override def spill(size: Long, trigger: MemoryConsumer): Long = 0L

  private def turnPage(needed: Long): Unit = {
    if (current >= 0 && live(current) == 0) retire(current)
    position = 0
    // Invariant: the pages taken off were too small for a row that has come, and went back.
    while (!emptied.isEmpty && pages.get(emptied.peek).size < needed) giveBack(emptied.pop())
    current = if (emptied.isEmpty) newPage(needed) else emptied.pop()
  }

  private def newPage(needed: Long): Int = {
    val page = allocatePage(math.max(pageSize, needed))
    pageSize = math.min(pageSize * 2, PagedRowStore.LargestPage)
    if (vacant.isEmpty) {
      pages.add(page)
      if (pages.size > live.length) live = util.Arrays.copyOf(live, pages.size * 2)
      pages.size - 1
    } else {
      val number = vacant.pop()
      pages.set(number, page)
      number
    }
  }
}

object PagedRowStore {
  private val SmallestPage = 64L * 1024
  private val LargestPage = 1024L * 1024
  private val LengthBytes = 8
}
