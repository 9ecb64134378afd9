// SPDX-License-Identifier: Apache-2.0
package plait.stream

import java.util

import scala.collection.mutable.ArrayBuffer

import plait.Side
import plait.join._

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
  * @param limit
  *   of the rows of a key; None: there is none
  */
final class StreamRowBuffer[R >: Null <: AnyRef](
    side: Side,
    keys: KeyTable[_, KeyGroup],
    rows: SortableRowStore[R],
    val stored: StoredRows[R],
    limit: Option[KeyLimit[R]]
) extends RowBuffer[KeyGroup, R] {
  // Of each row in memory, by the number that memory knows it by.
  private var hashes = new Array[Int](StreamRowBuffer.InitialCapacity)
  private var ranks = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var ends = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var handles = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var places = new Array[Long](StreamRowBuffer.InitialCapacity)
  private var states = new Array[Byte](StreamRowBuffer.InitialCapacity)
  // Where a limit asks for them.
  private val groups = new ArrayBuffer[KeyGroup]
  private var count = 0
  private var news = 0L
  private var mostOfKey = 0
  private var evicted = 0L
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
    if (limit.isDefined) groups += key
    mostOfKey = math.max(mostOfKey, key.count(side))
  }

  /** The most rows of one key that were in memory at once. */
  def largestKey: Int = mostOfKey

  /** How many rows the limit has sent away. */
  def evictedRows: Long = evicted

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

  /** Rows that are too many of their key leave.
    * @param frontier
    *   rows whose reach ends below it leave anyway
    * @param alone
    *   is given the handle of each that has not matched
    */
  def keepWithinLimit(frontier: Long)(alone: Long => Unit): Unit =
    for (limit <- limit; n <- limit.excess(side, new Waiting(frontier), rows)) {
      if (states(n) == StreamRowBuffer.Plain) alone(handles(n))
      if (places(n) == Place.New) news -= 1 else stored.remove(places(n))
      states(n) = StreamRowBuffer.Evicted
      evicted += 1
    }

  final private class Waiting(frontier: Long) extends KeyedRows {
    def byHash: Array[Int] = SortByHash.order(hashes, count)
    def hash(n: Int): Int = hashes(n)
    def rank(n: Int): Long = ranks(n)
    def end(n: Int): Long = ends(n)
    def handle(n: Int): Long = handles(n)
    def key(n: Int): KeyGroup = groups(n)
    def isNew(n: Int): Boolean = places(n) == Place.New
    def isMatched(n: Int): Boolean = states(n) != StreamRowBuffer.Plain
    def stays(n: Int): Boolean = states(n) != StreamRowBuffer.Settled && ends(n) >= frontier
  }

  /** Stores what came with the batch and stays, and what it did to rows that were there. */
  def flush(): Unit = if (!isFlushed) {
    for (n <- 0 until count)
      if (places(n) != Place.New && isNews(states(n))) stored.mark(places(n))
    stored.append(Staying)
    isFlushed = true
  }

  private def isNews(state: Byte): Boolean =
    state == StreamRowBuffer.Marked || state == StreamRowBuffer.Settled

  private def isGone(state: Byte): Boolean =
    state == StreamRowBuffer.Settled || state == StreamRowBuffer.Evicted

  private object Staying extends NewRows[R] {
    def size: Int = news.toInt
    def foreachByHash(give: (Int, Long, Long, Mark, R) => Unit): Unit =
      for (n <- SortByHash.order(hashes, count))
        if (places(n) == Place.New && !isGone(states(n)))
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
  private val Evicted: Byte = 4
}
