// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopAsOfJoin over random rows with ties, conditions and tolerances; and examples.
package plait.join

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.Cases
import plait.join.Harness._

class AsOfOracle extends FunSuite {
  import AsOfOracle._
  override val munitTimeout: Duration = Cases.longest
  private val joins = Cases.of(100000, soak = 1000000)

  test(s"$joins random as-of joins pick what the definition picks, and the unpicked leave once") {
    val random = new Random(Cases.seed)
    var picked = 0
    for (_ <- 1 to joins) {
      val left = table(random)
      val right = table(random)
      val what = new Question(
        random.nextBoolean(),
        Option.when(random.nextInt(3) == 0)(random.nextInt(4)),
        random.nextBoolean()
      )
      val leaving = if (random.nextBoolean()) Leaving.Aloud else Leaving.Silently
      val expected = NestedLoopAsOfJoin.picks(left, right)(what.matches, _ => precedence)
      val chosen = expected.flatMap(_._2.map(_.id)).toSet
      val clue = s"seed ${Cases.seed}, $what, $leaving, $left, $right"
      val run = new Run(what, leaving)
      run(left, right)
      assertEquals(
        run.picks.sorted,
        expected.collect { case (l, Some(r)) => (l.id, r.id) }.sorted,
        clue
      )
      val alone = if (leaving == Leaving.Aloud) right.map(_.id).filterNot(chosen) else Nil
      assertEquals(run.left.sorted, alone.sorted, clue)
      if (leaving == Leaving.Aloud) assertEquals(run.store.live.size, 0, clue)
      picked += run.picks.size
    }
    assert(picked > joins, s"the cases are too poor: $picked picks in $joins joins")
  }

  test("without a condition across the sides one row of a key is kept") {
    val run = new Run(new Question(true, None, false), Leaving.Silently)
    run(Seq(At(1, 0, 50, 0)), Seq.tabulate(100)(i => At(i, i % 2, i.toLong, 0)))
    assertEquals(run.core.peak, 2L)
    assertEquals(run.picks, Seq(1 -> 50))
  }

  test("what no later row reaches is not kept") {
    val run = new Run(new Question(true, Some(2), true), Leaving.Silently)
    val rows = Seq.tabulate(100)(i => At(i, 0, i.toLong, 1))
    run(rows, rows)
    assert(run.core.size < 5, s"${run.core.size} rows are held at the end")
  }

  test(
    "with a tolerance and a condition the rows that it spans are held, those of silent keys too"
  ) {
    val run = new Run(new Question(true, Some(2), true), Leaving.Silently)
    val left = Seq.tabulate(1000)(i => At(i, 0, i.toLong, 1))
    run(left, Seq.tabulate(1000)(i => At(i, i % 100, i.toLong, 1)))
    assert(run.core.peak < 5, s"${run.core.peak} rows were held")
  }

  test("200,000 rows of one match value cost n log n comparisons") {
    val rows = 200000
    var compared = 0L
    val counting = new Ordering[At] {
      override def compare(a: At, b: At): Int = { compared += 1; precedence.compare(a, b) }
    }
    val run = new Run(new Question(true, None, true), Leaving.Silently, counting)
    val random = new Random(Cases.seed)
    run(
      Seq.tabulate(1000)(i => At(i, 0, 7L, 0)),
      random.shuffle(Seq.tabulate(rows)(i => At(i, 0, 7L, 1)))
    )
    assertEquals(run.picks.map(_._2).distinct, Seq(rows - 1))
    assert(compared < rows * 20L, s"$compared comparisons")
  }
}

object AsOfOracle {

  /** Rows in the sequence of a scan: one of a range before, those of this one, one of a range after. */
  final case class Neighbourhood(
      own: Seq[At],
      before: Option[At] = None,
      after: Option[At] = None
  ) {
    def inOrder: Seq[(At, Home)] =
      before.map(_ -> Home.Elsewhere).toSeq ++ own.sortBy(_.rank).map(_ -> Home.Here) ++
        after.map(_ -> Home.Elsewhere)
  }

  /** @param value decides ties, and whether a pair satisfies the condition */
  final case class At(id: Int, key: Int, rank: Long, value: Int)

  val precedence: Ordering[At] = Ordering.by(r => (r.rank, r.value, r.id))

  def table(random: Random): Seq[At] = Seq.tabulate(random.nextInt(14)) { id =>
    At(id, random.nextInt(2), random.nextInt(8).toLong, random.nextInt(3))
  }

  /** @param accepts whether a pair must also be of different values */
  final class Question(seesEqual: Boolean, tolerance: Option[Int], accepts: Boolean) {
    def isSeen(l: At, r: At): Boolean = if (seesEqual) r.rank <= l.rank else r.rank < l.rank
    def isWithin(l: At, r: At): Boolean = tolerance.forall(l.rank - r.rank <= _)
    def isAccepted(l: At, r: At): Boolean = !accepts || l.value != r.value
    def matches(l: At, r: At): Boolean =
      l.key == r.key && isSeen(l, r) && isWithin(l, r) && isAccepted(l, r)
    def keeping: Keeping = AsOfOracle.keeping(accepts, tolerance)
    override def toString: String = s"equal $seesEqual, tolerance $tolerance, condition $accepts"
  }

  def keeping(accepts: Boolean, tolerance: Option[Int]): Keeping =
    if (accepts) { if (tolerance.isEmpty) Keeping.All else Keeping.AllInReach }
    else if (tolerance.isEmpty) Keeping.Best
    else Keeping.BestInReach

  /** Drives the core as an operator does. */
  final class Run(what: Question, leaving: Leaving, precedence: Ordering[At] = precedence) {
    val store = new ArrayRowStore[At]
    val core = new AsOfCore[Int, At](new MapKeyTable, store, precedence, what.keeping, leaving)
    var picks: Seq[(Int, Int)] = Nil
    var left: Seq[Int] = Nil

    def apply(leftRows: Seq[At], rightRows: Seq[At]): Unit =
      among(Neighbourhood(leftRows), Neighbourhood(rightRows))

    /** Rows, and those of others around them. */
    def among(leftRows: Neighbourhood, rightRows: Neighbourhood): Unit = {
      val waiting = rightRows.inOrder.iterator.buffered
      for ((l, home) <- leftRows.inOrder) {
        while (waiting.hasNext && what.isSeen(l, waiting.head._1)) offer(waiting.next())
        if (core.expires) expire(l)
        pick(l, home)
      }
      waiting.foreach(offer)
      core.finish()
      takeLeaving()
    }

    private def offer(r: (At, Home)): Unit = {
      core.offer(r._1.key, r._1.rank, r._1, r._2)
      takeLeaving()
    }

    private def expire(l: At): Unit = {
      while (core.oldest() != null && !what.isWithin(l, core.oldest())) core.dropOldest()
      takeLeaving()
    }

    private def pick(l: At, home: Home): Unit = {
      core.seek(l.key)
      val found = Iterator
        .continually(core.candidate())
        .takeWhile(_ != null)
        .find(r => !what.isWithin(l, r) || what.isAccepted(l, r))
      found.foreach { r =>
        if (what.isWithin(l, r)) {
          if (home eq Home.Here) picks = (l.id -> r.id) +: picks
          core.pick()
        } else core.outOfReach()
      }
      takeLeaving()
    }

    private def takeLeaving(): Unit =
      left ++= Iterator.continually(core.nextLeaving()).takeWhile(_ != null).map(_.id)
  }
}
