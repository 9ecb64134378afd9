// SPDX-License-Identifier: Apache-2.0
// Examples: batches of rows of a few keys, with at most two stored of each key and side.
package plait.stream

import munit.FunSuite

import plait.Side.{Left, Right}
import plait.join.Harness._
import plait.join.Role
import plait.stream.StreamHarness._
import plait.{BySide, Side}

class LimitScripts extends FunSuite {

  /** `r.t BETWEEN l.t AND l.t + 5`: left t reaches [t, t + 5], right t reaches [t - 5, t]. */
  private def left(t: Long, key: Int = 0) = Left -> Row(t.toInt, key, Some(t), Some((t, t + 5)))
  private def right(t: Long, key: Int = 0) =
    Right -> Row(t.toInt, key, Some(t), Some((t - 5, t)))
  private def until(id: Int, rank: Long, end: Long) =
    Left -> Row(id, 0, Some(rank), Some((0L, end)))
  private def at(l: Long, r: Long) = BySide(l, r)
  private def pair(l: Int, r: Int): Out = Matched(l, Some(r))

  private val leftOuter = BySide[Role](Role.Preserved, Role.Paired)
  private val semi = BySide[Role](Role.Existing, Role.Sought)
  private val anti = BySide[Role](Role.Missing, Role.Sought)

  private def two(roles: BySide[Role] = BySide(Role.Paired, Role.Paired), capacity: Int = 3) =
    new Streams(roles, capacity = capacity, limit = Some(evicting(2)))()

  test("of a key that has too many rows those leave whose reach ends first") {
    val j = two()
    j.batch(Seq(until(1, 4, 12), until(2, 6, 20), until(3, 5, 15)))
    assertEquals((j.waiting(Left), j.holds(Left), j.evicted.left), (Set(2, 3), 2L, 1L))
    j.batch(Seq(until(4, 9, 14)))
    assertEquals((j.waiting(Left), j.holds(Left), j.evicted.left), (Set(2, 3), 2L, 1L))
  }

  test("of ends that are equal the least rank leaves first, then the row that has waited longer") {
    val j = two()
    j.batch(Seq(until(1, 6, 20), until(2, 5, 20), until(3, 7, 20)))
    assertEquals(j.waiting(Left), Set(1, 3))
    j.batch(Seq(until(0, 6, 20)))
    assertEquals(j.waiting(Left), Set(0, 3))
  }

  test("other keys keep their rows, also those of the same hash") {
    val j = two()
    j.batch(Seq(left(1), left(2, key = 3), left(3), left(4, key = 1)))
    j.batch(Seq(left(5), left(6, key = 3), left(7, key = 3)))
    assertEquals(j.waiting(Left), Set(3, 5, 6, 7, 4))
  }

  test("pairs of a batch are found before its rows leave, and with them no more after") {
    val j = two()
    val rows = Seq(left(1), left(2), left(3), right(4))
    assertEquals(j.batch(rows).toSet, Set(pair(1, 4), pair(2, 4), pair(3, 4)))
    assertEquals(j.batch(Seq(right(5))).toSet, Set(pair(2, 5), pair(3, 5)))
  }

  test("rows that the frontiers pass in the batch are not too many") {
    val j = two()
    j.batch(Seq(left(1), left(2), left(10), left(11)), at(0, 8))
    assertEquals((j.holds(Left), j.evicted.left), (2L, 0L))
  }

  test(
    "LEFT OUTER: a row that leaves comes out alone then, unless it has matched, and never again"
  ) {
    val j = two(leftOuter)
    assertEquals(j.batch(Seq(left(1), left(2), right(6))).toSet, Set(pair(1, 6), pair(2, 6)))
    assertEquals(j.batch(Seq(left(20), left(21), left(22))), Seq(Alone(Left, 20)))
    assertEquals((j.waiting(Left), j.evicted.left), (Set(21, 22), 3L))
    assertEquals(j.batch(Nil, at(100, 100)).toSet, Set[Out](Alone(Left, 21), Alone(Left, 22)))
  }

