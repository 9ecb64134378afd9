// SPDX-License-Identifier: Apache-2.0
// Oracle: the definition of a join of streams with a limit, batch by batch over plain sequences of rows.
package plait.stream

import scala.concurrent.duration.Duration
import scala.util.Random

import munit.FunSuite

import plait.join.Harness._
import plait.join.{Leaving, Matching, Role}
import plait.stream.StreamHarness._
import plait.{BySide, Cases, Side}

class RandomLimitOracle extends FunSuite {
  import RandomLimitOracle._

  override val munitTimeout: Duration = Cases.longest

  private val scripts = Cases.of(1500, soak = 30000)

  /** Rows that come at most `slack` behind the greatest rank before them, their ids in no order. */
  private def stream(random: Random, slack: Int): Seq[Row] = {
    var top = random.nextInt(20).toLong
    for (id <- random.shuffle(Seq.range(0, random.nextInt(30)))) yield {
      if (random.nextInt(3) == 0) top += random.nextInt(4)
      randomRow(random, id, top - random.nextInt(slack + 1))
    }
  }

  test("a join with a limit gives the pairs of the rows that are there, and each lone row once") {
    for (seed <- 0 until scripts) {
      val random = new Random(seed)
      val roles = joinTypes(random.nextInt(joinTypes.size))
      val most = 1 + random.nextInt(3)
      val slack = BySide.make(_ => random.nextInt(6))
      val rows = BySide.make(side => stream(random, slack(side)))
      val streams =
        new Streams(roles, capacity = 1 + random.nextInt(5), limit = Some(evicting(most)))(accepts)
      val definition = new Limited(roles, most)
      val isKnownToEnd = BySide.make(_ => random.nextInt(3) == 0)
      val out = Seq.newBuilder[Out]
      var seen = BySide(0, 0)
      // Invariant: the join and its definition have given and kept the same rows.
      while (Side.both.exists(s => seen(s) < rows(s).size)) {
        val idle = Option.when(random.nextInt(3) == 0)(Side.both(random.nextInt(2)))
        val taken = BySide.make { side =>
          if (idle.contains(side)) Nil
          else rows(side).slice(seen(side), seen(side) + random.nextInt(9))
        }
        seen = BySide.make(side => seen(side) + taken(side).size)
        val next = BySide.make { side =>
          val top = rows(side).take(seen(side)).flatMap(_.rank).maxOption
          if (isKnownToEnd(side) && seen(side) == rows(side).size) Frontier.Over
          else top.fold(Frontier.Unknown)(_ - slack(side))
        }
        val batch = random.shuffle(Side.both.flatMap(side => taken(side).map(side -> _)))
        val came = streams.batch(batch, next)
        out ++= came
        val at = s"seed $seed, $roles, at most $most"
        assertEquals(sorted(came), sorted(definition.batch(taken, next)), at)
        for (side <- Side.both) {
          assertEquals(streams.waiting(side), definition.waiting(side), at)
          assertEquals(streams.holds(side), definition.waiting(side).size.toLong, at)
          assertEquals(streams.evicted(side), definition.evicted(side), at)
        }
      }
      out ++= streams.batch(Nil, BySide(Frontier.Over, Frontier.Over))
      for (side <- Side.both if roles(side).leaves eq Leaving.Aloud) {
        val alone = out.result().collect { case Alone(`side`, id) => id }
        assertEquals(alone, alone.distinct, s"seed $seed: a row came out alone twice")
      }
    }
  }
}

object RandomLimitOracle {
  private def accepts(l: Row, r: Row): Boolean = mutual(l, r) && (l.id + r.id) % 5 != 0

  final private case class Waiting(row: Row, isOld: Boolean, hasMatch: Boolean)

  /** The join by its definition: what a batch gives, and what waits after it. */
  final private class Limited(roles: BySide[Role], most: Int) {
    private var kept = BySide[Seq[Waiting]](Nil, Nil)
    var evicted: BySide[Long] = BySide(0L, 0L)

    def waiting(side: Side): Set[Int] = kept(side).map(_.row.id).toSet

    def batch(rows: BySide[Seq[Row]], frontiers: BySide[Long]): Seq[Out] = {
      val there = BySide.make { side =>
        kept(side).map(_.copy(isOld = true)) ++ rows(side).map(Waiting(_, isOld = false, false))
      }
      val pairs = for {
        l <- there.left
        r <- there.right
        if !(l.isOld && r.isOld) && accepts(l.row, r.row)
      } yield l.row.id -> r.row.id
      val matched = BySide(pairs.map(_._1).toSet, pairs.map(_._2).toSet)
      val after = BySide.make { side =>
        there(side).map(w => w.copy(hasMatch = w.hasMatch || matched(side)(w.row.id)))
      }
      val sides = Side.both.map(side => ended(side, after(side), frontiers(side.other)))
      kept = BySide(sides.head._1, sides.last._1)
      evicted = BySide(sides.head._2, sides.last._2)
      matches(pairs) ++ sides.flatMap(_._3)
    }

    private def matches(pairs: Seq[(Int, Int)]): Seq[Out] = roles.left match {
      case Role.Missing => Nil
      case Role.Existing | Role.Marked => pairs.map(_._1).distinct.map(Matched(_, None))
      case _ => pairs.map { case (l, r) => Matched(l, Some(r)) }
    }

    /** The rows of a side that wait on, how many of the others were too many, and what comes out alone. */
    private def ended(side: Side, rows: Seq[Waiting], frontier: Long) = {
      val isAloud = roles(side).leaves eq Leaving.Aloud
      val open =
        rows.filterNot(w => w.hasMatch && (roles(side).matches eq Matching.Settles))
      val waits = open.filter { w =>
        w.row.rank.isDefined && w.row.reach.exists { case (low, high) =>
          high >= frontier && frontier != Frontier.Over && (low <= high || isAloud)
        }
      }
      val stays = waits
        .groupBy(_.row.key)
        .values
        .flatMap { ofKey =>
          ofKey
            .sortBy(w => (w.row.reach.get._2, w.row.rank.get, !w.isOld, w.row.id))
            .takeRight(most)
        }
        .toSet
      val alone =
        if (isAloud) open.filterNot(w => stays(w) || w.hasMatch).map(w => Alone(side, w.row.id))
        else Nil
      (waits.filter(stays), (waits.size - stays.size).toLong, alone)
    }
  }
}
