// SPDX-License-Identifier: Apache-2.0
// Examples: batches of rows and frontiers in, pairs out, and what each side's store holds.
package plait.stream

import munit.FunSuite

import plait.BySide
import plait.Side.{Left, Right}
import plait.join.Harness._
import plait.join.Role
import plait.stream.StreamHarness._

class StreamJoinScripts extends FunSuite {

  /** `r.t BETWEEN l.t AND l.t + 5`: left t reaches [t, t + 5], right t reaches [t - 5, t]. */
  private def left(t: Long, key: Int = 0) = Left -> Row(t.toInt, key, Some(t), Some((t, t + 5)))
  private def right(t: Long, key: Int = 0) =
    Right -> Row(t.toInt, key, Some(t), Some((t - 5, t)))
  private def at(l: Long, r: Long) = BySide(l, r)
  private def pair(l: Int, r: Int): Out = Matched(l, Some(r))

  private val leftOuter = BySide[Role](Role.Preserved, Role.Paired)
  private val fullOuter = BySide[Role](Role.Preserved, Role.Preserved)
  private val semi = BySide[Role](Role.Existing, Role.Sought)
  private val anti = BySide[Role](Role.Missing, Role.Sought)

  test("rows of one batch match each other, whichever side came first") {
    val j = new Streams()()
    assertEquals(j.batch(Seq(right(3), left(1), right(1))).toSet, Set(pair(1, 3), pair(1, 1)))
  }

  test("that a row has matched is noted of those alone that would come out without a match") {
    val inner = BySide[Role](Role.Paired, Role.Paired)
    for ((roles, noted) <- Seq(inner -> (0, 0), leftOuter -> (1, 0), fullOuter -> (1, 1))) {
      val j = new Streams(roles)()
      j.batch(Seq(left(1), right(3)))
      assertEquals((j.stored.left.bits.size, j.stored.right.bits.size), noted)
    }
  }

  test("a row waits until a later batch brings its partner, over restarts of the task") {
    val j = new Streams()()
    assertEquals(j.batch(Seq(left(1), left(2, key = 1))), Nil)
    assertEquals(j.batch(Nil), Nil)
    assertEquals(j.batch(Seq(right(4))), Seq(pair(1, 4)))
    assertEquals(j.batch(Seq(right(5), right(7, key = 1))).toSet, Set(pair(1, 5), pair(2, 7)))
  }

  test("a left row leaves when the right frontier has passed its reach, and not at its end") {
    val j = new Streams()()
    j.batch(Seq(left(1)), at(1, 6))
    assertEquals(j.holds(Left), 1L, "right 6 may still come")
    j.batch(Nil, at(1, 7))
    assertEquals(j.holds(Left), 0L)
    assertEquals(j.stored.left.chunks.size, 0, "nothing is left behind")
    assertEquals(j.stored.left.segments.size, 0)
  }

  test("a right row leaves when the left frontier has passed it") {
    val j = new Streams()()
    j.batch(Seq(right(10)), at(10, 10))
    assertEquals(j.holds(Right), 1L)
    j.batch(Nil, at(11, 10))
    assertEquals(j.holds(Right), 0L)
  }

  test("a side lags by how far its newest row in time is ahead of its frontier") {
    val j = new Streams()()
    j.batch(Seq(left(10), left(7), right(9)))
    assertEquals(j.lags, at(0, 0), "no frontier is known")
    j.batch(Seq(left(20), left(15), right(30)), at(18, 30))
    assertEquals(j.lags, at(2, 0))
    j.batch(Seq(left(19), right(10)), at(20, 30))
    assertEquals(j.lags, at(0, 0), "right 10 is late, and left 19 is behind")
    j.batch(Seq(left(25)), at(Frontier.Over, 30))
    assertEquals(j.lags, at(0, 0), "nothing more will come")
  }

  test("a side that is over frees the other: nothing of it waits, and what comes is not stored") {
    val j = new Streams()()
    j.batch(Seq(left(1), right(3), right(900)))
    assertEquals(j.holds(Right), 2L)
    j.batch(Nil, at(Frontier.Over, 0))
    assertEquals((j.holds(Left), j.holds(Right)), (1L, 0L))
    assertEquals(j.batch(Seq(right(4), right(901)), at(Frontier.Over, 0)), Seq(pair(1, 4)))
    assertEquals((j.holds(Left), j.holds(Right)), (1L, 0L))
    assertEquals(j.writes.right, 0, "no row of the other is written first")
  }

  test("LEFT OUTER: when the right side is over, each left row comes out at once") {
    val j = new Streams(leftOuter)()
    j.batch(Seq(right(3), left(1), left(100)))
    assertEquals(j.batch(Nil, at(0, Frontier.Over)), Seq(Alone(Left, 100)))
    assertEquals(
      j.batch(Seq(left(2), left(50)), at(0, Frontier.Over)).toSet,
      Set(pair(2, 3), Alone(Left, 50))
    )
    assertEquals(j.holds(Left), 0L)
  }

