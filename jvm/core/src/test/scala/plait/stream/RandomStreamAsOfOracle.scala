// SPDX-License-Identifier: Apache-2.0
// Oracle: of each left row the best right row of all that ever came, looked for one by one.
package plait.stream

import java.util.Comparator

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.join.Rankless
import plait.stream.StreamHarness._
import plait.{BySide, Cases, Side}

class RandomStreamAsOfOracle extends FunSuite {
  import RandomStreamAsOfOracle._

  override val munitTimeout: Duration = Cases.longest

  private val scripts = Cases.of(50000, soak = 500000)

  private def form(random: Random) = {
    val isForward = random.nextInt(3) == 0
    Form(
      isForward,
      random.nextInt(2),
      Option.when(isForward || random.nextBoolean())(random.nextInt(6)),
      random.nextInt(4) == 0
    )
  }

  private def stream(random: Random, slack: Int)(make: (Int, Int, Long) => Row): Seq[Row] = {
    var top = random.nextInt(10).toLong
    Seq.tabulate(random.nextInt(25)) { id =>
      if (random.nextInt(3) == 0) top += random.nextInt(5)
      make(id, random.nextInt(4), top - random.nextInt(slack + 1))
    }
  }

  /** The rows of one batch through the core: each left row that is answered, and what it picks. */
  final private class Run(form: Form, var stored: BySide[Stored]) {
    var holds: BySide[Long] = BySide(0L, 0L)

    def batch(
        rows: BySide[Seq[Row]],
        frontiers: BySide[Long],
        capacity: Int
    ): Seq[(Int, Option[Int])] = {
      stored = stored.map(_.copied)
      val pages = BySide(new ArrayRowStore[Row], new ArrayRowStore[Row])
      val opened = stored.map { s =>
        new StoredRows[Row](new MapChunkStore(s, capacity), MarkMeans.Gone, few = 2)
      }
      val byId: Comparator[Row] = (a, b) => Integer.compare(a.id, b.id)
      val join = new StreamAsOfJoin[Reader, Row](
        BySide.make(_ => new Reader(Rankless.Dead)),
        new KeysOfReaders,
        pages.map(p => p: plait.join.SortableRowStore[Row]),
        opened,
        form.superseding,
        byId,
        frontiers
      )
      for (side <- Side.both; row <- rows(side))
        assert(join.add(side, row) eq Arrival.InTime, s"$row is late")
      join.run()
      def answered(side: Side) = {
        val list = join.rows(side)
        Seq.tabulate(list.size)(i => pages(side).get(list(i)))
      }
      holds = BySide.make(join.waiting)
      val candidates = answered(Side.Right)
      assertEquals(candidates.map(_.rank.get), candidates.map(_.rank.get).sorted)
      answered(Side.Left).map(l => l.id -> form.best(l, candidates))
    }
  }

  test("each left row is answered once, with the row that it picks of all that ever come") {
    for (seed <- 0 until scripts) {
      val random = new Random(seed)
      val how = form(random)
      val slack = BySide.make(_ => random.nextInt(6))
      val rows = BySide(
        stream(random, slack.left)(how.left),
        stream(random, slack.right)(how.right)
      )
      val run = new Run(how, BySide(new Stored, new Stored))
      val out = Seq.newBuilder[(Int, Option[Int])]
      var seen = BySide(0, 0)
      val isKnownToEnd = BySide.make(_ => random.nextInt(3) == 0)
      var last = BySide(Frontier.Unknown, Frontier.Unknown)
      // How far the right frontier ever was.
      var passed = Frontier.Unknown
      // Invariant: `out` has the answers of the left rows that were final at the frontiers so far.
      while (Side.both.exists(s => seen(s) < rows(s).size)) {
        val idle = Option.when(random.nextInt(3) == 0)(Side.both(random.nextInt(2)))
        val taken = BySide.make { side =>
          if (idle.contains(side)) Nil
          else rows(side).slice(seen(side), seen(side) + random.nextInt(9))
        }
        seen = BySide.make(side => seen(side) + taken(side).size)
        val next = BySide.make { side =>
          if (isKnownToEnd(side) && seen(side) == rows(side).size) Frontier.Over
          else
            rows(side)
              .take(seen(side))
              .flatMap(_.rank)
              .maxOption
              .fold(Frontier.Unknown)(_ - slack(side))
        }
        last = next
        // What a restart knows no more was promised all the same.
        val said = if (random.nextInt(8) == 0) BySide.make(_ => Frontier.Unknown) else next
        out ++= run.batch(taken.map(random.shuffle(_)), said, 1 + random.nextInt(5))
        passed = math.max(passed, said.right)
        val here = BySide.make(side => rows(side).take(seen(side)))
        val waiting = here.left.count(l => how.waits(l, here.right, passed))
        assertEquals(run.holds.left, waiting.toLong, s"seed $seed, $how")
      }
      val far = last.map(f => math.max(f, Frontier.at(Long.MaxValue)))
      out ++= run.batch(BySide(Nil, Nil), far, 3)
      val expected = rows.left.map(l => l.id -> how.best(l, rows.right))
      assertEquals(out.result().sortBy(_._1), expected, s"seed $seed, $how")
      val latest =
        if (how.tolerance.isDefined || last.left == Frontier.Over) 0
        else rows.right.map(_.key).distinct.size
      if (!how.refuses) assertEquals(run.holds, BySide(0L, latest.toLong), s"seed $seed, $how")
      out ++= run.batch(BySide(Nil, Nil), BySide(Frontier.Over, Frontier.Over), 3)
      assertEquals(run.holds, BySide(0L, 0L), s"seed $seed, $how")
    }
  }
}

object RandomStreamAsOfOracle {

  /** `l.ts >= r.ts`, or `l.ts <= r.ts` within a tolerance; perhaps strict, perhaps if a pair is accepted. */
  final private case class Form(
      isForward: Boolean,
      strict: Int,
      tolerance: Option[Int],
      refuses: Boolean
  ) {
    def left(id: Int, key: Int, t: Long): Row = Row(
      id,
      key,
      Some(t),
      reach(
        if (isForward) (t + strict, t + tolerance.get)
        else (tolerance.fold(Long.MinValue)(t - _), t - strict)
      )
    )
    def right(id: Int, key: Int, t: Long): Row = Row(
      id,
      key,
      Some(t),
      reach(
        if (isForward) (t - tolerance.get, t - strict)
        else (t + strict, tolerance.fold(Long.MaxValue)(t + _))
      )
    )
    private def reach(ends: (Long, Long)) = Option.when(ends._1 <= ends._2)(ends)

    def accepts(l: Row, r: Row): Boolean = !refuses || (l.id + r.id) % 3 != 0
    def superseding: Superseding =
      if (refuses) Superseding.Never
      else if (isForward) Superseding.ByFirst
      else Superseding.ByNext

    def best(l: Row, rights: Seq[Row]): Option[Int] =
      rights
        .filter(r => mutual(l, r) && accepts(l, r))
        .sortBy(r => (if (isForward) -r.rank.get else r.rank.get, r.id))
        .lastOption
        .map(_.id)

    /** May a right row still come that the left one picks?
      * @param frontier
      *   of the right rows to come
      */
    def waits(l: Row, rights: Seq[Row], frontier: Long): Boolean = l.reach.exists {
      case (_, high) =>
        val met = rights.filter(mutual(l, _)).flatMap(_.rank)
        val last = if (isForward && !refuses) (met :+ high).min else high
        frontier != Frontier.Over && last >= frontier
    }
  }
}
