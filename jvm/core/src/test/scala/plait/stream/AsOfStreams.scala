// SPDX-License-Identifier: Apache-2.0
package plait.stream

import plait.join.Harness._
import plait.join.{Rankless, SortableRowStore}
import plait.stream.StreamHarness._
import plait.{BySide, Side}

/** An as-of join of streams, driven batch by batch.
  * @param length
  *   how long rows are remembered
  */
final class AsOfStreams(
    superseding: Superseding,
    length: Long = Long.MaxValue,
    capacity: Int = 3,
    few: Int = 2
) {
  private var stored = BySide(new Stored, new Stored)

  /** Of the last batch: the left rows that are answered, and the right rows that each may pick. */
  var answered: Seq[(Int, Seq[Int])] = Nil
  var largestKeys: BySide[Int] = BySide(0, 0)
  var lags: BySide[Long] = BySide(0L, 0L)
  var chunksRead: BySide[Int] = BySide(0, 0)

  /** A batch at a time, and the rows that wait after it. */
  def at(now: Long, right: Long = Frontier.Unknown)(lefts: Row*)(rights: Row*): BySide[Long] =
    batch(now, BySide(Frontier.Unknown, right))(lefts: _*)(rights: _*)

  def batch(now: Long, frontiers: BySide[Long])(lefts: Row*)(rights: Row*): BySide[Long] = {
    val pages = BySide.make(_ => new ArrayRowStore[Row])
    stored = stored.map(_.copied)
    val stores = stored.map(new MapChunkStore(_, capacity))
    val lifetime =
      if (length == Long.MaxValue) Lifetime.Endless else Lifetime(now, length)
    val join = new StreamAsOfJoin[Reader, Row](
      BySide.make(_ => new Reader(Rankless.Dead)),
      new KeysOfReaders,
      pages.map(p => p: SortableRowStore[Row]),
      stores.map(new StoredRows[Row](_, MarkMeans.Gone, lifetime, few = few)),
      superseding,
      byId,
      frontiers
    )
    lefts.foreach(join.add(Side.Left, _))
    rights.foreach(join.add(Side.Right, _))
    join.run()
    largestKeys = BySide.make(join.largestKey)
    lags = BySide.make(join.lag)
    chunksRead = stores.map(_.chunksRead)
    def listed(side: Side) = {
      val list = join.rows(side)
      Seq.tabulate(list.size)(i => pages(side).get(list(i)))
    }
    answered = listed(Side.Left).map(l => l.id -> listed(Side.Right).filter(mutual(l, _)).map(_.id))
    BySide.make(join.waiting)
  }
}