  test("a row of a side that was over comes after its end, with a rank or without one") {
    val j = new Streams()()
    j.batch(Seq(left(1)), at(Frontier.Over, 0))
    j.batch(Seq(left(5), Left -> Row(6, 0, None, None)), at(Frontier.Over, 0)): Unit
    assertEquals(j.afterEnd.map(_.id), Seq(5, 6))
    assertEquals(j.holds(Left), 1L)
  }

  test("a row is forgotten by the first batch that comes more than its side's time after it") {
    val j = new Streams(remembered = BySide(160L, Long.MaxValue))()
    j.now = 1000
    j.batch(Seq(left(1), right(2, key = 1)))
    j.now = 1160
    assertEquals(j.batch(Seq(right(3))), Seq(pair(1, 3)))
    j.now = 1161
    assertEquals(j.batch(Seq(right(4), left(2, key = 1))), Seq(pair(2, 2)))
    assertEquals((j.waiting(Left), j.holds(Right)), (Set(2), 3L))
  }

  test("LEFT OUTER: what is forgotten without a match comes out, once") {
    val j = new Streams(leftOuter, remembered = BySide(16L, 16L))()
    j.batch(Seq(left(1), left(9), right(2)))
    j.now = 17
    assertEquals(j.batch(Nil), Seq(Alone(Left, 9)))
    assertEquals(j.batch(Nil, at(Frontier.Over, Frontier.Over)), Nil)
    assertEquals(j.stored.left.chunks.size + j.stored.left.segments.size, 0)
  }

  test("segments are merged with those of their age, and a row stays a sixteenth longer at most") {
    val j = new Streams(remembered = BySide(1600L, Long.MaxValue))()
    for (t <- 0 until 3200) {
      j.now = t.toLong
      j.batch(if (t % 7 == 0) Seq(left(t.toLong), right(t + 1000L, key = 1)) else Nil)
      if (t % 100 == 99)
        assert(j.waiting(Left).min >= t - 1600 - 100, s"at $t: ${j.waiting(Left).min}")
      assert(j.waiting(Left).contains(math.max(0, (t - 1600 + 6) / 7 * 7)))
    }
    assert(j.stored.left.segments.size < 100)
  }

  test(
    "rows that were stored before time was counted begin to age with the first batch that does"
  ) {
    val endless = new Streams()()
    endless.batch(Seq(left(1)))
    val j = new Streams(remembered = BySide(16L, 16L))()
    j.stored = endless.stored
    j.now = 1000
    j.batch(Nil)
    j.now = 1016
    assertEquals(j.batch(Seq(right(1))), Seq(pair(1, 1)))
    j.now = 1017
    assertEquals(j.batch(Seq(right(2))), Nil)
  }

  test("a frontier that falls at a restart counts for nothing: what was over stays so") {
    val j = new Streams(leftOuter)()
    j.batch(Seq(left(1)), at(0, Frontier.Over))
    assertEquals(j.batch(Seq(left(50)), at(0, 3)), Seq(Alone(Left, 50)))
    assertEquals(j.holds(Left), 0L)
    val pruned = new Streams()()
    pruned.batch(Seq(left(20)), at(0, 10))
    pruned.batch(Seq(left(2)), at(0, 5))
    assertEquals(pruned.waiting(Left), Set(20), "no right row from 10 on reaches 2")
  }

  test("a side at the greatest rank of all is not over") {
    assertEquals(Frontier.at(Long.MaxValue), Long.MaxValue - 1)
    assertEquals(Frontier.at(7), 7L)
  }

  test("an idle side holds the other's rows back, and not its own") {
    val j = new Streams()()
    j.batch(Seq(right(0), left(0)), at(0, 0))
    for (t <- 1L to 100L) j.batch(Seq(left(t)), at(t, 0))
    assertEquals(j.holds(Right), 0L, "no left row reaches back to right 0")
    assertEquals(j.holds(Left), 101L, "right may still send a partner of each")
  }

  test(
    "a row below the frontier of the batch before is late; between the two frontiers it is not"
  ) {
    val j = new Streams()()
    j.batch(Seq(left(20)), at(10, 0))
    j.batch(Seq(left(9), left(10), right(12)), at(15, 0)): Unit
    assertEquals(j.late.map(_.id), Seq(9))
    assertEquals(j.batch(Seq(left(14)), at(15, 0)), Nil)
    assertEquals(j.late.map(_.id), Seq(14))
  }

  test("a row that arrives and dies in one batch meets its partner of that batch") {
    val j = new Streams(leftOuter)()
    assertEquals(j.batch(Seq(left(1), right(3)), at(50, 50)), Seq(pair(1, 3)))
    assertEquals(j.holds(Left) + j.holds(Right), 0L)
  }

