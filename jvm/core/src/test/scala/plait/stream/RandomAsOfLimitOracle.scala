// SPDX-License-Identifier: Apache-2.0
// Oracle: the definition of an as-of join of streams with a limit, batch by batch over plain sequences.
package plait.stream

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.join.{Rankless, SortableRowStore}
import plait.stream.StreamHarness._
import plait.{BySide, Cases, Side}

class RandomAsOfLimitOracle extends FunSuite {
  import RandomAsOfLimitOracle._

  override val munitTimeout: Duration = Cases.longest

  private val scripts = Cases.of(1500, soak = 30000)

  private def stream(random: Random, slack: Int): Seq[(Int, Int, Long)] = {
    var top = random.nextInt(10).toLong
    Seq.tabulate(random.nextInt(30)) { id =>
      if (random.nextInt(3) == 0) top += random.nextInt(5)
      (id, random.nextInt(4), top - random.nextInt(slack + 1))
    }
  }

  test("each left row picks once, when its turn comes or when it may not wait, of the rows kept") {
    for (seed <- 0 until scripts) {
      val random = new Random(seed)
      val form = forms(random.nextInt(forms.size))
      val most = 1 + random.nextInt(3)
      val slack = BySide.make(_ => random.nextInt(6))
      val rows = BySide(
        stream(random, slack.left).map((form.left _).tupled),
        stream(random, slack.right).map((form.right _).tupled)
      )
      val at = s"seed $seed, $form, at most $most"
      val join = new Streamed(form, most)
      val definition = new Limited(form, most)
      val isKnownToEnd = BySide.make(_ => random.nextInt(3) == 0)
      var seen = BySide(0, 0)
      var answered = Seq.empty[Int]
      // Invariant: the join and its definition have given the same answers.
      while (Side.both.exists(s => seen(s) < rows(s).size)) {
        val taken = BySide.make(s => rows(s).slice(seen(s), seen(s) + random.nextInt(9)))
        seen = BySide.make(side => seen(side) + taken(side).size)
        val next = BySide.make { side =>
          val top = rows(side).take(seen(side)).flatMap(_.rank).maxOption
          if (isKnownToEnd(side) && seen(side) == rows(side).size) Frontier.Over
          else top.fold(Frontier.Unknown)(_ - slack(side))
        }
        val came = join.batch(taken.map(random.shuffle(_)), next, 1 + random.nextInt(5))
        assertEquals(came.sorted, definition.batch(taken, next).sorted, at)
        answered ++= came.map(_._1)
        assertEquals(join.waiting(Side.Left), definition.waiting, at)
        for (side <- Side.both; (key, ids) <- join.waiting(side).groupBy(rows(side)(_).key))
          assert(ids.size <= most, s"$at: $side $key has $ids")
      }
      answered ++= join.batch(BySide(Nil, Nil), BySide(Frontier.Over, Frontier.Over), 3).map(_._1)
      assertEquals(answered.sorted, rows.left.map(_.id), at)
    }
  }
}

object RandomAsOfLimitOracle {

  /** `l.ts >= r.ts`, or `l.ts <= r.ts` within a tolerance. */
  final private case class Form(isForward: Boolean, tolerance: Option[Int], refuses: Boolean) {
    def left(id: Int, key: Int, t: Long): Row = Row(
      id,
      key,
      Some(t),
      Some(
        if (isForward) (t, t + tolerance.get) else (tolerance.fold(Long.MinValue)(t - _), t)
      )
    )
    def right(id: Int, key: Int, t: Long): Row = Row(
      id,
      key,
      Some(t),
      Some(
        if (isForward) (t - tolerance.get, t) else (t, tolerance.fold(Long.MaxValue)(t + _))
      )
    )
    def accepts(l: Row, r: Row): Boolean = !refuses || (l.id + r.id) % 3 != 0
    def superseding: Superseding =
      if (refuses) Superseding.Never
      else if (isForward) Superseding.ByFirst
      else Superseding.ByNext

    def best(l: Row, rights: Seq[Row]): Int =
      rights
        .filter(r => mutual(l, r) && accepts(l, r))
        .sortBy(r => (if (isForward) -r.rank.get else r.rank.get, r.id))
        .lastOption
        .fold(-1)(_.id)
  }

