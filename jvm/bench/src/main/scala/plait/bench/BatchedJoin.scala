// SPDX-License-Identifier: Apache-2.0
package plait.bench

import plait.join.{JoinCore, KeyGroup, KeyTable, MemoryRowBuffer, RowStore}
import plait.order.ReachEnd
import plait.order.ReachEnd.{Openness, WholeFormula}
import plait.{BySide, Side}

/** W1's band over two tables that come in batches of so many rows a side.
  *
  * {{{
  * l.key = r.key AND l.s + 1 > r.s + 5 AND l.s + 3 < r.s + 10
  * a left row reaches r.s in [l.s - 6, l.s - 5], a right row l.s in [r.s + 5, r.s + 6]
  * }}}
  *
  * A batch is copied as it comes. The condition is evaluated for each pair within reach, and rows that
  * match are counted and added up, not written anywhere.
  */
final class BatchedJoin(left: Table, right: Table, batch: Int) {
  private val keys = new BatchedJoin.Keys
  private val core = new JoinCore[BatchedJoin.Row, KeyGroup, BatchedJoin.Row](
    keys,
    BySide.make(side => new MemoryRowBuffer(side, keys, new BatchedJoin.Store))
  )
  private val inputs =
    BySide(new BatchedJoin.Batches(left, batch), new BatchedJoin.Batches(right, batch))
  private val reaches = BySide(
    BatchedJoin.Reach(BatchedJoin.end(ReachEnd.Low, -6), BatchedJoin.end(ReachEnd.High, -5)),
    BatchedJoin.Reach(BatchedJoin.end(ReachEnd.Low, 5), BatchedJoin.end(ReachEnd.High, 6))
  )
  private val values = new Array[Long](1)
  private var pairs = 0L
  private var leftSum = 0L
  private var rightSum = 0L

  def run(): BatchedJoin.Found = {
    while (!core.isDone) step()
    BatchedJoin.Found(pairs, leftSum, rightSum, core.peakBuffered)
  }

  /** The same, telling the rows held after every 64 rows read. */
  def trace(sample: (Long, BySide[Long]) => Unit): Unit = {
    var read = 0L
    while (!core.isDone) {
      step()
      read += 1
      if (read % 64 == 0) sample(read, BySide.make(core.buffered))
    }
  }

  private def step(): Unit = {
    val side = core.wants
    val input = inputs(side)
    if (!input.advance()) core.finish(side)
    else {
      val row = input.row
      val reach = reaches(side)
      values(0) = row.s
      core.advance(side, row.s)
      core.add(side, row, row, row.s, reach.low.at(values), reach.high.at(values))
      var partner = core.nextMatch()
      // Invariant: the matches of `row` before `partner` are counted.
      while (partner != null) {
        if (side eq Side.Left) matched(row, partner) else matched(partner, row)
        partner = core.nextMatch()
      }
    }
  }

  private def matched(l: BatchedJoin.Row, r: BatchedJoin.Row): Unit =
    if (l.s + 1 > r.s + 5 && l.s + 3 < r.s + 10) {
      core.accept()
      pairs += 1
      leftSum += l.s
      rightSum += r.s
    }
}

object BatchedJoin {

  /** What came out, and the most rows that were held. */
  final case class Found(pairs: Long, left: Long, right: Long, peak: Long)

  final private case class Reach(low: ReachEnd, high: ReachEnd)

  private def end(toward: ReachEnd.Toward, constant: Long): ReachEnd =
    ReachEnd(toward, Seq(WholeFormula(constant, Seq((0, 1)), Openness.Closed)))

  /** A row as it is read, used again for the next. */
  final private class Row {
    var key = 0L
    var s = 0L
  }

  /** A table's rows, batch by batch. */
  final private class Batches(table: Table, size: Int) {
    private var keys = new Array[Long](0)
    private var s = new Array[Long](0)
    private var from = 0
    private var next = 0
    val row: Row = new Row

    def advance(): Boolean = {
      if (next == keys.length) load()
      val hasRow = next < keys.length
      if (hasRow) {
        row.key = keys(next)
        row.s = s(next)
        next += 1
      }
      hasRow
    }

    private def load(): Unit = {
      keys = table.keys.slice(from, from + size)
      s = table.s.slice(from, from + size)
      from += keys.length
      next = 0
    }
  }

  final private class Group extends KeyGroup {
    var key = 0L
    var next: Group = _
  }

  /** A chain of groups a bucket; groups that were released are used again. */
  final private class Keys extends KeyTable[Row, KeyGroup] {
    private val buckets = new Array[Group](Keys.Buckets)
    private var released: Group = _

    def find(key: Row): KeyGroup = {
      var group = buckets(bucketOf(key.key))
      while (group != null && group.key != key.key) group = group.next
      group
    }

    def claim(key: Row): KeyGroup = {
      val found = find(key)
      if (found != null) found
      else {
        val made = if (released == null) new Group else released
        if (released != null) released = released.next
        val bucket = bucketOf(key.key)
        made.key = key.key
        made.next = buckets(bucket)
        buckets(bucket) = made
        made
      }
    }

    def release(key: KeyGroup): Unit = {
      val group = key.asInstanceOf[Group]
      val bucket = bucketOf(group.key)
      if (buckets(bucket) eq group) buckets(bucket) = group.next
      else {
        var before = buckets(bucket)
        while (before.next ne group) before = before.next
        before.next = group.next
      }
      group.next = released
      released = group
    }

    def releaseUnused(key: KeyGroup): Unit = if (key.isEmpty) release(key)

    def clear(): Unit = {
      java.util.Arrays.fill(buckets.asInstanceOf[Array[Object]], null)
      released = null
    }

    private def bucketOf(key: Long): Int = (key * 0x9e3779b97f4a7c15L >>> 52).toInt
  }

  private object Keys { val Buckets = 4096 }

  /** Rows by columns; a handle is an index. */
  final private class Store extends RowStore[Row] {
    private var keys = new Array[Long](64)
    private var s = new Array[Long](64)
    private var freed = new Array[Int](64)
    private var freeCount = 0
    private var used = 0
    private val row = new Row

    def put(row: Row): Long = {
      if (freeCount == 0 && used == keys.length) {
        keys = java.util.Arrays.copyOf(keys, 2 * used)
        s = java.util.Arrays.copyOf(s, 2 * used)
        freed = java.util.Arrays.copyOf(freed, 2 * used)
      }
      val handle = if (freeCount > 0) { freeCount -= 1; freed(freeCount) }
      else { used += 1; used - 1 }
      keys(handle) = row.key
      s(handle) = row.s
      handle.toLong
    }

    def get(handle: Long): Row = {
      row.key = keys(handle.toInt)
      row.s = s(handle.toInt)
      row
    }

    def free(handle: Long): Unit = {
      freed(freeCount) = handle.toInt
      freeCount += 1
    }

    def clear(): Unit = {
      freeCount = 0
      used = 0
    }
  }
}
