// SPDX-License-Identifier: Apache-2.0
// Oracle: as-of joins cut into ranges, against NestedLoopAsOfJoin over the whole tables.
package plait.join

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.Cases
import plait.join.AsOfOracle._
import plait.join.NearestOracle._

class AsOfRangesOracle extends FunSuite {
  import AsOfRangesOracle._
  override val munitTimeout: Duration = Cases.longest
  private val joins = Cases.of(20000, soak = 200000)

  test(
    s"$joins random joins in ranges pick as a whole, and each unpicked row leaves in its range"
  ) {
    val random = new Random(Cases.seed)
    var elsewhere = 0
    for (_ <- 1 to joins) {
      val left = table(random).map(_.copy(key = 0))
      val right = table(random).map(_.copy(key = 0))
      val tolerance = Option.when(random.nextInt(3) == 0)(random.nextInt(4))
      val what = new Question(random.nextBoolean(), tolerance, accepts = false)
      val leaving = if (random.nextBoolean()) Leaving.Aloud else Leaving.Silently
      val cuts = Seq.fill(random.nextInt(4))(random.nextInt(9).toLong).sorted
      val expected = NestedLoopAsOfJoin.picks(left, right)(what.matches, _ => precedence)
      val clue = s"seed ${Cases.seed}, $what, $leaving, cuts $cuts, $left, $right"
      val runs = inRanges(cuts, left, right, leaving) { (l, r) =>
        val run = new Run(what, leaving)
        run.among(l, r)
        (run.picks, run.left)
      }
      val picks = expected.collect { case (l, Some(r)) => (l, r) }
      assertEquals(
        runs.flatMap(_._1).sorted,
        picks.map { case (l, r) => l.id -> r.id }.sorted,
        clue
      )
      assertEquals(runs.flatMap(_._2).sorted, alone(expected, right, leaving), clue)
      elsewhere += picks.count { case (l, r) => rangeOf(cuts, l) != rangeOf(cuts, r) }
    }
    assert(
      elsewhere > joins / 4,
      s"the cases are too poor: $elsewhere picks of another range's rows"
    )
  }

  test(
    s"$joins random joins in ranges pick what is nearest, and each unpicked row leaves in its range"
  ) {
    val random = new Random(Cases.seed)
    var elsewhere = 0
    for (_ <- 1 to joins) {
      val left = table(random).map(_.copy(key = 0))
      val right = table(random).map(_.copy(key = 0))
      val what =
        new Nearest(Option.when(random.nextInt(3) == 0)(random.nextInt(4)), accepts = false)
      val leaving = if (random.nextBoolean()) Leaving.Aloud else Leaving.Silently
      val cuts = Seq.fill(random.nextInt(4))(random.nextInt(9).toLong).sorted
      val expected = NestedLoopAsOfJoin.picks(left, right)(what.matches, what.better)
      val clue = s"seed ${Cases.seed}, $what, $leaving, cuts $cuts, $left, $right"
      val runs = inRanges(cuts, left, right, leaving) { (l, r) =>
        val run = new NearestRun(what, leaving)
        run.among(l, r)
        (run.picks, run.left)
      }
      assertEquals(
        runs.flatMap(_._1).sorted,
        expected.map { case (l, r) => (l.id, r.map(_.id)) }.sorted,
        clue
      )
      assertEquals(runs.flatMap(_._2).sorted, alone(expected, right, leaving), clue)
      elsewhere += expected.count { case (l, r) => r.exists(rangeOf(cuts, _) != rangeOf(cuts, l)) }
    }
    assert(
      elsewhere > joins / 4,
      s"the cases are too poor: $elsewhere picks of another range's rows"
    )
  }
}

object AsOfRangesOracle {
  def rangeOf(cuts: Seq[Long], row: At): Int = cuts.count(_ <= row.rank)

  /** Runs each range with its own rows and what it must know of the others'. */
  def inRanges[A](cuts: Seq[Long], left: Seq[At], right: Seq[At], leaving: Leaving)(
      run: (Neighbourhood, Neighbourhood) => A
  ): Seq[A] = {
    def parts(rows: Seq[At]) = (0 to cuts.size).map(n => rows.filter(rangeOf(cuts, _) == n))
    val (lefts, rights) = (parts(left), parts(right))
    val ofLeft = neighbours(lefts)
    val ofRight = neighbours(rights)
    (0 to cuts.size).map { n =>
      val around =
        if (leaving == Leaving.Silently) Neighbourhood(lefts(n))
        else Neighbourhood(lefts(n), Option(ofLeft.before(n)), Option(ofLeft.after(n)))
      run(around, Neighbourhood(rights(n), Option(ofRight.before(n)), Option(ofRight.after(n))))
    }
  }

  private def neighbours(parts: Seq[Seq[At]]): Neighbours[At] =
    new Neighbours(parts.toIndexedSeq.map { rows =>
      val outermost = new Outermost[At](Ordering.by[At, Long](_.rank), precedence, (_, row) => row)
      rows.foreach(outermost.see)
      (outermost.first, outermost.last)
    })

  def alone(expected: Seq[(At, Option[At])], right: Seq[At], leaving: Leaving): Seq[Int] =
    if (leaving == Leaving.Silently) Nil
    else right.map(_.id).diff(expected.flatMap(_._2.map(_.id)).distinct).sorted
}