  private val forms = for {
    isForward <- IndexedSeq(false, true)
    tolerance <- Seq(None, Some(0), Some(4))
    refuses <- Seq(false, true)
    if tolerance.isDefined || !isForward
  } yield Form(isForward, tolerance, refuses)

  /** The join by its definition: all left rows that wait, and all right rows that were not too many. */
  final private class Limited(form: Form, most: Int) {
    private var lefts = Seq.empty[Row]
    private var rights = Seq.empty[Row]

    def waiting: Set[Int] = lefts.map(_.id).toSet

    def batch(rows: BySide[Seq[Row]], frontiers: BySide[Long]): Seq[(Int, Int)] = {
      val (open, due) = (lefts ++ rows.left).partition { l =>
        frontiers.right != Frontier.Over && l.reach.get._2 >= frontiers.right
      }
      val there = rights ++ rows.right
      val stays = kept(open, lefts.toSet, _.reach.get._2)
      val answered = due ++ open.filterNot(stays)
      lefts = open.filter(stays)
      rights = there.filter(kept(there, rights.toSet, last(there, _)))
      answered.map(l => l.id -> form.best(l, there))
    }

    /** The last left rank that may pick a right row. */
    private def last(rights: Seq[Row], row: Row): Long = {
      val later = rights.filter { r =>
        r.key == row.key && (r.rank.get > row.rank.get || (r.rank == row.rank && r.id > row.id))
      }
      if (form.superseding ne Superseding.ByNext) row.reach.get._2
      else (later.map(_.rank.get - 1) :+ row.reach.get._2).min
    }

    private def kept(rows: Seq[Row], old: Set[Row], end: Row => Long): Set[Row] =
      rows
        .groupBy(_.key)
        .values
        .flatMap { ofKey =>
          ofKey.sortBy(r => (end(r), r.rank.get, !old(r), r.id)).takeRight(most)
        }
        .toSet
  }

  /** The same through the core. */
  final private class Streamed(form: Form, most: Int) {
    private var stored = BySide(new Stored, new Stored)

    def waiting(side: Side): Set[Int] = {
      val found = Set.newBuilder[Int]
      val rows = new StoredRows[Row](new MapChunkStore(stored(side), 3), MarkMeans.Gone, few = 2)
      rows.restore(everything, (row, _, _, _, _, _) => found += row.id)
      found.result()
    }

    def batch(
        rows: BySide[Seq[Row]],
        frontiers: BySide[Long],
        capacity: Int
    ): Seq[(Int, Int)] = {
      stored = stored.map(_.copied)
      val pages = BySide(new ArrayRowStore[Row], new ArrayRowStore[Row])
      val join = new StreamAsOfJoin[Reader, Row](
        BySide.make(_ => new Reader(Rankless.Dead)),
        new KeysOfReaders,
        pages.map(p => p: SortableRowStore[Row]),
        stored.map(s =>
          new StoredRows[Row](new MapChunkStore(s, capacity), MarkMeans.Gone, few = 2)
        ),
        form.superseding,
        byId,
        frontiers,
        Some(evicting(most))
      )
      for (side <- Side.both; row <- rows(side))
        assert(join.add(side, row) eq Arrival.InTime, s"$row is late")
      join.run()
      def listed(side: Side) = {
        val list = join.rows(side)
        Seq.tabulate(list.size)(i => pages(side).get(list(i)))
      }
      val candidates = listed(Side.Right)
      listed(Side.Left).map(l => l.id -> form.best(l, candidates))
    }
  }
}
