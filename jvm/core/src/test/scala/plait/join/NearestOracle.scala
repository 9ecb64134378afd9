// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopAsOfJoin over random rows with ties, conditions and tolerances; and an example.
package plait.join

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.Cases
import plait.join.AsOfOracle.{At, Neighbourhood, precedence, table}
import plait.join.Harness._

class NearestOracle extends FunSuite {
  import NearestOracle._
  override val munitTimeout: Duration = Cases.longest
  private val joins = Cases.of(50000, soak = 1000000)

  test(
    s"$joins random joins pick what is nearest, of two as near the earlier, of equal ones the last"
  ) {
    val random = new Random(Cases.seed)
    var picked = 0
    for (_ <- 1 to joins) {
      val left = table(random)
      val right = table(random)
      val tolerance = Option.when(random.nextInt(3) == 0)(random.nextInt(4))
      val what =
        if (random.nextInt(3) == 0) new Apart(tolerance)
        else new Nearest(tolerance, random.nextBoolean())
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

  test("with a tolerance what twice of it spans is held, of keys that one side alone has too") {
    for (accepts <- Seq(false, true)) {
      val run = new NearestRun(new Nearest(Some(2), accepts), Leaving.Silently)
      run(
        Seq.tabulate(1000)(i => At(i, i % 2 * (i + 100), i.toLong, 0)),
        Seq.tabulate(1000)(i => At(i, if (accepts) i % 2 * -i else 0, i.toLong, 1))
      )
      assert(run.core.peak < 20, s"${run.core.peak} rows were held")
    }
  }

  test("200,000 rows of one match value on each side cost n log n comparisons and n questions") {
    val rows = 200000
    for (accepts <- Seq(false, true); isBefore <- Seq(false, true)) {
      var compared = 0L
      val counting = new Ordering[At] {
        override def compare(a: At, b: At): Int = { compared += 1; precedence.compare(a, b) }
      }
      val what = new Nearest(None, accepts)
      val run = new NearestRun(what, Leaving.Silently, counting)
      val right = new Random(Cases.seed).shuffle(Seq.tabulate(rows)(i => At(i, 0, 7L, 1)))
      run(Seq.tabulate(rows)(i => At(i, 0, if (isBefore) 9L else 5L, 0)), right)
      assertEquals(run.picks.map(_._2).distinct, Seq(Some(rows - 1)))
      assert(compared < rows * 20L, s"$compared comparisons")
      assert(what.asked <= rows * 2L, s"${what.asked} questions")
    }
  }

  test("what refuses equal match values is not asked about them") {
    val what = new Apart(None)
    val run = new NearestRun(what, Leaving.Silently)
    val rows = Seq.tabulate(3000)(i => At(i, 0, (i / 1000).toLong, 0))
    run(rows, rows)
    assertEquals(run.picks.flatMap(_._2).distinct.sorted, Seq(999, 1999))
    assert(what.asked < 3000L * 3, s"${what.asked} questions")
  }

  test("a condition that refuses all is asked once of each pair") {
    val what = new Nearest(None, true)
    val run = new NearestRun(what, Leaving.Silently)
    val rows = Seq.tabulate(300)(i => At(i, 0, (i / 10).toLong, 0))
    run(rows, rows)
    assertEquals(run.picks.flatMap(_._2), Nil)
    assertEquals(what.asked, 300L * 300)
  }
}

object NearestOracle {

  /** @param accepts whether a pair must also be of different values */
  class Nearest(tolerance: Option[Int], accepts: Boolean) extends Pairing[At, At, Long] {
    var asked = 0L
    override def isWithin(l: At, r: At): Boolean = tolerance.forall(distance(l, r) <= _)
    override def accepts(l: At, r: At): Boolean = {
      asked += 1
      !accepts || l.value != r.value
    }
    override def refusesEqual: Boolean = false
    override def distance(l: At, r: At): Long = math.abs(l.rank - r.rank)
    override def isNearer(a: Long, b: Long): Boolean = a < b
    override def isZero(distance: Long): Boolean = distance == 0
    def matches(l: At, r: At): Boolean = l.key == r.key && isWithin(l, r) && accepts(l, r)
    def better(l: At): Ordering[At] =
      Ordering.by(r => (-distance(l, r), -r.rank, r.value, r.id))
    def keeping: Keeping = AsOfOracle.keeping(accepts, tolerance)
    override def toString: String = s"nearest, tolerance $tolerance, condition $accepts"
  }

  final class Apart(tolerance: Option[Int]) extends Nearest(tolerance, true) {
    override def accepts(l: At, r: At): Boolean = {
      asked += 1
      l.rank != r.rank
    }
    override def refusesEqual: Boolean = true
    override def toString: String = s"apart, tolerance $tolerance"
  }

  final class NearestRun(what: Nearest, leaving: Leaving, precedence: Ordering[At] = precedence) {
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

    def apply(leftRows: Seq[At], rightRows: Seq[At]): Unit =
      among(Neighbourhood(leftRows), Neighbourhood(rightRows))

    /** Rows, and those of others around them. */
    def among(leftRows: Neighbourhood, rightRows: Neighbourhood): Unit = {
      val waiting = rightRows.inOrder.iterator.buffered
      for ((l, home) <- leftRows.inOrder) {
        while (waiting.hasNext && waiting.head._1.rank <= l.rank) offer(waiting.next())
        core.await(l.key, l, home)
        take()
      }
      waiting.foreach(offer)
      core.finish()
      take()
    }

    private def offer(r: (At, Home)): Unit = {
      core.offer(r._1.key, r._1.rank, r._1, r._2)
      take()
    }

    private def take(): Unit = {
      while (core.nextResolved()) {
        val pick = core.left.id -> Option(core.picked).map(_.id)
        if (core.home eq Home.Here) picks = pick +: picks
      }
      left ++= Iterator.continually(core.nextLeaving()).takeWhile(_ != null).map(_.id)
    }
  }
}
