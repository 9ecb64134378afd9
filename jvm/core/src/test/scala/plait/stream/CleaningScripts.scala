// SPDX-License-Identifier: Apache-2.0
// Scripts and laws: cleaning costs what it removes, whenever rows leave.
package plait.stream

import scala.util.Random

import munit.FunSuite

import plait.BySide
import plait.Side.{Left, Right}
import plait.join.Harness._
import plait.join.Role
import plait.stream.StreamHarness._

class CleaningScripts extends FunSuite {
  private val Capacity = 64
  private val BatchRows = 1000
  private val Batches = 300
  private val Longest = 200

  private val types = Seq(
    "INNER" -> BySide[Role](Role.Paired, Role.Paired),
    "LEFT OUTER" -> BySide[Role](Role.Preserved, Role.Paired),
    "LEFT SEMI" -> BySide[Role](Role.Existing, Role.Sought)
  )

  /** `r.t BETWEEN l.t AND l.t + length`, each row with a length of its own. */
  private def left(id: Int, key: Int, t: Long, length: Long) =
    Left -> Row(id, key, Some(t), Some((t, t + length)))

  /** The frontier of both sides comes 10 further with each batch. */
  private def at(batch: Int) = BySide(10L * batch, 10L * batch)

  for ((name, roles) <- types)
    test(
      s"$name: rows of one batch that leave over two hundred are read a few times, not each time"
    ) {
      val random = new Random(1)
      val j = new Streams(roles, capacity = Capacity, few = 256)()
      def length = random.nextInt(10 * Longest).toLong
      j.batch((0 until 10 * BatchRows).map(i => left(i, random.nextInt(3), 10, length)), at(1))
      var read = 0
      var written = 0
      for (batch <- 2 to Longest + 2) {
        val _ = j.batch(Nil, at(batch))
        read += j.chunksRead.left
        written += j.writes.left
      }
      assertEquals(j.holds(Left), 0L)
      val chunks = 10 * BatchRows / Capacity
      assert(read <= 12 * chunks, s"$read chunks of $chunks were read")
      assert(written <= 12 * chunks, s"$written entries of $chunks chunks were written")
    }

  // Spark's watermark moves with every second batch where data come slower than batches.
  for ((name, still) <- Seq("" -> 0, ", and the frontier moves with every second batch" -> 1))
    test(
      s"the same where each batch brings rows that leave sooner or later, and all are looked up$name"
    )(
      eachBatch(still)
    )

  private def eachBatch(still: Int): Unit = {
    val random = new Random(2)
    val j = new Streams(capacity = Capacity, few = 256)()
    var read = 0
    var written = 0
    for (batch <- 1 to Batches) {
      val rows = (0 until BatchRows).map { i =>
        left(
          batch * BatchRows + i,
          random.nextInt(3),
          10L * batch,
          random.nextInt(10 * Longest).toLong
        )
      }
      // What the right row reaches lies before all.
      val asks = Right -> Row(batch, 0, Some(10L * batch), Some((-5L, 0L)))
      for (turn <- 0 to still) {
        val _ = j.batch(if (turn == 0) rows :+ asks else Nil, at(batch - still + turn))
        read += j.chunksRead.left
        written += j.writes.left
      }
    }
    val chunks = Batches * BatchRows / Capacity
    assert(read <= 12 * chunks, s"$read chunks were read of $chunks that came")
    assert(written <= 12 * chunks, s"$written entries were written for $chunks chunks that came")
    assert(j.stored.left.segments.size <= 120, s"there are ${j.stored.left.segments.size} segments")
  }

  test("rows that leave with the batch that brings them lie alone, and go without being read") {
    val j = new Streams(capacity = Capacity)()
    j.batch(Nil, at(1))
    val rows = (0 until 1000).map(i => left(i, i % 3, 10, if (i % 2 == 0) 5 else 500))
    j.batch(rows, at(2))
    assertEquals((j.holds(Left), j.chunksRead.left), (500L, 0))
  }

  test("bands begin where the frontier is, and a third of their width from it") {
    val ends = Seq[Long](99, 100, 109, 110, 139, 140, 259, 260, 100000)
    assertEquals(ends.map(Bands.between(90, 100, None).of), Seq(0, 1, 1, 2, 2, 3, 3, 4, 8))
  }

  test("a later end lies in the same band or a later one, and what ends never in the last") {
    val random = new Random(3)
    for (_ <- 0 until 1000) {
      val before = random.nextInt(1000) - 500L
      val bands = Bands.between(before, before + 1 + random.nextInt(100), None)
      val ends = Seq.fill(50)(random.nextInt(100000) - 1000L).sorted :+ Long.MaxValue
      val found = ends.map(bands.of)
      assertEquals(found, found.sorted)
      assertEquals(found.last, Bands.Count - 1)
      assert(found.init.max < Bands.Count - 1)
    }
  }

  test("where the frontier stands still, the first band is a 4096th of the way to the last end") {
    for ((from, to) <- Seq((100L, 100L), (100L, 50L), (Frontier.Unknown, 100L))) {
      val bands = Bands.between(from, to, Some(100L + 40960))
      assertEquals(
        Seq[Long](99, 100, 109, 110, 139, 140, 41060).map(bands.of),
        Seq(0, 1, 1, 2, 2, 3, 8)
      )
    }
  }

  test("a frontier that is not known, is over, or stands still where nothing ends makes one band") {
    val unknown = Frontier.Unknown
    for (
      (from, to) <- Seq((unknown, unknown), (unknown, 5L), (5L, 5L), (5L, 3L), (5L, Frontier.Over))
    ) {
      val bands = Bands.between(from, to, None)
      assert(!bands.areKnown)
      assertEquals(Seq(1L, 1000L, Long.MaxValue).map(bands.of).distinct, Seq(0))
    }
  }

  test("bands of the greatest frontiers do not overflow") {
    val bands = Bands.between(Long.MinValue + 1, Long.MaxValue - 1, None)
    assertEquals(Seq(Long.MinValue, 0L, Long.MaxValue - 2).map(bands.of), Seq(0, 0, 0))
    assert(bands.of(Long.MaxValue - 1) < Bands.Count - 1)
  }
}
