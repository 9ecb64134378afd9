// SPDX-License-Identifier: Apache-2.0
// Oracle: NestedLoopJoin over all rows that came, and of what must wait its definition.
package plait.stream

import scala.collection.mutable
import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.join.{Rankless, Role}
import plait.stream.StreamHarness._
import plait.{BySide, Cases, Side}

class RandomStreamOracle extends FunSuite {
  override val munitTimeout: Duration = Cases.longest

  private val scripts = Cases.of(50000, soak = 500000)

  /** Rows that come at most `slack` behind the greatest rank before them. */
  private def stream(random: Random, slack: Int): Seq[Row] = {
    var top = random.nextInt(20).toLong
    Seq.tabulate(random.nextInt(25)) { id =>
      if (random.nextInt(3) == 0) top += random.nextInt(6)
      randomRow(random, id, top - random.nextInt(slack + 1))
    }
  }

  /** Rows without a rank are what every row reaches, or nothing. */
  private def rankless(random: Random): Rankless =
    if (random.nextInt(4) == 0) Rankless.Matching else Rankless.Dead

  /** Is `other` in the reach of `row`? */
  private def reaches(row: Row, other: Row, rankless: Rankless): Boolean =
    (row.reach, other.rank) match {
      case (None, _) => false
      case (_, None) => rankless == Rankless.Matching
      case (Some((low, high)), Some(rank)) => low <= rank && rank <= high
    }

  private def accepts(rankless: BySide[Rankless])(l: Row, r: Row): Boolean =
    l.key == r.key && reaches(l, r, rankless.right) && reaches(r, l, rankless.left) &&
      (l.id + r.id) % 5 != 0

  /** When rows came, and how long they are remembered: a pair is one if the later came in time. */
  final private class Memory(val lengths: BySide[Long], rankless: BySide[Rankless]) {
    var now = 0L
    private val came = BySide.make(_ => mutable.Map.empty[Int, Long])

    def note(side: Side, rows: Seq[Row]): Unit = rows.foreach(row => came(side)(row.id) = now)
    def holds(side: Side, row: Row, at: Long): Boolean =
      BigInt(came(side)(row.id)) >= BigInt(at) - lengths(side)
    def accepts(l: Row, r: Row): Boolean = RandomStreamOracle.this.accepts(rankless)(l, r) &&
      (if (came.left(l.id) <= came.right(r.id)) holds(Side.Left, l, came.right(r.id))
       else holds(Side.Right, r, came.left(l.id)))
  }

  /** Up to 31 what is forgotten is forgotten to the unit. */
  private def length(random: Random): Long =
    if (random.nextInt(3) == 0) random.nextInt(32).toLong else Long.MaxValue

  private def isAloud(role: Role) = role.leaves eq plait.join.Leaving.Aloud

  /** The rows that must wait: they have a reach that is not passed, and are not settled. What a row without a rank may
    * match is passed by no frontier.
    */
  private def waits(
      roles: BySide[Role],
      rankless: BySide[Rankless],
      seen: BySide[Seq[Row]],
      frontiers: BySide[Long],
      memory: Memory,
      side: Side
  ): Set[Int] = {
    val meetsAll = rankless(side.other) == Rankless.Matching
    def hasMatch(row: Row) = seen(side.other).exists { o =>
      if (side eq Side.Left) memory.accepts(row, o) else memory.accepts(o, row)
    }
    seen(side)
      .filter(memory.holds(side, _, memory.now))
      .filter(r => r.rank.isDefined || rankless(side) == Rankless.Matching)
      .filter(r => r.reach.exists { case (l, h) => l <= h || meetsAll || isAloud(roles(side)) })
      .filter(meetsAll || _.reach.get._2 >= frontiers(side.other))
      .filter(_ => frontiers(side.other) != Frontier.Over)
      .filterNot(r => (roles(side).matches eq plait.join.Matching.Settles) && hasMatch(r))
      .map(_.id)
      .toSet
  }

  test(
    "batches of rows within their slack give what the join of all rows gives, and hold what must wait"
  ) {
    for (seed <- 0 until scripts) {
      val random = new Random(seed)
      val roles = joinTypes(random.nextInt(joinTypes.size))
      val slack = BySide.make(_ => random.nextInt(6))
      val rows = BySide.make(side => stream(random, slack(side)))
      val drawn = BySide.make(_ => rankless(random))
      val memory = new Memory(BySide.make(_ => length(random)), drawn)
      val streams =
        new Streams(roles, drawn, 1 + random.nextInt(5), memory.lengths)(accepts(drawn))
      val out = Seq.newBuilder[Out]
      var seen = BySide[Seq[Row]](Nil, Nil)
      // A side that is over may be known to be so at once, later or never.
      val isKnownToEnd = BySide.make(_ => random.nextBoolean())
      // Invariant: `out` is what came of the rows seen.
      while (Side.both.exists(s => seen(s).size < rows(s).size)) {
        val idle = Option.when(random.nextInt(3) == 0)(Side.both(random.nextInt(2)))
        val taken = BySide.make { side =>
          if (idle.contains(side)) Nil
          else rows(side).slice(seen(side).size, seen(side).size + random.nextInt(9))
        }
        seen = BySide.make(side => seen(side) ++ taken(side))
        memory.now += random.nextInt(12)
        streams.now = memory.now
        Side.both.foreach(side => memory.note(side, taken(side)))
        val next = BySide.make { side =>
          val top = seen(side).flatMap(_.rank).maxOption
          if (isKnownToEnd(side) && seen(side).size == rows(side).size) Frontier.Over
          else top.fold(Frontier.Unknown)(_ - slack(side))
        }
        val batch = random.shuffle(Side.both.flatMap(side => taken(side).map(side -> _)))
        out ++= streams.batch(batch, next)
        assertEquals(streams.late, Nil, s"seed $seed")
        for (side <- Side.both) {
          val expected = waits(roles, drawn, seen, next, memory, side)
          assertEquals(streams.waiting(side), expected, s"seed $seed, $side, $roles, $drawn")
          assertEquals(streams.holds(side), expected.size.toLong, s"seed $seed, $side")
        }
      }
      out ++= streams.batch(Nil, BySide(Long.MaxValue, Long.MaxValue))
      val expected = defined[Row](roles, rows, _.id)(memory.accepts)
      assertEquals(sorted(out.result()), sorted(expected), s"seed $seed, $roles")
    }
  }
}
