// SPDX-License-Identifier: Apache-2.0
package plait.join

import scala.collection.mutable

import plait.{BySide, Side}

/** The join core over plain Scala rows: its parts that hold rows and keys, for tests. */
object Harness {
  final class MapKeyTable[Q] extends KeyTable[Q, KeyGroup] {
    private val groups = mutable.Map.empty[Q, KeyGroup]
    def size: Int = groups.size
    def find(key: Q): KeyGroup = groups.getOrElse(key, null)
    def claim(key: Q): KeyGroup = groups.getOrElseUpdate(key, new KeyGroup)
    def release(key: KeyGroup): Unit = {
      assert(key.isEmpty, "a key was released that has rows")
      groups.filterInPlace((_, group) => group ne key)
    }
  }

  final class ArrayRowStore[R >: Null <: AnyRef] extends RowStore[R] {
    private val rows = mutable.Map.empty[Long, R]
    private var next = 0L
    def live: Iterable[R] = rows.values
    def put(row: R): Long = { next += 1; rows(next) = row; next }
    def get(handle: Long): R = rows(handle)
    def free(handle: Long): Unit =
      assert(rows.remove(handle).isDefined, "a row was freed twice")
  }

  /** A row with all that the core is told of it; `None` for a NULL order or reach. */
  final case class Row(id: Int, key: Int, rank: Option[Long], reach: Option[(Long, Long)])

  final class Join {
    val keys = new MapKeyTable[Int]
    val stores: BySide[ArrayRowStore[Row]] = BySide(new ArrayRowStore, new ArrayRowStore)
    val core = new JoinCore[Int, KeyGroup, Row](
      keys,
      BySide.make(side => new MemoryRowBuffer[Row](side, keys, stores(side)))
    )

    def holds(side: Side): Set[Row] = stores(side).live.toSet

    /** Adds a row as a driver does, and gives its matches as (left, right). */
    def add(side: Side, row: Row): Seq[(Row, Row)] = {
      row.rank.foreach(core.advance(side, _))
      (row.rank, row.reach) match {
        case (Some(rank), Some((low, high))) => core.add(side, row.key, row, rank, low, high)
        case _ => core.addDead(side)
      }
      Iterator
        .continually(core.nextMatch())
        .takeWhile(_ != null)
        .map(partner => if (side == Side.Left) (row, partner) else (partner, row))
        .toList
    }

    /** Runs both inputs to their ends, the core choosing the side. */
    def run(inputs: BySide[Seq[Row]]): Seq[(Row, Row)] = runFrom(inputs, _.core.wants)

    /** Runs both inputs to their ends, `choose` choosing the side as far as it has rows. */
    def runFrom(inputs: BySide[Seq[Row]], choose: Join => Side): Seq[(Row, Row)] = {
      val rows = inputs.map(_.iterator)
      val finished = mutable.Set.empty[Side]
      val out = Seq.newBuilder[(Row, Row)]
      while (!core.isDone) {
        val wanted = choose(this)
        val side = if (finished(wanted)) wanted.other else wanted
        if (rows(side).hasNext) out ++= add(side, rows(side).next())
        else { core.finish(side); finished += side }
      }
      out.result()
    }
  }
}
