// SPDX-License-Identifier: Apache-2.0
// Laws: where the rows of a home side of stretches lie, and where a row of the other side looks for them.
package plait.spark

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal, UnsafeArrayData}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, LongType}

import plait.Cases
import plait.spark.translate.{EndsOfRanges, Places, RowsChangedException}

class PlacesLaws extends munit.FunSuite {
  override val munitTimeout: scala.concurrent.duration.Duration = Cases.longest

  private type Row = (Long, Long)

  test("the example of the documentation") {
    val home = Seq((1L, 4L), (2L, 13L), (11L, 12L), (25L, 28L), (3L, 99L))
    val stays = ends(Seq(10, 20, 30), home, enough = 1)
    assertEquals(
      stays.toLongArray().toSeq,
      Seq(99L, 12L, 28L, Long.MinValue) ++ Seq(Long.MaxValue, Long.MinValue) ++
        Seq(99L, 99L, 99L, 99L) ++ Seq(10L, 20L, 30L)
    )
    val afar = ends(Seq(10, 20, 30), home, enough = 2)
    assertEquals(
      afar.toLongArray().toSeq,
      Seq(13L, 12L, 28L, Long.MinValue, 3L, 99L, 13L, 13L, 28L, 28L, 10L, 20L, 30L)
    )
    assertEquals(home.map { case (low, high) => Places.of(low, high, afar, 4) }, Seq(0, 0, 2, 4, 1))
    assertEquals(reached((12, 12), afar, 4), Seq(1, 0, 2))
    assertEquals(reached((29, 29), afar, 4), Seq(1))
  }

  test("each low end is at most the other high end  =>  the home row's place is reached") {
    cases { (random, cuts, home, found) =>
      home.forall { case (low, high) =>
        val place = Places.of(low, high, found, cuts.size + 1)
        Seq.fill(5)(row(random)).forall { case (from, to) =>
          !(low <= to && from <= high) || reached((from, to), found, cuts.size + 1).contains(place)
        }
      }
    }
  }

  test("no place is reached twice, and none beyond the range of the high end but afar") {
    cases { (random, cuts, _, found) =>
      val seeking = row(random)
      val places = reached(seeking, found, cuts.size + 1)
      places.distinct.size == places.size &&
      places.forall(place => place == 1 || place / 2 <= cuts.count(_ <= seeking._2))
    }
  }

  test("a range d >= 2 before the low end is reached if `enough` rows there end d/2 on") {
    cases { (random, cuts, home, found) =>
      val seeking = row(random)
      def rangeOf(rank: Long) = cuts.count(_ <= rank)
      reached(seeking, found, cuts.size + 1).filter(_ != 1).map(_ / 2).forall { range =>
        val far = rangeOf(seeking._1) - range
        // Long.MinValue is also until where a range without rows stays.
        far < 2 || seeking._1 == Long.MinValue || enough <= home.count { case (low, high) =>
          rangeOf(low) == range && 2 * (rangeOf(high) - range) > far
        }
      }
    }
  }

  test("a row that the ends were not taken from is an error where it lies outside of them") {
    val found = ends(Seq(10, 20), Seq((1L, 5L), (12L, 40L)), enough = 2)
    assertEquals(Places.of(2, 4, found, 3), 0)
    intercept[RowsChangedException](Places.of(2, 6, found, 3))
    intercept[RowsChangedException](Places.of(21, 22, found, 3))
  }

  private val enough = 3

  private def cases(law: (Random, Seq[Long], Seq[Row], ArrayData) => Boolean): Unit =
    (0 until Cases.of(2000, soak = 200000)).foreach { seed =>
      val random = new Random(seed.toLong)
      val cuts = Seq.fill(random.nextInt(12))(value(random)).sorted
      val home = Seq.fill(random.nextInt(40))(row(random))
      assert(law(random, cuts, home, ends(cuts, home, enough)), clue = s"seed $seed")
    }

  private def value(random: Random): Long = random.nextInt(20) match {
    case 0 => Long.MinValue
    case 1 => Long.MaxValue
    case _ => random.nextInt(60).toLong
  }

  /** Often short, and sometimes ending before it begins. */
  private def row(random: Random): Row = {
    val low = value(random)
    if (random.nextInt(3) == 0 || low == Long.MaxValue) (low, value(random))
    else (low, low + random.nextInt(9) - 1 max low - 1)
  }

  private def reached(row: Row, ends: ArrayData, ranges: Int): Seq[Int] =
    Places.reached(row._1, row._2, ends, ranges).toIntArray().toSeq

  /** As Spark finds it: in parts, whose results go from task to task as bytes. */
  private def ends(cuts: Seq[Long], rows: Seq[Row], enough: Long): ArrayData = {
    val array = UnsafeArrayData.fromPrimitiveArray(cuts.toArray)
    val aggregate = EndsOfRanges(
      BoundReference(0, LongType, nullable = true),
      BoundReference(1, LongType, nullable = true),
      Literal(array, ArrayType(LongType, containsNull = false)),
      cuts.size + 1,
      enough
    )
    // A row without an end is of no part.
    val all = rows.map { case (low, high) => InternalRow(low, high) } :+ InternalRow(1L, null)
    val parts = all.grouped(7).map { part =>
      aggregate.serialize(part.foldLeft(aggregate.createAggregationBuffer())(aggregate.update))
    }
    val whole = parts.map(aggregate.deserialize).reduce(aggregate.merge)
    // Of no rows the cuts are not known, nor asked for.
    val found = aggregate.eval(whole).asInstanceOf[ArrayData]
    if (rows.nonEmpty) found
    else UnsafeArrayData.fromPrimitiveArray(found.toLongArray() ++ cuts)
  }
}