  test("LEFT OUTER: of a chunk whose rows leave in part the others stay marked as they were") {
    val j = two(leftOuter, capacity = 8)
    j.batch(Seq(left(1), left(2), left(10, key = 3), left(11, key = 3)))
    assertEquals(j.batch(Seq(right(16, key = 3), right(7))).toSet, Set(pair(11, 16), pair(2, 7)))
    assertEquals(j.batch(Seq(left(30, key = 3))), Seq(Alone(Left, 10)))
    assertEquals(j.batch(Nil, at(100, 100)).toSet, Set[Out](Alone(Left, 1), Alone(Left, 30)))
  }

  test("LEFT SEMI: a row that has left finds no match; one with a match is not counted") {
    val j = two(semi)
    j.batch(Seq(left(1), left(2), left(3)))
    assertEquals(j.batch(Seq(right(5), left(4))).toSet, Set(2, 3, 4).map(Matched(_, None): Out))
    j.batch(Seq(left(30), left(31)))
    assertEquals(j.waiting(Left), Set(30, 31))
  }

  test(
    "LEFT ANTI: a row that leaves comes out; one that has matched does not, and is not counted"
  ) {
    val j = two(anti)
    assertEquals(j.batch(Seq(left(1), left(2), left(3))), Seq(Alone(Left, 1)))
    assertEquals(j.batch(Seq(right(3), left(20))), Nil)
    assertEquals(j.waiting(Left), Set(20))
    assertEquals(j.evicted.left, 0L)
  }

  test("the right side has its own rows to keep") {
    val j = two()
    j.batch(Seq(right(1), right(2), right(3), left(50)))
    assertEquals((j.waiting(Right), j.evicted), (Set(2, 3), BySide(0L, 1L)))
  }

  test("what is done about a key that has too many is asked before any row leaves") {
    var asked = Seq.empty[(Side, Int)]
    def failing = new KeyLimit[Row](
      2,
      byId,
      (side, row) => { asked :+= side -> row.key; throw new IllegalStateException("too many") }
    )
    val j = new Streams(limit = Some(failing))()
    j.batch(Seq(left(1, key = 7), left(2, key = 7), right(1, key = 8)))
    val before = (j.stored, j.waiting(Left))
    intercept[IllegalStateException](j.batch(Seq(left(9, key = 7))))
    assertEquals(asked, Seq(Left -> 7))
    j.stored = before._1
    assertEquals(j.waiting(Left), before._2)
  }

  test("without a limit a batch that only adds reads nothing; with one, what its keys have") {
    val without = new Streams()()
    val within = two()
    for (j <- Seq(without, within)) {
      j.batch(Seq(left(1), left(2), left(3, key = 1)))
      j.batch(Seq(left(4, key = 2)))
      j.batch(Seq(left(5)))
    }
    assertEquals((without.chunksRead.left, within.chunksRead.left), (0, 1 + 1))
  }

  test("a limit that is set later holds for a key once it gains rows") {
    val j = new Streams()()
    j.batch(Seq(left(1), left(2), left(3), left(4, key = 1), left(5, key = 1), left(6, key = 1)))
    val limited = two()
    limited.stored = j.stored
    limited.batch(Seq(left(7), right(6, key = 1)))
    assertEquals(limited.waiting(Left), Set(3, 7, 4, 5, 6))
  }

  test("the largest key is told, with or without a limit") {
    val j = new Streams()()
    j.batch(Seq(left(1), left(2), left(3), left(4, key = 1), right(9, key = 5)))
    assertEquals(j.largestKeys, BySide(3, 1))
    val limited = two()
    limited.batch(Seq(left(1), left(2)))
    limited.batch(Seq(left(3)))
    assertEquals(limited.largestKeys, BySide(3, 0))
  }
}
