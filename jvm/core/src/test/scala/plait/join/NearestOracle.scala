// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopAsOfJoin over random rows with ties, conditions and tolerances; and an example.
package plait.join

import scala.util.Random

import munit.FunSuite

import plait.Cases
import plait.join.AsOfOracle.{At, precedence, table}
import plait.join.Harness._

class NearestOracle extends FunSuite {
  import NearestOracle._
  private val joins = 50000 * Cases.factor

  test(
    s"$joins random joins pick what is nearest, of two as near the earlier, of equal ones the last"
  ) {
    val random = new Random(Cases.seed)
    var picked = 0
    for (_ <- 1 to joins) {
      val left = table(random)
      val right = table(random)
      val what =
        new Nearest(Option.when(random.nextInt(3) == 0)(random.nextInt(4)), random.nextBoolean())
      val leaving = if (random.nextBoolean()) Leaving.Aloud else Leaving.Silently
      val expected = NestedLoopAsOfJoin.picks(left, right)(what.matches, what.better)
      val chosen = expected.flatMap(_._2.map(_.id)).toSet
      val clue = s"seed ${Cases.seed}, $what, $leaving, $left, $right"
      val run = new NearestRun(what, leaving)
      run(left, right)
      assertEquals(
        run.picks.sorted,
        expected.map { case (l, r) => (l.id, r.map(_.id)) }.sorted,
        clue
      )
      val alone = if (leaving == Leaving.Aloud) right.map(_.id).filterNot(chosen) else Nil
      assertEquals(run.left.sorted, alone.sorted, clue)
      assertEquals(run.lefts.live.size, 0, clue)
      if (leaving == Leaving.Aloud) assertEquals(run.rights.live.size, 0, clue)
      picked += run.picks.count(_._2.isDefined)
    }
    assert(picked > joins, s"the cases are too poor: $picked picks in $joins joins")
  }

  test("left rows wait for the next right row of their key and no longer") {
    val run = new NearestRun(new Nearest(None, false), Leaving.Silently)
    val rows = Seq.tabulate(1000)(i => At(i, 0, i.toLong, 0))
    run(rows, rows)
    assert(run.core.peak < 6, s"${run.core.peak} rows were held")
  }
}

object NearestOracle {

  /** @param accepts whether a pair must also be of different values */
  final class Nearest(tolerance: Option[Int], accepts: Boolean) extends Pairing[At, At, Long] {
    override def isWithin(l: At, r: At): Boolean = tolerance.forall(distance(l, r) <= _)
    override def accepts(l: At, r: At): Boolean = !accepts || l.value != r.value
    override def distance(l: At, r: At): Long = math.abs(l.rank - r.rank)
    override def compare(a: Long, b: Long): Int = java.lang.Long.compare(a, b)
    override def isZero(distance: Long): Boolean = distance == 0
    def matches(l: At, r: At): Boolean = l.key == r.key && isWithin(l, r) && accepts(l, r)
    def better(l: At): Ordering[At] =
      Ordering.by(r => (-distance(l, r), -r.rank, r.value, r.id))
    def keeping: Keeping = if (accepts) Keeping.All else Keeping.Best
    override def toString: String = s"nearest, tolerance $tolerance, condition $accepts"
  }

  final class NearestRun(what: Nearest, leaving: Leaving) {
    val lefts = new ArrayRowStore[At]
    val rights = new ArrayRowStore[At]
    val core = new NearestCore[Int, At, At, Long](
      new MapKeyTable,
      lefts,
      rights,
      precedence,
      what,
      what.keeping,
      leaving
    )
    var picks: Seq[(Int, Option[Int])] = Nil
    var left: Seq[Int] = Nil

    def apply(leftRows: Seq[At], rightRows: Seq[At]): Unit = {
      val waiting = rightRows.sortBy(_.rank).iterator.buffered
      for (l <- leftRows.sortBy(_.rank)) {
        while (waiting.hasNext && waiting.head.rank <= l.rank) offer(waiting.next())
        core.await(l.key, l)
        take()
      }
      waiting.foreach(offer)
      core.finish()
      take()
    }

    private def offer(r: At): Unit = {
      core.offer(r.key, r.rank, r)
      take()
    }

    private def take(): Unit = {
      while (core.nextResolved()) picks :+= core.left.id -> Option(core.picked).map(_.id)
      left ++= Iterator.continually(core.nextLeaving()).takeWhile(_ != null).map(_.id)
    }
  }
}
