// SPDX-License-Identifier: Apache-2.0
// Examples: scripts of rows and frontiers in, pairs out, and what each buffer holds; each with the
// sides swapped too.
package plait.join

import munit.FunSuite

import plait.Side.{Left, Right}
import plait.join.Harness._
import plait.{BySide, Side}

class JoinCoreScripts extends FunSuite {

  /** `l.s - r.s` is 5 or 6: left s reaches [s - 6, s - 5], right s reaches [s + 5, s + 6]. */
  private def early(s: Long, key: Int = 0) = Row(s.toInt, key, Some(s), Some((s - 6, s - 5)))
  private def late(s: Long, key: Int = 0) = Row(s.toInt, key, Some(s), Some((s + 5, s + 6)))

  /** The script as written, and its mirror: rows of the left side on the right. */
  private def both(name: String)(script: (Join, Side) => Unit): Unit = {
    test(name)(script(new Join, Left))
    test(s"$name (sides swapped)")(script(new Join, Right))
  }

  private def ids(side: Side, pairs: Seq[(Row, Row)]): Seq[(Int, Int)] =
    pairs.map { case (l, r) => if (side == Left) (l.id, r.id) else (r.id, l.id) }

  both("a row whose reach the other frontier has passed is probed with and not stored") { (j, l) =>
    j.add(l.other, late(1))
    assertEquals(ids(l, j.add(l, early(6))), Seq((6, 1)))
    assertEquals(j.holds(l).map(_.id), Set(6), "right 1 may come again")
    j.add(l.other, late(2))
    assertEquals(j.holds(l), Set.empty[Row])
    assertEquals(ids(l, j.add(l, early(7))), Seq((7, 1), (7, 2)))
    assertEquals(j.holds(l).map(_.id), Set(7), "its reach [1, 2] is not passed at 2")
    assertEquals(j.add(l, early(6)).size, 1)
  }

  both("a buffered row leaves when the other frontier is past its reach, not at its end") {
    (j, l) =>
      j.add(l.other, late(1))
      j.core.advance(l, 7)
      assertEquals(j.holds(l.other).size, 1)
      j.core.advance(l, 8)
      assertEquals(j.holds(l.other).size, 0)
      assertEquals(j.core.counts(l.other).pruned, 1L)
      assertEquals(j.keys.size, 0)
  }

  both("rows of another key are not met") { (j, l) =>
    j.add(l.other, late(1, key = 1))
    assertEquals(j.add(l, early(6, key = 2)).size, 0)
    assertEquals(j.add(l, early(6, key = 1)).size, 1)
  }

  both("rows die in any sequence: intervals of their own") { (j, l) =>
    // The side's rows are intervals [start, end] ordered by start; the other's are points.
    def span(id: Int, start: Long, end: Long) = Row(id, 0, Some(start), Some((start, end)))
    def at(id: Int, t: Long) = Row(id, 0, Some(t), Some((Long.MinValue, t)))
    Seq(span(1, 0, 100), span(2, 1, 5), span(3, 2, 50), span(4, 3, 4)).foreach(j.add(l, _))
    assertEquals(ids(l, j.add(l.other, at(1, 4))).toSet, Set((1, 1), (2, 1), (3, 1), (4, 1)))
    assertEquals(ids(l, j.add(l.other, at(2, 6))).toSet, Set((1, 2), (3, 2)))
    assertEquals(j.holds(l).map(_.id), Set(1, 3))
    assertEquals(ids(l, j.add(l.other, at(3, 51))).toSet, Set((1, 3)))
    assertEquals(j.holds(l).map(_.id), Set(1))
  }

  both("a row without an order or a reach matches nothing and is not held") { (j, l) =>
    j.add(l, Row(1, 0, None, Some((0, 9))))
    j.add(l, Row(2, 0, Some(5), None))
    j.add(l, Row(3, 0, Some(5), Some((9, 0))))
    assertEquals(j.holds(l), Set.empty[Row])
    assertEquals(j.core.counts(l).in, 3L)
    assertEquals(j.core.counts(l).pruned, 3L)
  }

  both("equal ranks come out in the sequence of their arrival, duplicates each") { (j, l) =>
    Seq(11, 12, 13).foreach(id => j.add(l.other, Row(id, 0, Some(1), Some((6, 7)))))
    assertEquals(ids(l, j.add(l, early(6))), Seq((6, 11), (6, 12), (6, 13)))
  }

