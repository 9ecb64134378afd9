// SPDX-License-Identifier: Apache-2.0
// Examples, and a law of what a reach holds.
package plait.join

import scala.util.Random

import munit.FunSuite

import plait.Cases

class ClusteredRowsSuite extends FunSuite {
  private def clusters(size: Int): ClusteredRows = {
    val made = new ClusteredRows
    made.clear(size)
    made
  }

  /** The places of a reach, of all. */
  private def reached(rows: ClusteredRows, count: Int, low: Long, high: Long): Seq[Int] = {
    val into = new Array[Int](count)
    into.take(rows.reached(0, count, low, high, into)).toSeq
  }

  test("ranks 8, 2, 5 | 1, 1: of the first [5, 9] holds the places 0 and 2") {
    val rows = clusters(10)
    rows.open(7)
    assertEquals(
      Seq(7 -> 8L, 9 -> 2L, 2 -> 5L).map { case (r, rank) => rows.add(7, r, rank) },
      Seq(0, 1, 2)
    )
    rows.open(4)
    assertEquals(Seq(4, 5).map(rows.add(4, _, 1)), Seq(3, 4))
    assertEquals((rows.begin(7), rows.end(7), rows.begin(4), rows.end(4)), (0, 3, 3, 5))
    assertEquals(reached(rows, 3, 5, 9), Seq(0, 2))
    assertEquals((0 until 5).map(rows.row), IndexedSeq(7, 9, 2, 4, 5))
  }

  test(
    "a cluster is due once, at the fourth time that it is asked for, and anew in the next bucket"
  ) {
    val rows = clusters(3)
    for (_ <- 1 to 2) {
      assertEquals(Seq.fill(6)(rows.ask(2)), Seq(false, false, false, true, false, false))
      assert(!rows.has(2))
      rows.open(2)
      val _ = rows.add(2, 1, 5)
      assert(rows.has(2))
      assert(!rows.has(1))
      rows.clear(3)
      assert(!rows.has(2))
      rows.open(0)
      val _ = rows.add(0, 0, 5)
    }
  }

  test(s"there are ${ClusteredRows.Places} places") {
    val rows = clusters(1)
    rows.open(0)
    assert(rows.takes(ClusteredRows.Places))
    assert(!rows.takes(ClusteredRows.Places + 1))
    assert(rows.takes(8) && !rows.takes(7), "a few are not worth it")
    for (row <- 0 until ClusteredRows.Places) assertEquals(rows.add(0, row, row.toLong), row)
    assert(!rows.takes(8))
    assertEquals(reached(rows, ClusteredRows.Places, 100, 102), Seq(100, 101, 102))
  }

  test("places reached = those with low <= rank <= high, to the ends of what a long holds") {
    val random = new Random(Cases.seed)
    val ends = Seq(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue)
    def any() = if (random.nextBoolean()) ends(random.nextInt(ends.size)) else random.nextLong()
    for (_ <- 1 to 2000) {
      val ranks = Seq.fill(random.nextInt(20))(any())
      val rows = clusters(20)
      rows.open(0)
      ranks.zipWithIndex.foreach { case (rank, row) => rows.add(0, row, rank) }
      val (low, high) = (any(), any())
      assertEquals(
        reached(rows, ranks.size, low, high),
        ranks.indices.filter(place => low <= ranks(place) && ranks(place) <= high),
        s"seed ${Cases.seed}, [$low, $high] of $ranks"
      )
    }
  }
}
