// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopJoin over random reaches, where rows without an order value match or do not.
package plait.join

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.{BySide, Cases, Side}

class RanklessOracle extends FunSuite {
  override val munitTimeout: Duration = Cases.longest

  private val joins = Cases.of(20000, soak = 200000)

  /** The least rank of all is a value too, and no row's alone. */
  private def rank(random: Random): Long =
    if (random.nextInt(20) == 0) Long.MinValue else random.nextInt(12).toLong

  private def reach(random: Random): (Long, Long) = {
    val low = if (random.nextInt(10) == 0) Long.MinValue else random.nextInt(14) - 1L
    val high = if (random.nextInt(10) == 0) Long.MaxValue else low + random.nextInt(12) - 2
    (low, high)
  }

  /** Rows without a rank first, as a driver gives them. */
  private def table(random: Random): Seq[Row] =
    Seq
      .tabulate(random.nextInt(12)) { id =>
        Row(
          id,
          random.nextInt(2),
          Option.when(random.nextInt(4) > 0)(rank(random)),
          Option.when(random.nextInt(8) > 0)(reach(random))
        )
      }
      .sortBy(_.rank)

  /** Is `other` in the reach of `row`? */
  private def reaches(row: Row, other: Row, rankless: Rankless): Boolean =
    (row.reach, other.rank) match {
      case (None, _) => false
      case (_, None) => rankless == Rankless.Matching
      case (Some((low, high)), Some(rank)) => low <= rank && rank <= high
    }

  private def pick(random: Random): Rankless =
    if (random.nextBoolean()) Rankless.Matching else Rankless.Dead

  test(s"$joins joins with rows without a rank give the rows of the nested loop") {
    val random = new Random(Cases.seed)
    var pairs = 0L
    for (_ <- 1 to joins) {
      val tables = BySide.make(_ => table(random))
      val rankless = BySide.make(_ => pick(random))
      val roles = joinTypes(random.nextInt(joinTypes.size))
      def matches(l: Row, r: Row) =
        l.key == r.key && reaches(l, r, rankless.right) && reaches(r, l, rankless.left)
      val join = new Join(roles, rankless)
      def coin(join: Join): Side =
        if (random.nextBoolean()) join.core.wants
        else if (random.nextBoolean()) Side.Left
        else Side.Right
      val found = join.outputs(tables, coin)(matches)
      val expected = defined[Row](roles, tables, _.id)(matches)
      pairs += expected.count(_.isInstanceOf[Matched])
      val clue = s"seed ${Cases.seed}, $roles, $rankless, $tables"
      assertEquals(sorted(found), sorted(expected), clue)
      for (side <- Side.both) assertEquals(join.holds(side), Set.empty[Row], clue)
      assertEquals(join.keys.size, 0, clue)
    }
    assert(pairs > joins / 2, s"the cases are too poor: $pairs matches in $joins joins")
  }
}