  both("when a side ends, the other's rows are dropped and no more are stored") { (j, l) =>
    j.add(l, Row(1, 0, Some(0), Some((0, Long.MaxValue))))
    j.add(l.other, Row(2, 0, Some(1), Some((Long.MinValue, Long.MaxValue))))
    j.core.finish(l.other)
    assertEquals(j.holds(l), Set.empty[Row])
    assertEquals(ids(l, j.add(l, Row(3, 0, Some(2), Some((0, Long.MaxValue))))), Seq((3, 2)))
    assertEquals(j.holds(l), Set.empty[Row])
    assertEquals((j.core.counts(l).freed, j.core.counts(l).pruned), (2L, 0L))
    assertEquals(j.core.counts(l.other).freed, 0L)
    assert(!j.core.isDone)
  }

  both("when a side has ended and holds nothing, the join is done: the other is read no further") {
    (j, l) =>
      j.add(l, early(6))
      j.add(l.other, late(8))
      assertEquals(j.holds(l), Set.empty[Row])
      j.core.finish(l)
      assert(j.core.isDone)
  }

  private val leftOuter = BySide[Role](Role.Preserved, Role.Paired)
  private def leaving(j: Join, side: Side): Seq[Int] =
    Iterator.continually(j.core.nextLeaving(side)).takeWhile(_ != null).map(_.id).toList

  test("LEFT OUTER: a left row comes out alone as soon as the right frontier is past its reach") {
    val j = new Join(leftOuter)
    j.add(Left, early(6))
    j.core.advance(Right, 1)
    assertEquals(leaving(j, Left), Nil, "right 1 may come again")
    j.core.advance(Right, 2)
    assertEquals(leaving(j, Left), Seq(6))
    assertEquals(j.holds(Left), Set.empty[Row])
  }

  test("LEFT OUTER: a left row that has matched leaves silently") {
    val j = new Join(leftOuter)
    j.add(Left, early(6))
    j.core.add(Right, 0, late(1), 1, 6, 7)
    assertEquals(Option(j.core.nextMatch()).map(_.id), Some(6))
    j.core.accept()
    assertEquals(Option(j.core.nextMatch()), None)
    j.core.advance(Right, 2)
    assertEquals(leaving(j, Left), Nil)
    assertEquals(j.holds(Left), Set.empty[Row])
  }

  test("LEFT OUTER: a row that can match nothing any more leaves at once, unless it matches now") {
    val j = new Join(leftOuter)
    j.add(Left, Row(1, 0, None, None))
    assert(j.core.leavesAtOnce)
    j.add(Left, early(6))
    assert(!j.core.leavesAtOnce, "it is stored")
    j.core.finish(Right)
    assertEquals(leaving(j, Left), Seq(6))
    j.add(Left, early(7))
    assert(j.core.leavesAtOnce)
    assert(!j.core.isDone, "each later left row comes out too")
    j.core.finish(Left)
    assert(j.core.isDone)
  }

  test("LEFT OUTER: rows that go because the right side has ended are counted, matched or not") {
    val j = new Join(leftOuter)
    j.add(Left, early(6))
    j.core.add(Left, 0, early(7), 7, 1, 2)
    assertEquals(Option(j.core.nextMatch()), None)
    j.core.finish(Right)
    assertEquals(j.core.counts(Left).freed, 0L, "none has gone yet")
    assertEquals(leaving(j, Left), Seq(6, 7))
    assertEquals((j.core.counts(Left).freed, j.core.counts(Left).pruned), (2L, 0L))
  }

  test("LEFT SEMI: a buffered left row goes with its first match, an arriving one is not stored") {
    val j = new Join(BySide(Role.Existing, Role.Sought))
    j.add(Left, early(6))
    j.core.add(Right, 0, late(1), 1, 6, 7)
    assertEquals(Option(j.core.nextMatch()).map(_.id), Some(6))
    j.core.accept()
    assertEquals(Option(j.core.nextMatch()), None)
    assertEquals(j.holds(Left), Set.empty[Row])
    j.core.add(Left, 0, early(7), 7, 1, 2)
    assertEquals(Option(j.core.nextMatch()).map(_.id), Some(1))
    j.core.accept()
    assertEquals(Option(j.core.nextMatch()), None)
    assertEquals(j.holds(Left), Set.empty[Row])
    assertEquals(j.holds(Right).map(_.id), Set(1))
  }

  test(
    "LEFT SEMI: the place of a settled row is not taken before its death, which kills no other"
  ) {
    val j = new Join(BySide(Role.Existing, Role.Sought))
    j.add(Left, early(6))
    j.core.add(Right, 0, late(1), 1, 6, 7)
    j.core.nextMatch()
    j.core.accept()
    assertEquals(Option(j.core.nextMatch()), None)
    j.add(Left, early(9))
    j.core.advance(Right, 2)
    assertEquals(j.holds(Left).map(_.id), Set(9))
    j.core.advance(Right, 5)
    assertEquals(j.holds(Left), Set.empty[Row])
  }
}
