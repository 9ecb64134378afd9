// SPDX-License-Identifier: Apache-2.0
// Examples and laws; the oracle is the definition, a filter over all rows.
package plait.join

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import plait.LawSuite

class IntervalIndexLaws extends LawSuite {
  private case class Row(key: Int, low: Long, high: Long)

  private def asked(keys: Int, rows: Seq[Row]): Asked = new Asked(
    IntervalIndex.of(
      keys,
      rows.map(_.key).toArray,
      rows.map(_.low).toArray,
      rows.map(_.high).toArray
    )
  )

  /** Asks one question after the other; the answers are rows by their numbers. */
  private class Asked(index: IntervalIndex) {
    private val cursor = index.cursor()

    def meeting(key: Int, low: Long, high: Long): Seq[Int] = {
      cursor.ask(key, low, high)
      Iterator.continually(cursor.next()).takeWhile(_ >= 0).map(index.rowAt).toSeq
    }
  }

  private val rank: Gen[Long] =
    Gen.frequency(20 -> Gen.choose(0L, 60L), 1 -> Gen.oneOf(Long.MinValue, Long.MaxValue))

  private def row(length: Gen[Long]): Gen[Row] = for {
    key <- Gen.choose(0, 2)
    low <- rank
    high <- Gen.frequency(8 -> length.map(low + _).map(h => if (h < low) low else h), 1 -> rank)
  } yield Row(key, low, high)

  private val rows: Gen[Seq[Row]] = for {
    count <- Gen.frequency(3 -> Gen.choose(0, 20), 1 -> Gen.choose(200, 600))
    length <- Gen.oneOf[Gen[Long]](Gen.const(0L), Gen.const(3L), Gen.choose(0L, 40L))
    rows <- Gen.listOfN(count, row(length))
  } yield rows

  test("of [1, 9], [4, 5] and [6, 6] the first and the last meet [6, 8]") {
    val found = asked(1, Seq(Row(0, 1, 9), Row(0, 4, 5), Row(0, 6, 6)))
    assertEquals(found.meeting(0, 6, 8), Seq(0, 2))
  }

  test("one long interval before 5,000 short ones is found behind them") {
    val short = (1 to 5000).map(i => Row(0, i.toLong, i.toLong))
    val found = asked(1, Row(0, 0, 4000) +: short)
    assertEquals(found.meeting(0, 4000, 4001), Seq(0, 4000, 4001))
  }

  test("questions near the last one, and far from it, up and down, find the same") {
    val lows = (0 until 5000).map(i => i / 3 * 2L)
    val placesOf = lows.indices.groupBy(lows(_))
    val found = asked(1, lows.map(low => Row(0, low, low)))
    val random = new scala.util.Random(1)
    var near = 0L
    for (_ <- 1 to 20000) {
      near =
        if (random.nextInt(4) == 0) random.nextInt(3500) - 50L else near + random.nextInt(9) - 4
      val expected = placesOf.getOrElse(near, Nil)
      assertEquals(found.meeting(0, near, near), expected)
    }
  }

  test("no rows, no answer") {
    assertEquals(asked(1, Nil).meeting(0, 0, 9), Nil)
  }

  property(
    "meeting(k, low, high) = { row : key = k, low(row) <= high, low <= high(row) }, by low end"
  ) {
    forAll(rows, Gen.listOfN(5, Gen.zip(Gen.choose(0, 2), rank, rank))) { (rows, questions) =>
      val index = asked(3, rows)
      questions.foreach { case (key, low, high) =>
        val expected = rows.zipWithIndex
          .filter { case (r, _) => r.key == key && r.low <= high && low <= r.high }
          .map(_._2)
        val found = index.meeting(key, low, high)
        assertEquals(found.sorted, expected)
        assertEquals(found.map(rows(_).low), found.map(rows(_).low).sorted)
      }
    }
  }
}
