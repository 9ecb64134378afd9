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
    def claim(key: Q): KeyGroup = groups.getOrElseUpdate(
      key, {
        val group = new KeyGroup
        group.number = groups.size
        group
      }
    )
    def release(key: KeyGroup): Unit = {
      assert(key.isEmpty, "a key was released that has rows")
      groups.filterInPlace((_, group) => group ne key)
    }
    def releaseUnused(key: KeyGroup): Unit = if (key.isEmpty) release(key)
    def clear(): Unit = groups.clear()
  }

  final class ArrayRowStore[R >: Null <: AnyRef] extends SortableRowStore[R] {
    // A handle is an index; what is freed is null.
    private val rows = mutable.ArrayBuffer.empty[R]
    def live: Iterable[R] = rows.filter(_ != null)
    def put(row: R): Long = { rows += row; rows.size - 1L }
    def get(handle: Long): R = {
      assert(rows(handle.toInt) != null, "a row was asked for that is freed")
      rows(handle.toInt)
    }
    def beside(handle: Long): R = get(handle)
    def free(handle: Long): Unit = {
      assert(rows(handle.toInt) != null, "a row was freed twice")
      rows(handle.toInt) = null
    }
    def clear(): Unit = rows.clear()

    override def isSparse: Boolean = rows.size % 3 == 0
    override def moved(handle: Long): Long =
      if (handle % 2 == 0) handle
      else {
        val to = put(get(handle))
        free(handle)
        to
      }
  }

  /** A row with all that the core is told of it; `None` for a NULL order or reach. */
  final case class Row(id: Int, key: Int, rank: Option[Long], reach: Option[(Long, Long)])

  /** What comes out of a join, by the ids of its rows: a match, of pairs or of one row; a row alone. */
  sealed trait Out
  final case class Matched(left: Int, right: Option[Int]) extends Out
  final case class Alone(side: Side, id: Int) extends Out

  /** INNER, LEFT, RIGHT, FULL, LEFT SEMI, LEFT ANTI, existence. */
  val joinTypes: IndexedSeq[BySide[Role]] = IndexedSeq(
    BySide(Role.Paired, Role.Paired),
    BySide(Role.Preserved, Role.Paired),
    BySide(Role.Paired, Role.Preserved),
    BySide(Role.Preserved, Role.Preserved),
    BySide(Role.Existing, Role.Sought),
    BySide(Role.Missing, Role.Sought),
    BySide(Role.Marked, Role.Sought)
  )

  /** What comes out of a join, as text and in a sequence of its own, to be compared. */
  def sorted(out: Seq[Out]): Seq[String] = out.map(_.toString).sorted

  /** What comes out of a join by its definition. */
  def defined[A](roles: BySide[Role], tables: BySide[Seq[A]], id: A => Int)(
      matches: (A, A) => Boolean
  ): Seq[Out] = {
    val matched = NestedLoopJoin.matched(roles, tables.left, tables.right)(matches).map {
      case (l, r) => Matched(id(l), r.map(id))
    }
    val leftAlone = NestedLoopJoin
      .alone(roles.left, tables.left, tables.right)(matches)
      .map(l => Alone(Side.Left, id(l)))
    val rightAlone = NestedLoopJoin
      .alone(roles.right, tables.right, tables.left)((r, l) => matches(l, r))
      .map(r => Alone(Side.Right, id(r)))
    matched ++ leftAlone ++ rightAlone
  }

  final class Join(
      roles: BySide[Role] = BySide(Role.Paired, Role.Paired),
      rankless: BySide[Rankless] = BySide(Rankless.Dead, Rankless.Dead)
  ) {
    val keys = new MapKeyTable[Int]
    val stores: BySide[ArrayRowStore[Row]] = BySide(new ArrayRowStore, new ArrayRowStore)
    val core = new JoinCore[Int, KeyGroup, Row](
      keys,
      BySide.make(side => new MemoryRowBuffer[Row](side, keys, stores(side), lookEvery = 1)),
      roles,
      rankless
    )

    def holds(side: Side): Set[Row] = stores(side).live.toSet

    /** Adds a row as a driver does, and gives its matches as (left, right). */
    def add(side: Side, row: Row): Seq[(Row, Row)] = {
      arrive(side, row)
      Iterator
        .continually(core.nextMatch())
        .takeWhile(_ != null)
        .map(partner => if (side == Side.Left) (row, partner) else (partner, row))
        .toList
    }

    private def arrive(side: Side, row: Row): Unit = {
      row.rank.foreach(core.advance(side, _))
      val rank = row.rank.orElse(
        if (rankless(side) == Rankless.Matching) Some(Rankless.Rank) else None
      )
      (rank, row.reach) match {
        case (Some(rank), Some((low, high))) => core.add(side, row.key, row, rank, low, high)
        case _ => core.addDead(side)
      }
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

    /** Runs both inputs to their ends, and gives what comes out as a driver gives it. */
    def outputs(inputs: BySide[Seq[Row]], choose: Join => Side)(
        matches: (Row, Row) => Boolean
    ): Seq[Out] = {
      val rows = inputs.map(_.iterator)
      val finished = mutable.Set.empty[Side]
      val out = Seq.newBuilder[Out]
      def leaving(side: Side): Unit =
        Iterator.continually(core.nextLeaving(side)).takeWhile(_ != null).foreach { row =>
          out += Alone(side, row.id)
        }
      while (!core.isDone) {
        val wanted = choose(this)
        val side = if (finished(wanted)) wanted.other else wanted
        if (!rows(side).hasNext) {
          core.finish(side)
          finished += side
          leaving(side.other)
        } else {
          val row = rows(side).next()
          row.rank.foreach(core.advance(side, _))
          leaving(side.other)
          arrive(side, row)
          Iterator.continually(core.nextMatch()).takeWhile(_ != null).foreach { partner =>
            val (l, r) = if (side == Side.Left) (row, partner) else (partner, row)
            if (matches(l, r)) {
              core.accept()
              if (roles.left.matches == Matching.Stays) out += Matched(l.id, Some(r.id))
              else if (roles.left != Role.Missing) out += Matched(l.id, None)
            }
          }
          if (core.leavesAtOnce) out += Alone(side, row.id)
        }
      }
      out.result()
    }
  }
}
