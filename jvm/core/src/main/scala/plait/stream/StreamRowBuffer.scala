// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

import plait.Side
import plait.join.{KeyGroup, KeyTable, MemoryRowBuffer, RowBuffer, RowStore}

/** The [[RowBuffer]] of one side of a join of streams, for one batch: in memory the rows of the batch and
  * those stored ones that the batch can meet; all others in [[StoredRows]].
  *
  * {{{
  *            announce(hash)  append         restored
  *  batch's row --------------->  memory  <----------- stored rows of wanted keys and ranks
  *                                  |  probe, next, mark, settle
  *                                  v  flush
  *                                stored ----> takeDead, takeUnmatched, ...
  * }}}
  *
  * Conventions:
  *   1. Rows are announced before they are appended.
  *   2. After the first row was taken none is appended or probed: the batch is over.
  *
  * @param rows
  *   where the bytes of rows lie during the batch
  */
final class StreamRowBuffer[R >: Null <: AnyRef](
    side: Side,
    keys: KeyTable[_, KeyGroup],
    rows: RowStore[R],
    val stored: StoredRows[R]
) extends RowBuffer[KeyGroup, R] {
  // Of each row in memory, by the number that memory knows it by.
  private var hashes = new Array[Int](StreamRowBuffer.InitialCapacity)
  private var ranks = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var ends = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var handles = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var places = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var states = new Array[Byte](StreamRowBuffer.InitialCapacity)
  private var count = 0
  private var news = 0L
  private var last = 0
  private var isFlushed = false

  private var nextHash = 0
  private var nextHandle = StreamRowBuffer.NoHandle
  private var nextPlace = Place.New

  private val memory = new MemoryRowBuffer[R](side, keys, Numbered)

  /** What the memory buffer takes for the place of a row's bytes is the row's number. */
  private object Numbered extends RowStore[R] {
    def put(row: R): Long = {
      if (count == hashes.length) widen()
      hashes(count) = nextHash
      places(count) = nextPlace
      handles(count) = if (nextHandle == StreamRowBuffer.NoHandle) rows.put(row) else nextHandle
      states(count) = StreamRowBuffer.Plain
      count += 1
      count - 1L
    }
    def get(number: Long): R = {
      last = number.toInt
      rows.get(handles(last))
    }
    def free(number: Long): Unit = ()
    def clear(): Unit = ()
  }

  /** What is known of the next row that is appended.
    * @param handle
    *   where its bytes lie already
    */
  def announce(hash: Int, handle: Long): Unit = {
    nextHash = hash
    nextHandle = handle
    nextPlace = Place.New
  }

  /** The next row that is appended is a stored one. */
  def announceRestored(hash: Int, place: Long): Unit = {
    nextHash = hash
    nextHandle = StreamRowBuffer.NoHandle
    nextPlace = place
  }

  def append(key: KeyGroup, row: R, rank: Long, end: Long): Unit = {
    memory.append(key, row, rank, Long.MaxValue)
    last = count - 1
    ranks(last) = rank
    ends(last) = end
    if (places(last) == Place.New) news += 1
  }

  def probe(key: KeyGroup, low: Long, high: Long): Unit = memory.probe(key, low, high)
  def next(): R = memory.next()

  def mark(): Unit =
    if (states(last) == StreamRowBuffer.Plain) states(last) = StreamRowBuffer.Marked

  /** The row that was just restored was marked before. */
  def restoredMarked(): Unit = states(last) = StreamRowBuffer.MarkedBefore

  def settle(): Unit = {
    memory.settle()
    if (states(last) != StreamRowBuffer.Settled && places(last) == Place.New) news -= 1
    states(last) = StreamRowBuffer.Settled
  }

  def endProbe(): Unit = memory.endProbe()

  def takeDead(frontier: Long): Long = {
    if (frontier > stored.frontier) flush()
    stored.takeDead(frontier)
  }

  def takeUnmatched(frontier: Long): R = {
    if (frontier > stored.frontier) flush()
    stored.takeUnmatched(frontier)
  }

  def takeAll(): Long = {
    flush()
    stored.takeAll()
  }

  def takeUnmatchedOfAll(): R = {
    flush()
    stored.takeUnmatchedOfAll()
  }

  /** Also the stored rows that this batch does not look at. */
  def size: Long = if (isFlushed) stored.size else stored.size + news

  /** Stores what came with the batch and stays, and what it did to rows that were there. */
  def flush(): Unit = if (!isFlushed) {
    for (n <- 0 until count)
      if (places(n) != Place.New && isNews(states(n))) stored.mark(places(n))
    stored.append(Staying)
    isFlushed = true
  }

  private def isNews(state: Byte): Boolean =
    state == StreamRowBuffer.Marked || state == StreamRowBuffer.Settled

  private object Staying extends NewRows[R] {
    def foreachByHash(give: (Int, Long, Long, Mark, R) => Unit): Unit =
      for (n <- SortByHash.order(hashes, count))
        if (places(n) == Place.New && states(n) != StreamRowBuffer.Settled)
          give(
            hashes(n),
            ranks(n),
            ends(n),
            if (states(n) == StreamRowBuffer.Marked) Mark.Set else Mark.Unset,
            rows.get(handles(n))
          )
  }

  private def widen(): Unit = {
    val capacity = count * 2
    hashes = util.Arrays.copyOf(hashes, capacity)
    ranks = util.Arrays.copyOf(ranks, capacity)
    ends = util.Arrays.copyOf(ends, capacity)
    handles = util.Arrays.copyOf(handles, capacity)
    places = util.Arrays.copyOf(places, capacity)
    states = util.Arrays.copyOf(states, capacity)
  }
}

object StreamRowBuffer {
  private val InitialCapacity = 64

  /** The bytes of the row are still to be put somewhere. */
  val NoHandle: Long = -1L

  // What has become of a row in memory.
  private val Plain: Byte = 0
  private val MarkedBefore: Byte = 1
  private val Marked: Byte = 2
  private val Settled: Byte = 3
}
