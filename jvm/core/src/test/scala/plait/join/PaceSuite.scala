// SPDX-License-Identifier: Apache-2.0
// Examples: what is read up to the first pair, and how much is held.
package plait.join

import munit.FunSuite

import plait.join.Harness._
import plait.{BySide, Side}

class PaceSuite extends FunSuite {
  private val n = 10000

  private def rows(count: Int)(reach: Long => (Long, Long)): Seq[Row] =
    (1 to count).map(s => Row(s, 0, Some(s.toLong), Some(reach(s.toLong))))

  /** Reads until the first pair; gives it and the rows read a side. */
  private def first(inputs: BySide[Seq[Row]]): ((Int, Int), Int, Int) = {
    val j = new Join
    val iterators = inputs.map(_.iterator)
    val read = scala.collection.mutable.Map[Side, Int](Side.Left -> 0, Side.Right -> 0)
    var pairs = Seq.empty[(Row, Row)]
    while (pairs.isEmpty) {
      val side = j.core.wants
      read(side) += 1
      pairs = j.add(side, iterators(side).next())
    }
    ((pairs.head._1.id, pairs.head._2.id), read(Side.Left), read(Side.Right))
  }

  private def peak(inputs: BySide[Seq[Row]]): Long = {
    val j = new Join
    j.run(inputs)
    j.core.peakBuffered
  }

  test("l.s - r.s is 5 or 6: the first pair is (6, 1) after six left rows and one right row") {
    val inputs = BySide(rows(n)(s => (s - 6, s - 5)), rows(n)(s => (s + 5, s + 6)))
    assertEquals(first(inputs), ((6, 1), 6, 1))
    assertEquals(first(inputs.flip), ((1, 6), 1, 6))
  }

  test("l.s <= r.s: the first pair comes from the first row of each") {
    val inputs = BySide(
      rows(n)(s => (s, Long.MaxValue)),
      rows(n)(s => (Long.MinValue, s))
    )
    assertEquals(first(inputs), ((1, 1), 1, 1))
  }

  test("l.s < r.s - 100: right is read up to its first partner") {
    val inputs = BySide(
      rows(n)(s => (s + 101, Long.MaxValue)),
      rows(n)(s => (Long.MinValue, s - 101))
    )
    assertEquals(first(inputs), ((1, 102), 1, 102))
  }

  test("a window of ±10: about twenty rows a side, whichever side is denser") {
    val even = BySide(rows(n)(s => (s - 10, s + 10)), rows(n)(s => (s - 10, s + 10)))
    assert(peak(even) <= 25, peak(even).toString)
    val sparse = (1 to n / 100).map { i =>
      val s = i * 100L
      Row(i, 0, Some(s), Some((s - 10, s + 10)))
    }
    assert(peak(BySide(even.left, sparse)) <= 25, peak(BySide(even.left, sparse)).toString)
    assert(peak(BySide(sparse, even.left)) <= 25, peak(BySide(sparse, even.left)).toString)
  }

  test("only right rows can die: at most one of them is held") {
    val j = new Join
    // Every left row meets every later right row, so few rows are many pairs.
    j.run(BySide(rows(500)(s => (s, Long.MaxValue)), rows(500)(s => (Long.MinValue, s))))
    assert(j.core.counts(Side.Right).peak <= 1, j.core.counts(Side.Right).peak.toString)
  }

  test("points in intervals of length 50: no points are held, and some fifty intervals") {
    val j = new Join
    j.run(BySide(rows(n)(s => (s, s + 50)), rows(n)(s => (Long.MinValue, s))))
    assert(j.core.counts(Side.Right).peak <= 1, j.core.counts(Side.Right).peak.toString)
    assert(j.core.counts(Side.Left).peak <= 55, j.core.counts(Side.Left).peak.toString)
  }

  test("overlapping intervals, one of them endless and one side ten times denser: few are held") {
    // left [start, stop) and right [start, stop) overlap: start < the other's stop, both ways.
    def spans(count: Int, step: Int) = (1 to count).map { i =>
      val start = i.toLong * step
      val stop = if (i == count / 10) Long.MaxValue - 1 else start + 20
      Row(i, 0, Some(start), Some((Long.MinValue, stop - 1)))
    }
    val held = peak(BySide(spans(5000, 1), spans(500, 10)))
    assert(held <= 60, held.toString)
  }
}