  test("LEFT OUTER: a row that arrives and dies in one batch without a match comes out once") {
    val j = new Streams(leftOuter)()
    assertEquals(j.batch(Seq(left(1)), at(50, 50)), Seq(Alone(Left, 1)))
    assertEquals(j.batch(Nil, at(60, 60)), Nil)
  }

  test("LEFT OUTER: a matched row does not come out alone, though its partner left before it") {
    val j = new Streams(leftOuter)()
    j.batch(Seq(left(10), right(10)))
    j.batch(Nil, at(11, 0))
    assertEquals((j.holds(Left), j.holds(Right)), (1L, 0L))
    assertEquals(j.batch(Nil, at(11, 16)), Nil)
    assertEquals(j.holds(Left), 0L)
  }

  test("LEFT OUTER: of a chunk of three some rows are marked, and only the others come out") {
    val j = new Streams(leftOuter)()
    j.batch(Seq(left(1), left(2), left(3)))
    assertEquals(j.batch(Seq(right(7))).toSet, Set(pair(2, 7), pair(3, 7)))
    assertEquals(j.batch(Nil, at(0, 8)), Seq(Alone(Left, 1)))
    assertEquals(j.batch(Nil, at(0, 100)), Nil)
  }

  test("FULL OUTER: both sides come out alone, each at its own time") {
    val j = new Streams(fullOuter)()
    j.batch(Seq(left(1), right(100)))
    assertEquals(j.batch(Nil, at(0, 7)), Seq(Alone(Left, 1)))
    assertEquals(j.batch(Nil, at(101, 7)), Seq(Alone(Right, 100)))
  }

  test("LEFT SEMI: a row comes out at its first match, once, and does not wait any more") {
    val j = new Streams(semi)()
    j.batch(Seq(left(1), left(2)))
    assertEquals(j.batch(Seq(right(6), right(5))).map(_.toString).toSet.size, 2)
    assertEquals(j.holds(Left), 0L)
    assertEquals(j.batch(Seq(right(4))), Nil)
  }

  test("LEFT SEMI: a row that matches in its own batch is never stored") {
    val j = new Streams(semi)()
    assertEquals(j.batch(Seq(left(1), right(2))), Seq(Matched(1, None)))
    assertEquals(j.stored.left.chunks.size, 0)
  }

  test("LEFT ANTI: a row comes out when nothing can match it any more, and never if one has") {
    val j = new Streams(anti)()
    j.batch(Seq(left(1), left(2)))
    assertEquals(j.batch(Seq(right(1))), Nil)
    assertEquals(j.holds(Left), 1L, "the one that has a match is gone")
    assertEquals(j.batch(Nil, at(0, 8)), Seq(Alone(Left, 2)))
  }

  test("a side that is not probed in a batch is written without being read") {
    val j = new Streams()()
    for (t <- 0L to 9L) {
      j.batch(Seq(left(t)))
      assertEquals(j.chunksRead.left, 0)
    }
    j.batch(Seq(left(10), left(11), left(12)))
    assertEquals(j.chunksRead.left, 0)
  }

  test("a probe reads the chunks that its reach meets, and no others") {
    val j = new Streams()()
    j.batch((0L to 2L).map(left(_)))
    j.batch((100L to 102L).map(left(_)))
    j.batch((200L to 202L).map(left(_)))
    j.batch(Seq(right(103)))
    assertEquals(j.chunksRead.left, 1)
  }

  test("cleaning reads no chunk of which all rows die, and none of which none does") {
    val j = new Streams()()
    j.batch((0L to 2L).map(left(_)))
    j.batch((100L to 102L).map(left(_)))
    j.batch(Nil, at(0, 50))
    assertEquals((j.chunksRead.left, j.holds(Left)), (0, 3L))
    j.batch(Nil, at(0, 107))
    assertEquals((j.chunksRead.left, j.holds(Left)), (1, 1L))
  }

  test("small segments are merged: a thousand batches of a row each leave few") {
    val j = new Streams(capacity = 16)()
    for (t <- 0L until 1000L) j.batch(Seq(left(t)))
    assert(j.stored.left.segments.size <= StoredRows.MostUnmerged)
    assertEquals(j.holds(Left), 1000L)
    assertEquals(j.batch(Seq(right(500))).size, 6)
    assert(j.stored.left.segments.size <= 4 * 5, j.stored.left.segments.size.toString)
  }

  test("a batch run again from the same store gives the same, and leaves the same") {
    val j = new Streams(leftOuter)()
    j.batch(Seq(left(1), left(2), right(3)))
    val (before, frontiers) = (j.stored, j.frontiers)
    val rows = Seq(right(7), left(5))
    val first = (j.batch(rows, at(2, 7)), j.waiting(Left), j.waiting(Right))
    j.stored = before
    j.frontiers = frontiers
    assertEquals((j.batch(rows, at(2, 7)), j.waiting(Left), j.waiting(Right)), first)
  }
}
